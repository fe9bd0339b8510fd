// Package exitcode holds how programs end, and which errors end them so.
package exitcode

import (
	"errors"
	"io/fs"
	"slices"
	"syscall"

	"leeward/runtime/daemon/engine/wal"
)

// Exit codes, the same for every command of every program.
const (
	Held     = iota
	Failed   // an expectation failed, or what was asked for was refused
	Invalid  // the command line, or a file that it names, is at fault
	Internal // the program or its machine is
)

// OfInput is the code for an error of what people pass in. What cannot be read is the machine's fault, unless the name is
// wrong.
func OfInput(err error) int {
	if isIO(err) {
		return Internal
	}
	return Invalid
}

// OfStore is the code for an error of a store: one that is damaged, or in use, refuses; one that must be there, or must
// not, was named wrongly.
func OfStore(err error) int {
	switch {
	case errors.As(err, new(*wal.Damage)), errors.Is(err, wal.ErrInUse):
		return Failed
	case errors.Is(err, wal.ErrNoStore), errors.Is(err, wal.ErrExists):
		return Invalid
	}
	return Internal
}

// misnamed are errors of a name that was given.
var misnamed = []error{fs.ErrNotExist, syscall.EISDIR, syscall.ENOTDIR, syscall.ENAMETOOLONG, syscall.EINVAL}

// isIO reports whether an error, or one of those that it joins, is of a file that cannot be used under a name that is right.
func isIO(err error) bool {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		return slices.ContainsFunc(joined.Unwrap(), isIO)
	}
	var path *fs.PathError
	return errors.As(err, &path) && !slices.ContainsFunc(misnamed, func(e error) bool { return errors.Is(path, e) })
}
