package wal_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/runtime/daemon/engine/wal"
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
	require.Equal(t, []string{"00000000000000002500.snapshot", "00000000000000002501.log"}, []string{report.Files[0].Name, report.Files[1].Name})
	require.Equal(t, 2500, report.Files[0].Records, "a start reads each of them once, on every processor")
	require.Zero(t, report.Files[1].Records)

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

// TestAProcessThatIsKilledWhileMakingALogHasMadeNone shows what such a one leaves: an empty segment, and a part of a snapshot without
// its name.
func TestAProcessThatIsKilledWhileMakingALogHasMadeNone(t *testing.T) {
	whole := t.TempDir()
	require.NoError(t, wal.Create(whole, []wal.Record{put(1, "/a"), put(2, "/b")}))
	const segment, snapshot = "00000000000000000003.log", "00000000000000000002.snapshot"
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(whole, name))
		require.NoError(t, err)
		return data
	}
	for name, left := range map[string]map[string][]byte{
		"a part of the segment":                {segment + ".tmp": read(segment)[:7]},
		"the segment":                          {segment: read(segment)},
		"the segment and a part of a snapshot": {segment: read(segment), snapshot + ".tmp": read(snapshot)[:30]},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, data := range left {
				require.NoError(t, os.WriteFile(filepath.Join(dir, file), data, 0o600))
			}
			exists, err := wal.Exists(dir)
			require.NoError(t, err)
			require.False(t, exists)
			_, err = wal.Load(dir)
			require.ErrorIs(t, err, wal.ErrNoStore)
			if left[segment] != nil {
				_, _, err = wal.Open(dir, wal.Options{})
				require.ErrorContains(t, err, "the records from version 1 to 2 are missing before it", "nobody takes it for an empty store")
			}
			require.NoError(t, wal.Create(dir, []wal.Record{put(1, "/a")}))
			require.Empty(t, names(t, dir, "*.tmp"))
			require.Len(t, names(t, dir, "*.log"), 1)
			state, err := wal.Load(dir)
			require.NoError(t, err)
			require.Len(t, state.Records, 1)
		})
	}
}

// TestALogWithoutItsSnapshotsIsOne keeps what the log says since from being taken for what a kill left.
func TestALogWithoutItsSnapshotsIsOne(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, wal.Create(dir, []wal.Record{put(1, "/a"), put(2, "/b")}))
	log, _ := open(t, dir, wal.Options{})
	require.NoError(t, log.Append([]wal.Record{put(3, "/c")}))
	require.NoError(t, log.Close())
	require.NoError(t, os.Remove(filepath.Join(dir, "00000000000000000002.snapshot")))
	exists, err := wal.Exists(dir)
	require.NoError(t, err)
	require.True(t, exists)
	require.ErrorIs(t, wal.Create(dir, nil), wal.ErrExists)
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
