package kernel_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors"
	"leeward/messages"
	"leeward/runtime/kernel"
)

// stuck starts a machine that does not return before it is told to, and then asks for all that a machine can ask for, or
// panics. It returns when the machine has begun, and what ends the instant.
func stuck(l *lane, a messages.Address, panics bool) (release chan struct{}, ended chan error) {
	begun, release, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	l.start(a, func(now time.Time, text string, out *actors.Outbox) {
		close(begun)
		<-release
		if panics {
			panic("too late")
		}
		out.Record(said(text))
		tell(out, member(0), "too late")
		out.WakeAt(now)
	})
	l.post(a, "begin")
	go func() { ended <- l.RunInstant(at(7)) }()
	<-begun
	return release, ended
}

func TestAMachineThatDoesNotReturnIsFoundAndNothingComesOfIt(t *testing.T) {
	for _, a := range []messages.Address{cluster("a"), binding("a")} {
		for _, lanes := range []int{1, 4} {
			for _, panics := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s on %d lanes, panics %t", a, lanes, panics), func(t *testing.T) {
					l := newLane(t, kernel.Config{Lanes: lanes, Watched: true})
					dog := l.Watch(3)
					require.Nil(t, dog.Look(), "nothing runs")
					l.start(member(0), echo)
					release, ended := stuck(l, a, panics)
					for range 3 {
						require.Nil(t, dog.Look())
					}
					found := dog.Look()
					require.Equal(t, a, found.Address)
					require.Equal(t, "begin", textOf(found.Message))
					require.ErrorContains(t, found, "the step of "+a.String()+" does not return from *kernel_test.noteTo")
					require.Nil(t, dog.Look(), "it is told once")

					close(release)
					require.ErrorIs(t, <-ended, kernel.ErrGivenUp)
					require.Empty(t, l.lines)
					require.Zero(t, l.Counters().Facts)
					require.Zero(t, l.Counters().Sent)
					require.ErrorIs(t, l.RunInstant(at(8)), kernel.ErrGivenUp, "it runs no more")
				})
			}
		}
	}
}

func TestAMachineThatServesTheWholeFleetMayTakeLonger(t *testing.T) {
	l := newLane(t, kernel.Config{Watched: true})
	dog := l.Watch(3)
	release, ended := stuck(l, messages.Address{Kind: messages.KindScheduler}, false)
	for range 6 * 3 {
		require.Nil(t, dog.Look())
	}
	require.NotNil(t, dog.Look())
	close(release)
	require.ErrorIs(t, <-ended, kernel.ErrGivenUp)
}

func TestMachinesThatReturnAreNotStuckHoweverLongTheInstantLasts(t *testing.T) {
	l := newLane(t, kernel.Config{Watched: true})
	dog := l.Watch(3)
	left := 20
	l.start(binding("a"), func(_ time.Time, text string, out *actors.Outbox) {
		require.Nil(t, dog.Look())
		if left--; left > 0 {
			tell(out, binding("a"), text)
		}
	})
	l.post(binding("a"), "again")
	l.run(7)
	require.Zero(t, left)
}

func TestMailForAQuarantineIsCountedByItself(t *testing.T) {
	l := newLane(t, kernel.Config{Quarantined: map[messages.Address]bool{binding("a"): true}})
	l.post(binding("a"), "unread")
	l.post(binding("b"), "unread")
	require.Equal(t, kernel.Counters{Posted: 2, DroppedByQuarantine: 1, DeadLettered: 1}, l.Counters())
}
