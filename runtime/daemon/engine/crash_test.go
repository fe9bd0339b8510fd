package engine_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"leeward/runtime/daemon/engine"
	"leeward/runtime/daemon/engine/wal"
)

// victim names the folder that this process writes to until it is killed.
const victim = "LEEWARD_ENGINE_VICTIM"

func TestMain(m *testing.M) {
	if dir := os.Getenv(victim); dir != "" {
		writeForEver(dir)
	}
	os.Exit(m.Run())
}

// A victim says what it tries, what was acknowledged and what its watcher sees, a line each, told before
// or after the fact so that it may be killed anywhere.
const (
	trying       = "try"
	acknowledged = "ack"
	seen         = "saw"
	gone         = "gone" // seen, too
)

// said is a line of a victim's: what it does of which key, at which version, and which value it has or
// which version was there before; deleted objects have value 0.
type said struct {
	what          string
	key           int
	version, more int64
}

func (s said) write(w io.Writer) {
	if _, err := fmt.Fprintln(w, s.what, s.key, s.version, s.more); err != nil {
		panic(err)
	}
}

const writers, keysEach = 4, 5

// openVictim keeps segments short, so that it is killed while it changes them and writes snapshots, too.
func openVictim(dir string) (*engine.Engine, error) {
	return engine.Open(engine.Config{
		Resources: resources(0), Clock: clock.New(), Dir: dir, WAL: wal.Options{SegmentBytes: 20_000},
	})
}

func writeForEver(dir string) {
	e, err := openVictim(dir)
	if err != nil {
		panic(err)
	}
	_, c := e.Table(maps).SnapshotAndWatch()
	go watchForEver(c)
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for value := int64(1); ; value++ {
				change(e, w*keysEach+rand.IntN(keysEach), e.Version()*1000+value)
			}
		})
	}
	all.Wait()
}

// change writes or deletes an object, and with it another of the same name in another table.
func change(e *engine.Engine, key int, value int64) {
	name := fmt.Sprint(key)
	_, version := e.Table(maps).Get(mapKey(name))
	_, beside := e.Table(events).Get(eventKey(name))
	one, other := configMap(name, fmt.Sprint(value)), event(name)
	other.Message = fmt.Sprint(value)
	writes := []engine.Write{engine.Update(mapKey(name), one, version), engine.Update(eventKey(name), other, beside)}
	if version != 0 && rand.IntN(4) == 0 {
		value = 0
		writes = []engine.Write{engine.Delete(mapKey(name), version), engine.Delete(eventKey(name), beside)}
	}
	said{trying, key, 0, value}.write(os.Stdout)
	committed, err := e.CommitVersion(writes...)
	if err != nil {
		panic(err)
	}
	said{acknowledged, key, committed - 1, value}.write(os.Stdout)
}

func watchForEver(c *engine.Cursor) {
	for {
		changes, err := c.Next(context.Background())
		if err != nil {
			panic(err)
		}
		for _, change := range changes {
			var key int
			if _, err := fmt.Sscanf(change.Key[len(mapKey("")):], "%d", &key); err != nil {
				panic(err)
			}
			s := said{what: seen, key: key, version: change.Version}
			if change.Object == nil {
				s.what = gone
			}
			if change.Previous() != nil {
				s.more = engine.VersionOf(change.Previous())
			}
			s.write(os.Stdout)
		}
	}
}

// witness is what the lines of the victims allow to be there.
type witness struct {
	t *testing.T
	// tried and acked are the latest values of each key, watched the version that its watcher saw last.
	tried, acked, watched map[int]int64
	// shown are the versions that the watcher saw, committed those of acknowledged changes.
	shown, committed map[int64]bool
	last             int64
}

// hear notes one line. A watcher sees each change after the one before it.
func (w *witness) hear(s said) {
	switch s.what {
	case trying:
		w.tried[s.key] = s.more
	case acknowledged:
		w.acked[s.key] = s.more
		w.committed[s.version] = true
	case seen, gone:
		require.Greater(w.t, s.version, w.last, "a watcher goes back")
		require.Equal(w.t, w.watched[s.key], s.more, "a watcher has missed a change of %d, or sees one again", s.key)
		w.last, w.watched[s.key], w.shown[s.version] = s.version, s.version, true
		if s.what == gone {
			w.watched[s.key] = 0
		}
	}
}

// TestNothingAcknowledgedIsLostWithTheProcess kills a process under load after a number of its lines, time
// and again, and compares the folder with what it said: each key has the value that was acknowledged last,
// or the one that was being tried; both objects of a commit have it; what a watcher saw is there, and it saw
// all that was acknowledged before.
func TestNothingAcknowledgedIsLostWithTheProcess(t *testing.T) {
	lives := 200
	if testing.Short() {
		lives = 20
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	dir := t.TempDir()
	w := &witness{t: t, acked: map[int]int64{}, watched: map[int]int64{}}
	version := int64(0)
	for range lives {
		w.live(dir, random.IntN(400))
		version = w.inspect(dir, version)
	}
	require.Greater(t, version, int64(lives))
}

// live lets a victim run until it has said so many lines, kills it and hears it out.
func (w *witness) live(dir string, lines int) {
	w.tried, w.shown, w.committed, w.last = map[int]int64{}, map[int64]bool{}, map[int64]bool{}, 0
	c := exec.CommandContext(w.t.Context(), os.Args[0])
	c.Env = append(os.Environ(), victim+"="+dir)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	require.NoError(w.t, err)
	require.NoError(w.t, c.Start())
	scanner := bufio.NewScanner(out)
	for n := 0; scanner.Scan(); n++ {
		if n == lines {
			require.NoError(w.t, c.Process.Kill())
		}
		var s said
		_, err := fmt.Sscanln(scanner.Text(), &s.what, &s.key, &s.version, &s.more)
		require.NoError(w.t, err)
		w.hear(s)
	}
	require.ErrorContains(w.t, c.Wait(), "killed")
	for v := range w.committed { // order-free: each is looked up
		require.True(w.t, v > w.last || w.shown[v], "a watcher has missed version %d", v)
	}
}

// inspect compares what is there with what was said, and takes it for the next life.
func (w *witness) inspect(dir string, before int64) int64 {
	e, err := openVictim(dir)
	require.NoError(w.t, err)
	defer func() { require.NoError(w.t, e.Close()) }()
	require.GreaterOrEqual(w.t, e.Version(), max(before, w.last), "what was seen is durable")
	w.watched = map[int]int64{}
	for key := range writers * keysEach {
		name := fmt.Sprint(key)
		o, version := e.Table(maps).Get(mapKey(name))
		beside, _ := e.Table(events).Get(eventKey(name))
		value, other := "0", "0"
		if o != nil {
			value = o.(*corev1.ConfigMap).Data["value"]
		}
		if beside != nil {
			other = beside.(*corev1.Event).Message
		}
		require.Equal(w.t, value, other, "key %d: half a commit", key)
		allowed := []string{fmt.Sprint(w.acked[key])}
		if tried, ok := w.tried[key]; ok {
			allowed = append(allowed, fmt.Sprint(tried))
		}
		require.Contains(w.t, allowed, value, "key %d", key)
		w.acked[key], err = strconv.ParseInt(value, 10, 64)
		require.NoError(w.t, err)
		w.watched[key] = version
	}
	return e.Version()
}
