package wal

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Kinds of files, as their headers say them.
const (
	segments  = 'L'
	snapshots = 'S'
)

var endings = map[byte]string{segments: ".log", snapshots: ".snapshot"}

// unfinished ends the names of files that are being written. Those that a crash leaves are removed.
const unfinished = ".tmp"

// fileName is a file and what its name says of it.
type fileName struct {
	path string
	kind byte
	// version is the first that a segment may hold, or the last that a snapshot holds.
	version int64
}

func nameFile(dir string, kind byte, version int64) fileName {
	return fileName{filepath.Join(dir, fmt.Sprintf("%020d%s", version, endings[kind])), kind, version}
}

// folder is what a folder holds, each list by version.
type folder struct {
	dir       string
	segments  []fileName
	snapshots []fileName
}

func readFolder(dir string) (folder, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return folder{}, err
	}
	f := folder{dir: dir}
	for _, entry := range entries { // by name, and so by version
		switch n := parseName(dir, entry.Name()); n.kind {
		case segments:
			f.segments = append(f.segments, n)
		case snapshots:
			f.snapshots = append(f.snapshots, n)
		}
	}
	return f, nil
}

// parseName returns a file of no kind for names that are not ours.
func parseName(dir, name string) fileName {
	for _, kind := range []byte{segments, snapshots} {
		digits, ours := strings.CutSuffix(name, endings[kind])
		version, err := strconv.ParseInt(digits, 10, 64)
		if n := nameFile(dir, kind, version); ours && err == nil && filepath.Base(n.path) == name {
			return n
		}
	}
	return fileName{}
}

// sweep removes what a crash has left unfinished.
func sweep(dir string) error {
	left, err := filepath.Glob(filepath.Join(dir, "*"+unfinished))
	for _, path := range left {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// after returns the segments that a state at some version has yet to read: the first begins with the next
// version.
func (f *folder) after(version int64) []fileName {
	i, _ := slices.BinarySearchFunc(f.segments, version+1, func(n fileName, v int64) int { return cmp.Compare(n.version, v) })
	return f.segments[i:]
}

// File is what the log asks of a file that it writes. Tests put one in its place that breaks.
type File interface {
	io.Writer
	// Sync returns when all that was written would survive the loss of power.
	Sync() error
	Truncate(size int64) error
	// Stat says which file it is.
	Stat() (os.FileInfo, error)
	Close() error
}

// diskFile is a file of the operating system.
type diskFile struct{ *os.File }

func (f diskFile) Sync() error { return syncData(f.File) }

// openDisk opens a file to append to, and creates it if need be.
func openDisk(path string) (File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	return diskFile{f}, nil
}

// syncDir makes the names of a folder durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// publish gives a finished file its name. With that it is durable, or it is not there.
func publish(f File, n fileName) error {
	if err := f.Sync(); err != nil {
		return err
	}
	if err := os.Rename(n.path+unfinished, n.path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(n.path))
}
