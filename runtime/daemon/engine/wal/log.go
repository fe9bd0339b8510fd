package wal

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"
)

// Options say how a log is kept.
type Options struct {
	// SegmentBytes is the size from which on a segment is followed by the next. Zero: 64 MiB.
	SegmentBytes int64
	// Log hears of snapshots, of what was cut off, and of damage.
	Log zerolog.Logger
	// OpenFile opens a file to append to, and creates it if need be. Nil: the disk's.
	OpenFile func(path string) (File, error)
}

const (
	defaultSegmentBytes = 64 << 20
	// keptBuffer bounds the memory that one large batch leaves behind.
	keptBuffer = 4 << 20
)

// Log is a log that is open for appending. Append, Compact and Close belong to one goroutine.
type Log struct {
	Options
	dir  string
	lock *os.File

	segment fileName
	file    File
	size    int64
	version int64
	buffer  []byte
	failed  error
	// anchors are what must be where it was opened.
	anchors atomic.Pointer[[]anchor]

	compaction sync.Mutex // one snapshot at a time
	background sync.WaitGroup
}

// Open takes a folder, which need not exist, and returns its log and the objects at its end. All of that
// is durable. What a crash has torn is cut off; any other damage is an error, Damage among them.
func Open(dir string, o Options) (*Log, State, error) {
	var state State
	log, err := open(dir, o, func(f *folder) (*reading, error) {
		r, err := load(f, true)
		if err == nil {
			state, err = r.gather()
		}
		return r, err
	})
	return log, state, err
}

// Restore is Open for a caller that takes in what is stored, object by object, in some parts in parallel: each comes with the part that it
// was read by, in any order, and is good until take returns. The state has no records. What takes them is what begin
// returns; if it is called again, what was taken before must be forgotten, for it was damaged.
func Restore(dir string, o Options, parts int, begin func() (take func(part int, record *Record) error)) (*Log, State, error) {
	var state State
	log, err := open(dir, o, func(f *folder) (*reading, error) {
		r, err := restore(f, parts, begin)
		if err == nil {
			state = State{Version: r.version, Notes: r.notes}
		}
		return r, err
	})
	return log, state, err
}

func open(dir string, o Options, read func(*folder) (*reading, error)) (*Log, error) {
	o.SegmentBytes = cmp.Or(o.SegmentBytes, defaultSegmentBytes)
	if o.OpenFile == nil {
		o.OpenFile = openDisk
	}
	if err := errors.Join(os.MkdirAll(dir, 0o700), syncDir(filepath.Dir(dir))); err != nil {
		return nil, err
	}
	locked, err := lock(dir)
	if err != nil {
		return nil, err
	}
	l := &Log{Options: o, dir: dir, lock: locked}
	if err := l.recover(read); err != nil {
		return nil, errors.Join(err, locked.Close())
	}
	return l, nil
}

func (l *Log) recover(read func(*folder) (*reading, error)) error {
	if err := sweep(l.dir); err != nil {
		return err
	}
	f, err := readFolder(l.dir)
	if err != nil {
		return err
	}
	r, err := read(&f)
	if err != nil {
		return err
	}
	for _, note := range r.notes {
		l.Log.Warn().Str("folder", l.dir).Msg(note)
	}
	if err := setAside(r.damaged); err != nil {
		return err
	}
	l.version = r.version
	if len(r.files) == 0 {
		return l.begin()
	}
	return l.resume(r.files[len(r.files)-1], r.end)
}

// resume goes on where the last good frame of a segment ends.
func (l *Log) resume(segment fileName, end int64) error {
	file, err := l.OpenFile(segment.path)
	if err != nil {
		return err
	}
	l.segment, l.file, l.size = segment, file, end
	err = file.Truncate(end)
	if err == nil {
		err = l.moor(file, segment)
	}
	if err == nil {
		// What was written before a crash may be in the cache only, and will be seen from now on.
		err = errors.Join(file.Sync(), syncDir(l.dir))
	}
	if err != nil {
		return errors.Join(err, file.Close())
	}
	return nil
}

// begin makes an empty segment for the records to come the current one.
func (l *Log) begin() error {
	n := nameFile(l.dir, segments, l.version+1)
	file, err := l.create(n)
	if err != nil {
		return err
	}
	err = publish(file, n)
	if err == nil {
		err = l.moor(file, n)
	}
	if err != nil {
		return errors.Join(err, file.Close())
	}
	l.segment, l.file, l.size = n, file, int64(headSize)
	return nil
}

// create begins a file that does not have its name yet.
func (l *Log) create(n fileName) (File, error) {
	file, err := l.OpenFile(n.path + unfinished)
	if err != nil {
		return nil, err
	}
	if _, err := file.Write(head(n.kind, n.version)); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// Append writes records as one, or none of them, and returns when they are durable. Their versions go on
// from the last one. After an error the log takes nothing more: what is on the disk is not known until
// it is opened again.
func (l *Log) Append(records []Record) error {
	if l.failed != nil {
		return l.failed
	}
	if l.failed = l.append(records); l.failed != nil {
		l.Log.Error().Str("folder", l.dir).Err(l.failed).Msg("log failed: it takes nothing more until it is opened again")
	}
	return l.failed
}

func (l *Log) append(records []Record) error {
	if l.size >= l.SegmentBytes {
		if err := l.rotate(); err != nil {
			return err
		}
		l.compactInBackground()
	}
	b := slices.Grow(beginFrame(l.buffer), sizeOfAll(records))
	for i := range records {
		if want := l.version + int64(i) + 1; records[i].Version != want {
			return fmt.Errorf("append version %d: the next is %d", records[i].Version, want)
		}
		b = appendRecord(b, &records[i])
	}
	if len(b) > math.MaxUint32 {
		return fmt.Errorf("append %d bytes: more than a frame holds", len(b))
	}
	if err := l.write(endFrame(b)); err != nil {
		return fmt.Errorf("append to %s: %w", l.segment.path, err)
	}
	l.version += int64(len(records))
	if cap(b) <= keptBuffer {
		l.buffer = b[:0]
	}
	return nil
}

// write takes back what it could not make durable, as far as the disk still lets it: a frame that was
// refused should not be there after a restart. Durable is what is in a file that the next process finds.
func (l *Log) write(frame []byte) error {
	_, err := l.file.Write(frame)
	if err == nil {
		err = l.file.Sync()
	}
	if err == nil {
		err = l.InPlace()
	}
	if err != nil {
		return errors.Join(err, l.file.Truncate(l.size))
	}
	l.size += int64(len(frame))
	return nil
}

// rotate ends the current segment, if it holds anything, and begins the next.
func (l *Log) rotate() error {
	if l.segment.version == l.version+1 {
		return nil
	}
	if err := l.InPlace(); err != nil { // or the next segment would begin in another folder
		return err
	}
	before := l.file
	if err := l.begin(); err != nil {
		return fmt.Errorf("begin the segment after %s: %w", l.segment.path, err)
	}
	return before.Close()
}

// Close waits for a snapshot that is being written, and lets the folder go.
func (l *Log) Close() error {
	l.background.Wait()
	return errors.Join(l.file.Close(), l.lock.Close())
}

// Why a folder is refused, beside Damage.
var (
	ErrNoStore = errors.New("holds no store")
	ErrExists  = errors.New("holds a store already")
	ErrInUse   = errors.New("another process has it open")
)
