// Command leeward rehearses what happens to applications when Kubernetes clusters fail: it replays
// scenarios on a virtual clock and says what moved, when, where and why.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"leeward/cmd/internal/exitcode"
	"leeward/cmd/internal/manual"
	"leeward/runtime/daemon/build"
)

func main() { os.Exit(execute(os.Args[1:], os.Stdout, os.Stderr)) }

// execute runs one command line and returns its exit code.
func execute(args []string, stdout, stderr io.Writer) (code int) {
	defer func() {
		if p := recover(); p != nil {
			say(stderr, fmt.Sprintf("leeward: internal error: %v\n%s", p, debug.Stack()))
			code = exitInternal
		}
	}()
	root := rootCommand()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(context.Background())
	if text := textOf(err); text != "" {
		say(stderr, text+"\n")
	}
	return exitcode.Of(err)
}

// say writes to standard error. If that fails, there is nowhere left to write.
func say(stderr io.Writer, text string) { _, _ = io.WriteString(stderr, text) }

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "leeward",
		Short: "Rehearse failovers of Kubernetes clusters, and operate a running fleet",
		Long: "Leeward decides what happens to applications when Kubernetes clusters fail, and rehearses it:\n" +
			"conditions become taints, taints evictions, evictions new placements, on a virtual clock.\n" +
			"Other commands taint, cordon, drain and hold clusters of a running fleet, and record what happens;\n" +
			"they exit with 1 when the server refuses them.\n\n" + exitCodes,
		Example: "  leeward replay scenarios/nginx-is-evicted-from-a-failed-cluster.yaml\n" +
			"  leeward replay scenarios --seeds 100\n" +
			"  leeward validate docs/examples",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return misused(c, err) })
	root.AddCommand(replayCommand(), topCommand(), stormCommand(), validateCommand(), memberCommand(), storeCommand(), recordCommand(), assessCommand())
	root.AddCommand(explainCommand(), whatIfCommand(), lintCommand(), diffCommand(), initCommand(), shadowCommand())
	root.AddCommand(taintCommand(), cordonCommand(), uncordonCommand(), drainCommand(), holdCommand(), releaseCommand(), pauseCommand(), resumeCommand())
	root.AddCommand(joinCommand(), unjoinCommand(), attachCommand())
	build.Of(debug.ReadBuildInfo()).AddTo(root)
	manual.AddTo(root)
	exitcode.Classify(root, internal)
	return root
}

// Exit codes, the same for every command.
const (
	exitHeld     = exitcode.Held
	exitFailed   = exitcode.Failed
	exitInvalid  = exitcode.Invalid
	exitInternal = exitcode.Internal
)

const exitCodes = `Exit codes:
  0  every expectation held
  1  an expectation failed
  2  a scenario, a manifest or the command line is invalid
  3  an internal error, a file that cannot be read or written, or a replay that is not deterministic`

// invalid is for problems that say themselves in which file they are.
func invalid(err error) error { return &exitcode.Exit{Code: exitInvalid, Err: err} }

// internal is also for errors of commands that are no Exit, such as output that cannot be written.
func internal(err error) error {
	return &exitcode.Exit{Code: exitInternal, Err: fmt.Errorf("leeward: %w", err)}
}

// ofInput is for problems of what is read: people name a file that is not there, or the machine cannot read one that is.
func ofInput(err error) error { return &exitcode.Exit{Code: exitcode.OfInput(err), Err: err} }

// misused is for errors of the command line; it says where its help is.
func misused(c *cobra.Command, err error) error {
	return &exitcode.Exit{Code: exitInvalid, Err: fmt.Errorf("leeward: %w\nsee '%s --help'", err, c.CommandPath())}
}

// textOf returns what an error has to say on standard error.
func textOf(err error) string {
	var e *exitcode.Exit
	switch {
	case err == nil, errors.As(err, &e) && e.Err == nil:
		return ""
	case e == nil:
		return "leeward: " + err.Error() + "\nsee 'leeward --help'"
	default:
		return e.Err.Error()
	}
}

// arguments demands at least one argument and says what it should be.
func arguments(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return misused(c, fmt.Errorf("%s needs %s", c.CommandPath(), what))
		}
		return nil
	}
}

// filesByFlag refuses words behind a command whose files are named with -f.
func filesByFlag(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return misused(c, fmt.Errorf("%s takes no arguments: name files with a flag, as -f %s", c.Name(), args[0]))
	}
	return nil
}
