package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"

	"leeward/runtime/journal"
)

// JUnit writes runs for build servers: a test suite per file, a test case per scenario and seed. A
// failure has its reasons, the story and the command that repeats it; a run that was not carried
// through is an error.
type JUnit struct {
	W io.Writer

	all suites
}

type suites struct {
	XMLName  xml.Name `xml:"testsuites"`
	Name     string   `xml:"name,attr"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Errors   int      `xml:"errors,attr"`
	Time     string   `xml:"time,attr"`
	Suites   []*suite `xml:"testsuite"`

	elapsed time.Duration
}

type suite struct {
	Name     string     `xml:"name,attr"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Errors   int        `xml:"errors,attr"`
	Time     string     `xml:"time,attr"`
	Cases    []testcase `xml:"testcase"`

	elapsed time.Duration
}

type testcase struct {
	Class   string   `xml:"classname,attr"`
	Name    string   `xml:"name,attr"`
	Time    string   `xml:"time,attr"`
	Failure *trouble `xml:"failure"`
	Error   *trouble `xml:"error"`
}

type trouble struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// Add takes the next run.
func (j *JUnit) Add(r *Run) error {
	c := testcase{Class: r.File, Name: fmt.Sprintf("%s (seed %d)", r.Name, r.Seed), Time: inSeconds(r.Elapsed)}
	if !r.Passed {
		var story strings.Builder
		if err := WriteStory(&story, r, journal.Style{}); err != nil {
			return err
		}
		c.blame(r, story.String())
	}
	j.all.suite(r.File).add(c, r.Elapsed)
	return nil
}

// Close writes the document.
func (j *JUnit) Close() error {
	j.all.Name = "leeward"
	for _, s := range j.all.Suites {
		s.Time = inSeconds(s.elapsed)
		j.all.Tests += s.Tests
		j.all.Failures += s.Failures
		j.all.Errors += s.Errors
		j.all.elapsed += s.elapsed
	}
	j.all.Time = inSeconds(j.all.elapsed)
	text, err := xml.MarshalIndent(j.all, "", "  ")
	if err != nil {
		return fmt.Errorf("encode JUnit: %w", err)
	}
	_, err = fmt.Fprintf(j.W, "%s%s\n", xml.Header, text)
	return err
}

// suite returns the suite of a file, the newest one if runs come file by file.
func (s *suites) suite(file string) *suite {
	if n := len(s.Suites); n == 0 || s.Suites[n-1].Name != file {
		s.Suites = append(s.Suites, &suite{Name: file})
	}
	return s.Suites[len(s.Suites)-1]
}

func (s *suite) add(c testcase, took time.Duration) {
	s.Cases = append(s.Cases, c)
	s.Tests++
	s.elapsed += took
	if c.Failure != nil {
		s.Failures++
	}
	if c.Error != nil {
		s.Errors++
	}
}

func (c *testcase) blame(r *Run, story string) {
	if r.Repeat != "" {
		story += "\nrepeat: " + r.Repeat + "\n"
	}
	if r.Err != nil {
		c.Error = &trouble{Message: r.Err.Error(), Text: story}
		return
	}
	var reasons []string
	for _, e := range r.Expectations {
		if !e.Passed {
			reasons = append(reasons, e.Text+": "+e.Reason)
		}
	}
	c.Failure = &trouble{Message: strings.Join(reasons, "\n"), Text: story}
}

func inSeconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
