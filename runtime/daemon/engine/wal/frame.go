package wal

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
)

// Damage says what is wrong with a file, and where.
type Damage struct {
	File   string
	Offset int64
	Reason string
	// Torn is set where the damage is what a crash leaves of a frame that was being written.
	Torn bool
}

func (d *Damage) Error() string {
	return fmt.Sprintf("%s: damaged at offset %d: %s", d.File, d.Offset, d.Reason)
}

const (
	magic      = "LEEWARD\n"
	format     = 1
	headSize   = len(magic) + 2 + 8 + 4
	frameSize  = 12
	sectorSize = 512
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// head returns the header of a file.
func head(kind byte, version int64) []byte {
	b := append([]byte(magic), kind, format)
	b = binary.LittleEndian.AppendUint64(b, uint64(version))
	return binary.LittleEndian.AppendUint32(b, checksum(b))
}

// beginFrame reserves space for the header of a frame; endFrame fills it in.
func beginFrame(b []byte) []byte { return append(b[:0], make([]byte, frameSize)...) }

func endFrame(b []byte) []byte {
	binary.LittleEndian.PutUint32(b, uint32(len(b)-frameSize))
	binary.LittleEndian.PutUint32(b[4:], checksum(b[frameSize:]))
	binary.LittleEndian.PutUint32(b[8:], checksum(b[:8]))
	return b
}

// lengthOf returns the length of a frame's content, if the header is sound.
func lengthOf(header []byte) (int64, bool) {
	return int64(binary.LittleEndian.Uint32(header)), checksum(header[:8]) == binary.LittleEndian.Uint32(header[8:])
}

// soundContent reports whether a whole frame has the checksum that its header says.
func soundContent(frame []byte) bool {
	return checksum(frame[frameSize:]) == binary.LittleEndian.Uint32(frame[4:])
}

// frames reads a file frame by frame.
type frames struct {
	fileName
	file   *os.File
	buffer *bufio.Reader
	size   int64
	// offset is where the next frame begins.
	offset int64
	// content holds a frame that is too large for the buffer; read is what of the buffer the last one took.
	content []byte
	read    int
}

// openFrames opens a file and checks its header against what its name says.
func openFrames(n fileName) (*frames, error) {
	file, err := os.Open(n.path)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	f := &frames{fileName: n, file: file, buffer: bufio.NewReaderSize(file, 1<<20), size: info.Size()}
	if err := f.readHead(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return f, nil
}

func (f *frames) readHead() error {
	got, want := make([]byte, headSize), head(f.kind, f.version)
	_, err := io.ReadFull(f.buffer, got)
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return f.damage("the file ends in its header")
	case err != nil:
		return fmt.Errorf("read %s: %w", f.path, err)
	case string(got[:len(magic)]) != magic:
		return f.damage("this is no file of Leeward's")
	case got[len(magic)+1] != format:
		return fmt.Errorf("%s: format %d is not known to this program, which knows %d", f.path, got[len(magic)+1], format)
	case string(got) != string(want):
		return f.damage("the header is not that of a file of this name")
	}
	f.offset = int64(headSize)
	return nil
}

func (f *frames) close() error { return f.file.Close() }

func (f *frames) damage(format string, args ...any) *Damage {
	return &Damage{File: f.path, Offset: f.offset, Reason: fmt.Sprintf(format, args...)}
}

// next returns the content of the next frame, which is good until the one after it is read. The error
// is io.EOF at the end of the file, or Damage.
func (f *frames) next() ([]byte, error) {
	if _, err := f.buffer.Discard(f.read); err != nil {
		return nil, fmt.Errorf("read %s: %w", f.path, err)
	}
	f.read = 0
	left := f.size - f.offset
	if left == 0 {
		return nil, io.EOF
	}
	var header [frameSize]byte
	if left < frameSize {
		return nil, f.bad("the file ends in the header of a frame", left)
	}
	if _, err := io.ReadFull(f.buffer, header[:]); err != nil {
		return nil, fmt.Errorf("read %s: %w", f.path, err)
	}
	length, sound := lengthOf(header[:])
	switch {
	case !sound:
		return nil, f.bad("the header of the frame has a wrong checksum", left)
	case frameSize+length > left:
		return nil, f.bad(fmt.Sprintf("the file ends in a frame of %d bytes", length), left)
	}
	content, err := f.body(int(length))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.path, err)
	}
	if checksum(content) != binary.LittleEndian.Uint32(header[4:]) {
		return nil, f.bad(fmt.Sprintf("the frame of %d bytes has a wrong checksum", length), frameSize+length)
	}
	f.offset += frameSize + length
	return content, nil
}

// body returns the content of a frame, where it lies in the buffer if it does.
func (f *frames) body(length int) ([]byte, error) {
	if length <= f.buffer.Size() {
		f.read = length
		return f.buffer.Peek(length)
	}
	if cap(f.content) < length {
		f.content = make([]byte, length)
	}
	f.content = f.content[:length]
	_, err := io.ReadFull(f.buffer, f.content)
	return f.content, err
}

// bad returns the damage at a frame of which so many bytes are there, and finds out whether a crash
// explains it.
func (f *frames) bad(reason string, there int64) error {
	d := f.damage("%s", reason)
	if f.kind == snapshots {
		return d
	}
	rest := make([]byte, f.size-f.offset)
	if _, err := f.file.ReadAt(rest, f.offset); err != nil {
		return fmt.Errorf("read %s: %w", f.path, err)
	}
	d.Torn = !holdsFrame(rest[1:]) && (endsEarly(rest) || holdsHole(rest[:there], f.offset))
	return d
}

// endsEarly reports whether a file ends in its last frame.
func endsEarly(rest []byte) bool {
	if len(rest) < frameSize {
		return true
	}
	length, sound := lengthOf(rest)
	return sound && frameSize+length > int64(len(rest))
}

// holdsHole reports whether a sector of what lies at an offset is all zeros, as no frame is: its header
// holds its length, and neither keys nor JSON hold a zero. A piece smaller than a header says nothing.
func holdsHole(b []byte, offset int64) bool {
	for len(b) > 0 {
		sector := b[:min(int64(len(b)), sectorSize-offset%sectorSize)]
		if len(sector) >= frameSize && isZero(sector) {
			return true
		}
		b, offset = b[len(sector):], offset+int64(len(sector))
	}
	return false
}

func isZero(b []byte) bool {
	return len(bytes.TrimLeft(b, "\x00")) == 0
}

// holdsFrame reports whether a sound frame begins anywhere.
func holdsFrame(b []byte) bool {
	for ; len(b) >= frameSize; b = b[1:] {
		length, sound := lengthOf(b)
		if sound && frameSize+length <= int64(len(b)) && soundContent(b[:frameSize+length]) {
			return true
		}
	}
	return false
}
