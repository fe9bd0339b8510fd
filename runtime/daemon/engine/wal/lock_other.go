//go:build !unix

package wal

import (
	"errors"
	"fmt"
	"os"
)

func lock(dir string) (*os.File, error) {
	return nil, fmt.Errorf("lock %s: %w", dir, errors.ErrUnsupported)
}
