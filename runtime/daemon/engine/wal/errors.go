package wal

import "errors"

// Why a folder is refused, beside Damage.
var (
	ErrNoStore = errors.New("holds no store")
	ErrExists  = errors.New("holds a store already")
	ErrInUse   = errors.New("another process has it open")
)
