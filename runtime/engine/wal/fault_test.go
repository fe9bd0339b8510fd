package wal_test

import (
	"bytes"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"leeward/runtime/engine/wal"
)

// disk breaks on demand.
type disk struct {
	sync error
	// room is how many more bytes there are; negative is plenty.
	room int
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
	if f.disk.room < 0 || f.well {
		return f.File.Write(b)
	}
	n, err := f.File.Write(b[:min(len(b), f.disk.room)])
	f.disk.room -= n
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
		"a sync that fails":                       {disk{sync: syscall.EIO, room: -1}, syscall.EIO},
		"a full disk":                             {disk{room: 0}, syscall.ENOSPC},
		"a disk that fills up in the middle":      {disk{room: 9}, syscall.ENOSPC},
		"a disk that takes the frame's header":    {disk{room: frameSize}, syscall.ENOSPC},
		"a disk that takes all but the last byte": {disk{room: frameSize + 15 - 1}, syscall.ENOSPC},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			d := disk{room: -1}
			var said bytes.Buffer
			log, _ := open(t, dir, wal.Options{OpenFile: d.open, Log: zerolog.New(&said)})
			require.NoError(t, log.Append([]wal.Record{put(1, "/a")}))
			d = c.fault
			require.ErrorIs(t, log.Append([]wal.Record{put(2, "/a")}), c.wrong)
			d = disk{room: -1}
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
	d := disk{room: -1, only: ".tmp"}
	log, _ := open(t, dir, wal.Options{OpenFile: d.open, SegmentBytes: 40})
	require.NoError(t, log.Append([]wal.Record{put(1, "/a")}))
	d.room = 5
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
	var said bytes.Buffer
	d := disk{room: -1, only: ".snapshot"}
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
