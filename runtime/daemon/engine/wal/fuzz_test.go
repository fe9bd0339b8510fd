package wal

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzContent reads any bytes as the records of a frame: what can be read is written the same again.
func FuzzContent(f *testing.F) {
	f.Add(appendRecord(nil, &Record{Version: 1, Key: "/a", Object: []byte(`{}`)}))
	f.Add(appendRecord(appendRecord(nil, &Record{Version: 300, Key: "/a", Expires: 1 << 60, Object: []byte(`{"b":1}`)}), &Record{Version: 301, Key: "/b"}))
	f.Add(appendEnd(nil, 7))
	f.Fuzz(func(t *testing.T, data []byte) {
		var records []Record
		c := content{rest: data}
		for c.next() {
			records = append(records, c.record())
		}
		require.LessOrEqual(t, len(records), len(data))
		var again []byte
		for i := range records {
			again = appendRecord(again, &records[i])
		}
		c = content{rest: again}
		for i := range records {
			require.True(t, c.next())
			require.Equal(t, records[i], c.record())
		}
		require.False(t, c.next())
		require.NoError(t, c.err)
	})
}

// FuzzRecovery reads any bytes as a segment, and as the only snapshot. It either says what is wrong or
// recovers, and then goes on and recovers the same again.
func FuzzRecovery(f *testing.F) {
	frame := func(records ...Record) []byte {
		b := beginFrame(nil)
		for i := range records {
			b = appendRecord(b, &records[i])
		}
		return endFrame(b)
	}
	first := frame(Record{Version: 1, Key: "/a", Object: []byte(`{}`)})
	second := frame(Record{Version: 2, Key: "/a"}, Record{Version: 3, Key: "/b", Object: []byte(`{}`)})
	f.Add(append(head(segments, 1), first...), true)
	f.Add(append(append(head(segments, 1), first...), second...), true)
	f.Add(append(append(head(segments, 1), second...), first[:9]...), true)
	f.Add(append(append(head(snapshots, 1), first...), endFrame(appendEnd(beginFrame(nil), 1))...), false)
	f.Fuzz(func(t *testing.T, data []byte, segment bool) {
		dir := t.TempDir()
		if segment {
			require.NoError(t, os.WriteFile(nameFile(dir, segments, 1).path, data, 0o600))
		} else {
			require.NoError(t, os.WriteFile(nameFile(dir, snapshots, 1).path, data, 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "00000000000000000002.log"), head(segments, 2), 0o600))
		}
		loaded, err := Load(dir)
		found, wrong := readFolder(dir)
		require.NoError(t, wrong)
		var restored atomic.Int64
		_, wrong = restore(&found, 2, func() func(int, *Record) error {
			restored.Store(0)
			return func(int, *Record) error { restored.Add(1); return nil }
		})
		if err != nil {
			require.EqualError(t, wrong, err.Error())
			return
		}
		require.NoError(t, wrong)
		require.EqualValues(t, len(loaded.Records), restored.Load())
		log, opened, err := Open(dir, Options{})
		require.NoError(t, err)
		require.Equal(t, loaded, opened)
		require.NoError(t, log.Append([]Record{{Version: opened.Version + 1, Key: "/c", Object: []byte(`{}`)}}))
		require.NoError(t, log.Compact())
		require.NoError(t, log.Close())
		again, err := Load(dir)
		require.NoError(t, err)
		require.Empty(t, again.Notes)
		require.Equal(t, opened.Version+1, again.Version)
	})
}
