package main

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAShellIsOfferedTheNamesThatThereAre(t *testing.T) {
	s := served(t)
	for line, offered := range map[string]string{
		"cordon":                           "eu-1 eu-2",
		"uncordon eu-1":                    "eu-2",
		"drain clusters":                   "eu-1 eu-2",
		"taint":                            "clusters nodes",
		"taint nodes":                      "n1 n2",
		"taint clusters eu-2":              "eu-1",
		"hold":                             "clusters bindings clusterresourcebindings deployments statefulsets",
		"hold cluster":                     "eu-1 eu-2",
		"release binding --namespace shop": "nginx web-deployment",
		"release thing":                    "",
		"hold cluster eu-1":                "eu-2",
	} {
		t.Run(line, func(t *testing.T) {
			var out bytes.Buffer
			args := append(append([]string{"__complete"}, words(line)...), "--kubeconfig", kubeconfigOf(t, s), "")
			require.Zero(t, execute(args, &out, io.Discard))
			require.Equal(t, append(strings.Fields(offered), ":4"), strings.Fields(out.String()), "and no files")
		})
	}
}
