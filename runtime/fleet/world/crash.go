package world

import (
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/kernel"
)

// Crash lets the engine's process die once it has handled so many messages of the present instant; negative:
// all. What machines had decided is stored, with what they told members of it, which are not part of the
// engine; what was on its way between machines, and to them, is lost. Revive brings it back, in this instant
// or in a later one.
func (w *World) Crash(after int) error {
	if err := w.runUpTo(after); err != nil {
		return err
	}
	w.Note(&messages.Crashed{})
	w.reportAnswers()
	w.kernel.Lose(w.lost)
	w.stopEngine()
	clear(w.answers)
	w.down = true
	return nil
}

// Down reports whether the engine is gone.
func (w *World) Down() bool { return w.down }

func (w *World) runUpTo(messages int) error {
	switch {
	case messages == 0:
		return nil
	case messages < 0:
		return w.Settle(w.now)
	}
	if err := w.kernel.RunUpTo(w.now, messages); err != nil && !errors.Is(err, kernel.ErrInterrupted) {
		return fmt.Errorf("run %d messages of the instant %s: %w", messages, w.now.Sub(w.config.Start), err)
	}
	return nil
}

// lost reports whether a message dies with the engine, and keeps what was not answered.
func (w *World) lost(to messages.Address, m messages.Message) bool {
	if to.Kind == messages.KindMember {
		return false
	}
	if unstored(m) {
		w.unanswered = append(w.unanswered, actors.Mail{To: to, Message: m})
	}
	return true
}

// unstored reports whether a message is a wish of people or a word of clusters that the machine it is for
// brings into the objects. The sender has no answer before that, and asks again.
func unstored(m messages.Message) bool {
	switch m.(type) {
	case *messages.ConditionReported, *messages.ConditionsReported, *messages.ResourcesReported, *messages.EnablementsReported, *messages.TaintsEdited, *messages.LabelsEdited,
		*messages.DrainRequested, *messages.DrainCancelled, *messages.ClusterEdited, *messages.ClusterRecreated, *messages.ClusterDeleted,
		*messages.PolicyDropped, *messages.WorkloadDeleted, *messages.RescheduleTriggered:
		return true
	}
	return false
}

func (w *World) askAgain() {
	for _, mail := range w.unanswered {
		w.kernel.Post(mail.To, mail.Message)
	}
	w.unanswered = nil
}

// showQuarantined shows the scheduler a cluster whose machine is not run, as it is stored: with a taint that only the scheduler
// sees, so that what the cluster runs stays, and nothing else is placed there.
func (w *World) showQuarantined(c *api.Cluster) {
	if !w.config.Quarantined[clusterAt(messages.ClusterName(c.Name))] {
		return
	}
	v := messages.Located(c)
	v.Conditions, v.Created, v.Deleting = c.Status.Conditions, c.CreationTimestamp.Time, c.DeletionTimestamp != nil
	v.APIs, v.Resources = c.Status.APIEnablements, c.Status.ResourceSummary
	v.Taints = append(slices.Clone(c.Spec.Taints), corev1.Taint{Key: "leeward.dev/quarantined", Effect: corev1.TaintEffectNoSchedule})
	w.kernel.Post(schedulerAt, &messages.ClusterViewed{View: v})
}

// judges reports whether clusters are to wait for the verdicts of a policy: one in quarantine gives none, and its taints stay.
func (w *World) judges(p *api.ClusterTaintPolicy) bool {
	return !w.config.Quarantined[policyAt(messages.PolicyName(p.Name))]
}

// Tamper says what an actor gets in place of a message at an instant: nothing where it is lost, the message twice where
// it is repeated. It may be asked by several lanes in parallel.
type Tamper func(now time.Time, to messages.Address, m messages.Message) []messages.Message

// tampered is a machine that gets its messages from a tamper.
type tampered[M messages.Message] struct {
	kernel.Machine[M]
	at     messages.Address
	tamper Tamper
}

// tamperedWith puts a tamper before a machine, if there is one.
func tamperedWith[M messages.Message](t Tamper, at messages.Address, machine kernel.Machine[M]) kernel.Machine[M] {
	if t == nil {
		return machine
	}
	return tampered[M]{machine, at, t}
}

func (t tampered[M]) Receive(now time.Time, m M, out *actors.Outbox) {
	for _, given := range t.tamper(now, t.at, m) {
		t.Machine.Receive(now, given.(M), out)
	}
}

// attended is a binding whose reports another listener hears, too.
type attended struct {
	kernel.Machine[messages.ToBinding]
	name     messages.BindingName
	reported func(messages.BindingName, *messages.CopyReported)
}

func (a attended) Receive(now time.Time, m messages.ToBinding, out *actors.Outbox) {
	if r, is := m.(*messages.CopyReported); is {
		a.reported(a.name, r)
	}
	a.Machine.Receive(now, m, out)
}
