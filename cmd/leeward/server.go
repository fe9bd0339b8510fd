package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"leeward/cmd/internal/exitcode"
	"leeward/runtime/client"
)

// serverFlags say which API server is meant, as kubectl's do.
type serverFlags struct{ kubeconfig, context, namespace string }

func (s *serverFlags) add(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&s.kubeconfig, "kubeconfig", "", "kubeconfig file of the server (default: $KUBECONFIG, then ~/.kube/config)")
	f.StringVar(&s.context, "context", "", "context of that file (default: its current one)")
}

// addNamespace gives a command kubectl's flag for the namespace of what it names.
func (s *serverFlags) addNamespace(c *cobra.Command) {
	c.Flags().StringVarP(&s.namespace, "namespace", "n", "", "namespace of bindings and workloads (default: the context's)")
}

// namespaced is the namespace of what is named without one.
func (s *serverFlags) namespaced() string {
	if s.namespace != "" {
		return s.namespace
	}
	return client.Namespace(s.kubeconfig, s.context)
}

// connect returns a client whose server's warnings go to a writer.
func (s *serverFlags) connect(warnings io.Writer) (*client.Client, error) {
	config, err := client.Load(s.kubeconfig, s.context)
	if err != nil {
		return nil, err
	}
	return client.New(config, warnings)
}

// refused is for what a server would not do, or what it holds; the command line was right. A file that cannot be written,
// such as standard output, is not the server's doing.
func refused(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.As(err, new(*fs.PathError)):
		return internal(err)
	}
	return &exitcode.Exit{Code: exitFailed, Err: fmt.Errorf("leeward: %w", err)}
}
