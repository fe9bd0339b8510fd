package wal

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// State is what is stored at the end of a log.
type State struct {
	// Version is that of the last record.
	Version int64
	// Records are the objects, by key. None is a deletion.
	Records []Record
	// Notes are damages that cost nothing: a snapshot in whose place an older one and the log since were
	// read, and the frame that a crash left half written, which is cut off.
	Notes []string
}

// reading is what a folder was found to hold. Its log is read twice: first for what it says of which objects, and whether
// all of it is sound, then for those that still stand. So a start needs memory for keys, and not for all that was ever
// said.
type reading struct {
	// mayBeTorn accepts that a crash has torn the end.
	mayBeTorn bool

	version int64
	// since knows the objects of which the log since the snapshot speaks.
	since *latest
	notes []string
	// damaged are the snapshots in whose place something else was read.
	damaged []fileName
	// files are those read, in their order; the last of them is good up to end.
	files []fileName
	end   int64
	// spans are where their frames lie, those of snapshots first.
	spans []span
}

// load reads a folder: the newest snapshot that is sound, and the log since.
func load(f *folder, mayBeTorn bool) (*reading, error) {
	how := reading{mayBeTorn: mayBeTorn}
	r, err := loadSideBySide(f, how)
	if errors.As(err, new(*Damage)) {
		r, err = loadInTurn(f, how)
	}
	if err != nil && len(r.notes) > 0 {
		err = fmt.Errorf("%w (%s)", err, strings.Join(r.notes, "; "))
	}
	return r, err
}

// loadSideBySide reads the newest snapshot and the log since side by side.
func loadSideBySide(f *folder, how reading) (*reading, error) {
	if len(f.snapshots) == 0 {
		return loadInTurn(f, how)
	}
	newest := f.snapshots[len(f.snapshots)-1]
	snapshot, since := how, how
	since.version, since.since = newest.version, &latest{}
	read := make(chan error, 1)
	go func() { read <- since.log(f) }()
	err := snapshot.snapshot(newest)
	err = errors.Join(err, <-read)
	since.files, since.spans = append(snapshot.files, since.files...), append(snapshot.spans, since.spans...)
	return &since, err
}

// loadInTurn reads the newest snapshot that is sound, and then the log since.
func loadInTurn(f *folder, how reading) (*reading, error) {
	how.since = &latest{}
	r, err := loadSnapshot(f, how)
	if err == nil {
		err = r.log(f)
	}
	return r, err
}

// loadSnapshot reads the newest snapshot that is sound. Without any it begins with nothing.
func loadSnapshot(f *folder, how reading) (*reading, error) {
	for _, n := range slices.Backward(f.snapshots) {
		r := how
		err := r.snapshot(n)
		if err == nil || !errors.As(err, new(*Damage)) {
			return &r, err
		}
		how.damaged = append(how.damaged, n)
		how.notes = append(how.notes, err.Error()+"; what was before it is read in its place")
	}
	return &how, nil
}

// logAfter returns the segments that follow a version. There is none only in a folder that is new.
func (f *folder) logAfter(version int64) ([]fileName, error) {
	list := f.after(version)
	if len(list) == 0 && len(f.segments)+len(f.snapshots) > 0 {
		return nil, fmt.Errorf("%s: there is no log after version %d", f.dir, version)
	}
	return list, nil
}

// log reads the segments that follow the snapshot.
func (r *reading) log(f *folder) error {
	list, err := f.logAfter(r.version)
	if err != nil {
		return err
	}
	for i, n := range list {
		if err := r.follows(n); err != nil {
			return err
		}
		if err := r.segment(n, r.mayBeTorn && i == len(list)-1); err != nil {
			return err
		}
	}
	return nil
}

// follows reports whether a segment begins where what was read ends.
func (r *reading) follows(n fileName) error {
	if n.version != r.version+1 {
		return fmt.Errorf("%s: the records from version %d to %d are missing before it", n.path, r.version+1, n.version-1)
	}
	return nil
}

// snapshot counts the objects of a snapshot, each of which is there once.
func (r *reading) snapshot(n fileName) error {
	objects, counted := int64(0), int64(-1)
	end, err := eachFrame(n, func(c *content) error {
		if counted >= 0 {
			c.fail("records follow the end of the snapshot")
		}
		for c.next() {
			objects++
		}
		if c.ended {
			counted = c.count
		}
		r.found(n, c)
		return nil
	})
	if err == nil && objects != counted {
		err = &Damage{File: n.path, Offset: end, Reason: "the end of the snapshot is missing"}
	}
	if err == nil {
		r.spans[len(r.spans)-1].last = true
	}
	r.version, r.files, r.end = n.version, append(r.files, n), end
	return err
}

// tornMeans is what is known of a last frame that is not whole.
const tornMeans = "a crash leaves such an end of a write that it interrupted, which was not acknowledged; " +
	"but if the file was truncated, or copied in part, writes that were acknowledged are missing, and only a backup has them"

// segment reads one segment; where it may be torn, it leaves out what a crash tore.
func (r *reading) segment(n fileName, mayBeTorn bool) error {
	end, err := eachFrame(n, func(c *content) error {
		r.apply(c)
		r.found(n, c)
		return nil
	})
	if d, is := errors.AsType[*Damage](err); is && d.Torn && mayBeTorn {
		r.notes = append(r.notes, fmt.Sprintf("%v; all after version %d is cut off: %s", d, r.version, tornMeans))
		err = nil
	}
	r.files, r.end = append(r.files, n), end
	return err
}

// apply notes which objects the records of a frame are about.
func (r *reading) apply(c *content) {
	for c.next() {
		if c.version != r.version+1 {
			c.fail("version %d follows version %d", c.version, r.version)
			return
		}
		r.version++
		r.since.note(c.key, c.version, c.object != nil)
	}
	if c.ended {
		c.fail("a log has no end")
	}
}

// found notes where a sound frame lies.
func (r *reading) found(n fileName, c *content) {
	if c.err != nil {
		return
	}
	if last := len(r.spans) - 1; last >= 0 && r.spans[last].fileName == n && r.spans[last].to-r.spans[last].from < spanBytes {
		r.spans[last].to = c.to
		return
	}
	r.spans = append(r.spans, span{fileName: n, from: c.from, to: c.to})
}

// stored reports whether a record that was read is the last word on its object, and no deletion.
func (r *reading) stored(c *content, kind byte) bool {
	if kind == snapshots {
		return !r.since.knows(c.key)
	}
	return r.since.stored(c.version)
}

// gather returns what was found as a whole.
func (r *reading) gather() (State, error) {
	s := State{Version: r.version, Notes: r.notes}
	err := r.each(1, func(_ int, record *Record) error {
		kept := *record
		kept.Object = slices.Clone(record.Object)
		s.Records = append(s.Records, kept)
		return nil
	})
	slices.SortFunc(s.Records, func(a, b Record) int { return cmp.Compare(a.Key, b.Key) })
	return s, err
}

// eachFrame reads a file and returns where its last good frame ends. Content that does not add up is
// damage to its frame; an error of the reader's own is returned as it is.
func eachFrame(n fileName, read func(*content) error) (end int64, err error) {
	f, err := openFrames(n)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.close()) }()
	for {
		start := f.offset
		payload, err := f.next()
		if errors.Is(err, io.EOF) {
			return start, nil
		}
		if err != nil {
			return start, err
		}
		c := content{rest: payload, from: start, to: f.offset}
		if err := read(&c); err != nil {
			return start, err
		}
		if c.err != nil {
			return start, &Damage{File: n.path, Offset: start, Reason: c.err.Error()}
		}
	}
}
