package conformance

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages/api"
)

// Whatever of a recording goes another way than the replay is told. So a recording that passes was
// looked at.
func TestEveryDifferenceIsTold(t *testing.T) {
	within := bounds{-apart, apart}
	const twice, affinity, refused = "b12-both-fail-in-turn", "b10-affinity-group-fallback", "a04-noexecute-policy-rejected"
	for _, c := range []struct {
		name, file, told string
		bend             func(*Observation)
	}{
		{"another placement at first", twice, "initially binding nginx-deployment", func(o *Observation) { o.InitialBindings[0].Clusters[0].Replicas++ }},
		{"another placement in the end", twice, "finally binding nginx-deployment", func(o *Observation) { o.FinalBindings[0].Clusters[1].Name = "member4" }},
		{"a task that is left", "b09-purge-directly", "finally binding nginx-deployment", func(o *Observation) { o.FinalBindings[0].Tasks = nil }},
		{"another purge mode", "b09-purge-directly", "finally binding nginx-deployment", func(o *Observation) { o.FinalBindings[0].Tasks[0].PurgeMode = api.PurgeGracefully }},
		{"another producer on the way", twice, "binding nginx-deployment: other states", func(o *Observation) { bindingSighting(o, 2).Tasks[0].Producer = "Me" }},
		{"another order", twice, "binding nginx-deployment: other states", func(o *Observation) {
			a, b := bindingSighting(o, 1), bindingSighting(o, 2)
			*a, *b = *b, *a
		}},
		{"a state that did not come", twice, "binding nginx-deployment: other states", func(o *Observation) { o.Timeline = o.Timeline[:len(o.Timeline)-1] }},
		{"two seconds later", twice, "apart", func(o *Observation) { o.Timeline[len(o.Timeline)-1].Seconds += 2 }},
		{"two seconds earlier", twice, "apart", func(o *Observation) { o.Timeline[len(o.Timeline)-1].Seconds -= 2 }},
		{"another reason", "b06-no-candidate-left", "finally binding nginx-deployment", func(o *Observation) { o.FinalBindings[0].Scheduled.Reason = "NoClusterFit" }},
		{"another affinity group", affinity, "finally binding nginx-deployment", func(o *Observation) { o.FinalBindings[0].Affinity = "primary" }},
		{"a copy more", twice, "copies of nginx-deployment", func(o *Observation) {
			o.FinalWorks["nginx-deployment"] = []string{"member1", "member2", "member5"}
		}},
		{"a taint less", twice, "taints of member2", func(o *Observation) { delete(o.FinalTaints, "member2") }},
		{"a taint at another time", twice, "cluster member2: 2.0", func(o *Observation) { o.Timeline[0].Seconds += 2 }},
		{"a binding more", twice, "finally binding other-deployment", func(o *Observation) {
			o.FinalBindings = append(o.FinalBindings, Binding{Name: "other-deployment"})
		}},
		{"a refusal less", refused, "refused", func(o *Observation) { o.Rejections = o.Rejections[1:] }},
		{"a refusal of something else", refused, "refused", func(o *Observation) { o.Rejections[0].Rejected = "spec.taints[1] Forbidden" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := read(t, filepath.Join("testdata", c.file+".json"))
			ran := play(t, r, 1, 1500*time.Millisecond).account()
			require.Empty(t, differences(accountOf(r), ran, within))
			c.bend(&r.Observed)
			require.Contains(t, join(differences(accountOf(r), ran, within)), c.told)
		})
	}
}

// bindingSighting is the nth sighting of a binding.
func bindingSighting(o *Observation, n int) *Binding {
	for i := range o.Timeline {
		if b := o.Timeline[i].Binding; b != nil {
			if n--; n == 0 {
				return b
			}
		}
	}
	panic("there are fewer")
}
