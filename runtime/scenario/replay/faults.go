package replay

import (
	"time"

	"leeward/actors"
	"leeward/messages"
	"leeward/runtime/scenario"
)

// absence is what a replay knows of an engine that is gone: when it is back, and the steps that wait for it.
type absence struct {
	until time.Time
	held  []*scenario.Step
}

// crash lets the engine die in the middle of an instant, and be back later.
func (r *replay) crash(a *scenario.Crash) error {
	if r.world.Nodes() != nil {
		return r.stopControllers(a)
	}
	if err := r.world.Crash(a.After); err != nil {
		return err
	}
	r.watch()
	if r.absence.until = r.world.Now().Add(a.For); a.For == 0 {
		r.world.Revive()
	}
	return nil
}

// stopControllers has the controllers of nodes and pods die once all that was asked of them is done. A later step has them back.
func (r *replay) stopControllers(a *scenario.Crash) error {
	if err := r.settle(); err != nil {
		return err
	}
	r.world.StopControllers()
	if err := r.settle(); err != nil || a.For > 0 {
		return err
	}
	return r.restart()
}

// comeBack brings an engine back whose absence is over, with what it was asked meanwhile: an API that does not
// answer is asked again and again.
func (r *replay) comeBack() error {
	if !r.world.Down() || r.absence.until.After(r.world.Now()) {
		return nil
	}
	r.world.Revive()
	held := r.absence.held
	r.absence.held = nil
	for _, s := range held {
		if err := r.take(s); err != nil {
			return err
		}
	}
	return nil
}

// take does a step, or keeps it for an engine that is gone.
func (r *replay) take(s *scenario.Step) error {
	if r.world.Down() && !outside(s.Action) {
		r.absence.held = append(r.absence.held, s)
		return nil
	}
	return r.perform(s)
}

// outside reports whether an action is none of the engine's business: it happens to clusters and clocks.
func outside(a scenario.Action) bool {
	switch a.(type) {
	case *scenario.Outage, *scenario.Health, *scenario.Status, *scenario.SchedulableReplicas, *scenario.Reports, *scenario.RebootNodes, *scenario.Clock:
		return true
	}
	return false
}

// machine is the engine's time at an instant of the timeline. It never goes back: an engine whose clock is set
// back waits until its time has come again.
func (r *replay) machine(at time.Time) time.Time {
	return actors.Later(r.world.Now(), at.Add(r.offset))
}

// setClock sets the engine's clock once what is due by the old one is done.
func (r *replay) setClock(a *scenario.Clock) error {
	if err := r.settle(); err != nil {
		return err
	}
	r.world.Note(&messages.ClockStepped{By: a.By})
	r.offset += a.By
	r.world.Enter(r.machine(r.now))
	return r.comeBack()
}

// disturb lets something become of what clusters report. From then on those report of themselves, too, by way
// of their members.
func (r *replay) disturb(a *scenario.Reports) {
	until := r.world.Now().Add(a.For)
	for _, c := range a.Clusters {
		r.disturbed[c] = true
		r.monitor.Mishears(until.Add(a.By), c)
	}
	r.tellMembers(a.Clusters, &messages.ReportsDisturbed{Fault: a.Fault, Until: until, By: a.By})
}

// hear passes on what a cluster says of itself.
func (r *replay) hear(c messages.ClusterName, m messages.ToCluster) {
	if r.disturbed[c] {
		r.world.TellMember(c, &messages.ClusterSays{Report: m})
		return
	}
	r.world.TellCluster(c, m)
}

// outageOf is an outage of one kind of one cluster.
type outageOf struct {
	cluster messages.ClusterName
	kind    messages.OutageKind
}

// outage begins an outage of clusters, or ends one.
func (r *replay) outage(a *scenario.Outage) {
	by := 1
	if a.Over {
		by = -1
	}
	for _, c := range a.Clusters {
		before := r.outagesOf(c)
		r.outages[outageOf{c, a.Kind}] += by
		r.noteOutage(c, a)
		r.powerOfNodes(c, a)
		if now := r.outagesOf(c); now != before {
			r.monitor.Reaches(r.world.Now(), c, !now.Unseen())
			r.world.TellMember(c, &messages.OutagesSet{Outages: now})
		}
	}
}

// outagesOf are the outages that a cluster has now.
func (r *replay) outagesOf(c messages.ClusterName) messages.Outages {
	return messages.Outages{
		Power:     r.outages[outageOf{c, messages.OutagePower}] > 0,
		Network:   r.outages[outageOf{c, messages.OutageNetwork}] > 0,
		APIServer: r.outages[outageOf{c, messages.OutageAPIServer}] > 0,
		Agent:     r.outages[outageOf{c, messages.OutageAgent}] > 0,
	}
}

func (r *replay) noteOutage(c messages.ClusterName, a *scenario.Outage) {
	if a.Over {
		r.world.Note(&messages.OutageEnded{Cluster: c, Outage: a.Kind})
		return
	}
	var until time.Time
	if a.For > 0 {
		until = r.world.Now().Add(a.For)
	}
	r.world.Note(&messages.OutageBegan{Cluster: c, Outage: a.Kind, Until: until})
}
