package hugepages

import (
	"bytes"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// enabled says, in brackets, which processes get huge pages: those that ask, all or none.
const enabled = "/sys/kernel/mm/transparent_hugepage/enabled"

// possible reports whether huge pages are there to be asked for, and whether addresses that nothing uses yet cost nothing.
func possible() bool { return onRequest() && unlimited() }

// onRequest reports whether the kernel gives huge pages to processes that ask, and to no others.
func onRequest() bool {
	who, err := os.ReadFile(enabled)
	return err == nil && bytes.Contains(who, []byte("[madvise]"))
}

// unlimited reports whether a process may have more addresses than memory: neither does the kernel promise memory for each,
// nor is their number limited. A heap that cannot grow ends the process.
func unlimited() bool {
	promises, err := os.ReadFile("/proc/sys/vm/overcommit_memory")
	var addresses unix.Rlimit
	return err == nil && !bytes.HasPrefix(promises, []byte("2")) &&
		unix.Getrlimit(unix.RLIMIT_AS, &addresses) == nil && addresses.Cur == unix.RLIM_INFINITY
}

// ask asks for huge pages for the whole pages of some memory. What it returns takes that back, also when the memory is
// something else's, for which it keeps no pointer into it. That the kernel may refuse changes nothing.
func ask(memory []byte) (back func()) {
	page := uintptr(os.Getpagesize())
	from, length := uintptr(unsafe.Pointer(unsafe.SliceData(memory))), uintptr(len(memory))
	skipped := -from % page
	if length < skipped+page {
		return func() {}
	}
	from, length = from+skipped, (length-skipped)/page*page
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, from, length, unix.MADV_HUGEPAGE)
	return func() { _, _, _ = unix.Syscall(unix.SYS_MADVISE, from, length, unix.MADV_NOHUGEPAGE) }
}
