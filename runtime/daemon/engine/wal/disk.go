package wal

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

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
