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

const introduction = "# Metrics\n\n" + `The daemon serves metrics for Prometheus at ` + "`/metrics`" + `, to users that may read (group ` + "`leeward:viewers`" + `): its own,
which begin with ` + "`leeward_`" + `, and those of Kubernetes' API server (` + "`apiserver_`, `go_`, `process_`" + `).

Counters of events start at the start of the daemon. Metrics of the present state are read from the store at each scrape, so that they are
right after a restart too. The machines' own metrics are missing from a scrape that they do not answer within a second.

For each cluster in push mode there are the metrics of [an agent](agents.md#leeward-agent), with the label ` + "`cluster`" + `.

[operations.md](operations.md#alerts) has alerts. This file is written by ` + "`go test ./runtime/daemon/telemetry -update`" + `.

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
