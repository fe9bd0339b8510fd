package wal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// FileReport is what one file holds.
type FileReport struct {
	Name  string
	Bytes int64
	// Frames and Records are those before the damage, if there is any.
	Frames, Records int
	// First and Last are the versions of the records: the lowest and the highest. Zero: none.
	First, Last int64
	// Damage is where the file is damaged; nil if it is sound.
	Damage *Damage
}

// Report is what a folder holds.
type Report struct {
	Files []FileReport
	// Version and Objects are what would be recovered, and Notes what would be said with it.
	Version int64
	Objects int
	Notes   []string
	// Loss is why nothing would be recovered; nil if all would be.
	Loss error
}

// Verify reads every file of a folder and changes nothing. The error says why it could not.
func Verify(dir string) (Report, error) {
	var report Report
	err := visit(dir, func(f *folder) error {
		var err error
		report, err = verify(f)
		return err
	})
	return report, err
}

// Load returns what is stored at the end of a log, and changes nothing. Beside Damage it returns what was stored
// before it.
func Load(dir string) (State, error) {
	var state State
	err := visit(dir, func(f *folder) error {
		r, err := load(f, true)
		var wrong error
		state, wrong = r.gather()
		return errors.Join(err, wrong)
	})
	return state, err
}

// Exists reports whether a folder holds a log, sound or not. A folder that is not there holds none, and neither does one that
// Create was killed in.
func Exists(dir string) (bool, error) {
	f, err := readFolder(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return false, nil
	case err != nil || len(f.segments)+len(f.snapshots) == 0:
		return false, err
	}
	begun, err := f.justBegun()
	return !begun, err
}

// visit reads a folder while no other process has it.
func visit(dir string, read func(*folder) error) error {
	switch exists, err := Exists(dir); {
	case err != nil:
		return err
	case !exists:
		return fmt.Errorf("%s: %w", dir, ErrNoStore)
	}
	locked, err := lock(dir)
	if err != nil {
		return err
	}
	f, err := readFolder(dir)
	if err == nil {
		err = read(&f)
	}
	return errors.Join(err, locked.Close())
}

func verify(f *folder) (Report, error) {
	var report Report
	for _, n := range append(f.snapshots, f.segments...) {
		file, err := verifyFile(n)
		if err != nil {
			return Report{}, err
		}
		report.Files = append(report.Files, file)
	}
	r, loss := load(f, true)
	var err error
	if report.Loss = loss; loss == nil {
		report.Version, report.Notes = r.version, r.notes
		err = r.each(1, func(int, *Record) error { report.Objects++; return nil })
	}
	return report, err
}

// verifyFile reads a file up to its damage.
func verifyFile(n fileName) (FileReport, error) {
	report := FileReport{Name: filepath.Base(n.path)}
	_, err := eachFrame(n, func(c *content) error {
		for c.next() {
			report.add(c.version)
		}
		if c.err == nil {
			report.Frames++
		}
		return nil
	})
	if !errors.As(err, &report.Damage) && err != nil {
		return report, err
	}
	report.Bytes, err = sizeOf(n)
	return report, err
}

func (r *FileReport) add(version int64) {
	r.Records++
	r.Last = max(r.Last, version)
	if r.First == 0 || version < r.First {
		r.First = version
	}
}
