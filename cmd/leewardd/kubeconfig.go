package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/tools/clientcmd"

	"leeward/runtime/daemon/kubeapi"
)

// kubeconfigCommand prints a kubeconfig for another user than the administrator.
func kubeconfigCommand(line *commandLine) *cobra.Command {
	var agent, karmada, server string
	var u kubeapi.User
	c := &cobra.Command{
		Use:   "kubeconfig (--agent CLUSTER | --karmada-agent CLUSTER | --user NAME --group GROUP...) [--server HOST:PORT]",
		Short: "Print a kubeconfig for a user, or for the agent of a cluster",
		Long: "kubeconfig signs a client certificate, valid for a year, and prints a kubeconfig with it. The daemon need\n" +
			"not run. Groups with permissions: " + kubeapi.AdminGroup + ", " + kubeapi.EditorGroup + " and " + kubeapi.ViewerGroup + ".",
		Example: "  leewardd kubeconfig --agent member1 > member1.kubeconfig\n" +
			"  leewardd kubeconfig --karmada-agent member2 > karmada-kubeconfig\n" +
			"  leewardd kubeconfig --user ada --group " + kubeapi.ViewerGroup,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			for _, of := range []struct {
				flag, cluster string
				user          func(string) kubeapi.User
			}{{"--agent", agent, kubeapi.Agent}, {"--karmada-agent", karmada, kubeapi.KarmadaAgent}} {
				if of.cluster == "" {
					continue
				}
				if wrong := validation.IsDNS1123Label(of.cluster); len(wrong) > 0 {
					return invalid("%s: %q is not the name of a cluster: %s", of.flag, of.cluster, wrong[0])
				}
				u = of.user(of.cluster)
			}
			daemon, err := line.read()
			if err != nil {
				return err
			}
			if _, err := os.Stat(filepath.Join(daemon.dataDir, "pki")); errors.Is(err, fs.ErrNotExist) {
				c.PrintErrf("No daemon has used %s yet: this kubeconfig is for a daemon that will.\n", daemon.dataDir)
			}
			at := kubeapi.Endpoint{Address: cmp.Or(server, daemon.reached()), ServingCert: daemon.tlsCert}
			k, err := kubeapi.Kubeconfig(daemon.dataDir, at, u, time.Now())
			if err != nil {
				return err
			}
			text, err := clientcmd.Write(*k)
			if err != nil {
				return fmt.Errorf("write the kubeconfig: %w", err)
			}
			_, err = c.OutOrStdout().Write(text)
			return err
		},
	}
	c.Flags().StringVar(&agent, "agent", "", "name of the cluster, for a kubeconfig of its agent")
	c.Flags().StringVar(&karmada, "karmada-agent", "", "name of the cluster, for a kubeconfig of Karmada's own agent")
	c.Flags().StringVar(&u.Name, "user", "", "the name of the user")
	c.Flags().StringArrayVar(&u.Groups, "group", nil, "a group of the user")
	c.Flags().StringVar(&server, "server", "", "address of the daemon for clients, as host:port (default: the address at which the daemon of --data-dir listens now, or the configured one; if that is every address, its first --tls-host)")
	c.MarkFlagsOneRequired("agent", "karmada-agent", "user")
	c.MarkFlagsMutuallyExclusive("agent", "karmada-agent", "user")
	return c
}
