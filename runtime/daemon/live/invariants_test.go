package live

import (
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"leeward/messages"
	"leeward/runtime/fleet/invariant"
	"leeward/runtime/fleet/world"
)

func TestTheWorkOfTheMonitorIsTimed(t *testing.T) {
	c, l := clock.NewMock(), invariants{}
	for range 2 {
		done := l.time(c)
		c.Add(3 * time.Millisecond)
		done()
		c.Add(time.Second)
	}
	require.Equal(t, 6*time.Millisecond, l.spent)
}

// watched restarts a fleet whose machines get other messages than were sent, and returns which invariants it says are broken.
func watched(f *fixture, tamper world.Tamper, change func(*Config)) *[]invariant.Name {
	f.t.Helper()
	f.Close()
	var broken []invariant.Name
	c := Config{
		Engine: f.engine, Settings: settings(f.t), Clock: f.clock, Log: zerolog.Nop(), Tamper: tamper,
		Broken: func(v *invariant.Violation) { broken = append(broken, v.Invariant) },
	}
	if change != nil {
		change(&c)
	}
	var err error
	f.Fleet, err = Open(f.t.Context(), c)
	require.NoError(f.t, err)
	require.NoError(f.t, f.step())
	return &broken
}

// immediately has bindings leave clusters without an eviction.
func immediately(_ time.Time, _ messages.Address, m messages.Message) []messages.Message {
	if d, is := m.(*messages.PlacementDecided); is && len(d.Leaving) > 0 {
		without := *d
		without.Leaving = nil
		return []messages.Message{&without}
	}
	return []messages.Message{m}
}

// asleep has bindings do nothing for the time that has come.
func asleep(_ time.Time, to messages.Address, m messages.Message) []messages.Message {
	if _, wakes := m.(*messages.Woken); wakes && to.Kind == messages.KindBinding {
		return nil
	}
	return []messages.Message{m}
}

func TestABrokenInvariantIsToldOnce(t *testing.T) {
	f := running(t)
	broken := watched(f, immediately, nil)
	putTaints(f, "m1", failed)
	require.Equal(t, "m2:2", placed(f))
	require.Equal(t, []invariant.Name{invariant.RemovedByTask}, *broken)
	f.pass(time.Minute)
	f.serves("m2", 2)
	require.Len(t, *broken, 1)
	_, bytes := f.Monitor()
	require.Positive(t, bytes)
}

func TestWhatIsNotDoneInTimeBreaksAnInvariant(t *testing.T) {
	f := running(t)
	f.apply(tolerant(300))
	putTaints(f, "m1", failed)
	f.pass(time.Minute)
	broken := watched(f, asleep, nil) // what was there before the start is known, too
	f.pass(10 * time.Minute)
	require.Equal(t, "m1:2", placed(f))
	for range 20 {
		f.apply(deployment(2, "nginx:1"), named(&corev1.ConfigMap{}, "v1", "ConfigMap", "default", "other"))
		f.pass(time.Minute)
	}
	require.Contains(t, *broken, invariant.NeverLate)
}

func TestWhoIsNotMonitoredHearsOfNothing(t *testing.T) {
	f := running(t)
	broken := watched(f, immediately, func(c *Config) { c.Unmonitored = true })
	putTaints(f, "m1", failed)
	require.Equal(t, "m2:2", placed(f))
	require.Empty(t, *broken)
	spent, bytes := f.Monitor()
	require.Zero(t, spent)
	require.Zero(t, bytes)
}

// slow is a clock by which all that is timed takes a millisecond.
type slow struct{ *clock.Mock }

func (s *slow) Since(at time.Time) time.Duration { return s.Mock.Since(at) + time.Millisecond }

// All that the monitor does is timed: that it takes in what a start finds, and that it looks at each round.
func TestTheMonitorIsTimedFromTheStartOn(t *testing.T) {
	f := running(t)
	f.Close()
	var err error
	f.Fleet, err = Open(t.Context(), Config{Engine: f.engine, Settings: settings(t), Clock: &slow{f.clock}, Log: zerolog.Nop()})
	require.NoError(t, err)
	spent, _ := f.Monitor()
	require.Equal(t, 2*time.Millisecond, spent)
	require.NoError(t, f.step())
	now, _ := f.Monitor()
	require.Greater(t, now, spent)
}

// A task that a start finds must end as one that began since.
func TestATaskOfBeforeTheStartThatDoesNotEndBreaksAnInvariant(t *testing.T) {
	f := running(t)
	putTaints(f, "m1", failed)
	require.Equal(t, "m2:2 leaves m1", placed(f))
	broken := watched(f, asleep, func(c *Config) { c.Settings.KeepLastCopy = false })
	for range 30 {
		f.apply(named(&corev1.ConfigMap{}, "v1", "ConfigMap", "default", "other"))
		f.pass(time.Minute)
	}
	require.Equal(t, "m2:2 leaves m1", placed(f))
	require.Contains(t, *broken, invariant.TasksEnd)
}
