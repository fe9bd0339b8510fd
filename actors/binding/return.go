package binding

import (
	"fmt"
	"time"

	"leeward/actors"
	failbackrule "leeward/actors/rules/failback"
	"leeward/messages"
	"leeward/messages/api"
)

// returnDue asks to return, once the earlier group, or a preferred cluster, has been able to take the workload
// for long enough.
func (b *Binding) returnDue(now time.Time, out *actors.Outbox) {
	if at := b.failback.returnsAt(); at.IsZero() || at.After(now) {
		return
	}
	b.failback.asked = b.failback.asked || reached(b.failback.at, now)
	for i := range b.failback.shares {
		s := &b.failback.shares[i]
		if !s.asked && reached(s.at, now) {
			b.askFor(s, out)
		}
	}
	b.ask(now, out)
}

// askFor asks for a preferred share, unless its old copy is the worse one.
func (b *Binding) askFor(s *preferred, out *actors.Outbox) {
	s.asked = true
	if !s.kept || b.strategy() != api.ReconnectKeepHealthiest {
		return
	}
	original, replacement := b.readyOn(s.Name, s.Replicas), b.failback.readyInPlaceOf(&b.view, s)
	if original < replacement {
		s.at, s.asked = time.Time{}, false
		b.releaseOriginal(s, fmt.Sprintf("%d replicas are ready there, %d in its place", original, replacement), out)
	}
}

// readyInPlaceOf counts the ready replicas that would end for a preferred share.
func (f *failback) readyInPlaceOf(v *view, s *preferred) (ready int32) {
	home := make([]api.TargetCluster, len(f.shares))
	for i := range home {
		home[i] = f.shares[i].TargetCluster
	}
	after := failbackrule.Return(v.targets.shown(), home, []string{s.Name}, !v.duplicated())
	for _, t := range v.targets.shown() {
		ready += max(0, v.readyOn(t.Name, t.Replicas)-api.ReplicasOn(after, t.Name))
	}
	return ready
}

// rememberPreferred notes where the workload runs, if its policy lets it return there. What the workload, its policy or
// people ask for otherwise is nothing to return to.
func (b *Binding) rememberPreferred(out *actors.Outbox) {
	if b.mayReturn() && !b.failback.returns() && b.request.asWished(&b.view) {
		owned(&b.failback).remember(&b.view, out)
	}
}

// forgetPreferred ends the return to single clusters, and lets their copies go.
func (b *Binding) forgetPreferred(out *actors.Outbox) {
	if b.failback.returns() {
		b.failback.forget(&b.view, out)
		b.dropCopies(out)
	}
}

// originalReported takes a copy back into account that was to be removed while its cluster was silent. Where that was chosen
// again meanwhile, it is the copy of a target, and there is nothing to judge.
func (b *Binding) originalReported(now time.Time, c *copyState, out *actors.Outbox) {
	c.removing = false
	if t := b.targets.of(c.cluster); t != nil {
		b.runAsTarget(t, c, out)
		return
	}
	s := b.failback.share(c.cluster)
	if s == nil || !b.judges() {
		b.syncCopies(out)
		return
	}
	s.kept = true
	c.replicas = s.Replicas
	out.Record(&messages.OriginalKept{Binding: b.name, Cluster: c.cluster})
	b.tellRun(c, true, out)
	b.ask(now, out)
	b.syncCopies(out) // what waited for it to go waits no longer
}

// judgeOriginal gives up an old copy that is not healthy.
func (b *Binding) judgeOriginal(now time.Time, c *copyState, out *actors.Outbox) {
	if s := b.failback.share(c.cluster); s != nil && s.kept && c.health != api.Healthy {
		b.releaseOriginal(s, "it is "+string(c.health), out)
		b.ask(now, out)
	}
}

func (b *Binding) releaseOriginal(s *preferred, why string, out *actors.Outbox) {
	s.kept = false
	out.Record(&messages.OriginalReleased{Binding: b.name, Cluster: messages.ClusterName(s.Name), Message: why})
	b.syncCopies(out)
}
