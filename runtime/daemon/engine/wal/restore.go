package wal

import (
	"errors"
	"runtime"
)

// restore reads a folder and passes on what is stored, to what begin returns. The newest snapshot is read once, as it nearly
// always is sound: that it is shows while it is passed on. If anything is wrong, load finds out what is, and all is begun
// again.
func restore(f *folder, parts int, begin func() func(part int, record *Record) error) (*reading, error) {
	r, err := loadSince(f)
	if err == nil {
		err = r.each(parts, begin())
	}
	if err == nil {
		return r, nil
	}
	if r, err = load(f, true); err == nil {
		err = r.each(parts, begin())
	}
	return r, err
}

// loadSince reads the log since the newest snapshot, and of that only where its frames lie.
func loadSince(f *folder) (*reading, error) {
	var r reading
	if n := len(f.snapshots); n > 0 {
		if err := r.skim(f.snapshots[n-1]); err != nil {
			return nil, err
		}
	}
	return &r, r.logSideBySide(f)
}

// skim reads the headers of the frames of a snapshot.
func (r *reading) skim(n fileName) error {
	f, err := openFrames(n)
	if err != nil {
		return err
	}
	var header [frameSize]byte
	for err == nil && f.offset < f.size {
		_, err = f.file.ReadAt(header[:], f.offset)
		length, sound := lengthOf(header[:])
		c := content{from: f.offset, to: f.offset + frameSize + length}
		if !sound || c.to > f.size {
			err = f.damage("there is no whole frame")
		}
		r.found(n, &c)
		f.offset = c.to
	}
	if err == nil && len(r.spans) == 0 {
		err = f.damage("there is no frame")
	}
	if err = errors.Join(err, f.close()); err != nil {
		return err
	}
	r.spans[len(r.spans)-1].last = true
	r.version, r.files = n.version, []fileName{n}
	return nil
}

// logSideBySide reads the segments that follow the snapshot side by side. If it fails, that is no word on what precedes what is
// wrong: log has it.
func (r *reading) logSideBySide(f *folder) error {
	list, err := f.logAfter(r.version)
	if err != nil {
		return err
	}
	r.since = &latest{}
	read := make([]reading, len(list))
	err = inParts(runtime.GOMAXPROCS(0), len(list), func(_, i int) error {
		read[i] = reading{version: list[i].version - 1, since: r.since}
		return read[i].segment(list[i], i == len(list)-1)
	})
	for i := range read {
		if err == nil {
			err = r.follows(list[i])
		}
		next := &read[i]
		r.version, r.end, r.notes = next.version, next.end, append(r.notes, next.notes...)
		r.files, r.spans = append(r.files, next.files...), append(r.spans, next.spans...)
	}
	return err
}
