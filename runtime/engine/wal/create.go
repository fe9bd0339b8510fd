package wal

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
)

// createAtOnce is how many records share a frame, and so a checksum, in a log that is made as a whole.
const createAtOnce = 1024

// Create makes a log of what is to stand in a folder that holds none. The records, of which only the versions are
// changed, have those from 1 on. Whoever is killed meanwhile has made none, and may try again.
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
	return errors.Join(sweep(dir), makeSegment(nameFile(dir, segments, 1), records))
}

// makeSegment writes a log in one piece, which has its name when it is whole.
func makeSegment(n fileName, records []Record) error {
	l := Log{Options: Options{SegmentBytes: math.MaxInt64, OpenFile: openDisk}, dir: filepath.Dir(n.path), segment: n}
	var err error
	if l.file, err = l.create(n); err != nil {
		return err
	}
	if err = l.fill(records); err == nil {
		err = publish(l.file, n)
	}
	if err = errors.Join(err, l.file.Close()); err != nil {
		return errors.Join(err, remove(n.path+unfinished))
	}
	return nil
}

func (l *Log) fill(records []Record) error {
	for from := 0; from < len(records); from += createAtOnce {
		part := records[from:min(from+createAtOnce, len(records))]
		for i := range part {
			part[i].Version = int64(from+i) + 1
		}
		if err := l.append(part); err != nil {
			return err
		}
	}
	return nil
}

// SetAside gives the folder of a log that nobody has open another name, which nothing may have.
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
