package karmada

import (
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"

	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

// preparation makes the machines of a standby whose leader is late, so that they decide as soon as this process leads.
type preparation struct {
	mu sync.Mutex
	// next is what is being made, or is made; nil: nothing is.
	next *prepared
}

// prepared are machines that have taken over what there was when the leader was late, and have done what was due then. Nothing of that is
// written or told.
type prepared struct {
	made     chan struct{} // closed once they are made
	deciding *deciding
	err      error
}

// late begins to make machines when the leader is late, and gives them up when it is not.
func (a *Attachment) late(i *inbox, is bool) {
	a.ahead.drop()
	if !is {
		return
	}
	a.config.Log.Info().Msg("the leader is late: machines are made in case this daemon leads")
	next := &prepared{made: make(chan struct{})}
	a.ahead.mu.Lock()
	a.ahead.next = next
	a.ahead.mu.Unlock()
	go func() {
		defer close(next.made)
		began := a.config.Clock.Now()
		next.deciding = a.newDeciding(i, true, true)
		next.err = next.deciding.twin.settle(next.deciding.instant())
		a.config.Log.Info().Stringer("took", a.config.Clock.Now().Sub(began)).Msg("machines are made in advance")
	}()
}

// take is what was made, once it is made; nil: nothing was.
func (p *preparation) take() *prepared {
	p.mu.Lock()
	next := p.next
	p.next = nil
	p.mu.Unlock()
	if next != nil {
		<-next.made
	}
	return next
}

// drop gives up what was made.
func (p *preparation) drop() {
	if next := p.take(); next != nil {
		next.deciding.close()
	}
}

// advance returns machines that were made ahead, with what has changed since; nil where there are none, or where the leader has decided
// since: then they are not as the server is.
func (a *Attachment) advance(i *inbox) *deciding {
	next := a.ahead.take()
	if next == nil {
		return nil
	}
	d := next.deciding
	all := i.take()
	outdated := next.err != nil
	for _, n := range all {
		outdated = outdated || d.twin.decidedElsewhere(n)
	}
	if !outdated {
		d.acting.again = all
		return d
	}
	a.config.Log.Info().Err(next.err).Msg("the machines that were made in advance are given up: the leader has decided since")
	d.close()
	a.absorb(all)
	return nil
}

// decidedElsewhere reports whether news may be of a decision of another Leeward.
func (t *twin) decidedElsewhere(n news) bool {
	if n.key == store.GovernorKey {
		was, _ := t.seen[n.key].(*api.Governor)
		is, _ := n.object.(*api.Governor)
		return was == nil || is == nil || !equality.Semantic.DeepEqual(was.Status, is.Status)
	}
	before, now := store.AsBinding(t.seen[n.key]), store.AsBinding(n.object)
	switch {
	case now == nil || !t.acts(now):
		return false
	case before == nil:
		return len(now.Spec.Clusters) > 0
	}
	return !sameDecision(before.Spec, now.Spec) || before.Meta.Annotations[api.AnnotationState] != now.Meta.Annotations[api.AnnotationState]
}

// close ends machines that have not led; nil: there are none.
func (d *deciding) close() {
	if d != nil {
		d.end()
		d.twin.world.Close()
	}
}
