package wal_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/runtime/daemon/engine/wal"
)

// history is a folder with several segments and snapshots, and what was stored at each of its versions.
type history struct {
	dir    string
	states []map[string]string
}

func grown(t *testing.T, random *rand.Rand) history {
	t.Helper()
	h := history{t.TempDir(), []map[string]string{{}}}
	log, _ := open(t, h.dir, wal.Options{SegmentBytes: 4000})
	for range 100 {
		batch := make([]wal.Record, 1+random.IntN(20))
		for i := range batch {
			batch[i] = h.next(random)
		}
		require.NoError(t, log.Append(batch))
	}
	require.NoError(t, log.Close())
	return h
}

// next is a change of one of two hundred keys.
func (h *history) next(random *rand.Rand) wal.Record {
	now := map[string]string{}
	for key, object := range h.states[len(h.states)-1] { // order-free: a copy
		now[key] = object
	}
	r := wal.Record{Version: int64(len(h.states)), Key: fmt.Sprintf("/key/%03d", random.IntN(200))}
	if random.IntN(4) == 0 {
		delete(now, r.Key)
	} else {
		r.Object = fmt.Appendf(nil, `{"at":%d,"text":%q}`, r.Version, bytes.Repeat([]byte("x"), random.IntN(300)))
		now[r.Key] = string(r.Object)
	}
	h.states = append(h.states, now)
	return r
}

func (h *history) final() int64 { return int64(len(h.states) - 1) }

func standing(s wal.State) map[string]string {
	objects := map[string]string{}
	for _, r := range s.Records {
		objects[r.Key] = string(r.Object)
	}
	return objects
}

// TestDamageIsNeverSilent cuts, flips or blanks some file anywhere. Either it is said, or everything is
// there; only the end of the last segment, cut, may be missing, and what precedes the cut is there.
func TestDamageIsNeverSilent(t *testing.T) {
	rounds := 200
	if testing.Short() {
		rounds = 50
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	h := grown(t, random)
	logs, err := filepath.Glob(filepath.Join(h.dir, "*.log"))
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(h.dir, "*.snapshot"))
	require.NoError(t, err)
	require.Len(t, files, 2)
	require.Greater(t, len(logs), 2)
	files = append(files, logs...)
	silent := 0
	for round := range rounds {
		path := files[random.IntN(len(files))]
		sound, err := os.ReadFile(path)
		require.NoError(t, err)
		spoilt, cut := spoiled(random, sound)
		require.NoError(t, os.WriteFile(path, spoilt, 0o600))
		state, err := wal.Load(h.dir)
		if round%4 == 0 {
			requireRestored(t, h.dir)
		}
		require.NoError(t, os.WriteFile(path, sound, 0o600))
		if err != nil {
			require.ErrorContains(t, err, h.dir)
			continue
		}
		silent++
		require.Equal(t, h.states[state.Version], standing(state), "of %s", path)
		if cut < 0 || path != logs[len(logs)-1] {
			require.Equal(t, h.final(), state.Version, "of %s", path)
		}
	}
	require.NotZero(t, silent)
}

// spoiled is a file after one mishap, and how much of it remains if it was cut, or -1.
func spoiled(random *rand.Rand, sound []byte) ([]byte, int) {
	at := random.IntN(len(sound))
	spoilt := bytes.Clone(sound)
	switch random.IntN(3) {
	case 0:
		return spoilt[:at], at
	case 1:
		spoilt[at] ^= 1 << random.IntN(8)
	default:
		for i := at; i < min(at+1+random.IntN(40), len(spoilt)); i++ {
			spoilt[i] ^= 0xff
		}
	}
	return spoilt, -1
}
