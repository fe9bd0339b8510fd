package exitcode

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"leeward/runtime/daemon/engine/wal"
)

var errBoom = errors.New("boom")

func TestAnExitIsAnError(t *testing.T) {
	e := &Exit{Failed, errBoom}
	require.ErrorIs(t, e, errBoom)
	require.EqualError(t, e, "boom")
	require.EqualError(t, &Exit{Code: Failed}, "exit code 1")
	require.NoError(t, errors.Unwrap(&Exit{Code: Failed}))
}

func TestTheExitCodeOfAnError(t *testing.T) {
	require.Equal(t, Held, Of(nil))
	require.Equal(t, Internal, Of(&Exit{Internal, errBoom}))
	require.Equal(t, Internal, Of(fmt.Errorf("replay: %w", &Exit{Internal, errBoom})))
	require.Equal(t, Invalid, Of(errBoom), "an error that no command returned is the command line's")
}

// Errors of all commands get a code, and those that have one keep it.
func TestErrorsOfCommandsAreClassified(t *testing.T) {
	var fails error
	run := func(*cobra.Command, []string) error { return fails }
	root, below := &cobra.Command{Use: "root", RunE: run, SilenceErrors: true, SilenceUsage: true}, &cobra.Command{Use: "below", RunE: run}
	group, leaf := &cobra.Command{Use: "group"}, &cobra.Command{Use: "leaf", RunE: run}
	group.AddCommand(leaf)
	root.AddCommand(below, group)
	Classify(root, func(err error) error { return &Exit{Internal, fmt.Errorf("sorted: %w", err)} })
	for _, args := range [][]string{{}, {"below"}, {"group", "leaf"}} {
		root.SetArgs(args)
		fails = nil
		require.NoError(t, root.Execute())
		fails = errBoom
		err := root.Execute()
		require.EqualError(t, err, "sorted: boom")
		require.Equal(t, Internal, Of(err))
		fails = fmt.Errorf("outer: %w", &Exit{Failed, errBoom})
		require.Equal(t, fails, root.Execute())
	}
	root.SetArgs([]string{"--nonesuch"})
	require.Equal(t, Invalid, Of(root.Execute()), "no command ran")
}

func TestTheCodeForInput(t *testing.T) {
	at := func(err error) error { return &fs.PathError{Op: "open", Path: "x", Err: err} }
	for name, c := range map[string]struct {
		err  error
		code int
	}{
		"what is read makes no sense":        {errBoom, Invalid},
		"a name of nothing":                  {at(syscall.ENOENT), Invalid},
		"a folder instead of a file":         {at(syscall.EISDIR), Invalid},
		"a file that cannot be read":         {fmt.Errorf("read: %w", at(syscall.EIO)), Internal},
		"one of several that cannot be read": {errors.Join(errBoom, at(syscall.EACCES)), Internal},
		"several that make no sense":         {errors.Join(errBoom, at(syscall.ENOENT)), Invalid},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.code, OfInput(c.err)) })
	}
}

func TestTheCodeForAStore(t *testing.T) {
	for code, errs := range map[int][]error{
		Failed:   {wal.ErrInUse, fmt.Errorf("open: %w", &wal.Damage{})},
		Invalid:  {wal.ErrNoStore, wal.ErrExists},
		Internal: {errBoom, &fs.PathError{Op: "open", Path: "x", Err: syscall.ENOENT}},
	} {
		for _, err := range errs {
			require.Equal(t, code, OfStore(err), "%v", err)
		}
	}
}
