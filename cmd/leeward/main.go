// Command leeward rehearses what happens to applications when Kubernetes clusters fail: it replays
// scenarios on a virtual clock and says what moved, when, where and why.
package main

import (
	"context"
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
