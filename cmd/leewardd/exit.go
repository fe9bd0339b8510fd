package main

import (
	"errors"
	"fmt"

	"leeward/cmd/internal/exitcode"
	"leeward/runtime/daemon/etcd"
	"leeward/runtime/fleet/config"
)

const exitCodes = `Exit codes:
  0  done, or stopped by a signal
  1  refused: the store is damaged or in use, a daemon leads there, existing data would be replaced,
     or another controller evicts pods where it must act
  2  the command line or the configuration is invalid
  3  an internal error, or a file, a port or etcd that cannot be used`

func invalid(format string, words ...any) error {
	return &exitcode.Exit{Code: exitcode.Invalid, Err: fmt.Errorf(format, words...)}
}

// causeOf is the code for an error of what a command uses.
func causeOf(err error) int {
	switch {
	case errors.As(err, new(*config.Invalid)):
		return exitcode.OfInput(err)
	case errors.As(err, new(*etcd.NotEmpty)):
		return exitcode.Failed
	}
	return exitcode.OfStore(err)
}
