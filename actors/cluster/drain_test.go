package cluster_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/actorstest"
	"leeward/actors/cluster"
	"leeward/messages"
	"leeward/messages/api"
)

var (
	drained    = bySystem("the cluster is being drained")
	drainEnded = bySystem("the drain was ended")
	cordon     = "cluster.karmada.io/unschedulable:NoSchedule"
	draining   = "leeward.dev/draining:NoExecute"
)

// progress is how far a drain has come that began at Start.
func progress(left, of int32, deadline time.Time) *messages.DrainProgressed {
	d := api.Drain{Since: metav1.Time{Time: actorstest.Start}, Bindings: of, Left: left}
	if !deadline.IsZero() {
		d.Deadline = &metav1.Time{Time: deadline}
	}
	return &messages.DrainProgressed{Cluster: name, Drain: d}
}

func placedOn(bindings ...messages.BindingName) []messages.ToCluster {
	all := make([]messages.ToCluster, len(bindings))
	for i := range bindings {
		all[i] = &messages.BindingPlaced{Binding: bindings[i]}
	}
	return all
}

func TestADrainCountsWhatRemains(t *testing.T) {
	d := drive(t, nil)
	d.Tell(placedOn("web", "db", "bound")...)
	at := d.Now()
	by := at.Add(5 * time.Minute)
	d.Tell(&messages.DrainRequested{Deadline: by}).
		Recorded(tainted(cordon, at, drained), tainted(draining, at, drained), progress(3, 3, by))
	d.Tell(&messages.BindingLeft{Binding: "web"}, &messages.BindingLeft{Binding: "db"}).Recorded(progress(1, 3, by))
	d.QuietFor(5*time.Minute - 1)
	d.Advance(1).Recorded(&messages.DrainMissed{Cluster: name, Waiting: []messages.BindingName{"bound"}})
	late := progress(0, 3, by)
	late.Missed = true
	d.Tell(&messages.BindingLeft{Binding: "bound"}).Recorded(late)
	d.Tell().Sleeps()
}

func TestADrainOfAnEmptyClusterIsDone(t *testing.T) {
	d := drive(t, nil)
	by := d.Now().Add(time.Minute)
	d.Tell(&messages.DrainRequested{Deadline: by}).
		Recorded(tainted(cordon, d.Now(), drained), tainted(draining, d.Now(), drained), progress(0, 0, by))
	d.Tell().Sleeps()
}

func TestADrainWaitsForNoPolicy(t *testing.T) {
	d := drive(t, nil, listed("p")...)
	d.Tell(report("Disk", "True"), &messages.DrainRequested{}).Recorded(changed("Disk", "True"),
		tainted(cordon, d.Now(), drained), tainted(draining, d.Now(), drained), progress(0, 0, time.Time{}))
}

func TestAUserWhoRemovesTheTaintsOfADrainGetsThemBack(t *testing.T) {
	d := drive(t, nil)
	d.Tell(&messages.DrainRequested{})
	d.Tell(edit("leeward.dev/draining-", "cluster.karmada.io/unschedulable-")).Quiet()
}

func TestADrainEndsWithItsTaints(t *testing.T) {
	d := drive(t, nil)
	at := d.Now()
	d.Tell(&messages.DrainCancelled{}).Quiet()
	d.Tell(&messages.DrainRequested{})
	d.Tell(&messages.DrainCancelled{}).
		Recorded(&messages.DrainEnded{Cluster: name}, untainted(cordon, at, drainEnded), untainted(draining, at, drainEnded))
	d.Tell(placedOn("web")...).Quiet()
}

// Another deadline is another chance; the count goes on.
func TestADrainMayGetAnotherDeadline(t *testing.T) {
	d := drive(t, nil)
	d.Tell(placedOn("web")...)
	by := d.Now().Add(time.Minute)
	d.Tell(&messages.DrainRequested{Deadline: by})
	d.Advance(time.Minute).Recorded(&messages.DrainMissed{Cluster: name, Waiting: []messages.BindingName{"web"}})
	later := by.Add(time.Hour)
	d.Tell(&messages.DrainRequested{Deadline: later}).Recorded(progress(1, 1, later)).WakesIn(time.Hour)
	d.Tell(&messages.DrainRequested{}).Recorded(progress(1, 1, time.Time{})).Sleeps()
}

func TestADrainSurvivesARestart(t *testing.T) {
	for title, c := range map[string]struct {
		missed bool
		left   time.Duration
	}{"with its deadline": {false, 3 * time.Minute}, "and is not late twice": {true, 0}} {
		t.Run(title, func(t *testing.T) {
			o := ready("True")
			by := actorstest.Start.Add(3 * time.Minute)
			stored := progress(1, 3, by).Drain
			stored.Missed = c.missed
			o.Status.Drain = &stored
			d := actorstest.Drive(t, cluster.New(name, settings(nil), 0))
			d.Tell(joined(o), &messages.BindingPlaced{Binding: "bound"}).
				Recorded(tainted(cordon, d.Now(), drained), tainted(draining, d.Now(), drained))
			if c.left > 0 {
				d.Tell().WakesIn(c.left)
			} else {
				d.Tell().Sleeps()
			}
		})
	}
}
