package wal_test

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"leeward/runtime/daemon/engine/wal"
)

// replaced moves a file or folder away and puts a copy of it in its place.
func replaced(t *testing.T, path string) {
	t.Helper()
	before := filepath.Join(t.TempDir(), "before")
	require.NoError(t, os.Rename(path, before))
	if info, err := os.Stat(before); err == nil && info.IsDir() {
		require.NoError(t, os.CopyFS(path, os.DirFS(before)))
		return
	}
	data, err := os.ReadFile(before)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, data, 0o600))
}

// shared is what a log and its compaction, which runs beside it, say.
type shared struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (s *shared) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.Write(text)
}

func (s *shared) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.String()
}

// TestALogThatIsNotWhereItWasOpenedAcknowledgesNothing deletes and replaces what a log has open: the operating system lets it
// write and sync there, and the next process would see none of it.
func TestALogThatIsNotWhereItWasOpenedAcknowledgesNothing(t *testing.T) {
	const segment = "00000000000000000001.log"
	for name, c := range map[string]struct {
		harm func(t *testing.T, dir string)
		path string // of what the error names, in the folder
		gone bool
	}{
		"the folder deleted": {func(t *testing.T, dir string) { require.NoError(t, os.RemoveAll(dir)) }, "", true},
		"its parent moved away": {func(t *testing.T, dir string) {
			require.NoError(t, os.Rename(filepath.Dir(dir), filepath.Dir(dir)+".away"))
		}, "", true},
		"the folder replaced":       {func(t *testing.T, dir string) { replaced(t, dir) }, "", false},
		"the open segment deleted":  {func(t *testing.T, dir string) { require.NoError(t, os.Remove(filepath.Join(dir, segment))) }, segment, true},
		"the open segment replaced": {func(t *testing.T, dir string) { replaced(t, filepath.Join(dir, segment)) }, segment, false},
		"the lock deleted":          {func(t *testing.T, dir string) { require.NoError(t, os.Remove(filepath.Join(dir, "LOCK"))) }, "LOCK", true},
	} {
		for when, k := range map[string]struct {
			options  wal.Options
			reopened bool
		}{
			"":                             {},
			", at the end of a segment":    {wal.Options{SegmentBytes: 1}, false},
			", opened by the next process": {wal.Options{}, true},
		} {
			t.Run(name+when, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "data", "store")
				var said shared
				k.options.Log = zerolog.New(&said)
				log, _ := open(t, dir, k.options)
				require.NoError(t, log.Append([]wal.Record{put(1, "/a")}))
				if k.reopened {
					require.NoError(t, log.Close())
					log, _ = open(t, dir, k.options)
				}
				require.NoError(t, log.InPlace())
				c.harm(t, dir)
				displaced := new(wal.Displaced)
				require.ErrorAs(t, log.InPlace(), &displaced)
				require.Equal(t, wal.Displaced{Path: filepath.Join(dir, c.path), Gone: c.gone}, *displaced)
				became := map[bool]string{true: "deleted or moved away", false: "replaced by another"}[c.gone]
				require.ErrorContains(t, displaced, filepath.Join(dir, c.path)+": "+became+" while this process has it open")
				require.ErrorAs(t, log.Append([]wal.Record{put(2, "/a")}), new(*wal.Displaced))
				require.ErrorAs(t, log.Append([]wal.Record{put(2, "/a")}), new(*wal.Displaced))
				require.Contains(t, said.String(), "put the folder back, or a backup in its place, and start again")
				require.NoError(t, log.Close())
			})
		}
	}
}

func TestAFolderThatIsPutBackHoldsWhatWasAcknowledgedAndNoMore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	log, _ := open(t, dir, wal.Options{})
	require.NoError(t, log.Append([]wal.Record{put(1, "/a")}))
	require.NoError(t, os.Rename(dir, dir+".away"))
	require.ErrorAs(t, log.Append([]wal.Record{put(2, "/a")}), new(*wal.Displaced))
	require.NoError(t, log.Close())
	require.NoError(t, os.Rename(dir+".away", dir))
	log, state := open(t, dir, wal.Options{})
	require.Equal(t, []string{`/a={"at":1}`}, told(state))
	require.Empty(t, state.Notes)
	require.NoError(t, log.Append([]wal.Record{put(2, "/b")}))
	require.NoError(t, log.Close())
}
