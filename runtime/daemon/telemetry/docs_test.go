package telemetry

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite docs/metrics.md")

const docs = "../../../docs/metrics.md"

// docs/metrics.md is written from the definitions.
func TestTheDocumentationIsCurrent(t *testing.T) {
	want := documentation()
	if *update {
		require.NoError(t, os.WriteFile(docs, []byte(want), 0o644))
	}
	got, err := os.ReadFile(docs)
	require.NoError(t, err)
	require.Equal(t, want, string(got), "run: go test ./runtime/daemon/telemetry -update")
}

// TestAlertsAreAboutMetricsThatThereAre looks at every metric that operators are told of.
func TestAlertsAreAboutMetricsThatThereAre(t *testing.T) {
	text, err := os.ReadFile("../../../docs/operations.md")
	require.NoError(t, err)
	var names []string
	for _, d := range definitions {
		names = append(names, namespace+"_"+d.name)
		if d.kind == histogram {
			names = append(names, namespace+"_"+d.name+"_bucket", namespace+"_"+d.name+"_count")
		}
	}
	mentioned := regexp.MustCompile(`leeward_\w+`).FindAllString(string(text), -1)
	require.NotEmpty(t, mentioned)
	require.Subset(t, names, mentioned)
}

const introduction = "# Metrics\n\n" + `The daemon serves metrics for Prometheus at ` + "`/metrics`" + `, to those who may read (group ` + "`leeward:viewers`" + `):
its own, which begin with ` + "`leeward_`" + `, beside those of Kubernetes' API server (` + "`apiserver_`, `go_`, `process_`" + `).

What happens is counted from the start of the daemon. What stands is read from the store at each scrape, so that it is right
after a restart, too. What the machines tell of themselves is missing from a scrape that they are too busy to answer within a second.

[operations.md](operations.md#alerts) has a few alerts. This file is written by ` + "`go test ./runtime/daemon/telemetry -update`" + `.

| metric | type | labels | meaning |
| --- | --- | --- | --- |
`

func documentation() string {
	var b strings.Builder
	b.WriteString(introduction)
	for _, d := range definitions {
		fmt.Fprintf(&b, "| `%s_%s` | %s | %s | %s |\n", namespace, d.name, d.kind, strings.Join(d.labels, ", "), d.help)
	}
	return b.String()
}
