package invariant_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/invariant"
)

// arrives has a binding of namespace d leave m1 for m2, for some reason.
func arrives(name messages.BindingName, reason string) []messages.Fact {
	f := leaves(name, 1)
	f.Grounds.Reason = reason
	return []messages.Fact{f, &messages.Scheduled{
		Binding: "d/" + name, Before: []api.TargetCluster{{Name: "m1", Replicas: 1}}, Clusters: []api.TargetCluster{{Name: "m2", Replicas: 1}},
	}}
}

// All bindings of the fleet leave m1 for m2, each when the facts say so, and the copy of d/a is heard of.
func TestAClusterStartsSoManyTogether(t *testing.T) {
	const must, may = api.EvictionReasonTaintUntolerated, api.EvictionReasonReschedule
	one, two := messages.Settings{GracefulEvictionTimeout: time.Hour, MaxStartingPerCluster: 1}, messages.Settings{GracefulEvictionTimeout: time.Hour, MaxStartingPerCluster: 2}
	none := messages.Settings{GracefulEvictionTimeout: time.Hour}
	well := []api.AggregatedStatusItem{{ClusterName: "m2", Health: api.Healthy}}
	starts := []api.AggregatedStatusItem{{ClusterName: "m2", Health: api.Unhealthy, StartingSince: &metav1.MicroTime{Time: start}}}
	late := []messages.Fact{&messages.HandoverBlocked{Binding: "d/a", Cluster: "m1"}}
	counted := func(most int) []messages.Fact {
		return []messages.Fact{&messages.StartsCounted{StartBackoff: api.StartBackoff{Cluster: "m2", Most: most}, Limits: true}}
	}
	type step struct {
		facts []messages.Fact
		heard []api.AggregatedStatusItem
	}
	first := step{facts: arrives("a", must)}
	for name, c := range map[string]struct {
		settings messages.Settings
		history  []step
		broken   bool
	}{
		"one at a time":                       {one, []step{first}, false},
		"two together":                        {one, []step{{facts: and(arrives("a", must), arrives("b", must)...)}}, true},
		"a second one too soon":               {one, []step{first, {facts: arrives("b", must)}}, true},
		"a second one while the first starts": {one, []step{first, {arrives("b", must), starts}}, true},
		"a second one when the first serves":  {one, []step{first, {arrives("b", must), well}}, false},
		"a second one when the first is late": {one, []step{first, {facts: late}, {facts: arrives("b", must)}}, false},
		"a second one when the first is over": {one, []step{first, {facts: []messages.Fact{&messages.EvictionEnded{Binding: "d/a", Cluster: "m1", Reason: messages.EndedTimeout}}}, {facts: arrives("b", must)}}, false},
		"a second one that moves by choice":   {one, []step{first, {facts: arrives("b", may)}}, false},
		"two where two may":                   {two, []step{first, {facts: arrives("b", must)}}, false},
		"any number where it is not counted":  {none, []step{first, {facts: arrives("b", must)}}, false},
		"two while it backs off":              {none, []step{{facts: counted(1)}, first, {facts: arrives("b", must)}}, true},
		"two while it still does":             {two, []step{{facts: counted(1)}, first, {facts: and(counted(1), arrives("b", must)...)}}, true},
		"one before it backs off":             {none, []step{first, {facts: counted(1)}, {facts: arrives("b", must)}}, false},
		"one as it begins to back off":        {none, []step{{facts: and(counted(1), arrives("a", must)...)}, {facts: arrives("b", must)}}, false},
		"two when it no longer backs off":     {none, []step{{facts: counted(1)}, first, {facts: counted(0)}, {facts: arrives("b", must)}}, false},
		"who counts only now knows of none":   {one, []step{first, {facts: []messages.Fact{set("maxStartingPerCluster", "1")}}, {facts: arrives("b", must)}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			monitor, objects := invariant.New(c.settings, nil), fleet(0)
			for _, b := range objects.Bindings() {
				b.Spec.Clusters, b.Spec.GracefulEvictionTasks = []api.TargetCluster{{Name: "m2"}}, []api.GracefulEvictionTask{task("m1", start)}
			}
			for i, s := range c.history {
				objects.Binding("d/a").Status.AggregatedStatus = s.heard
				hear(monitor, objects, []told{{time.Duration(i) * time.Second, s.facts}})
			}
			require.Equal(t, c.broken, monitor.Counters()[invariant.StartsKept] > 0, "%v", monitor.Violations())
		})
	}
}
