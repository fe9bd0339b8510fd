package wal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Displaced says that what a path leads to is not what the log has open there. What is written now would not be found
// when the folder is opened again.
type Displaced struct {
	// Path is that of the folder, of its lock or of the open segment.
	Path string
	// Gone is set where the path leads nowhere, and not to something else.
	Gone bool
}

func (d *Displaced) Error() string {
	became := "replaced by another"
	if d.Gone {
		became = "deleted or moved away"
	}
	return fmt.Sprintf("%s: %s while this process has it open: what is written now would be lost; "+
		"read what is needed from this process, put the folder back, or a backup in its place, and start again", d.Path, became)
}

// anchor is a path and what the log has open there.
type anchor struct {
	path string
	open os.FileInfo
}

// holds returns an error, Displaced where it is that, unless the path leads to what is open.
func (a *anchor) holds() error {
	now, err := os.Stat(a.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &Displaced{Path: a.path, Gone: true}
	case err != nil:
		return fmt.Errorf("find what is open: %w", err)
	case !os.SameFile(now, a.open):
		return &Displaced{Path: a.path}
	}
	return nil
}

// moor notes where the folder, its lock and the segment that is open are.
func (l *Log) moor(file File, segment fileName) error {
	appended, err := file.Stat()
	if err != nil {
		return err
	}
	lock, err := l.lock.Stat()
	if err != nil {
		return err
	}
	folder, err := os.Stat(l.dir)
	if err != nil {
		return err
	}
	l.anchors.Store(&[]anchor{{l.dir, folder}, {l.lock.Name(), lock}, {segment.path, appended}})
	return nil
}

// InPlace returns an error, Displaced where it is that, unless the folder, its lock and the open segment are where they
// were opened: a file that is open can be written to and synced after it was deleted. Anyone may ask at any time;
// it takes some microseconds.
func (l *Log) InPlace() error {
	anchors := l.anchors.Load()
	if anchors == nil { // a log that is made as a whole gets its name at the end
		return nil
	}
	for i := range *anchors {
		if err := (*anchors)[i].holds(); err != nil {
			return err
		}
	}
	return nil
}
