package main

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/benbjohnson/clock"

	"leeward/runtime/daemon/hugepages"
)

const (
	// garbagePercent is how much garbage there may be for what lives, in hundredths, once the machines of a large fleet
	// have started: half of Go's own, which smaller fleets keep. A large fleet mostly lies still.
	garbagePercent, ownPercent = 50, 100
	// attachedPercent is that of a large fleet beside another API server, where requests take longer than collecting garbage does.
	attachedPercent = 35
	// largeHeap is what lives at least of a large fleet, in bytes.
	largeHeap = 128 << 20
	// looksEvery is how often a daemon looks at its heap.
	looksEvery = 2 * time.Second
	// hurryFrom is how large a store is at least to be worth a hurry.
	hurryFrom = 128 << 20
	// machinesTimes is how much memory a start may take for each byte that reading the store took. What lives in the end
	// is half of that.
	machinesTimes = 3
	// objectTakes is how much memory a start may take for each object that machines look after, however small reading the store
	// made it: what is alike in many objects the store has once, and machines have for each.
	objectTakes = 4 << 10
	// storeTimes is how much memory a start may take for each byte of the files of the store, and leastHeap what a daemon
	// of a small fleet may come to.
	leastHeap, storeTimes = 64 << 20, 2
)

// memory is how a daemon uses memory while it starts: fast, whatever it takes, until it is small again.
type memory struct {
	// files is how many bytes the store has in files.
	files int64
	pages hugepages.Wanted
	// ordinary takes back the wish for huge pages.
	ordinary func()
	// percent is how much garbage there may be, once the machines have started; 0 before, and where others say it.
	settling sync.Mutex
	percent  int
	// large is how much garbage there may be in a large fleet.
	large int
}

// hurry has the start on a large folder fill memory, by huge pages, before garbage is collected, unless the environment
// says when that must happen: to look for it on the way takes a sixth of the time. While the store is read there may be as
// much as it has in files.
func hurry(dir string, pages hugepages.Wanted) *memory {
	m := &memory{files: filesIn(dir), pages: pages, ordinary: func() {}, large: garbagePercent}
	m.pages.Reserve(leastHeap)
	if m.files < hurryFrom {
		return m
	}
	m.ordinary = m.pages.Reserve(storeTimes * m.files)
	if !tuned() {
		debug.SetGCPercent(-1)
		debug.SetMemoryLimit(m.files)
	}
	return m
}

// opened notes that the store was read, with so many objects for the machines.
func (m *memory) opened(objects int) {
	if m.files < hurryFrom || tuned() {
		return
	}
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	debug.SetMemoryLimit(max(machinesTimes*int64(now.HeapAlloc), objectTakes*int64(objects)))
}

// settle keeps the memory of a daemon small whose machines have started, unless the environment says otherwise, and gives
// back what the start took and is done with: as much as what stays.
func (m *memory) settle() {
	if !tuned() {
		m.settling.Lock()
		m.adjust()
		m.settling.Unlock()
		debug.SetMemoryLimit(math.MaxInt64)
	}
	m.ordinary()
	go debug.FreeOSMemory() // it takes as long as a collection
}

// keep looks at the heap now and then until the context is done: a fleet grows.
func (m *memory) keep(ctx context.Context, c clock.Clock) {
	tick := c.Ticker(looksEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			m.look()
		}
	}
}

func (m *memory) look() {
	m.pages.Grow()
	m.settling.Lock()
	defer m.settling.Unlock()
	if m.percent != 0 {
		m.adjust()
	}
}

// adjust lets as much garbage accumulate as suits what lives. To set what is set already would stop the world for nothing.
func (m *memory) adjust() {
	if now := m.percentFor(livingBytes()); m.percent != now {
		m.percent = now
		debug.SetGCPercent(now)
	}
}

// percentFor is how much garbage there may be where so many bytes live. A thousand workloads that are evicted together make some
// tens of megabytes of it: to collect them meanwhile would take as long as all else.
func (m *memory) percentFor(live uint64) int {
	if live < largeHeap {
		return ownPercent
	}
	return m.large
}

// livingBytes is how many bytes lived when garbage was last collected.
func livingBytes() uint64 {
	lives := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(lives)
	return lives[0].Value.Uint64()
}

// tuned reports whether the environment says when to collect garbage.
func tuned() bool { return os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" }

// filesIn is how many bytes the files of a folder have, if there is one; what cannot be read is for others to tell.
func filesIn(dir string) (size int64) {
	if dir == "" {
		return 0
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, file := range files {
		if info, err := os.Stat(file); err == nil {
			size += info.Size()
		}
	}
	return size
}
