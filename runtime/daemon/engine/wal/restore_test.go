package wal_test

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/runtime/daemon/engine/wal"
)

// restored is what a folder restores in three parts, with its objects by key, and how often that began.
func restored(dir string) (state wal.State, begun int, err error) {
	var mu sync.Mutex
	var records []wal.Record
	log, state, err := wal.Restore(dir, wal.Options{}, 3, func() func(int, *wal.Record) error {
		begun, records = begun+1, nil
		return func(_ int, r *wal.Record) error {
			kept := *r
			kept.Object = slices.Clone(r.Object)
			mu.Lock()
			defer mu.Unlock()
			records = append(records, kept)
			return nil
		}
	})
	slices.SortFunc(records, func(a, b wal.Record) int { return cmp.Compare(a.Key, b.Key) })
	state.Records = records
	if err == nil {
		err = log.Close()
	}
	return state, begun, err
}

// requireRestored holds that a folder is restored as it is loaded, or fails with the same words.
func requireRestored(t *testing.T, dir string) {
	t.Helper()
	want, wrong := wal.Load(dir)
	other := copied(t, dir)
	state, _, err := restored(other)
	if wrong != nil {
		require.EqualError(t, err, strings.ReplaceAll(wrong.Error(), dir, other))
		return
	}
	require.NoError(t, err)
	for i := range want.Notes {
		want.Notes[i] = strings.ReplaceAll(want.Notes[i], dir, other)
	}
	require.Equal(t, want, state)
}

func TestASoundFolderIsRestoredAtTheFirstGo(t *testing.T) {
	dir := twoSnapshots(t)
	want, err := wal.Load(dir)
	require.NoError(t, err)
	state, begun, err := restored(dir)
	require.NoError(t, err)
	require.Equal(t, want, state)
	require.Equal(t, 1, begun)

	spoil(t, dir, "18.snapshot", func(data []byte) []byte { data[len(data)-1] ^= 1; return data })
	state, begun, err = restored(dir)
	require.NoError(t, err)
	require.Equal(t, want.Records, state.Records, "what was handed over of the damaged one is forgotten")
	require.Equal(t, 2, begun)
}

// TestOfASnapshotWhoseHeadersTellThatItIsDamagedNothingIsRestored: nor is what a wrong header asks for read.
func TestOfASnapshotWhoseHeadersTellThatItIsDamagedNothingIsRestored(t *testing.T) {
	for name, change := range map[string]func([]byte) []byte{
		"its length is wrong": func(data []byte) []byte { data[headSize+3] = 0x7f; return data },
		"it is cut":           func(data []byte) []byte { return data[:len(data)-1] },
	} {
		t.Run(name, func(t *testing.T) {
			dir := twoSnapshots(t)
			want, err := wal.Load(dir)
			require.NoError(t, err)
			spoil(t, dir, "18.snapshot", change)
			state, begun, err := restored(dir)
			require.NoError(t, err)
			require.Equal(t, want.Records, state.Records)
			require.Equal(t, 1, begun, "with the one before")
		})
	}
}

func TestWhoCannotTakeWhatIsRestoredSaysWhy(t *testing.T) {
	dir := twoSnapshots(t)
	full := errors.New("no room")
	_, _, err := wal.Restore(dir, wal.Options{}, 2, func() func(int, *wal.Record) error {
		return func(int, *wal.Record) error { return full }
	})
	require.ErrorIs(t, err, full)
	_, _, err = restored(dir)
	require.NoError(t, err, "the folder is free again")
}

func TestASnapshotThatIsNotWhatItsEndCountsIsNotRestored(t *testing.T) {
	dir := twoSnapshots(t)
	other := copied(t, dir)
	snapshot := func(dir string, version string) []byte {
		data, err := os.ReadFile(filepath.Join(dir, "000000000000000000"+version+".snapshot"))
		require.NoError(t, err)
		return data
	}
	whole := snapshot(dir, "18")
	for name, spoilt := range map[string][]byte{
		"nothing behind the header":         whole[:headSize],
		"a frame behind the end":            append(slices.Clone(whole), whole[headSize:]...),
		"the frames of another one as well": append(slices.Clone(whole[:headSize]), append(snapshot(dir, "12")[headSize:], whole[headSize:]...)...),
	} {
		t.Run(name, func(t *testing.T) {
			spoil(t, other, "18.snapshot", func([]byte) []byte { return spoilt })
			state, err := wal.Load(other)
			require.NoError(t, err)
			require.Len(t, state.Notes, 1)
			requireRestored(t, other)
		})
	}
}
