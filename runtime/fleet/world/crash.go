package world

import (
	"errors"
	"fmt"

	"leeward/actors"
	"leeward/messages"
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
		*messages.DrainRequested, *messages.DrainCancelled, *messages.ClusterEdited, *messages.ClusterDeleted,
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
