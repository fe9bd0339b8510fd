package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"

	"leeward/runtime/fleet/journal"
	"leeward/runtime/scenario/replay"
)

// JUnit writes runs for build servers: a test suite per file, a test case per expectation of a scenario and seed, with the
// file and the line where it is written. A scenario without expectations is one test case. A failure has its reason
// and the command that repeats it, and the first of a run the timeline; a run that was not carried through is an error,
// and so is each problem of a file that is invalid.
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
	File    string   `xml:"file,attr,omitempty"`
	Line    int      `xml:"line,attr,omitempty"`
	Time    string   `xml:"time,attr"`
	Failure *trouble `xml:"failure"`
	Error   *trouble `xml:"error"`
}

type trouble struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// Add takes the next run.
func (j *JUnit) Add(r *replay.Run) error {
	var transcript strings.Builder
	if !r.Passed {
		if err := WriteTranscript(&transcript, r, journal.Style{}); err != nil {
			return err
		}
		transcript.WriteString(explained(r) + repeated(r) + "\n")
	}
	cases := casesOf(r, transcript.String())
	cases[0].Time = inSeconds(r.Elapsed)
	j.all.suite(r.File).add(r.Elapsed, cases...)
	return nil
}

// Fault takes what keeps a file from being run.
func (j *JUnit) Fault(f Fault) error {
	j.all.suite(f.File).add(0, testcase{
		Class: f.File, Name: "is valid", File: f.File, Line: f.Line, Time: inSeconds(0), Error: &trouble{Message: f.Message, Text: f.Message},
	})
	return nil
}

// casesOf are the test cases of a run: at least one.
func casesOf(r *replay.Run, transcript string) []testcase {
	whole := testcase{Class: r.File, Name: fmt.Sprintf("%s (seed %d)", r.Name, r.Seed), File: r.File, Line: r.Line, Time: inSeconds(0)}
	if r.Err != nil {
		whole.Error = &trouble{Message: r.Err.Error(), Text: transcript}
		return []testcase{whole}
	}
	var cases []testcase
	for i := range r.Expectations {
		e, c := &r.Expectations[i], whole
		c.Name += ": " + e.Text
		c.File, c.Line = e.Place(r)
		if !e.Passed {
			c.Failure = &trouble{Message: e.Reason, Text: transcript}
			transcript = strings.TrimPrefix(repeated(r), "\n") // told once
		}
		cases = append(cases, c)
	}
	if len(cases) == 0 {
		cases = append(cases, whole)
	}
	return cases
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

func (s *suite) add(took time.Duration, cases ...testcase) {
	s.elapsed += took
	for _, c := range cases {
		s.Cases = append(s.Cases, c)
		s.Tests++
		if c.Failure != nil {
			s.Failures++
		}
		if c.Error != nil {
			s.Errors++
		}
	}
}

func inSeconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
