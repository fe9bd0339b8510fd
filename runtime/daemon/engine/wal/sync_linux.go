package wal

import (
	"os"
	"syscall"
)

// syncData spares the file's times, which are not needed; its size is durable too.
func syncData(f *os.File) error {
	for {
		err := syscall.Fdatasync(int(f.Fd()))
		if err != syscall.EINTR {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}
