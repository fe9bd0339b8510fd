package wal

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// State is what stands at the end of a log.
type State struct {
	// Version is that of the last record.
	Version int64
	// Records are the objects, by key. None is a deletion.
	Records []Record
	// Notes are damages that cost nothing: a snapshot in whose place an older one and the log since were
	// read, and the frame that a crash left half written, which is cut off.
	Notes []string
}

// reading gathers the state.
type reading struct {
	// namesOnly leaves the objects themselves on the disk.
	namesOnly bool
	// mayBeTorn accepts that a crash has torn the end.
	mayBeTorn bool

	version int64
	objects map[string]Record
	// gone are the keys under which nothing stands since the reading began. Nil where it begins with all that stood.
	gone  map[string]bool
	notes []string
	// damaged are the snapshots in whose place something else was read.
	damaged []fileName
	// files are those read, in their order; the last of them is good up to end.
	files []fileName
	end   int64
}

// load reads a folder: the newest snapshot that is sound, and the log since. The reading says how.
func load(f *folder, how reading) (*reading, error) {
	r, err := loadAtOnce(f, how)
	if errors.As(err, new(*Damage)) {
		r, err = loadInTurn(f, how)
	}
	if err != nil && len(r.notes) > 0 {
		err = fmt.Errorf("%w (%s)", err, strings.Join(r.notes, "; "))
	}
	return r, err
}

// loadAtOnce reads the newest snapshot and the log since side by side: they are most of the time that a start takes.
func loadAtOnce(f *folder, how reading) (*reading, error) {
	if len(f.snapshots) == 0 {
		return loadInTurn(f, how)
	}
	newest := f.snapshots[len(f.snapshots)-1]
	r, since := how, how
	r.objects = map[string]Record{}
	since.version, since.objects, since.gone = newest.version, map[string]Record{}, map[string]bool{}
	read := make(chan error, 1)
	go func() { read <- since.log(f) }()
	err := r.snapshot(newest)
	if err = errors.Join(err, <-read); err == nil {
		r.follow(&since)
	}
	return &r, err
}

// follow makes stand what a reading of the log since made.
func (r *reading) follow(since *reading) {
	for key := range since.gone { // order-free: each is another's
		delete(r.objects, key)
	}
	maps.Copy(r.objects, since.objects)
	r.version, r.notes, r.files, r.end = since.version, append(r.notes, since.notes...), append(r.files, since.files...), since.end
}

// loadInTurn reads the newest snapshot that is sound, and then the log since.
func loadInTurn(f *folder, how reading) (*reading, error) {
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
		r.objects = map[string]Record{}
		err := r.snapshot(n)
		if err == nil || !errors.As(err, new(*Damage)) {
			return &r, err
		}
		how.damaged = append(how.damaged, n)
		how.notes = append(how.notes, err.Error()+"; what was before it is read in its place")
	}
	how.objects = map[string]Record{}
	return &how, nil
}

// log reads the segments that follow the snapshot.
func (r *reading) log(f *folder) error {
	list := f.after(r.version)
	if len(list) == 0 && len(f.segments)+len(f.snapshots) > 0 {
		return fmt.Errorf("%s: there is no log after version %d", f.dir, r.version)
	}
	for i, n := range list {
		if n.version != r.version+1 {
			return fmt.Errorf("%s: the records from version %d to %d are missing before it", n.path, r.version+1, n.version-1)
		}
		if err := r.segment(n, r.mayBeTorn && i == len(list)-1); err != nil {
			return err
		}
	}
	return nil
}

func (r *reading) snapshot(n fileName) error {
	objects := int64(-1)
	end, err := eachFrame(n, func(c *content) error {
		if objects >= 0 {
			c.fail("records follow the end of the snapshot")
		}
		for record := c.next(); record != nil; record = c.next() {
			r.keep(record)
		}
		if c.ended {
			objects = c.count
		}
		return nil
	})
	if err == nil && objects != int64(len(r.objects)) {
		err = &Damage{File: n.path, Offset: end, Reason: "the end of the snapshot is missing"}
	}
	r.version, r.files, r.end = n.version, append(r.files, n), end
	return err
}

// segment reads one segment; where it may be torn, it leaves out what a crash tore.
func (r *reading) segment(n fileName, mayBeTorn bool) error {
	end, err := eachFrame(n, r.apply)
	var d *Damage
	if errors.As(err, &d) && d.Torn && mayBeTorn {
		r.notes = append(r.notes, d.Error()+"; it was never acknowledged and is cut off")
		err = nil
	}
	r.files, r.end = append(r.files, n), end
	return err
}

// apply makes the records of a frame stand.
func (r *reading) apply(c *content) error {
	for record := c.next(); record != nil; record = c.next() {
		if record.Version != r.version+1 {
			c.fail("version %d follows version %d", record.Version, r.version)
			return nil
		}
		r.version++
		if record.Object == nil {
			r.drop(record.Key)
		} else {
			r.keep(record)
		}
	}
	if c.ended {
		c.fail("a log has no end")
	}
	return nil
}

// drop has nothing stand under a key.
func (r *reading) drop(key string) {
	delete(r.objects, key)
	if r.gone != nil {
		r.gone[key] = true
	}
}

// keep lets a record stand, which will live longer than the frame that it was read from.
func (r *reading) keep(record *Record) {
	if r.namesOnly {
		record.Object = nil
	}
	record.Object = slices.Clone(record.Object)
	r.objects[record.Key] = *record
}

func (r *reading) state() State {
	s := State{Version: r.version, Records: make([]Record, 0, len(r.objects)), Notes: r.notes}
	for _, record := range r.objects { // order-free: sorted below, and no two have the same key
		s.Records = append(s.Records, record)
	}
	slices.SortFunc(s.Records, func(a, b Record) int { return cmp.Compare(a.Key, b.Key) })
	return s
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
		c := content{rest: payload}
		if err := read(&c); err != nil {
			return start, err
		}
		if c.err != nil {
			return start, &Damage{File: n.path, Offset: start, Reason: c.err.Error()}
		}
	}
}
