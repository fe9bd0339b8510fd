package wal_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/runtime/daemon/engine/wal"
)

// spoil changes one file of a folder, which is named without its leading zeros.
func spoil(t *testing.T, dir, name string, change func([]byte) []byte) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*0"+name))
	require.NoError(t, err)
	require.Len(t, paths, 1)
	data, err := os.ReadFile(paths[0])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(paths[0], change(data), 0o600))
}

// copied is a folder with the same files.
func copied(t *testing.T, dir string) string {
	t.Helper()
	other := t.TempDir()
	require.NoError(t, os.CopyFS(other, os.DirFS(dir)))
	return other
}

// threeFrames is a folder with one segment, and the state after each of its frames.
func threeFrames(t *testing.T) (string, []wal.State, []byte) {
	t.Helper()
	dir := t.TempDir()
	states := make([]wal.State, 1, 4)
	for v := int64(1); v <= 3; v++ {
		write(t, dir, wal.Options{}, []wal.Record{put(v, "/a")})
		state, err := wal.Load(dir)
		require.NoError(t, err)
		states = append(states, state)
	}
	data, err := os.ReadFile(filepath.Join(dir, "00000000000000000001.log"))
	require.NoError(t, err)
	return dir, states, data
}

const headSize, frameSize = 22, 12

// TestACutLosesWhatWasCutOffAndNoMore cuts the log at every byte.
func TestACutLosesWhatWasCutOffAndNoMore(t *testing.T) {
	dir, states, data := threeFrames(t)
	frame := (len(data) - headSize) / 3
	for size := range len(data) {
		spoil(t, dir, "1.log", func([]byte) []byte { return data[:size] })
		state, err := wal.Load(dir)
		if size < headSize {
			require.ErrorContains(t, err, "00000000000000000001.log: damaged at offset 0: the file ends in its header")
			continue
		}
		require.NoError(t, err)
		whole := (size - headSize) / frame
		require.Equal(t, told(states[whole]), told(state))
		require.Equal(t, (size-headSize)%frame != 0, len(state.Notes) == 1)
	}
}

// TestATruncatedLogIsNotToldToHaveLostNothing: a frame that was durable, acknowledged and then cut looks like one that a
// crash interrupted.
func TestATruncatedLogIsNotToldToHaveLostNothing(t *testing.T) {
	dir, _, data := threeFrames(t)
	spoil(t, dir, "1.log", func([]byte) []byte { return data[:len(data)-3] })
	state, err := wal.Load(dir)
	require.NoError(t, err)
	require.Len(t, state.Notes, 1)
	require.NotContains(t, state.Notes[0], "never acknowledged")
	require.Contains(t, state.Notes[0], "all after version 2 is cut off")
	require.Contains(t, state.Notes[0], "if the file was truncated, or copied in part, writes that were acknowledged are missing")
}

// TestNoFlippedBitGoesUnnoticed flips every bit of the log.
func TestNoFlippedBitGoesUnnoticed(t *testing.T) {
	dir, _, data := threeFrames(t)
	for bit := range len(data) * 8 {
		spoil(t, dir, "1.log", func([]byte) []byte {
			flipped := bytes.Clone(data)
			flipped[bit/8] ^= 1 << (bit % 8)
			return flipped
		})
		_, err := wal.Load(dir)
		require.ErrorContains(t, err, "00000000000000000001.log: ", "bit %d", bit)
	}
}

func TestASectorThatWasNeverWrittenIsATornFrame(t *testing.T) {
	dir := t.TempDir()
	long := put(1, "/a")
	long.Object = bytes.Repeat([]byte("x"), 2000)
	write(t, dir, wal.Options{}, []wal.Record{long}, []wal.Record{put(2, "/b")})
	hole := func(data []byte) []byte {
		clear(data[512:1024])
		return data
	}

	spoil(t, dir, "1.log", hole)
	_, err := wal.Load(dir)
	require.ErrorContains(t, err, "damaged at offset 22: the frame of 2008 bytes has a wrong checksum", "what follows shows that it was durable")

	spoil(t, dir, "1.log", func(data []byte) []byte { return data[:headSize+frameSize+2008] })
	log, state := open(t, dir, wal.Options{})
	require.Empty(t, state.Records)
	require.Len(t, state.Notes, 1)
	require.Contains(t, state.Notes[0], "all after version 0 is cut off: ")
	require.NoError(t, log.Append([]wal.Record{put(1, "/c")}))
	require.NoError(t, log.Close())
	state, err = wal.Load(dir)
	require.NoError(t, err)
	require.Equal(t, []string{`/c={"at":1}`}, told(state))
}

func TestDamageIsReported(t *testing.T) {
	flip := func(at int) func([]byte) []byte {
		return func(data []byte) []byte {
			data[at] ^= 1
			return data
		}
	}
	cut := func(by int) func([]byte) []byte {
		return func(data []byte) []byte { return data[:len(data)-by] }
	}
	zeros := func(data []byte) []byte { return append(data, make([]byte, 20)...) }
	sound := twoSnapshots(t)
	for name, c := range map[string]struct {
		file   string
		change func([]byte) []byte // nil removes it
		wrong  string
	}{
		"a segment that is not the last is cut short":  {"13.log", cut(1), "00013.log: damaged at offset 182: the file ends in a frame of 20 bytes"},
		"a segment that is not the last lacks a frame": {"13.log", cut(32), "00019.log: the records from version 18 to 18 are missing before it"},
		"a segment that is not the last ends in zeros": {"13.log", zeros, "00013.log: damaged at offset 214: the header of the frame has a wrong checksum"},
		"a segment is gone":                            {"13.log", nil, "00019.log: the records from version 13 to 18 are missing before it"},
		"the log since the snapshot is gone":           {"19.log", nil, ": there is no log after version 18"},
		"a frame is no longer what it was":             {"13.log", flip(headSize + 10), "00013.log: damaged at offset 22: the header of the frame has a wrong checksum"},
		"a file is another program's":                  {"19.log", flip(0), "00019.log: damaged at offset 0: this is no file of Leeward's"},
		"a file has another one's name":                {"19.log", flip(10), "00019.log: damaged at offset 0: the header is not that of a file of this name"},
		"a file is from a newer Leeward":               {"19.log", flip(9), "00019.log: format 0 is not known to this program, which knows 1"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := copied(t, sound)
			if c.file == "13.log" {
				require.NoError(t, os.Remove(filepath.Join(dir, "00000000000000000018.snapshot")))
			}
			if c.change == nil {
				require.NoError(t, os.Remove(filepath.Join(dir, "000000000000000000"+c.file)))
			} else {
				spoil(t, dir, c.file, c.change)
			}
			requireRestored(t, dir)
			before := names(t, dir, "*")
			_, _, err := wal.Open(dir, wal.Options{})
			require.ErrorContains(t, err, c.wrong)
			require.NotContains(t, err.Error(), "()", "nothing goes with it")
			require.Equal(t, before, names(t, dir, "*"), "nothing is changed")
		})
	}
}

// twoSnapshots is a folder with 20 records, of which 12 and 18 are in snapshots.
func twoSnapshots(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	log, _ := open(t, dir, wal.Options{})
	for _, g := range rounds(1, 20) {
		require.NoError(t, log.Append(g))
		if v := g[0].Version; v == 12 || v == 18 {
			require.NoError(t, log.Compact())
		}
	}
	require.NoError(t, log.Close())
	require.Equal(t, []string{"12.snapshot", "18.snapshot", "13.log", "19.log"}, append(names(t, dir, "*.snapshot"), names(t, dir, "*.log")...))
	return dir
}

// TestADamagedSnapshotCostsNothing spoils the newest snapshot in every byte, and cuts it at every byte.
func TestADamagedSnapshotCostsNothing(t *testing.T) {
	dir := twoSnapshots(t)
	want, err := wal.Load(dir)
	require.NoError(t, err)
	data, err := os.ReadFile(filepath.Join(dir, "00000000000000000018.snapshot"))
	require.NoError(t, err)
	check := func(spoilt []byte) {
		spoil(t, dir, "18.snapshot", func([]byte) []byte { return spoilt })
		state, err := wal.Load(dir)
		require.NoError(t, err)
		require.Equal(t, want.Records, state.Records)
		require.Len(t, state.Notes, 1)
		require.Contains(t, state.Notes[0], "00018.snapshot: damaged at offset ")
	}
	for i := range data {
		check(data[:i])
		if i%8 == 0 { // it syncs its own copy, and that takes its time
			requireRestored(t, dir)
		}
		flipped := bytes.Clone(data)
		flipped[i] ^= 0x10
		if i != 9 { // of another format: it is not for us to judge
			check(flipped)
			if i%8 == 4 {
				requireRestored(t, dir)
			}
		}
	}

	log, state := open(t, dir, wal.Options{})
	require.Equal(t, want.Version, state.Version)
	require.NoError(t, log.Close())
	require.Equal(t, []string{"12.snapshot", "18.snapshot.damaged", "13.log", "19.log"}, append(names(t, dir, "*.snapshot*"), names(t, dir, "*.log")...))
}

func TestBothSnapshotsDamagedIsALoss(t *testing.T) {
	dir := twoSnapshots(t)
	first := func(data []byte) []byte { return data[:40] }
	spoil(t, dir, "18.snapshot", first)
	spoil(t, dir, "12.snapshot", first)
	report, err := wal.Verify(dir)
	require.NoError(t, err)
	require.ErrorContains(t, report.Loss, "00013.log: the records from version 1 to 12 are missing before it")
	require.ErrorContains(t, report.Loss, "00012.snapshot: damaged at offset ")
	require.ErrorContains(t, report.Files[0].Damage, "00012.snapshot: damaged at offset ")
	require.Nil(t, report.Files[2].Damage)
}

// TestASnapshotThatIsDamagedWhenTheNextIsWrittenIsSetAside: else it would count as one to go back to, and the log before it be removed.
func TestASnapshotThatIsDamagedWhenTheNextIsWrittenIsSetAside(t *testing.T) {
	dir := t.TempDir()
	log, _ := open(t, dir, wal.Options{})
	for _, g := range rounds(1, 18) {
		require.NoError(t, log.Append(g))
		if g[0].Version == 12 {
			require.NoError(t, log.Compact())
			spoil(t, dir, "12.snapshot", func(data []byte) []byte { return data[:40] })
		}
	}
	require.NoError(t, log.Compact())
	require.NoError(t, log.Close())
	require.Equal(t, []string{"12.snapshot.damaged", "18.snapshot", "1.log", "13.log", "19.log"}, append(names(t, dir, "*.snapshot*"), names(t, dir, "*.log")...))
}

// TestSnapshotsAreSetAsideAllOfThem has a folder whose log reaches back before two snapshots, both damaged.
func TestSnapshotsAreSetAsideAllOfThem(t *testing.T) {
	dir := t.TempDir()
	log, _ := open(t, dir, wal.Options{})
	for _, g := range rounds(1, 6) {
		require.NoError(t, log.Append(g))
	}
	require.NoError(t, log.Compact())
	first, err := os.ReadFile(filepath.Join(dir, "00000000000000000001.log"))
	require.NoError(t, err)
	require.NoError(t, log.Append([]wal.Record{put(7, "/key/7")}))
	require.NoError(t, log.Compact())
	require.NoError(t, log.Close())
	want, err := wal.Load(dir)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "00000000000000000001.log"), first, 0o600))
	for _, name := range []string{"6.snapshot", "7.snapshot"} {
		spoil(t, dir, name, func(data []byte) []byte { return data[:40] })
	}
	log, state := open(t, dir, wal.Options{})
	require.Equal(t, want.Records, state.Records)
	require.Len(t, state.Notes, 2)
	require.NoError(t, log.Close())
	require.Equal(t, []string{"6.snapshot.damaged", "7.snapshot.damaged"}, names(t, dir, "*.snapshot*"))
}

// TestAFlippedBitIsNoHole flips bits of a last frame that is longer than a sector: a crash writes sectors or does not, it does not
// change them.
func TestAFlippedBitIsNoHole(t *testing.T) {
	dir := t.TempDir()
	long := put(1, "/a")
	long.Object = bytes.Repeat([]byte("x"), 2000)
	write(t, dir, wal.Options{}, []wal.Record{long})
	for _, at := range []int{headSize + frameSize, 700, 1500} {
		other := copied(t, dir)
		spoil(t, other, "1.log", func(data []byte) []byte { data[at] ^= 4; return data })
		_, err := wal.Load(other)
		require.ErrorAs(t, err, new(*wal.Damage))
	}
}

// TestAFileThatEndsInZerosIsTorn: a file system may make a file longer before it writes what belongs there.
func TestAFileThatEndsInZerosIsTorn(t *testing.T) {
	dir, states, data := threeFrames(t)
	for n := 1; n < 400; n++ {
		spoil(t, dir, "1.log", func([]byte) []byte { return append(bytes.Clone(data), make([]byte, n)...) })
		state, err := wal.Load(dir)
		require.NoError(t, err, n)
		require.Equal(t, told(states[3]), told(state))
		require.Len(t, state.Notes, 1)
	}
}

// TestAHeaderThatIsWholeAndWrongIsDamage: a crash leaves of a header that is all there what was written.
func TestAHeaderThatIsWholeAndWrongIsDamage(t *testing.T) {
	dir, _, data := threeFrames(t)
	frame := (len(data) - headSize) / 3
	cut := data[:headSize+2*frame+frameSize]
	for at := len(cut) - frameSize; at < len(cut); at++ {
		spoil(t, dir, "1.log", func([]byte) []byte {
			flipped := bytes.Clone(cut)
			flipped[at] ^= 1
			return flipped
		})
		_, err := wal.Load(dir)
		require.ErrorAs(t, err, new(*wal.Damage), "byte %d", at)
	}
}
