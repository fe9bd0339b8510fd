package hugepages

import (
	"bytes"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// enabled says, in brackets, who is given huge pages: who asks, everybody or nobody.
const enabled = "/sys/kernel/mm/transparent_hugepage/enabled"

// onRequest reports whether the kernel gives huge pages to who asks, and to nobody else.
func onRequest() bool {
	who, err := os.ReadFile(enabled)
	return err == nil && bytes.Contains(who, []byte("[madvise]"))
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
