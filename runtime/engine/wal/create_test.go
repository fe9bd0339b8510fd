package wal_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/runtime/engine/wal"
)

func TestALogIsMadeAsAWhole(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	var records []wal.Record
	for n := range 2500 {
		records = append(records, put(int64(1_000_000-n), fmt.Sprintf("/key/%04d", n)))
	}
	records[7].Expires = 42
	require.NoError(t, wal.Create(dir, records))
	report, err := wal.Verify(dir)
	require.NoError(t, err)
	require.Len(t, report.Files, 1)
	require.Equal(t, 3, report.Files[0].Frames)

	log, state := open(t, dir, wal.Options{})
	require.Equal(t, int64(2500), state.Version, "versions begin anew")
	require.Equal(t, records, state.Records)
	require.EqualValues(t, 42, state.Records[7].Expires)
	require.NoError(t, log.Append([]wal.Record{put(2501, "/key/new")}), "it goes on as any other")
	require.NoError(t, log.Close())
}

func TestALogOfNothingIsOne(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, wal.Create(dir, nil))
	exists, err := wal.Exists(dir)
	require.NoError(t, err)
	require.True(t, exists)
	report, err := wal.Verify(dir)
	require.NoError(t, err)
	require.Zero(t, report.Files[0].Frames)
}

func TestALogIsNotMadeOverAnother(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, wal.Options{}, rounds(1, 3)...)
	require.EqualError(t, wal.Create(dir, nil), dir+": holds a store already")
	log, state := open(t, dir, wal.Options{})
	require.Len(t, state.Records, 3)
	require.ErrorContains(t, wal.Create(dir, nil), "another process has it open")
	require.NoError(t, log.Close())
}

// TestWhoeverIsKilledWhileMakingALogHasMadeNone shows what such a one leaves: a part of the file, without its name.
func TestWhoeverIsKilledWhileMakingALogHasMadeNone(t *testing.T) {
	whole, dir := t.TempDir(), t.TempDir()
	require.NoError(t, wal.Create(whole, []wal.Record{put(1, "/a"), put(2, "/b")}))
	const name = "00000000000000000001.log"
	data, err := os.ReadFile(filepath.Join(whole, name))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, name+".tmp"), data[:len(data)/2], 0o600))
	exists, err := wal.Exists(dir)
	require.NoError(t, err)
	require.False(t, exists)
	require.NoError(t, wal.Create(dir, []wal.Record{put(1, "/a")}))
	require.Empty(t, names(t, dir, "*.tmp"))
	state, err := wal.Load(dir)
	require.NoError(t, err)
	require.Len(t, state.Records, 1)
}

func TestALogThatIsSetAsideIsWhole(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	write(t, dir, wal.Options{}, rounds(1, 3)...)
	require.NoError(t, wal.SetAside(dir, dir+".before"))
	state, err := wal.Load(dir + ".before")
	require.NoError(t, err)
	require.Len(t, state.Records, 3)
	require.NoDirExists(t, dir)

	write(t, dir, wal.Options{}, rounds(1, 1)...)
	require.EqualError(t, wal.SetAside(dir, dir+".before"), fmt.Sprintf("set aside %s: %[1]s.before is there already", dir))
	log, _ := open(t, dir, wal.Options{})
	require.ErrorContains(t, wal.SetAside(dir, dir+".other"), "another process has it open")
	require.NoError(t, log.Close())
}
