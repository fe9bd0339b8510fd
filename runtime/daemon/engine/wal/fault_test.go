package wal_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"leeward/runtime/daemon/engine/wal"
)

// disk breaks on demand.
type disk struct {
	sync error
	// remaining is how many more bytes there are; negative is plenty.
	remaining int
	// only breaks files of such a name.
	only string
}

type brokenFile struct {
	*os.File
	disk *disk
	well bool
}

func (d *disk) open(path string) (wal.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	return &brokenFile{f, d, !strings.Contains(path, d.only)}, err
}

func (f *brokenFile) Sync() error {
	if f.disk.sync != nil && !f.well {
		return f.disk.sync
	}
	return f.File.Sync()
}

func (f *brokenFile) Write(b []byte) (int, error) {
	if f.disk.remaining < 0 || f.well {
		return f.File.Write(b)
	}
	n, err := f.File.Write(b[:min(len(b), f.disk.remaining)])
	f.disk.remaining -= n
	if err == nil && n < len(b) {
		err = &os.PathError{Op: "write", Path: f.Name(), Err: syscall.ENOSPC}
	}
	return n, err
}

func TestADiskThatBreaksLosesNothingAcknowledged(t *testing.T) {
	for name, c := range map[string]struct {
		fault disk
		wrong error
	}{
		"a sync that fails":                       {disk{sync: syscall.EIO, remaining: -1}, syscall.EIO},
		"a full disk":                             {disk{remaining: 0}, syscall.ENOSPC},
		"a disk that fills up in the middle":      {disk{remaining: 9}, syscall.ENOSPC},
		"a disk that takes the frame's header":    {disk{remaining: frameSize}, syscall.ENOSPC},
		"a disk that takes all but the last byte": {disk{remaining: frameSize + 15 - 1}, syscall.ENOSPC},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			d := disk{remaining: -1}
			var said shared
			log, _ := open(t, dir, wal.Options{OpenFile: d.open, Log: zerolog.New(&said)})
			require.NoError(t, log.Append([]wal.Record{put(1, "/a")}))
			d = c.fault
			require.ErrorIs(t, log.Append([]wal.Record{put(2, "/a")}), c.wrong)
			d = disk{remaining: -1}
			require.ErrorIs(t, log.Append([]wal.Record{put(2, "/a")}), c.wrong, "nobody knows what is on the disk")
			require.ErrorIs(t, log.Compact(), c.wrong)
			require.Equal(t, 1, strings.Count(said.String(), "log failed: it takes nothing more until it is opened again"))
			require.NoError(t, log.Close())

			log, state := open(t, dir, wal.Options{})
			require.Equal(t, []string{`/a={"at":1}`}, told(state), "what was refused does not come back")
			require.Empty(t, state.Notes)
			require.NoError(t, log.Append([]wal.Record{put(2, "/b")}))
			require.NoError(t, log.Close())
		})
	}
}

func TestANewSegmentThatCannotBeWrittenEndsTheLog(t *testing.T) {
	dir := t.TempDir()
	d := disk{remaining: -1, only: ".tmp"}
	log, _ := open(t, dir, wal.Options{OpenFile: d.open, SegmentBytes: 40})
	require.NoError(t, log.Append([]wal.Record{put(1, "/a")}))
	d.remaining = 5
	err := log.Append([]wal.Record{put(2, "/a")})
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.ErrorContains(t, err, "begin the segment after ")
	require.NoError(t, log.Close())

	log, state := open(t, dir, wal.Options{})
	require.Equal(t, []string{`/a={"at":1}`}, told(state))
	require.NoError(t, log.Close())
}

func TestASnapshotThatCannotBeWrittenLeavesTheLogAlone(t *testing.T) {
	dir := t.TempDir()
	var said shared
	d := disk{remaining: -1, only: ".snapshot"}
	log, _ := open(t, dir, wal.Options{OpenFile: d.open, SegmentBytes: 50, Log: zerolog.New(&said)})
	d.sync = syscall.EIO
	for _, g := range rounds(1, 6) {
		require.NoError(t, log.Append(g))
	}
	require.ErrorIs(t, log.Compact(), syscall.EIO)
	require.NoError(t, log.Append([]wal.Record{put(7, "/key/0")}))
	require.NoError(t, log.Close())
	require.Contains(t, said.String(), "input/output error")
	require.Contains(t, said.String(), "snapshot not written: the log grows")
	require.Empty(t, names(t, dir, "*.snapshot*"))
	state, err := wal.Load(dir)
	require.NoError(t, err)
	require.Equal(t, []string{`/key/0={"at":7}`, `/key/1={"at":4}`, `/key/2={"at":5}`}, told(state))
}

// TestAFileThatCannotBeMadeIsSaid has the disk refuse to open a file, and a folder stand where its name should be.
func TestAFileThatCannotBeMadeIsSaid(t *testing.T) {
	full := &os.PathError{Op: "open", Path: "it", Err: syscall.ENOSPC}
	for name, c := range map[string]struct {
		ending string
		open   func(path string) error // before the file is opened
		err    error
		wrong  string
	}{
		"no snapshot can be opened":                  {".snapshot.tmp", func(string) error { return full }, full, "00001.snapshot: open it: no space left on device"},
		"no segment can be opened":                   {".log.tmp", func(string) error { return full }, full, "00001.log: open it: no space left on device"},
		"something has the name of a snapshot":       {".snapshot.tmp", makeFolder, syscall.EEXIST, "rename "},
		"something has the name of the next segment": {".log.tmp", makeFolder, syscall.EEXIST, "rename "},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			d, broken := disk{remaining: -1}, false
			log, _ := open(t, dir, wal.Options{OpenFile: func(path string) (wal.File, error) {
				if broken && strings.HasSuffix(path, c.ending) {
					if err := c.open(path); err != nil {
						return nil, err
					}
				}
				return d.open(path)
			}})
			require.NoError(t, log.Append([]wal.Record{put(1, "/a")}))
			broken = true
			err := log.Compact()
			require.ErrorIs(t, err, c.err)
			require.ErrorContains(t, err, c.wrong)
			require.NotContains(t, err.Error(), "no such file", "what was not made need not be removed")
			require.NoError(t, log.Close())
			require.Empty(t, names(t, dir, "*.snapshot.tmp"))
		})
	}
}

// makeFolder makes a folder of the name that an unfinished file is to get.
func makeFolder(path string) error { return os.Mkdir(strings.TrimSuffix(path, ".tmp"), 0o700) }

// watched counts what a log opens, and what it leaves unsynced in files of snapshots.
type watched struct {
	opened          []string
	unsynced, syncs int
	most            int
}

type watchedFile struct {
	*os.File
	w        *watched
	snapshot bool
}

func (w *watched) open(path string) (wal.File, error) {
	w.opened = append(w.opened, path)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	return &watchedFile{f, w, strings.Contains(path, ".snapshot")}, err
}

func (f *watchedFile) Write(b []byte) (int, error) {
	if f.snapshot {
		f.w.unsynced += len(b)
		f.w.most = max(f.w.most, f.w.unsynced)
	}
	return f.File.Write(b)
}

func (f *watchedFile) Sync() error {
	if f.snapshot {
		f.w.unsynced = 0
		f.w.syncs++
	}
	return nil
}

// TestASnapshotIsSyncedNowAndThen writes one of 8 MiB. What is not synced the log may have to wait for, and each sync takes its time.
func TestASnapshotIsSyncedNowAndThen(t *testing.T) {
	dir := t.TempDir()
	var w watched
	log, _ := open(t, dir, wal.Options{OpenFile: w.open})
	var records []wal.Record
	for v := range int64(64) {
		records = append(records, wal.Record{Version: v + 1, Key: fmt.Sprintf("/key/%02d", v), Object: bytes.Repeat([]byte("x"), 128<<10)})
	}
	require.NoError(t, log.Append(records))
	require.NoError(t, log.Compact())
	require.NoError(t, log.Close())
	require.Less(t, w.most, 2<<20)
	require.Less(t, w.syncs, 12)
	require.Zero(t, w.unsynced, "it has its name when all of it is synced")
}

func TestASegmentThatHoldsNothingIsNotFollowedByAnother(t *testing.T) {
	dir := t.TempDir()
	var w watched
	log, _ := open(t, dir, wal.Options{OpenFile: w.open})
	require.NoError(t, log.Compact())
	require.NoError(t, log.Append([]wal.Record{put(1, "/a")}))
	require.NoError(t, log.Compact())
	require.NoError(t, log.Compact())
	require.Len(t, w.opened, 3, "two segments and a snapshot")
	require.NoError(t, log.Close())
}

// TestASegmentThatIsJustFullIsFollowedByTheNext and, as all of the log is as large as that, by a snapshot.
func TestASegmentThatIsJustFullIsFollowedByTheNext(t *testing.T) {
	measured, dir := t.TempDir(), t.TempDir()
	write(t, measured, wal.Options{}, rounds(1, 3)...)
	report, err := wal.Verify(measured)
	require.NoError(t, err)
	write(t, dir, wal.Options{SegmentBytes: report.Files[0].Bytes}, rounds(1, 4)...)
	require.Equal(t, []string{"3.snapshot", "1.log", "4.log"}, append(names(t, dir, "*.snapshot"), names(t, dir, "*.log")...))
}
