package kernel_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors"
	"leeward/messages"
	"leeward/runtime/kernel"
)

// sleeperScript does what its messages say: "wake 3" asks to be woken in three seconds, "never" takes
// that back; it records what it hears.
func sleeperScript(now time.Time, text string, out *actors.Outbox) {
	var seconds int
	if _, err := fmt.Sscanf(text, "wake %d", &seconds); err == nil {
		out.WakeAt(now.Add(time.Duration(seconds) * time.Second))
	}
	if text == "never" {
		out.WakeAt(time.Time{})
	}
	out.Record(said(text))
}

func TestAlarms(t *testing.T) {
	tests := []struct {
		name  string
		tells []string
		wakes []int // seconds
	}{
		{name: "an actor that asks is woken once, at that instant", tells: []string{"wake 3"}, wakes: []int{3}},
		{name: "a later request replaces an earlier one", tells: []string{"wake 3", "wake 5"}, wakes: []int{5}},
		{name: "an earlier request replaces a later one", tells: []string{"wake 5", "wake 3"}, wakes: []int{3}},
		{name: "the zero time takes the request back", tells: []string{"wake 3", "never"}},
		{name: "a transition that asks for nothing keeps the alarm", tells: []string{"wake 3", "hello"}, wakes: []int{3}},
		{name: "an alarm for now fires at the end of this instant", tells: []string{"wake 0", "hello"}, wakes: []int{0}},
		{name: "an alarm for the past fires at the end of this instant", tells: []string{"wake -7"}, wakes: []int{0}},
		{name: "an alarm for now can be put off", tells: []string{"wake 0", "wake 2"}, wakes: []int{2}},
		{name: "an alarm for now can be taken back", tells: []string{"wake 0", "never"}},
		{name: "a deadline can be brought forward to now", tells: []string{"wake 4", "wake 0"}, wakes: []int{0}},
	}
	for _, test := range tests {
		for _, a := range []messages.Address{cluster("a"), binding("a")} {
			t.Run(test.name+", "+a.Kind.String(), func(t *testing.T) {
				l := newLane(t, kernel.Config{})
				l.start(a, sleeperScript)
				for _, text := range test.tells {
					l.post(a, text)
				}
				var wakes []int
				for second := range 10 {
					for _, line := range l.run(second) {
						if strings.HasSuffix(line, "woken") {
							wakes = append(wakes, second)
						}
					}
				}
				require.Equal(t, test.wakes, wakes)
				_, pending := l.Next()
				require.False(t, pending)
			})
		}
	}
}

func TestNextIsTheEarliestDeadlineOfAnyActor(t *testing.T) {
	l := newLane(t, kernel.Config{})
	_, ok := l.Next()
	require.False(t, ok)

	l.start(binding("a"), sleeperScript)
	l.start(cluster("b"), sleeperScript)
	l.post(binding("a"), "wake 5")
	l.post(cluster("b"), "wake 4")
	l.run(0)
	next, ok := l.Next()
	require.True(t, ok)
	require.Equal(t, at(4), next)

	l.Stop(cluster("b"))
	next, _ = l.Next()
	require.Equal(t, at(5), next)
}

func TestAlarmsBeyondTheReachOfNanoseconds(t *testing.T) {
	tests := []struct {
		name  string
		alarm time.Time
		woken bool
	}{
		{"a toleration of a billion years never ends", time.Unix(math.MaxInt64/100, 0), false},
		{"the year 2500 is never", time.Date(2500, 1, 1, 0, 0, 0, 0, time.UTC), false},
		{"the Middle Ages are over", time.Date(1200, 1, 1, 0, 0, 0, 0, time.UTC), true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l := newLane(t, kernel.Config{})
			l.start(cluster("a"), func(_ time.Time, text string, out *actors.Outbox) {
				if text == "go" {
					out.WakeAt(test.alarm)
				}
				out.Record(said(text))
			})
			l.post(cluster("a"), "go")
			require.Equal(t, test.woken, len(l.run(0)) == 2)
			_, pending := l.Next()
			require.False(t, pending)
		})
	}
}

func TestDueActorsAreWokenByKindThenName(t *testing.T) {
	l := newLane(t, kernel.Config{})
	for _, name := range []string{"c", "a", "b"} {
		l.start(binding(name), sleeperScript)
	}
	l.post(binding("a"), "wake 2")
	l.post(binding("b"), "wake 1")
	l.post(binding("c"), "wake 2")
	l.run(0)
	require.Equal(t, []string{"9 binding/a woken", "9 binding/b woken", "9 binding/c woken"}, l.run(9))
}

func TestWhatIsHeardAtAnInstantComesBeforeWhatFallsDueAtIt(t *testing.T) {
	l := newLane(t, kernel.Config{})
	l.start(binding("a"), sleeperScript)
	l.post(binding("a"), "wake 2")
	l.run(0)
	l.post(binding("a"), "news")
	require.Equal(t, []string{"2 binding/a news", "2 binding/a woken"}, l.run(2))
}

// TestTheEndOfAnInstant shows what lets scheduler and governor serve in canonical order: in every
// interleaving each is woken once it has all requests of the instant, and the lower kind goes first.
func TestTheEndOfAnInstant(t *testing.T) {
	for seed := range uint64(200) {
		l := newLane(t, kernel.Config{Order: kernel.Seeded, Seed: seed})
		collect := func(forward messages.Address) script {
			requests := 0
			return func(now time.Time, text string, out *actors.Outbox) {
				if text != "woken" {
					requests++
					out.WakeAt(now)
					return
				}
				out.Record(said(fmt.Sprint(requests)))
				for range requests {
					tell(out, forward, "request")
				}
				requests = 0
			}
		}
		l.start(scheduler, collect(cluster("a")))
		l.start(governor, collect(scheduler))
		l.start(cluster("a"), func(time.Time, string, *actors.Outbox) {})
		for i := range 5 {
			a := binding(fmt.Sprint(i))
			l.start(a, func(_ time.Time, _ string, out *actors.Outbox) {
				tell(out, scheduler, "request")
				tell(out, governor, "request")
			})
			l.post(a, "fail")
		}
		require.Equal(t, []string{"0 governor 5", "0 scheduler 10"}, l.run(0))
	}
}

func TestTheEndOfAnInstantIsByKindThenName(t *testing.T) {
	l := newLane(t, kernel.Config{})
	all := []messages.Address{scheduler, binding("z"), cluster("z"), governor, binding("b"), cluster("b"), binding("a")}
	for _, a := range all {
		l.start(a, func(now time.Time, text string, out *actors.Outbox) {
			if text == "woken" {
				out.Record(said("ends"))
			} else {
				out.WakeAt(now)
			}
		})
		l.post(a, "begin")
	}
	require.Equal(t, []string{
		"0 cluster/b ends", "0 cluster/z ends", "0 binding/a ends", "0 binding/b ends", "0 binding/z ends",
		"0 governor ends", "0 scheduler ends",
	}, l.run(0))
}

// TestALowerKindGoesFirstAgain arms a cluster's alarm from a binding's turn at the end of the instant.
func TestALowerKindGoesFirstAgain(t *testing.T) {
	l := newLane(t, kernel.Config{})
	l.start(governor, sleeperScript)
	l.start(cluster("c"), sleeperScript)
	l.start(binding("b"), func(now time.Time, text string, out *actors.Outbox) {
		sleeperScript(now, text, out)
		if text == "woken" {
			tell(out, cluster("c"), "wake 0")
		}
	})
	l.post(governor, "wake 0")
	l.post(binding("b"), "wake 0")
	require.Equal(t, []string{
		"0 governor wake 0", "0 binding/b wake 0",
		"0 binding/b woken", "0 cluster/c wake 0", "0 cluster/c woken", "0 governor woken",
	}, l.run(0))
}

func TestAnInstantOfTheDayBeforeYesterday(t *testing.T) {
	l := newLane(t, kernel.Config{})
	l.start(cluster("a"), sleeperScript)
	l.run(100)
	l.post(cluster("a"), "wake 5")
	require.Equal(t, []string{"10 cluster/a wake 5"}, l.run(10), "a clock may be set back")
	require.Equal(t, []string{"15 cluster/a woken"}, l.run(15))
}
