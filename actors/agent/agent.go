// Package agent is the machine that represents the agent of a real cluster: it says which Works the cluster
// is to have, believes what the agent writes into their status about the wish that it had then, and notices
// when the agent falls silent. What it asks for comes to pass through an API, so it may take any time and
// be seen in any order.
package agent

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"leeward/actors"
	"leeward/messages"
	"leeward/messages/api"
)

// Agent is the far end of one cluster, as far as its Works tell.
type Agent struct {
	cluster  messages.ClusterName
	settings messages.Settings
	works    map[messages.BindingName]*work
	lease    lease
}

// work is one copy: what is wanted of it and what was last said of it.
type work struct {
	// wish is the newest; nil: no copy is wanted.
	wish *messages.RunCopy
	// revision is the newest version of the pod template that was ever asked for.
	revision int32
	// generation is that of the stored Work, zero where there is none yet; written, that which is stored
	// for the wish, zero until it is written.
	generation, written int64
	// report is the agent's last; served and runs are the wish and the version of the pod template that it was about.
	report *messages.WorkReport
	served int64
	runs   int32
	// removing is set from asking for the Work to go until it is gone; asking, while the word of a silent
	// agent is waited for before that.
	removing, asking bool
}

// New returns an agent that runs nothing and has said nothing.
func New(cluster messages.ClusterName, settings messages.Settings) *Agent {
	return &Agent{cluster: cluster, settings: settings, works: map[messages.BindingName]*work{}}
}

// Receive routes a message to its transition.
func (a *Agent) Receive(now time.Time, m messages.ToAgent, out *actors.Outbox) {
	switch m := m.(type) {
	case *messages.RunCopy:
		a.run(m, out)
	case *messages.RemoveCopy:
		a.remove(m, out)
	case *messages.WorkWritten:
		a.written(m, out)
	case *messages.WorkObserved:
		a.observed(m, out)
	case *messages.WorkGone:
		a.gone(m.Binding, out)
	case *messages.LeaseRenewed:
		a.lease.renewed(a, m.At, out)
	case *messages.ClusterDismissed:
		a.dismissed(out)
	case *messages.EngineRestarted:
		a.lease.tell(a, out)
	case *messages.SettingsChanged:
		a.settings = m.Settings
	case *messages.Woken:
		a.lease.expire(a, now, out)
	default:
		panic(fmt.Sprintf("agent %s: unknown message %T", a.cluster, m))
	}
	out.WakeAt(a.lease.deadline(&a.settings))
}

func (a *Agent) work(b messages.BindingName) *work {
	w := a.works[b]
	if w == nil {
		w = &work{}
		a.works[b] = w
	}
	return w
}

// run asks for a Work. One that must not change, and is stored, is what is wanted.
func (a *Agent) run(m *messages.RunCopy, out *actors.Outbox) {
	w := a.work(m.Binding)
	w.wish, w.written, w.asking = m, 0, false
	w.revision = max(w.revision, m.Revision)
	if m.AsIs {
		w.written = w.generation
		a.say(m.Binding, w, out)
		return
	}
	a.want(w, out)
}

func (a *Agent) want(w *work, out *actors.Outbox) {
	out.Record(&messages.CopyWanted{
		Binding: w.wish.Binding, Cluster: a.cluster, Replicas: w.wish.Replicas, Revision: w.revision,
		Placement: w.wish.Placement, Labels: w.wish.Labels,
	})
}

// remove asks for a Work to go; where there is none, the copy is gone already. A silent agent may be asked
// first how its copy is: then the Work stays until it has said so.
func (a *Agent) remove(m *messages.RemoveCopy, out *actors.Outbox) {
	w := a.works[m.Binding]
	if w == nil || w.generation == 0 && w.wish == nil {
		a.forget(m.Binding, out)
		return
	}
	w.wish, w.revision = nil, 0 // what is asked for next may be of a workload that was created again
	if m.Ask && a.lease.silent {
		w.asking, w.report = true, nil
		return
	}
	w.removing, w.asking = true, false
	out.Record(&messages.CopyUnwanted{Binding: m.Binding, Cluster: a.cluster, Preserved: m.Preserve})
}

// written learns which generation is the wish's own. What was reported of it meanwhile counts now. A Work that was to go, and
// is wanted again before its deletion was asked for, stays.
func (a *Agent) written(m *messages.WorkWritten, out *actors.Outbox) {
	w := a.works[m.Binding]
	if w == nil || w.wish == nil || m.Placement != w.wish.Placement {
		return
	}
	w.generation, w.written, w.removing = max(w.generation, m.Generation), m.Generation, false
	a.say(m.Binding, w, out)
}

// observed takes in the state of a Work. One that no binding asked for is remembered, for the engine may adopt it.
func (a *Agent) observed(m *messages.WorkObserved, out *actors.Outbox) {
	w := a.work(m.Binding)
	w.generation = max(w.generation, m.Generation)
	w.removing = w.removing || m.Leaving
	if m.Edited && w.wish != nil && !w.removing {
		out.TellBinding(m.Binding, &messages.CopyEdited{Cluster: a.cluster})
	}
	if m.Report != nil {
		w.report = m.Report
		a.say(m.Binding, w, out)
	}
}

// say reports a copy as its agent last did. A report that is older than the wish is about the wish before.
func (a *Agent) say(b messages.BindingName, w *work, out *actors.Outbox) {
	if w.report == nil || w.removing || w.wish == nil && !w.asking {
		return
	}
	if w.wish != nil && w.written > 0 && (w.report.Generation == 0 || w.report.Generation >= w.written) {
		w.served, w.runs = w.wish.Placement, w.revision
	}
	r := &messages.CopyReported{
		Cluster: a.cluster, Health: w.report.Health, Ready: w.report.Ready, Unschedulable: w.report.Unschedulable,
		Full: w.report.Unschedulable > 0, Revision: w.runs, Status: w.report.Status, Refused: w.report.Refused, ForPlacement: w.served, Kept: w.asking,
	}
	if r.Health != api.Healthy {
		r.Ready = 0
	}
	out.TellBinding(b, r)
}

// gone takes in that a Work is no more. One that is still wanted, or wanted again, is asked for again.
func (a *Agent) gone(b messages.BindingName, out *actors.Outbox) {
	w := a.works[b]
	if w == nil || w.wish == nil {
		a.forget(b, out)
		return
	}
	*w = work{wish: w.wish, revision: w.revision}
	a.want(w, out)
	out.TellBinding(b, &messages.CopyReported{Cluster: a.cluster, Health: api.Unhealthy})
}

// forget lets a copy go and says so, because the binding waits for the report.
func (a *Agent) forget(b messages.BindingName, out *actors.Outbox) {
	delete(a.works, b)
	out.TellBinding(b, &messages.CopyRemoved{Cluster: a.cluster})
}

// dismissed lets all copies go, for the cluster leaves the fleet, and waits for none.
func (a *Agent) dismissed(out *actors.Outbox) {
	for _, b := range slices.Sorted(maps.Keys(a.works)) {
		if !a.works[b].removing {
			out.Record(&messages.CopyUnwanted{Binding: b, Cluster: a.cluster})
		}
		a.forget(b, out)
	}
}
