// Kubectl is Kubernetes' own, built of its library, so that a check of the daemon's API needs nothing but Go.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"
)

func main() { os.Exit(cli.Run(cmd.NewDefaultKubectlCommand())) }
