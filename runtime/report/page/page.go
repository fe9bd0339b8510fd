// Package page writes storms, assessments and reports of shadows as views of the viewer's page: the page of package viewer with data
// that docs/viewer-data.md describes.
package page

import (
	"io"

	"leeward/runtime/fleet/shadow"
	"leeward/runtime/report/viewer"
	"leeward/runtime/scenario/assess"
	"leeward/runtime/scenario/replay"
	"leeward/runtime/storm"
)

// Formats and Version name the data. The version is raised when a field changes its meaning or goes; fields may be added.
const (
	StormFormat      = "leeward.dev/storm"
	AssessmentFormat = "leeward.dev/assessment"
	ShadowFormat     = "leeward.dev/shadow"
	Version          = 1
)

// Storm is the data of a storm.
type Storm struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Storms are what the page is of, and what it is compared with, if anything.
	Storms []*storm.Report `json:"storms"`
}

// Assessment is the data of an assessment.
type Assessment struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Command repeats the assessment. Losing, with clusters or other parts behind it, plays one contingency again.
	Command    string             `json:"command"`
	Losing     string             `json:"losing"`
	Assessment *assess.Assessment `json:"assessment"`
	// Lanes name contingencies whose runs the page has, in the order of the runs.
	Lanes []string `json:"lanes"`
}

// Shadow is the data of a report of comparisons.
type Shadow struct {
	Format  string         `json:"format"`
	Version int            `json:"version"`
	File    string         `json:"file"`
	Report  *shadow.Report `json:"report"`
}

// WriteStorm writes what came of a storm, beside others that it is compared with.
func WriteStorm(w io.Writer, r *storm.Report, others ...*storm.Report) error {
	return write(&viewer.Page{W: w}, &Storm{StormFormat, Version, append([]*storm.Report{r}, others...)})
}

// WriteAssessment writes what outages would do, with the lanes of the contingencies that were played again.
func WriteAssessment(w io.Writer, a *Assessment, lanes []*replay.Run) error {
	a.Format, a.Version, a.Lanes = AssessmentFormat, Version, []string{}
	p := &viewer.Page{W: w}
	for _, run := range lanes {
		a.Lanes = append(a.Lanes, run.Name)
		if err := p.Predict(run); err != nil {
			return err
		}
	}
	return write(p, a)
}

// WriteShadow writes what the control plane that acts decided otherwise. File is where the comparisons are from.
func WriteShadow(w io.Writer, r *shadow.Report, file string) error {
	return write(&viewer.Page{W: w}, &Shadow{ShadowFormat, Version, file, r})
}

func write(p *viewer.Page, data any) error {
	if err := p.Report(data); err != nil {
		return err
	}
	return p.Close()
}
