package wal

import (
	"errors"
	"fmt"
	"os"
)

const (
	// frameBytes is about how much of a snapshot has one checksum.
	frameBytes = 256 << 10
	// unsyncedBytes is about how much of a snapshot is written before it is synced. A file system may make
	// the sync of the log wait for all that other files have not synced.
	unsyncedBytes = 1 << 20
)

// Compact writes a snapshot of all that the log holds, and removes what is older than the snapshot
// before.
func (l *Log) Compact() error {
	if l.failed == nil {
		l.failed = l.rotate()
	}
	if l.failed != nil {
		return l.failed
	}
	l.compaction.Lock()
	defer l.compaction.Unlock()
	return l.snapshot(l.version, false)
}

// compactInBackground writes a snapshot if the log has outgrown the last one. Segments that are ended do
// not change, so no writer waits for it.
func (l *Log) compactInBackground() {
	version := l.version
	l.background.Go(func() {
		l.compaction.Lock()
		defer l.compaction.Unlock()
		if err := l.snapshot(version, true); err != nil {
			l.Log.Error().Str("folder", l.dir).Err(err).Msg("snapshot not written: the log grows")
		}
	})
}

// snapshot writes a snapshot of the segments up to a version. It reads the last one and the log since
// twice: first for what is still stored, then to copy that.
func (l *Log) snapshot(version int64, ifOutgrown bool) error {
	f, err := readFolder(l.dir)
	if err != nil {
		return err
	}
	f.segments = f.segments[:len(f.segments)-len(f.after(version))]
	if due, err := f.grown(ifOutgrown, l.SegmentBytes); err != nil || !due {
		return err
	}
	r, err := load(&f, false)
	if err == nil {
		err = setAside(r.damaged)
	}
	if err != nil {
		return err
	}
	if r.version != version {
		return fmt.Errorf("%s: the log ends at version %d, not %d", l.dir, r.version, version)
	}
	n := nameFile(l.dir, snapshots, version)
	objects, err := l.writeSnapshot(n, r)
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", n.path, err), remove(n.path+unfinished))
	}
	l.Log.Info().Str("folder", l.dir).Int64("version", version).Int("objects", objects).Msg("snapshot written")
	return prune(l.dir)
}

// grown reports whether there is anything since the newest snapshot. To have outgrown it, that must be
// as large as it is, and large enough to be worth a snapshot.
func (f *folder) grown(outgrown bool, least int64) (bool, error) {
	var since int64
	if n := len(f.snapshots); n > 0 {
		since = f.snapshots[n-1].version
		size, err := sizeOf(f.snapshots[n-1])
		if err != nil {
			return false, err
		}
		least = max(least, size)
	}
	list := f.after(since)
	if !outgrown {
		return len(list) > 0, nil
	}
	size, err := sizeOf(list...)
	return size >= least, err
}

// setAside takes damaged snapshots out of the way and keeps them for people who want to know why.
func setAside(damaged []fileName) error {
	for _, n := range damaged {
		if err := os.Rename(n.path, n.path+".damaged"); err != nil {
			return err
		}
	}
	return nil
}

func sizeOf(files ...fileName) (int64, error) {
	var size int64
	for _, n := range files {
		info, err := os.Stat(n.path)
		if err != nil {
			return 0, err
		}
		size += info.Size()
	}
	return size, nil
}

// remove does not mind a file that is not there.
func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

func (l *Log) writeSnapshot(n fileName, r *reading) (objects int, err error) {
	file, err := l.create(n)
	if err != nil {
		return 0, err
	}
	w := &snapshotWriter{file: file, frame: beginFrame(nil), syncEvery: unsyncedBytes}
	err = w.copy(r)
	if err == nil {
		err = publish(file, n)
	}
	return w.objects, errors.Join(err, file.Close())
}

// snapshotWriter gathers records into frames.
type snapshotWriter struct {
	file     File
	frame    []byte
	objects  int
	unsynced int
	// syncEvery is about how much is written before it is synced.
	syncEvery int
}

// copy writes those records of what was read that still stand.
func (w *snapshotWriter) copy(r *reading) error {
	if err := r.each(1, func(_ int, record *Record) error { return w.add(record) }); err != nil {
		return err
	}
	return w.end()
}

func (w *snapshotWriter) end() error {
	w.frame = appendEnd(w.frame, w.objects)
	return w.endFrame()
}

func (w *snapshotWriter) add(record *Record) error {
	w.objects++
	w.frame = appendRecord(w.frame, record)
	if len(w.frame) < frameBytes {
		return nil
	}
	return w.endFrame()
}

func (w *snapshotWriter) endFrame() error {
	if _, err := w.file.Write(endFrame(w.frame)); err != nil {
		return err
	}
	w.unsynced += len(w.frame)
	w.frame = beginFrame(w.frame)
	if w.unsynced < w.syncEvery {
		return nil
	}
	w.unsynced = 0
	return w.file.Sync()
}

// prune keeps the two newest snapshots and the log since the older of them; with one snapshot only, the
// whole log. The oldest goes first, so that what a crash leaves has no gap.
func prune(dir string) error {
	f, err := readFolder(dir)
	if err != nil || len(f.snapshots) < 2 {
		return err
	}
	older := len(f.snapshots) - 2
	obsolete := append(f.snapshots[:older:older], f.segments[:len(f.segments)-len(f.after(f.snapshots[older].version))]...)
	for _, n := range obsolete {
		err = errors.Join(err, os.Remove(n.path))
	}
	return err
}
