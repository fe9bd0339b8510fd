package whatif

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/messages/manifest"
	"leeward/runtime/fleet/span"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/forecast"
)

func TestWhatFlagsTake(t *testing.T) {
	c, err := Parse(FlagDrain, "eu-1@5m")
	require.NoError(t, err)
	require.Equal(t, 5*time.Minute, c.At)
	require.Equal(t, "eu-1", c.subject)
	for _, of := range [][3]string{
		{FlagLose, "moon=eu", "kind: "}, {FlagLose, "region=", "region: "}, {FlagTaint, "eu-1", "cluster: "}, {FlagTaint, "eu-1=a:Never", "taint: "},
		{FlagCondition, "eu-1/Ready=no", "status: "}, {FlagCondition, "eu-1", "condition: "}, {FlagDrain, "", "name: "}, {FlagDelete, "web", "object: "},
		{FlagSet, "field", "setting: "}, {FlagScale, "web", "workload: "}, {FlagScale, "shop/web=-1", "replicas: "}, {FlagScale, "shop/web=1000001", "replicas: "},
		{FlagDrain, "eu-1@169h", "must not be later"}, {FlagDrain, "eu-1@soon", "@soon: "}, {FlagDrain, strings.Repeat("a", mostText+1), "value: "},
	} {
		_, err := Parse(of[0], of[1])
		require.ErrorContains(t, err, of[2], of)
	}
}

func FuzzParse(f *testing.F) {
	for flag, text := range map[string]string{FlagLose: "region=eu@5m", FlagTaint: "eu-1=a=b:NoExecute-", FlagCondition: "eu-1/Ready=False", FlagScale: "shop/web=3"} {
		f.Add(flag, text)
	}
	f.Fuzz(func(t *testing.T, flag, text string) {
		c, err := Parse(flag, text)
		if err == nil {
			require.LessOrEqual(t, c.At, MostLater)
			require.LessOrEqual(t, c.replicas, int32(mostReplicas))
			require.NotEmpty(t, parsers[flag])
		}
	})
}

// asked is a prediction about the fleet of the examples.
func asked(t testing.TB, changes ...string) Config {
	t.Helper()
	fleet, problems := scenario.Disk.Fleet([]string{"../../../docs/examples/fleet.yaml"})
	require.Empty(t, problems)
	c := Config{Fleet: fleet, Seed: 1, Startup: 30 * time.Second, Outage: Outage{Kind: messages.OutagePower}}
	c.Read = func(string) ([]manifest.Document, error) { return nil, errors.New("no such file") }
	for _, words := range changes {
		flag, text, _ := strings.Cut(words, " ")
		change, err := Parse(flag, text)
		require.NoError(t, err)
		c.Changes = append(c.Changes, change)
	}
	return c
}

func TestEveryProblemOfChangesIsNamed(t *testing.T) {
	_, err := Run(context.Background(), asked(t, "lose region=mars", "drain moon", "scale shop/none=2", "delete deployment/none", "set evictionWorkers=many", "apply none.yaml"))
	var invalid *forecast.Invalid
	require.ErrorAs(t, err, &invalid)
	for _, part := range []string{
		`--lose "region=mars": region: there is no region "mars"; there are asia, eu, us`, `--drain "moon": cluster: `, `--scale "shop/none=2": workload: `,
		`--delete "deployment/none": object: `, `--set "evictionWorkers=many": evictionWorkers: `, `--apply "none.yaml": file: no such file`,
	} {
		require.ErrorContains(t, err, part)
	}
}

func TestBoundsCannotBeEscaped(t *testing.T) {
	c := asked(t)
	_, err := Run(context.Background(), c)
	require.ErrorContains(t, err, "name a change")
	for range MostChanges + 1 {
		c.Changes = append(c.Changes, &Change{Flag: FlagDrain, subject: "eu-1"})
	}
	c.Samples, c.Outage.For = MostSamples+1, MostLater+1
	_, err = Run(context.Background(), c)
	for _, part := range []string{"101 changes are more than 100", "--samples 1001: ", "--for 168h"} {
		require.ErrorContains(t, err, part)
	}
	c = asked(t, "drain eu-1")
	c.Samples, c.Fleet.Objects = MostSamples, make([]manifest.Document, mostObjects+1)
	_, err = Run(context.Background(), c)
	require.ErrorContains(t, err, "500001 objects, more than 500000")
	require.ErrorContains(t, err, "together")
	c = asked(t, "apply many.yaml")
	c.Read = func(string) ([]manifest.Document, error) { return make([]manifest.Document, mostApplied+1), nil }
	_, err = Run(context.Background(), c)
	require.ErrorContains(t, err, "holds 10001 objects, more than 10000")
}

func TestWhatChangesComeTo(t *testing.T) {
	for _, of := range []struct {
		changes   string
		evictions int
		changed   bool
	}{
		{"drain eu-1", 2, true}, {"taint eu-1=a:NoSchedule", 0, false}, {"delete deployment/shop/cart", 0, true},
		{"scale shop/cart=3", 0, false}, {"set evictionWorkers=3", 0, false},
	} {
		p, err := Run(context.Background(), asked(t, of.changes))
		require.NoError(t, err, of.changes)
		require.Len(t, p.Evictions, of.evictions, of.changes)
		require.Equal(t, of.changed, p.Changed, of.changes)
	}
	c := asked(t, "lose cluster=eu-1@10m")
	c.Samples = 3
	p, err := Run(context.Background(), c)
	require.NoError(t, err)
	require.Equal(t, 3, p.Samples.Seeds)
	require.Equal(t, span.Seconds(10*time.Minute), p.LowestAt)
	require.NotNil(t, p.Samples.Worst)
}
