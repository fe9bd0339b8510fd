// Command leewardd is the control plane of a fleet: it serves its Kubernetes API, and decides what happens to
// workloads when clusters fail.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"leeward/cmd/internal/exitcode"
	"leeward/cmd/internal/logging"
	"leeward/cmd/internal/manual"
	"leeward/runtime/daemon/build"
	"leeward/runtime/daemon/etcd"
	"leeward/runtime/fleet/config"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process immediately
	reload := make(chan os.Signal, 1)
	signal.Notify(reload, syscall.SIGHUP)
	if err := rootCommand(reload).ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "leewardd:", err)
		os.Exit(exitcode.Of(err))
	}
}

// rootCommand is the daemon, which reads its configuration again at each signal to reload.
func rootCommand(reload <-chan os.Signal) *cobra.Command {
	line := newCommandLine()
	c := &cobra.Command{
		Use:   "leewardd",
		Short: "Decide failovers for a fleet of clusters, and serve its Kubernetes API",
		Long: "leewardd decides what happens to workloads when clusters fail, and serves a Kubernetes API for users and\n" +
			"for the agents of clusters. It keeps its data in one folder, and writes a kubeconfig into it.\n\n" +
			"With --attach it serves no API, and runs beside the API server of Karmada or of a Kubernetes cluster: in shadow, or, with --act, in place of\n" +
			"Karmada's scheduler and failover controllers, or of the cluster's taint-eviction controller.\n\n" +
			"Flags override the configuration file, and the file overrides the profile. At SIGHUP the file is read again.\n\n" + exitCodes,
		Example: "  leewardd\n  KUBECONFIG=leewardd.data/kubeconfig kubectl get clusters\n" +
			"  leewardd --attach ~/.kube/config\n" +
			"  leewardd --attach ~/.kube/config --act node-taint-eviction\n" +
			"  leewardd --attach karmada.kubeconfig --act scheduler,eviction,graceful-eviction --scheduler-name leeward",
		Args:         cobra.NoArgs,
		SilenceUsage: true, SilenceErrors: true,
		RunE: func(c *cobra.Command, _ []string) error {
			return run(c.Context(), line, c.OutOrStdout(), c.ErrOrStderr(), reload)
		},
	}
	c.PersistentFlags().SortFlags = false
	c.PersistentFlags().AddFlagSet(line.flags())
	must(c.RegisterFlagCompletionFunc("act", cobra.FixedCompletions(actsAs, cobra.ShellCompDirectiveNoFileComp)))
	c.AddCommand(kubeconfigCommand(line), configCommand(line), uiCommand(line), moveCommand(line))
	build.Of(debug.ReadBuildInfo()).AddTo(c)
	manual.AddTo(c)
	exitcode.Classify(c, func(err error) error { return &exitcode.Exit{Code: causeOf(err), Err: err} })
	return c
}

// must panics on an error of a command's own making: its flags are there.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

func run(ctx context.Context, line *commandLine, out, log io.Writer, reload <-chan os.Signal) error {
	c, err := line.read()
	if err != nil {
		return err
	}
	if c.attach != "" {
		d, err := newAttached(ctx, c, newLogger(&c.options, log), out)
		if err != nil {
			return err
		}
		return d.run(ctx, out, reload)
	}
	d, err := newDaemon(line, c, newLogger(&c.options, log))
	if err != nil {
		return err
	}
	return d.run(ctx, out, reload)
}

// newLogger logs in the format of the options. Its level is that of the process, because it may change while the daemon runs.
func newLogger(o *options, out io.Writer) zerolog.Logger {
	setLogLevel(o)
	return logging.New(out, o.logFormat)
}

func setLogLevel(o *options) {
	level, _ := o.level() // it was validated
	zerolog.SetGlobalLevel(level)
}

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
