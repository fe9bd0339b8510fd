package wal

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// framed is a sound frame of some content.
func framed(parts ...[]byte) []byte {
	return endFrame(append(beginFrame(nil), bytes.Join(parts, nil)...))
}

// TestAFrameThatIsSoundAndSaysWhatIsNeverWrittenIsDamage makes files whose checksums are right: a fault of a program that wrote
// them, and not of the disk.
func TestAFrameThatIsSoundAndSaysWhatIsNeverWrittenIsDamage(t *testing.T) {
	a := appendRecord(nil, &Record{Version: 1, Key: "/a", Object: []byte(`{}`)})
	b := appendRecord(nil, &Record{Version: 2, Key: "/b", Object: []byte(`{}`)})
	c := appendRecord(nil, &Record{Version: 3, Key: "/c"})
	end := func(count int) []byte { return appendEnd(nil, count) }
	const log, snapshot = segments, snapshots
	for name, wrong := range map[string]struct {
		kind   byte
		frames [][]byte
		reason string
	}{
		"a record of another kind":                  {log, [][]byte{framed([]byte("X"))}, `unknown kind of record 'X'`},
		"a record of another kind, then a good one": {log, [][]byte{framed([]byte("X"), a)}, `unknown kind of record 'X'`},
		"a record without a version":                {log, [][]byte{framed([]byte("D"))}, "a record ends before its time"},
		"a number that does not end":                {log, [][]byte{framed([]byte{'D', 0x80})}, "a record ends before its time"},
		"a number beyond all versions":              {log, [][]byte{framed([]byte("D\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00"))}, "a record ends before its time"},
		"a key that is cut":                         {log, [][]byte{framed([]byte{'D', 1, 3, '/', 'a'})}, "a record ends before its time"},
		"an object that is cut":                     {log, [][]byte{framed(a[:len(a)-1])}, "a record ends before its time"},
		"a version that is missing":                 {log, [][]byte{framed(a, c)}, "version 3 follows version 1"},
		"a version that is there twice":             {log, [][]byte{framed(a), framed(a)}, "version 1 follows version 1"},
		"an end of a log":                           {log, [][]byte{framed(a, end(1))}, "a log has no end"},
		"a snapshot that counts too many":           {snapshot, [][]byte{framed(a, b, end(3))}, "the end of the snapshot is missing"},
		"a snapshot that counts too few":            {snapshot, [][]byte{framed(a), framed(b, end(1))}, "the end of the snapshot is missing"},
		"a snapshot with two ends":                  {snapshot, [][]byte{framed(a, b, end(2)), framed(end(2))}, "records follow the end of the snapshot"},
		"a snapshot of nothing with two ends":       {snapshot, [][]byte{framed(end(0)), framed(end(0))}, "records follow the end of the snapshot"},
		"a record behind the end of its frame":      {snapshot, [][]byte{framed(a, end(1), b)}, "records follow the end of the snapshot"},
		"a snapshot without an end":                 {snapshot, [][]byte{framed(a, b)}, "the end of the snapshot is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := func(kind byte, version int64, frames ...[]byte) {
				text := append(head(kind, version), bytes.Join(frames, nil)...)
				require.NoError(t, os.WriteFile(nameFile(dir, kind, version).path, text, 0o600))
			}
			if wrong.kind == log {
				file(log, 1, wrong.frames...)
			} else {
				file(snapshot, 2, wrong.frames...)
				file(log, 3)
			}
			_, err := Load(dir)
			require.ErrorContains(t, err, ": "+wrong.reason)
			f, err := readFolder(dir)
			require.NoError(t, err)
			_, err = restore(&f, 2, func() func(int, *Record) error { return func(int, *Record) error { return nil } })
			require.ErrorContains(t, err, ": "+wrong.reason)
		})
	}
}

// TestFramesOfAnySizeAreRead has frames that fit into the buffer of who reads them and frames that do not, in turn.
func TestFramesOfAnySizeAreRead(t *testing.T) {
	dir := t.TempDir()
	log, _, err := Open(dir, Options{})
	require.NoError(t, err)
	var want []Record
	for i, size := range []int{10, 3 << 20, 2 << 20, 10, 1 << 20, 10} {
		r := Record{Version: int64(i) + 1, Key: string(rune('a' + i)), Expires: math.MaxInt64, Object: bytes.Repeat([]byte("x"), size)}
		require.NoError(t, log.Append([]Record{r}))
		want = append(want, r)
	}
	require.NoError(t, log.Close())
	state, err := Load(dir)
	require.NoError(t, err)
	require.True(t, slices.EqualFunc(want, state.Records, func(a, b Record) bool {
		return a.Version == b.Version && a.Expires == b.Expires && bytes.Equal(a.Object, b.Object)
	}))
}

func TestAnAppendOfNothingIsSound(t *testing.T) {
	dir := t.TempDir()
	log, _, err := Open(dir, Options{})
	require.NoError(t, err)
	require.NoError(t, log.Append(nil))
	require.NoError(t, log.Close())
	state, err := Load(dir)
	require.NoError(t, err)
	require.Empty(t, state.Notes)
}

// TestAnAppendOfNothingShowsThatWhatPrecedesItWasDurable: a hole in that is none of a crash's.
func TestAnAppendOfNothingShowsThatWhatPrecedesItWasDurable(t *testing.T) {
	dir := t.TempDir()
	log, _, err := Open(dir, Options{})
	require.NoError(t, err)
	require.NoError(t, log.Append([]Record{{Version: 1, Key: "/a", Object: bytes.Repeat([]byte("x"), 2000)}}))
	require.NoError(t, log.Append(nil))
	require.NoError(t, log.Close())
	path := nameFile(dir, segments, 1).path
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	clear(data[512:1024])
	require.NoError(t, os.WriteFile(path, data, 0o600))
	_, err = Load(dir)
	require.ErrorAs(t, err, new(*Damage))
}

// TestWhoReadsAFolderLeavesNoFileOpen reads one that is sound and one that is not.
func TestWhoReadsAFolderLeavesNoFileOpen(t *testing.T) {
	dir := t.TempDir()
	log, _, err := Open(dir, Options{})
	require.NoError(t, err)
	require.NoError(t, log.Append([]Record{{Version: 1, Key: "/a", Object: []byte(`{}`)}}))
	require.NoError(t, log.Compact())
	require.NoError(t, log.Close())
	take := func(int, *Record) error { return nil }
	read := func() {
		_, _ = Load(dir)
		_, _ = Verify(dir)
		if log, _, err := Restore(dir, Options{}, 2, func() func(int, *Record) error { return take }); err == nil {
			require.NoError(t, log.Close())
		}
	}
	read()
	before := openFiles(t, dir)
	read()
	require.Equal(t, before, openFiles(t, dir))
	require.NoError(t, os.Truncate(nameFile(dir, segments, 2).path, 3))
	require.NoError(t, os.Truncate(nameFile(dir, snapshots, 1).path, 40))
	read()
	require.Equal(t, before, openFiles(t, dir))
}

// openFiles are those files of a folder that this process has open.
func openFiles(t *testing.T, dir string) (paths []string) {
	t.Helper()
	const own = "/proc/self/fd"
	entries, err := os.ReadDir(own)
	if err != nil {
		t.Skip("only Linux tells: ", err)
	}
	for _, e := range entries {
		if path, err := os.Readlink(filepath.Join(own, e.Name())); err == nil && filepath.Dir(path) == dir {
			paths = append(paths, path)
		}
	}
	return paths
}
