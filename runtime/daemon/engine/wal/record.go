package wal

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Record is one change of one key.
type Record struct {
	// Version numbers the records of a log from 1, without a gap.
	Version int64
	Key     string
	// Expires is when the object goes by itself, in nanoseconds since 1970; 0 is never.
	Expires int64
	// Object is JSON; nil deletes.
	Object []byte
}

// The first byte of a record says how to read the rest.
const (
	opObject = 'J'
	opDelete = 'D'
	opEnd    = 'E'
)

// sizeOfAll is how many bytes records take at most.
func sizeOfAll(records []Record) (n int) {
	for i := range records {
		n += 1 + 4*binary.MaxVarintLen64 + len(records[i].Key) + len(records[i].Object)
	}
	return n
}

func appendRecord(b []byte, r *Record) []byte {
	if r.Object == nil {
		b = binary.AppendUvarint(append(b, opDelete), uint64(r.Version))
		return appendString(b, r.Key)
	}
	b = binary.AppendUvarint(append(b, opObject), uint64(r.Version))
	b = binary.AppendUvarint(b, uint64(r.Expires))
	b = appendString(b, r.Key)
	return appendString(b, r.Object)
}

func appendString[S string | []byte](b []byte, s S) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendEnd(b []byte, count int) []byte {
	return binary.AppendUvarint(append(b, opEnd), uint64(count))
}

// content reads the records of one frame, one after the other. After an error it stays where it is.
type content struct {
	rest []byte
	// from and to are where the frame lies in its file.
	from, to int64

	// What the present record says; key and object are parts of the content. An object of nil is a deletion.
	version, expires int64
	key, object      []byte

	err error
	// ended is set at the end of a snapshot, which has counted its objects.
	ended bool
	count int64
}

// next goes on to the next record, and reports whether there is one.
func (c *content) next() bool {
	if len(c.rest) == 0 || c.err != nil {
		return false
	}
	op := c.rest[0]
	c.rest = c.rest[1:]
	c.version, c.expires, c.object = 0, 0, nil
	switch op {
	case opObject:
		c.version, c.expires = c.number(), c.number()
		c.key, c.object = c.bytes(), c.bytes()
	case opDelete:
		c.version, c.key = c.number(), c.bytes()
	case opEnd:
		c.end()
		return false
	default:
		c.fail("unknown kind of record %q", op)
	}
	return c.err == nil
}

// record is the present record. Its object is a part of the content.
func (c *content) record() Record {
	return Record{Version: c.version, Key: string(c.key), Expires: c.expires, Object: c.object}
}

func (c *content) end() {
	c.ended, c.count = true, c.number()
	if len(c.rest) > 0 {
		c.fail("records follow the end of the snapshot")
	}
}

// fail says what is wrong, if nothing was before.
func (c *content) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

func (c *content) number() int64 {
	n, size := binary.Uvarint(c.rest)
	if size <= 0 || n > math.MaxInt64 {
		c.fail("a record ends before its time")
		return 0
	}
	c.rest = c.rest[size:]
	return int64(n)
}

func (c *content) bytes() []byte {
	n := c.number()
	if n > int64(len(c.rest)) {
		c.fail("a record ends before its time")
	}
	if c.err != nil {
		return nil
	}
	b := c.rest[:n:n]
	c.rest = c.rest[n:]
	return b
}
