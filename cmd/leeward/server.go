package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"leeward/runtime/client"
)

// serverFlags say which API server is meant, as kubectl's do.
type serverFlags struct{ kubeconfig, context string }

func (s *serverFlags) add(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&s.kubeconfig, "kubeconfig", "", "file that says where the server is (default: $KUBECONFIG, then ~/.kube/config)")
	f.StringVar(&s.context, "context", "", "context of that file (default: its current one)")
}

// connect returns a client whose server's warnings go to a writer.
func (s *serverFlags) connect(warnings io.Writer) (*client.Client, error) {
	config, err := client.Load(s.kubeconfig, s.context)
	if err != nil {
		return nil, err
	}
	return client.New(config, warnings)
}

// refused is for what a server would not do, or what it holds; the command line was right.
func refused(err error) error {
	if err == nil {
		return nil
	}
	return &exit{exitFailed, fmt.Errorf("leeward: %w", err)}
}
