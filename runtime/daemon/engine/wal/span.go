package wal

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
)

// spanBytes is about how much of a file is read in one piece where the order does not matter.
const spanBytes = 512 << 10

// span is some sound frames of a file that follow each other.
type span struct {
	fileName
	from, to int64
	// last is set where the last of them ends a snapshot.
	last bool
}

// each reads all that was found again, in some parts in parallel, and passes on every object that is stored, with the part that
// it was read by. What the record says is good until take returns. With one part the objects come in the order in which
// they were written.
func (r *reading) each(parts int, take func(part int, record *Record) error) error {
	files, err := openAll(r.files)
	if err != nil {
		return err
	}
	r.since.settle(r.version)
	var objects atomic.Int64 // of the snapshot, less those that its end counts
	buffers := make([][]byte, parts)
	err = inParts(parts, len(r.spans), func(part, i int) (err error) {
		s := &r.spans[i]
		if buffers[part], err = s.read(files[s.path], buffers[part]); err != nil {
			return err
		}
		found, err := r.standing(s, buffers[part], func(record *Record) error { return take(part, record) })
		if s.kind == snapshots {
			objects.Add(found)
		}
		return err
	})
	if err == nil && objects.Load() != 0 {
		err = &Damage{File: r.files[0].path, Reason: fmt.Sprintf("the snapshot counts %d objects less than it has", objects.Load())}
	}
	return errors.Join(err, closeAll(files))
}

// inParts does what is numbered up to a count, in some parts in parallel. Each takes the next number until one of its own is
// wrong.
func inParts(parts, count int, do func(part, i int) error) error {
	var (
		next   atomic.Int64
		others sync.WaitGroup
		wrong  = make([]error, parts)
	)
	run := func(part int) {
		for i := next.Add(1) - 1; i < int64(count) && wrong[part] == nil; i = next.Add(1) - 1 {
			wrong[part] = do(part, int(i))
		}
	}
	for part := 1; part < parts; part++ {
		others.Go(func() { run(part) })
	}
	run(0)
	others.Wait()
	return errors.Join(wrong...)
}

// read reads a span into a buffer, or a larger one.
func (s *span) read(file *os.File, buffer []byte) ([]byte, error) {
	if length := int(s.to - s.from); cap(buffer) < length {
		buffer = make([]byte, length)
	} else {
		buffer = buffer[:length]
	}
	if _, err := file.ReadAt(buffer, s.from); err != nil {
		return buffer, fmt.Errorf("read %s: %w", s.path, err)
	}
	return buffer, nil
}

// standing passes on what is still stored of the frames of a span, which were sound a moment ago, or else load finds out. It returns
// how many records there are, less those that an end counts.
func (r *reading) standing(s *span, frames []byte, take func(*Record) error) (found int64, err error) {
	var record Record
	for at := s.from; len(frames) > 0; {
		length, sound := lengthOf(frames)
		size := frameSize + length
		if !sound || size > int64(len(frames)) || !soundContent(frames[:size]) {
			return 0, s.changed(at)
		}
		c := content{rest: frames[frameSize:size]}
		for ; c.next(); found++ {
			if !r.stored(&c, s.kind) {
				continue
			}
			record = c.record()
			if err := take(&record); err != nil {
				return 0, err
			}
		}
		frames, at = frames[size:], at+size
		if found -= c.count; c.err != nil || c.ended != (s.last && len(frames) == 0) {
			return 0, s.changed(at - size)
		}
	}
	return found, nil
}

func (s *span) changed(at int64) error {
	return &Damage{File: s.path, Offset: at, Reason: "the frame was sound when it was first read, and is no more"}
}

// openAll opens files, by their paths.
func openAll(names []fileName) (map[string]*os.File, error) {
	files := make(map[string]*os.File, len(names))
	for _, n := range names {
		file, err := os.Open(n.path)
		if err != nil {
			return nil, errors.Join(err, closeAll(files))
		}
		files[n.path] = file
	}
	return files, nil
}

func closeAll(files map[string]*os.File) error {
	var err error
	for _, file := range files { // order-free: each is only closed
		err = errors.Join(err, file.Close())
	}
	return err
}
