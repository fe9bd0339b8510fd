// Command leewardd is the control plane of a fleet: it serves its Kubernetes API, and decides what happens to
// workloads when clusters fail.
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"leeward/runtime/config"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := rootCommand().ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "leewardd:", err)
		os.Exit(1)
	}
}

// flags are those of the daemon.
type flags struct {
	dataDir, bindAddress, profile string
	securePort                    int
	expose, shadow                bool
	hosts                         []string
}

func rootCommand() *cobra.Command {
	var f flags
	c := &cobra.Command{
		Use:   "leewardd",
		Short: "Look after a fleet of clusters, and serve its Kubernetes API",
		Long: "leewardd decides what happens to workloads when clusters fail, and serves the Kubernetes API by which people\n" +
			"and agents tell it of them. It keeps its data in one folder, and writes a kubeconfig into it.",
		Example:      "  leewardd\n  KUBECONFIG=leewardd.data/kubeconfig kubectl get clusters",
		Args:         cobra.NoArgs,
		SilenceUsage: true, SilenceErrors: true,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c.Context(), c.OutOrStdout(), c.ErrOrStderr()) },
	}
	set := c.PersistentFlags()
	set.StringVar(&f.dataDir, "data-dir", "leewardd.data", "folder of all that the daemon keeps")
	set.StringVar(&f.bindAddress, "bind-address", "127.0.0.1", "address to listen on")
	set.IntVar(&f.securePort, "secure-port", 7443, "port to listen on; 0 is any")
	c.Flags().BoolVar(&f.expose, "expose", false, "listen also on an address that is not a loopback one")
	c.Flags().StringSliceVar(&f.hosts, "tls-host", nil, "a further name or address that clients call the daemon by")
	c.Flags().BoolVar(&f.shadow, "shadow", false, "decide and tell what was decided, and write nothing")
	c.Flags().StringVar(&f.profile, "profile", "leeward", "the named set of settings")
	c.AddCommand(kubeconfigCommand(&f))
	return c
}

func (f *flags) run(ctx context.Context, out, log io.Writer) error {
	settings, err := config.Profile(f.profile)
	if err != nil {
		return err
	}
	d, err := newDaemon(f, &settings, zerolog.New(log).Level(zerolog.InfoLevel).With().Timestamp().Logger())
	if err != nil {
		return err
	}
	return d.run(ctx, out)
}

func (f *flags) address() string { return net.JoinHostPort(f.bindAddress, strconv.Itoa(f.securePort)) }
