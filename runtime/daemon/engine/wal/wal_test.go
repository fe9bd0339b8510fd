package wal_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/runtime/daemon/engine/wal"
)

// small makes every few records a segment.
var small = wal.Options{SegmentBytes: 200}

func open(t *testing.T, dir string, o wal.Options) (*wal.Log, wal.State) {
	t.Helper()
	log, state, err := wal.Open(dir, o)
	require.NoError(t, err)
	return log, state
}

// put is a record whose object tells its version.
func put(version int64, key string) wal.Record {
	return wal.Record{Version: version, Key: key, Object: fmt.Appendf(nil, `{"at":%d}`, version)}
}

func drop(version int64, key string) wal.Record { return wal.Record{Version: version, Key: key} }

// write appends each group of records as one, and closes the log.
func write(t *testing.T, dir string, o wal.Options, groups ...[]wal.Record) {
	t.Helper()
	log, _ := open(t, dir, o)
	for _, g := range groups {
		require.NoError(t, log.Append(g))
	}
	require.NoError(t, log.Close())
}

// rounds are as many groups of one record, over three keys.
func rounds(from, to int64) [][]wal.Record {
	var groups [][]wal.Record
	for v := from; v <= to; v++ {
		groups = append(groups, []wal.Record{put(v, fmt.Sprintf("/key/%d", v%3))})
	}
	return groups
}

// told are the records of a state, as "key=object".
func told(s wal.State) []string {
	var list []string
	for _, r := range s.Records {
		list = append(list, r.Key+"="+string(r.Object))
	}
	return list
}

func names(t *testing.T, dir, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, pattern))
	require.NoError(t, err)
	for i := range paths {
		paths[i] = strings.TrimLeft(filepath.Base(paths[i]), "0")
	}
	return paths
}

func TestWhatWasAppendedIsThereAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	log, state := open(t, dir, wal.Options{})
	require.Zero(t, state.Version)
	expiring := put(2, "/b")
	expiring.Expires = 42
	require.NoError(t, log.Append([]wal.Record{put(1, "/a"), expiring}))
	require.NoError(t, log.Append([]wal.Record{put(3, "/c"), drop(4, "/a")}))
	require.NoError(t, log.Close())

	log, state = open(t, dir, wal.Options{})
	require.Equal(t, wal.State{Version: 4, Records: []wal.Record{expiring, put(3, "/c")}}, state)
	require.NoError(t, log.Append([]wal.Record{put(5, "/a")}))
	require.NoError(t, log.Close())
	state, err := wal.Load(dir)
	require.NoError(t, err)
	require.Equal(t, []string{`/a={"at":5}`, `/b={"at":2}`, `/c={"at":3}`}, told(state))
}

func TestVersionsHaveNoGap(t *testing.T) {
	log, _ := open(t, t.TempDir(), wal.Options{})
	require.NoError(t, log.Append([]wal.Record{put(1, "/a")}))
	require.EqualError(t, log.Append([]wal.Record{put(3, "/a")}), "append version 3: the next is 2")
	require.Error(t, log.Append([]wal.Record{put(2, "/a")}), "a log that has failed takes nothing more")
	require.Error(t, log.Compact())
	require.NoError(t, log.Close())
}

func TestALogIsCutIntoSegments(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, small, rounds(1, 12)...)
	require.Equal(t, []string{"1.log", "7.log"}, names(t, dir, "*.log"))
	_, state := open(t, dir, small)
	require.Equal(t, []string{`/key/0={"at":12}`, `/key/1={"at":10}`, `/key/2={"at":11}`}, told(state))
}

func TestAFolderBelongsToOneProcess(t *testing.T) {
	dir := t.TempDir()
	log, _ := open(t, dir, wal.Options{})
	busy := fmt.Sprintf("lock %s: another process has it open", dir)
	_, _, err := wal.Open(dir, wal.Options{})
	require.EqualError(t, err, busy)
	_, err = wal.Load(dir)
	require.EqualError(t, err, busy)
	_, err = wal.Verify(dir)
	require.EqualError(t, err, busy)
	require.NoError(t, log.Close())
	_, err = wal.Load(dir)
	require.NoError(t, err)
}

func TestWhatIsNoStoreIsNotChanged(t *testing.T) {
	dir := t.TempDir()
	_, err := wal.Verify(dir)
	require.EqualError(t, err, dir+": holds no store")
	require.Empty(t, names(t, dir, "*"))
	nowhere := filepath.Join(dir, "nowhere")
	_, err = wal.Load(nowhere)
	require.EqualError(t, err, nowhere+": holds no store")

	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, _, err = wal.Open(file, wal.Options{})
	require.ErrorContains(t, err, "not a directory")
}

func TestASnapshotShortensTheLog(t *testing.T) {
	dir := t.TempDir()
	log, _ := open(t, dir, wal.Options{})
	version := int64(0)
	grow := func() {
		for range 10 {
			version++
			require.NoError(t, log.Append([]wal.Record{put(version, fmt.Sprintf("/key/%d", version%3))}))
		}
	}
	require.NoError(t, log.Compact())
	require.Empty(t, names(t, dir, "*.snapshot"), "there is nothing to hold")
	grow()
	require.NoError(t, log.Compact())
	require.NoError(t, log.Compact())
	require.Equal(t, []string{"10.snapshot", "1.log", "11.log"}, append(names(t, dir, "*.snapshot"), names(t, dir, "*.log")...),
		"with one snapshot the whole log is kept, should the snapshot be damaged")
	grow()
	require.NoError(t, log.Append([]wal.Record{drop(21, "/key/1")}))
	version++
	require.NoError(t, log.Compact())
	require.Equal(t, []string{"10.snapshot", "21.snapshot", "11.log", "22.log"}, append(names(t, dir, "*.snapshot"), names(t, dir, "*.log")...))
	grow()
	require.NoError(t, log.Compact())
	require.Equal(t, []string{"21.snapshot", "31.snapshot", "22.log", "32.log"}, append(names(t, dir, "*.snapshot"), names(t, dir, "*.log")...))
	require.NoError(t, log.Close())

	state, err := wal.Load(dir)
	require.NoError(t, err)
	require.EqualValues(t, 31, state.Version)
	require.Equal(t, []string{`/key/0={"at":30}`, `/key/1={"at":31}`, `/key/2={"at":29}`}, told(state))
}

func TestALogThatOutgrowsItsSnapshotGetsTheNext(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, small, rounds(1, 200)...)
	require.Len(t, names(t, dir, "*.snapshot"), 2)
	require.Less(t, len(names(t, dir, "*.log")), 20)
	state, err := wal.Load(dir)
	require.NoError(t, err)
	require.Equal(t, []string{`/key/0={"at":198}`, `/key/1={"at":199}`, `/key/2={"at":200}`}, told(state))
}

func TestASnapshotOfManyFrames(t *testing.T) {
	dir := t.TempDir()
	log, _ := open(t, dir, wal.Options{})
	var records []wal.Record
	for v := range int64(2000) {
		records = append(records, wal.Record{Version: v + 1, Key: fmt.Sprintf("/key/%04d", v), Object: fmt.Appendf(nil, "%01000d", v)})
	}
	require.NoError(t, log.Append(records))
	require.NoError(t, log.Compact())
	require.NoError(t, log.Close())
	report, err := wal.Verify(dir)
	require.NoError(t, err)
	require.Equal(t, 8, report.Files[0].Frames)
	state, err := wal.Load(dir)
	require.NoError(t, err)
	require.Equal(t, records, state.Records)
}

func TestVerifyTellsWhatEachFileHolds(t *testing.T) {
	dir := t.TempDir()
	log, _ := open(t, dir, wal.Options{})
	require.NoError(t, log.Append([]wal.Record{put(1, "/a"), put(2, "/b")}))
	require.NoError(t, log.Append([]wal.Record{put(3, "/a")}))
	require.NoError(t, log.Compact())
	require.NoError(t, log.Close())

	report, err := wal.Verify(dir)
	require.NoError(t, err)
	for i := range report.Files {
		require.NotZero(t, report.Files[i].Bytes)
		report.Files[i].Bytes = 0
	}
	require.Equal(t, wal.Report{Version: 3, Objects: 2, Files: []wal.FileReport{
		{Name: "00000000000000000003.snapshot", Frames: 1, Records: 2, First: 2, Last: 3},
		{Name: "00000000000000000001.log", Frames: 2, Records: 3, First: 1, Last: 3},
		{Name: "00000000000000000004.log"},
	}}, report)
}

func TestWhatACrashLeavesUnfinishedIsRemoved(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, small, rounds(1, 3)...)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "00000000000000000003.snapshot.tmp"), []byte("half"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("mine"), 0o600))
	log, _ := open(t, dir, small)
	require.NoError(t, log.Close())
	require.Empty(t, names(t, dir, "*.tmp"))
	require.Len(t, names(t, dir, "notes.txt"), 1)
}
