package config_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/runtime/fleet/config"
)

var update = flag.Bool("update", false, "rewrite docs/profiles.md")

const docs = "../../../docs/profiles.md"

// docs/profiles.md is written from the table of fields.
func TestTheDocumentationIsCurrent(t *testing.T) {
	want := documentation(t)
	if *update {
		require.NoError(t, os.WriteFile(docs, []byte(want), 0o644))
	}
	got, err := os.ReadFile(docs)
	require.NoError(t, err)
	require.Equal(t, want, string(got), "run: go test ./runtime/fleet/config -update")
}

const introduction = `# Profiles and settings

A profile is a named set of settings, nothing more. A scenario names one with ` + "`spec.profile`" + ` and sets
single fields in ` + "`spec.config`" + `; on the command line ` + "`--set field=value`" + ` sets a field on top of that, and
the timeline action ` + "`config`" + ` at run time. The daemon has both in [its configuration](operations.md#configure).

- **karmada-legacy**: Karmada up to 1.13. A cluster that stays not Ready gets a NoExecute taint by itself,
  every policy tolerates that for five minutes, and nothing paces the evictions.
- **karmada**: Karmada since 1.16 with the defaults of its flags, faults included.
- **leeward**, the default: Karmada's API with failover on, exact timers, and an old copy that goes only
  when a new one stands.

A field has the name of Karmada's flag in camelCase, where there is one. Durations are written as ` + "`90s`, `10m`" + `
or ` + "`1d`" + `. Feature gates are fields, too, and the field ` + "`featureGates`" + ` takes them as Karmada's flag does
(` + "`\"Failover=true,GracefulEviction=true\"`" + `) or as a map (` + "`{Failover: true}`" + `).

Karmada evicts only if the gate and the flag are both set, which its users miss (K40 below). So asking for
eviction with ` + "`enableNoExecuteTaintEviction: true`" + ` turns the gate ` + "`failover`" + ` on, too. A gate that is named
outright, as in ` + "`failover: false`" + `, holds.

This file is written by ` + "`go test ./runtime/fleet/config -update`" + `.
`

// faults says what the faults of Karmada are that a field can cure.
var faults = []string{
	"K1: where no other cluster fits, the last running copy is deleted once the grace period ends",
	"K2: where not all replicas find room, none is placed, and those of the failed cluster are lost once the grace period ends",
	"K3: a handover ends on a health report that was made for fewer replicas",
	"K4: what a workload depends on is taken off the failed cluster while the old copy still runs there",
	"K5: where a failed cluster is to be emptied at once but does not answer, its substitute waits for as long as the handover may take",
	"K6: where the control plane loses sight of most clusters, everything is evicted",
	"K7: an eviction is not undone when the cluster recovers while it runs",
	"K8: 1.5 evictions a second by default, and at most ten a second however the rate is set",
	"K12: every binding of a tainted cluster is looked at every ten seconds",
	"K13: capacity is not reserved between decisions, so workloads pile up on one cluster",
	"K14: what went to a later affinity group never returns by itself",
	"K15: a restart resets the timers of application failover, and zero seconds wait for an unrelated event",
	"K16: a restart lets what a threshold holds back count at once, and starts grace periods anew",
	"K17: a condition that is not reported never matches, and a flapping one acts at once",
	"K18: policies created in the same second have no defined order",
	"K19: taints that a policy added remain when it is deleted, or edited so that it no longer asks for them",
	"K20: a policy removes taints that people or the system put there, whatever they are for",
	"K21: the order of tolerations decides which of them counts",
	"K22: tolerations are admitted unchecked",
	"K23: an edited toleration counts only after the next successful placement",
	"K24: a binding that was never placed by the scheduler is never evicted",
	"K25: a workload whose state cannot be read is never evicted",
	"K26: without maxGroups nothing is ever placed, spread by zone, provider and label is not implemented, and regions are chosen whatever their room",
	"K27: a workload that grows may get replicas on a cluster that is not ready, by what that cluster last said of its room",
	"K32: evictions know no priority: what matters most waits in the queue behind everything else",
	"K33: nothing bounds how many replicas of a workload, a tenant or a tier evictions may take at once",
	"K35: a slow or broken start is chased through the fleet: no grace for a copy that starts, no limit, and no rest for a cluster that was left",
	"K38: a WorkloadRebalancer that is applied again asks for nothing of what was placed since it was made",
	"K40: several switches must be set before a taint evicts anything",
	"K41: PreferNoSchedule is refused on clusters, though the help of the command line lists it",
	"K42: a cordon has no time, and no taint says who set it",
}

func documentation(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(introduction)
	b.WriteString("\n## Where the profiles differ\n\n")
	writeDifferences(t, &b)
	b.WriteString("\n## Every field\n\n")
	writeFields(t, &b)
	b.WriteString("\n## Faults of Karmada that a field cures\n\n")
	for _, fault := range faults {
		fmt.Fprintf(&b, "- %s.\n", fault)
	}
	return b.String()
}

func writeDifferences(t *testing.T, b *strings.Builder) {
	t.Helper()
	b.WriteString("| field | " + strings.Join(config.Profiles(), " | ") + " | cures |\n| --- | --- | --- | --- | --- |\n")
	for _, f := range config.Fields() {
		if values := valuesOf(t, f); len(slices.Compact(slices.Clone(values))) > 1 {
			fmt.Fprintf(b, "| %s | %s | %s |\n", f.Name, strings.Join(values, " | "), strings.Join(f.Cures, ", "))
		}
	}
}

func writeFields(t *testing.T, b *strings.Builder) {
	t.Helper()
	b.WriteString("| field | values | default | meaning | zero, false or empty | Karmada's flag | cures |\n| --- | --- | --- | --- | --- | --- | --- |\n")
	byDefault := slices.Index(config.Profiles(), config.Default)
	for _, f := range config.Fields() {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s |\n", f.Name, f.Type(), valuesOf(t, f)[byDefault],
			f.Meaning, f.Zero, code(f.Flag), strings.Join(f.Cures, ", "))
	}
}

func valuesOf(t *testing.T, f config.Field) (values []string) {
	t.Helper()
	for _, profile := range config.Profiles() {
		s := resolved(t, profile, []config.Override(nil))
		values = append(values, shown(f, &s))
	}
	return values
}

func shown(f config.Field, s *messages.Settings) string {
	if v := f.Of(s); v != "" {
		return v
	}
	return `""`
}

// code sets a flag in code, and leaves a remark in brackets outside.
func code(flag string) string {
	if flag == "" {
		return ""
	}
	name, remark, _ := strings.Cut(flag, " ")
	return strings.TrimSpace("`" + name + "` " + remark)
}

func TestEveryFaultIsExplainedOnce(t *testing.T) {
	explained := map[string]bool{}
	for _, fault := range faults {
		id, _, _ := strings.Cut(fault, ":")
		require.False(t, explained[id], id)
		explained[id] = true
	}
	for _, f := range config.Fields() {
		for _, id := range f.Cures {
			require.True(t, explained[id], "%s of %s", id, f.Name)
		}
	}
}
