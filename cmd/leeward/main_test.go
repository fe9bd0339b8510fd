package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"leeward/runtime/daemon/engine/wal"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"leeward": main}) }

// TestScripts runs the command as its users do; every script is a sentence of its documentation.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:  filepath.Join("testdata", "script"),
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "cut": cut, "flip": flip, "append": appendTo, "log": logged},
	})
}

// exits runs a command and asks for its exit code: "exits 2 leeward replay".
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits code command [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var e *exec.ExitError
		if !errors.As(err, &e) {
			ts.Check(err)
		}
		got = e.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// cut takes bytes off the end of a file: "cut file 3".
func cut(ts *testscript.TestScript, _ bool, args []string) {
	spoil(ts, args, func(data []byte, n int) []byte { return data[:len(data)-n] })
}

// flip changes the byte at an offset of a file: "flip file 60".
func flip(ts *testscript.TestScript, _ bool, args []string) {
	spoil(ts, args, func(data []byte, n int) []byte {
		data[n] ^= 1
		return data
	})
}

// logged makes a store of manifests as a daemon that was killed leaves one, in one frame of a log: "log data fleet.yaml". What
// is imported is a snapshot.
func logged(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("want a folder and a file")
	}
	in := importing{places: map[string]string{}}
	in.file(ts.MkAbs(args[1]))
	ts.Check(errors.Join(in.problems...))
	log, _, err := wal.Open(ts.MkAbs(args[0]), wal.Options{})
	ts.Check(err)
	for i := range in.records {
		in.records[i].Version = int64(i) + 1
	}
	ts.Check(log.Append(in.records))
	ts.Check(log.Close())
}

// appendTo adds text to a file: "append file 'text'".
func appendTo(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("want a file and text")
	}
	file := ts.MkAbs(args[0])
	data, err := os.ReadFile(file)
	ts.Check(err)
	ts.Check(os.WriteFile(file, append(data, args[1]...), 0o600))
}

func spoil(ts *testscript.TestScript, args []string, change func([]byte, int) []byte) {
	if len(args) != 2 {
		ts.Fatalf("want a file and a number")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	file := ts.MkAbs(args[0])
	data, err := os.ReadFile(file)
	ts.Check(err)
	ts.Check(os.WriteFile(file, change(data, n), 0o600))
}
