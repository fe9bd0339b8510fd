package wal

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
)

// spanBytes is about how much of a file is read at once where the order does not matter.
const spanBytes = 512 << 10

// span is some sound frames of a file that follow each other.
type span struct {
	fileName
	from, to int64
}

// each reads all that was found again, in some parts at once, and hands over every object that stands, with the part that
// it was read by. What the record says is good until take returns. With one part the objects come in the order in which
// they were written.
func (r *reading) each(parts int, take func(part int, record *Record) error) error {
	files, err := openAll(r.files)
	if err != nil {
		return err
	}
	var (
		next   atomic.Int64
		others sync.WaitGroup
		wrong  = make([]error, parts)
	)
	run := func(part int) {
		taken := func(record *Record) error { return take(part, record) }
		var buffer []byte
		for i := next.Add(1) - 1; i < int64(len(r.spans)) && wrong[part] == nil; i = next.Add(1) - 1 {
			s := &r.spans[i]
			buffer, wrong[part] = s.read(files[s.path], buffer)
			if wrong[part] == nil {
				wrong[part] = r.standing(s, buffer, taken)
			}
		}
	}
	for part := 1; part < parts; part++ {
		others.Go(func() { run(part) })
	}
	run(0)
	others.Wait()
	return errors.Join(append(wrong, closeAll(files))...)
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

// standing hands over what stands of the frames of a span. They were sound a moment ago.
func (r *reading) standing(s *span, frames []byte, take func(*Record) error) error {
	var record Record
	for at := s.from; len(frames) > 0; {
		length, sound := lengthOf(frames)
		size := frameSize + length
		if !sound || size > int64(len(frames)) || !soundContent(frames[:size]) {
			return &Damage{File: s.path, Offset: at, Reason: "the frame was sound when it was first read, and is no more"}
		}
		c := content{rest: frames[frameSize:size]}
		for c.next() {
			if !r.stands(&c, s.kind) {
				continue
			}
			record = c.record()
			if err := take(&record); err != nil {
				return err
			}
		}
		frames, at = frames[size:], at+size
	}
	return nil
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
