package hugepages

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestWhatIsReservedIsAskedForAndThenAllocated(t *testing.T) {
	kernelIsAsked(t)
	reserved := int64(96 << 20)
	back := Wanted(true).Reserve(reserved)
	after := asked(t)
	require.GreaterOrEqual(t, after, reserved-1<<20)
	_, free := heap()
	require.GreaterOrEqual(t, free, uint64(reserved)*3/4, "it is free again, but for what Go gives back by and by")

	kept := make([][]byte, 0, 64)
	for range cap(kept) {
		kept = append(kept, make([]byte, 1<<20))
	}
	_, left := heap()
	require.LessOrEqual(t, left, free-48<<20, "objects lie in it")
	require.Len(t, kept, 64)
	Wanted(true).Reserve(0)
	require.Equal(t, after, asked(t))
	back()
	require.LessOrEqual(t, asked(t), after-reserved+1<<20)
}

func TestWhatIsReservedIsNotTouched(t *testing.T) {
	used := make([]byte, 32<<20)
	for i := range used {
		used[i] = 1
	}
	runtime.GC() // the next memory begins where this was
	before := resident(t)
	Wanted(true).Reserve(1 << 30)
	require.Less(t, resident(t)-before, int64(64<<20))
}

func TestALimitOfMemoryBoundsWhatIsReserved(t *testing.T) {
	kernelIsAsked(t)
	before := asked(t)
	t.Run("limited", func(t *testing.T) {
		limit(t, 8<<20)
		Wanted(true).Reserve(1 << 40)
	})
	require.Less(t, asked(t)-before, int64(9<<20))
}

func TestNothingIsReservedWhereAddressesAreLimited(t *testing.T) {
	kernelIsAsked(t)
	before := asked(t)
	var as unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_AS, &as))
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: 1 << 62, Max: as.Max}))
	Wanted(true).Reserve(1 << 30)
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_AS, &as))
	require.Equal(t, before, asked(t))
}

func TestNothingIsReservedWhereHugePagesAreNotWanted(t *testing.T) {
	kernelIsAsked(t)
	before := asked(t)
	Wanted(false).Reserve(1 << 30)
	require.Equal(t, before, asked(t))
}

func TestTooLittleToHoldAPageIsNotAskedFor(t *testing.T) {
	before := asked(t)
	ask(make([]byte, 100))()
	require.Equal(t, before, asked(t))
}

func TestAHeapThatFillsUpIsGivenMore(t *testing.T) {
	for name, c := range map[string]struct {
		used, free uint64
		want       int64
	}{
		"a small one is not touched": {small - 1, 0, 0},
		"nothing remains":            {1 << 30, 0, 1 << 29},
		"little remains":             {1 << 30, 1<<28 - 1, 1 << 29},
		"enough remains":             {1 << 30, 1 << 28, 0},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, missing(c.used, c.free)) })
	}
}

func TestAHeapGrowsOnlyOnceItIsFull(t *testing.T) {
	kernelIsAsked(t)
	var kept [][]byte
	for used, free := heap(); missing(used, free) == 0; used, free = heap() {
		kept = append(kept, make([]byte, 1<<20))
	}
	before := asked(t)
	Wanted(true).Grow()
	after := asked(t)
	require.Greater(t, after, before)
	Wanted(true).Grow()
	require.Equal(t, after, asked(t))
	require.NotEmpty(t, kept)
}

// kernelIsAsked skips a test where the kernel gives huge pages to all processes, or to none.
func kernelIsAsked(t *testing.T) {
	t.Helper()
	if who, err := os.ReadFile(enabled); !possible() {
		t.Skipf("%s: %s (%v), or addresses are limited", enabled, who, err)
	}
}

var region = regexp.MustCompile(`^[0-9a-f]+-[0-9a-f]+ `)

// mapped visits the fields of each region of memory that this process has mapped, and where it begins, such as "c000000000".
func mapped(t *testing.T, visit func(begin string, fields map[string]string)) {
	t.Helper()
	smaps, err := os.ReadFile("/proc/self/smaps")
	require.NoError(t, err)
	begin, fields := "", map[string]string{}
	for line := range strings.Lines(string(smaps)) {
		if region.MatchString(line) {
			visit(begin, fields)
			begin, fields = line[:strings.IndexByte(line, '-')], map[string]string{}
		} else if name, value, is := strings.Cut(line, ":"); is {
			fields[name] = strings.TrimSpace(value)
		}
	}
	visit(begin, fields)
}

// kilobytes is a field such as "32768 kB", in bytes; none is zero.
func kilobytes(t *testing.T, field string) int64 {
	t.Helper()
	if field == "" {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSuffix(field, " kB"), 10, 64)
	require.NoError(t, err)
	return n << 10
}

// asked is how many bytes of this process may have huge pages because it asked.
func asked(t *testing.T) (bytes int64) {
	mapped(t, func(_ string, fields map[string]string) {
		if slices.Contains(strings.Fields(fields["VmFlags"]), "hg") {
			bytes += kilobytes(t, fields["Size"])
		}
	})
	return bytes
}

// resident is how many bytes of memory the heap has. The race detector, which keeps memory of its own for each address, lies elsewhere.
func resident(t *testing.T) (bytes int64) {
	var object [1 << 20]byte
	at := fmt.Sprintf("%p", &object)
	heap := strings.TrimPrefix(at, "0x")[:2]
	mapped(t, func(begin string, fields map[string]string) {
		if len(begin) == len(at)-len("0x") && strings.HasPrefix(begin, heap) {
			bytes += kilobytes(t, fields["Rss"])
		}
	})
	require.Positive(t, bytes)
	return bytes
}

// limit bounds the memory of this process until the test ends.
func limit(t *testing.T, bytes int64) {
	t.Helper()
	before := debug.SetMemoryLimit(bytes)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
}
