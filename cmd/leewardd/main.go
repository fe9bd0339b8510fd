// Command leewardd is the control plane: it serves the Kubernetes API of a fleet.
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

	"github.com/benbjohnson/clock"
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"leeward/messages"
	"leeward/runtime/config"
	"leeward/runtime/engine"
	"leeward/runtime/kubeapi"
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
	expose                        bool
	hosts                         []string
}

func rootCommand() *cobra.Command {
	var f flags
	c := &cobra.Command{
		Use:   "leewardd",
		Short: "Serve the Kubernetes API of a fleet of clusters",
		Long: "leewardd serves the Kubernetes API of a fleet of clusters. It keeps its data in one folder, and writes\n" +
			"a kubeconfig into it.",
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
	c.Flags().StringVar(&f.profile, "profile", "leeward", "the named set of settings")
	c.AddCommand(kubeconfigCommand(&f))
	return c
}

func (f *flags) run(ctx context.Context, out, log io.Writer) error {
	settings, err := config.Profile(f.profile)
	if err != nil {
		return err
	}
	store, err := engine.Open(engine.Config{Resources: kubeapi.Resources(), Clock: clock.New()})
	if err != nil {
		return err
	}
	server, err := kubeapi.New(kubeapi.Config{
		Engine: store, DataDir: f.dataDir, Addr: f.address(), Expose: f.expose, Hosts: f.hosts,
		Logger: zerolog.New(log).Level(zerolog.WarnLevel), Clock: clock.New(),
		Settings: func() *messages.Settings { return &settings },
	})
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "listening on https://%s\nexport KUBECONFIG=%s\n", server.Addr(), server.KubeconfigFile()); err != nil {
		return err
	}
	if err := server.Run(ctx); err != nil {
		return err
	}
	return store.Close()
}

func (f *flags) address() string { return net.JoinHostPort(f.bindAddress, strconv.Itoa(f.securePort)) }
