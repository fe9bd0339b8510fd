// Package hugepages has the kernel back a heap by few large pages, where it would take many small ones: an actor runtime
// goes from one end of its memory to another with every message, and each step to a page that the processor has not seen
// lately costs it a walk through the page tables. Virtual machines pay twice for that.
//
// Where /sys/kernel/mm/transparent_hugepage/enabled says "madvise", which is what most distributions set, the kernel gives
// such pages to memory only that was asked for them, and Go's runtime does not ask. Under "always" and "never", and
// elsewhere than on Linux, nothing is done here.
package hugepages

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"unsafe"
)

// small is a heap, in bytes, that is not worth a look.
const small = 32 << 20

// Wanted is whether a process asks for huge pages. Where they are not wanted, nothing is done.
type Wanted bool

// Reserve has the heap grow by so many bytes before they are needed, and asks for huge pages for all of them. None is
// touched: until something is allocated there it takes addresses, and no memory. A limit by GOMEMLIMIT bounds it,
// and one of addresses forbids it. It collects garbage, which takes a while where much lives.
//
// What it returns takes the wish back. The kernel puts huge pages together again where a heap has given parts of them
// back, so that one that has shrunk would have its largest size after an hour.
func (w Wanted) Reserve(bytes int64) (back func()) {
	bytes = min(bytes, debug.SetMemoryLimit(-1))
	if bytes <= 0 || bytes > math.MaxInt || !bool(w) || !possible() {
		return func() {}
	}
	back = ask(untouched(int(bytes)))
	runtime.GC() // now it is free, in one piece, for everything else
	return back
}

// untouched is new memory, of which all but a byte is not touched: a slice would be filled with zeros where a part of it
// was used before.
func untouched(bytes int) []byte {
	var b strings.Builder
	b.Grow(bytes)
	_ = b.WriteByte(0)
	return unsafe.Slice(unsafe.StringData(b.String()), b.Cap())
}

// Grow reserves more where the heap has filled most of what it has.
func (w Wanted) Grow() {
	used, free := heap()
	w.Reserve(missing(used, free))
}

// missing is how many bytes more a heap should have, of which so many are used and so many fit.
func missing(used, free uint64) int64 {
	if used < small || free >= used/4 {
		return 0
	}
	return int64(used / 2)
}

// heap is how many bytes of the heap hold objects, or spans of them, and how many are free.
func heap() (used, free uint64) {
	samples := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/memory/classes/heap/free:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
	}
	metrics.Read(samples)
	return samples[0].Value.Uint64() + samples[1].Value.Uint64(), samples[2].Value.Uint64() + samples[3].Value.Uint64()
}
