package kernel_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors"
	"leeward/messages"
	"leeward/runtime/kernel"
)

// An answer goes to the cell of who asked, and must not reach another actor that has it by then.
func TestAnAnswerReachesTheActorAtTheAddressByThen(t *testing.T) {
	asker, other := binding("asker"), binding("other")
	for _, c := range []struct {
		name  string
		then  func(l *lane) // between the question and the answer
		heard []string
	}{
		{"who asked is still there", func(*lane) {}, []string{"0 binding/asker answer"}},
		{"who asked has ended", func(l *lane) { l.Stop(asker) }, nil},
		{"another has its cell", func(l *lane) {
			l.Stop(asker)
			l.start(other, echo)
		}, nil},
		{"its successor has another cell", func(l *lane) {
			l.Stop(asker)
			l.start(other, echo)
			l.start(asker, func(_ time.Time, text string, out *actors.Outbox) { out.Record(said("successor: " + text)) })
		}, []string{"0 binding/asker successor: answer"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLane(t, kernel.Config{})
			l.start(asker, func(now time.Time, text string, out *actors.Outbox) {
				if text == "ask" {
					tell(out, governor, "question")
					return
				}
				echo(now, text, out)
			})
			l.start(governor, func(_ time.Time, text string, out *actors.Outbox) { tell(out, asker, "answer") })
			l.post(asker, "ask")
			require.ErrorIs(t, l.RunUpTo(at(0), 1), kernel.ErrInterrupted)
			c.then(l)
			require.Equal(t, c.heard, l.run(0))
			require.EqualValues(t, len(c.heard), 1-l.Counters().DeadLettered)
		})
	}
}

// A mailbox that was sifted still knows who sent what remains in it.
func TestAnAnswerSurvivesALoss(t *testing.T) {
	l := newLane(t, kernel.Config{})
	l.start(binding("asker"), func(now time.Time, text string, out *actors.Outbox) {
		if text == "ask" {
			tell(out, governor, "lost")
			tell(out, governor, "question")
			return
		}
		echo(now, text, out)
	})
	l.start(governor, func(_ time.Time, text string, out *actors.Outbox) { tell(out, binding("asker"), "to "+text) })
	l.post(binding("asker"), "ask")
	require.ErrorIs(t, l.RunUpTo(at(0), 1), kernel.ErrInterrupted)
	l.Lose(func(_ messages.Address, m messages.Message) bool { return textOf(m) == "lost" })
	require.Equal(t, []string{"0 binding/asker to question"}, l.run(0))
}
