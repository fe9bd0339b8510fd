package binding_test

import (
	"testing"
	"time"

	"leeward/actors/actorstest"
	"leeward/messages"
	"leeward/messages/api"
)

func onTrial(cluster messages.ClusterName) *messages.EvictionPermitted {
	return &messages.EvictionPermitted{Cluster: cluster, Trial: true}
}

func concluded(serves bool) *messages.TrialConcluded {
	return &messages.TrialConcluded{Binding: name, Cluster: "m1", Serves: serves}
}

func TestATrialIsConcludedHoweverItEnds(t *testing.T) {
	for name, c := range map[string]struct {
		ends   func(*subject) *actorstest.Network
		serves bool
	}{
		"the new copy serves":        {func(b *subject) *actorstest.Network { return b.tell(report("m3", api.Healthy, 2, 3)) }, true},
		"it does not in time":        {func(b *subject) *actorstest.Network { return b.advance(10 * time.Minute) }, false},
		"the cluster is Ready again": {func(b *subject) *actorstest.Network { return b.tell(healed("m1")) }, true},
		"the workload is deleted":    {func(b *subject) *actorstest.Network { return b.tell(&messages.WorkloadDeleted{}) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := placed(t, settings(withdrawing), duplicated(), "m1:2", "m2:2")
			b.tell(tainted("m1", b.Now(), "down"))
			b.tell(onTrial("m1")).Told(governor)
			b.tell(b.place("m2:2", "m3:2")).Told(governor)
			c.ends(b).Told(governor, concluded(c.serves))
		})
	}
}

// What had a permit, on trial or not, and need not go gives it back: it counts for none.
func TestAPermitThatIsNotNeededIsGivenBack(t *testing.T) {
	for name, needless := range map[string]func(*subject) messages.ToBinding{
		"the taint goes":                    func(*subject) messages.ToBinding { return healed("m1") },
		"the scheduler chooses another way": func(b *subject) messages.ToBinding { return b.place("m2:2") },
		"the workload is deleted":           func(*subject) messages.ToBinding { return &messages.WorkloadDeleted{} },
	} {
		t.Run(name, func(t *testing.T) {
			for _, permit := range []*messages.EvictionPermitted{onTrial("m1"), permit("m1")} {
				b := placed(t, settings(destinationFirst), duplicated(), "m1:2", "m2:2")
				b.tell(tainted("m1", b.Now(), "down"))
				b.tell(permit).Told(governor)
				b.tell(needless(b)).Told(governor, returned("m1"))
			}
		})
	}
}

func TestWhatIsNotOnTrialIsNotConcluded(t *testing.T) {
	b := leaving(t, settings(), duplicated(), "m2:2", "m3:2")
	b.tell(report("m3", api.Healthy, 2, 3)).Told(governor)
}

func TestATrialOutlivesARestart(t *testing.T) {
	t.Run("its task goes on", func(t *testing.T) {
		b := drive(t, settings())
		b.tell(stored(duplicated(), b.Now()))
		b.tell(&messages.ReportTrial{Cluster: "m1"}).Told(governor)
		b.advance(10*time.Minute).Told(governor, concluded(false))
	})
	t.Run("its task is no more, and nothing serves", func(t *testing.T) {
		b := drive(t, settings())
		b.tell(&messages.ReportTrial{Cluster: "m1"}).Told(governor, concluded(false))
	})
	t.Run("its task is no more, and the workload serves", func(t *testing.T) {
		b := placed(t, settings(), duplicated(), "m2:2")
		b.tell(&messages.ReportTrial{Cluster: "m1"}).Told(governor, concluded(true))
	})
}
