// Package propagation is the machine of one PropagationPolicy or ClusterPropagationPolicy: it decides
// which workloads it claims, and what it gives their bindings. Which of several claims wins is for the
// binding to say.
package propagation

import (
	"fmt"
	"slices"
	"time"

	"leeward/actors"
	"leeward/actors/rules/propagation"
	"leeward/messages"
	"leeward/messages/api"
)

// Propagation is one propagation policy.
type Propagation struct {
	name messages.PropagationName
	life int
	spec *api.PropagationSpec
	// means are the selectors of the spec.
	means propagation.Selectors
	// absent are the overrides that it waits for.
	absent []string
	// claimed are the bindings that hold a claim of this policy, in the order of the claims; holds has
	// the same.
	claimed []messages.BindingName
	holds   map[messages.BindingName]bool
}

// New returns a policy that claims nothing yet; its first message is PropagationApplied. A later life of a policy of that name
// has a higher number.
func New(name messages.PropagationName, life int) *Propagation {
	return &Propagation{name: name, life: life, spec: &api.PropagationSpec{}, holds: map[messages.BindingName]bool{}}
}

// Receive routes a message to its transition.
func (p *Propagation) Receive(_ time.Time, m messages.ToPropagation, out *actors.Outbox) {
	switch m := m.(type) {
	case *messages.PropagationApplied:
		p.applied(m, out)
	case *messages.PropagationDeleted:
		p.deleted(out)
	case *messages.WorkloadOffered:
		p.offered(m.Workload, out)
	case *messages.SettingsChanged, *messages.Woken:
	default:
		panic(fmt.Sprintf("propagation %s: unknown message %T", p.name, m))
	}
}

// applied takes over a spec. A policy that depends on overrides which do not exist waits, as Karmada's
// detector does, and says so once.
func (p *Propagation) applied(m *messages.PropagationApplied, out *actors.Outbox) {
	p.spec, p.means = m.Spec, propagation.Compile(m.Spec.ResourceSelectors)
	if !slices.Equal(p.absent, m.Absent) {
		p.absent = m.Absent
		out.Record(&messages.OverridesAwaited{Policy: p.name, Overrides: m.Absent})
	}
}

func (p *Propagation) deleted(out *actors.Outbox) {
	for _, b := range p.claimed {
		out.TellBinding(b, &messages.ClaimWithdrawn{Policy: p.name, Life: p.life})
	}
	p.claimed = nil
	clear(p.holds)
}

func (p *Propagation) offered(w *messages.Workload, out *actors.Outbox) {
	resource := api.Key{APIVersion: w.APIVersion, Kind: w.Kind, Namespace: w.Namespace, Name: w.Name}
	rank := p.means.Closest(p.name.Namespace(), resource, w.Labels)
	switch {
	case rank != propagation.NoMatch:
		p.claim(w.Binding, rank, out)
	case p.holds[w.Binding]:
		b := w.Binding
		delete(p.holds, b)
		p.claimed = slices.DeleteFunc(p.claimed, func(c messages.BindingName) bool { return c == b })
		out.TellBinding(b, &messages.ClaimWithdrawn{Policy: p.name, Life: p.life})
	}
}

func (p *Propagation) claim(b messages.BindingName, rank propagation.Rank, out *actors.Outbox) {
	if !p.holds[b] {
		p.holds[b] = true
		p.claimed = append(p.claimed, b)
	}
	priority := int32(0)
	if p.spec.Priority != nil {
		priority = *p.spec.Priority
	}
	out.TellBinding(b, &messages.ClaimMade{
		Policy: p.name, Life: p.life, ClusterScoped: p.name.Namespace() == "", Priority: priority, Rank: int(rank),
		Preempts: p.spec.Preemption == api.PreemptAlways, Waits: len(p.absent) > 0, Spec: p.spec,
	})
}
