package wal_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/runtime/daemon/engine/wal"
)

// cache is an operating system that keeps what was written and not synced until it loses power.
type cache struct {
	files map[string]*cachedFile
}

type cachedFile struct {
	*os.File
	durable int64
	lazy    bool // nothing is synced: its process is killed before
}

func (c *cache) open(lazy bool) func(string) (wal.File, error) {
	return func(path string) (wal.File, error) {
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		f := &cachedFile{File: file, lazy: lazy}
		if before := c.files[path]; before != nil {
			f.durable = before.durable
		}
		c.files[path] = f
		return f, nil
	}
}

func (f *cachedFile) Sync() error {
	if f.lazy {
		return nil
	}
	info, err := f.Stat()
	if err == nil {
		f.durable = info.Size()
	}
	return err
}

// losePower leaves of a file what was synced.
func (c *cache) losePower(t *testing.T, path string) {
	t.Helper()
	require.NoError(t, os.Truncate(path, c.files[path].durable))
}

// TestWhatAKilledProcessLeftInTheCacheIsDurableBeforeItIsRead has a process killed between its write and its sync. The process that
// opens the log then sees what was written, and a loss of power takes nothing away that was seen.
func TestWhatAKilledProcessLeftInTheCacheIsDurableBeforeItIsRead(t *testing.T) {
	dir, disk := t.TempDir(), cache{files: map[string]*cachedFile{}}
	write(t, dir, wal.Options{}, rounds(1, 1)...)
	write(t, dir, wal.Options{OpenFile: disk.open(true)}, rounds(2, 2)...)

	log, seen := open(t, dir, wal.Options{OpenFile: disk.open(false)})
	require.Len(t, told(seen), 2)
	require.NoError(t, log.Close())
	for path := range disk.files {
		disk.losePower(t, path)
	}
	log, after := open(t, dir, wal.Options{})
	require.Equal(t, told(seen), told(after))
	require.NoError(t, log.Close())
}
