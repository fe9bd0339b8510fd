package wal

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
)

// Create makes a log of what is to stand in a folder that holds none: a snapshot of the records, each of another key and none a
// deletion, which is read on every processor and never again, and an empty segment for what follows. The records, of which only the
// versions are changed, have those from 1 on. A process that is killed meanwhile has made none, and may try again.
func Create(dir string, records []Record) (err error) {
	if err := errors.Join(os.MkdirAll(dir, 0o700), syncDir(filepath.Dir(dir))); err != nil {
		return err
	}
	locked, err := lock(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, locked.Close()) }()
	switch exists, err := Exists(dir); {
	case err != nil:
		return err
	case exists:
		return fmt.Errorf("%s: %w", dir, ErrExists)
	}
	return errors.Join(sweep(dir), makeLog(dir, records))
}

// makeLog makes the segment first: without a snapshot it is none yet.
func makeLog(dir string, records []Record) error {
	f, err := readFolder(dir)
	if err != nil {
		return err
	}
	for _, n := range f.segments { // of a log that was not made
		err = errors.Join(err, os.Remove(n.path))
	}
	version := int64(len(records))
	segment := nameFile(dir, segments, version+1)
	if err == nil {
		err = makeFile(segment, func(File) error { return nil })
	}
	if err != nil || version == 0 {
		return err
	}
	err = makeFile(nameFile(dir, snapshots, version), func(file File) error { return fill(file, records) })
	if err != nil {
		return errors.Join(err, remove(segment.path))
	}
	return nil
}

// makeFile writes a file in one piece, which has its name when it is whole.
func makeFile(n fileName, write func(File) error) error {
	l := Log{Options: Options{OpenFile: openDisk}}
	file, err := l.create(n)
	if err != nil {
		return err
	}
	if err = write(file); err == nil {
		err = publish(file, n)
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, remove(n.path+unfinished))
	}
	return nil
}

// fill writes a snapshot of records. No other writer waits for the disk.
func fill(file File, records []Record) error {
	w := &snapshotWriter{file: file, frame: beginFrame(nil), syncEvery: math.MaxInt}
	for i := range records {
		records[i].Version = int64(i) + 1
		if err := w.add(&records[i]); err != nil {
			return err
		}
	}
	return w.end()
}

// justBegun reports whether a folder holds no more than the segment of a log that was not made: the process that made it was killed.
func (f *folder) justBegun() (bool, error) {
	if len(f.snapshots) > 0 || len(f.segments) != 1 || f.segments[0].version == 1 {
		return false, nil
	}
	size, err := sizeOf(f.segments[0])
	return size <= int64(headSize), err
}

// SetAside gives the folder of a log that no process has open another name, which nothing may have.
func SetAside(dir, name string) error {
	locked, err := lock(dir)
	if err != nil {
		return err
	}
	if _, err = os.Lstat(name); err == nil {
		err = fmt.Errorf("set aside %s: %s is there already", dir, name)
	} else if errors.Is(err, os.ErrNotExist) {
		err = errors.Join(os.Rename(dir, name), syncDir(filepath.Dir(name)))
	}
	return errors.Join(err, locked.Close())
}
