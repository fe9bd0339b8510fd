package binding_test

import (
	"testing"
	"time"

	"leeward/actors/actorstest"
	"leeward/messages"
	"leeward/messages/api"
)

func impatient(s *messages.Settings) { s.DirectPurgeTimeout = time.Minute }

// purging returns a binding that leaves m1 directly for m3, while no report says that the old copy is gone.
func purging(t *testing.T, changes ...func(*messages.Settings)) *subject {
	t.Helper()
	b := placed(t, settings(append(changes, purgeDirectly)...), duplicated(), "m1:2", "m2:2")
	b.tell(tainted("m1", b.Now(), "down"))
	b.tell(permit("m1")).Told(memberAt("m1"), removal)
	b.tell(b.place("m2:2", "m3:2")).Told(memberAt("m3"))
	return b
}

func overtaken(after time.Duration) *messages.PurgeOvertaken {
	return &messages.PurgeOvertaken{Binding: name, Cluster: "m1", After: after}
}

func TestASubstituteWaitsForItsPredecessorOnlySoLong(t *testing.T) {
	b := purging(t, impatient)
	b.advance(time.Minute - 1).Quiet()
	b.advance(1).Recorded(overtaken(time.Minute)).Told(memberAt("m3"), run(2, 3))
	b.advance(time.Minute).Quiet()
	b.tell(&messages.CopyRemoved{Cluster: "m1"}).Told(memberAt("m3"))
}

func TestKarmadaWaitsUntilTheTaskEnds(t *testing.T) {
	b := purging(t)
	b.advance(10*time.Minute - 1).Quiet()
	b.advance(1).Recorded(ended("m1", messages.EndedTimeout, 10*time.Minute)).Told(memberAt("m3"), run(2, 3))
}

func TestAPredecessorThatGoesInTimeIsNotOvertaken(t *testing.T) {
	b := purging(t, impatient)
	b.advance(30 * time.Second)
	b.tell(&messages.CopyRemoved{Cluster: "m1"}).Told(memberAt("m3"), run(2, 3))
	b.advance(time.Minute).Quiet()
}

func TestAPredecessorThatGoesAtTheDeadlineIsNotOvertaken(t *testing.T) {
	b := purging(t, impatient)
	b.approach(time.Minute)
	n := b.tell(&messages.CopyRemoved{Cluster: "m1"}).Told(memberAt("m3"), run(2, 3))
	n.Recorded(&messages.HealthForgotten{Binding: name, Cluster: "m1"})
}

func TestThePatienceCanBeChangedAtAnyTime(t *testing.T) {
	b := purging(t)
	b.advance(2 * time.Minute)
	b.tell(&messages.SettingsChanged{Settings: settings(purgeDirectly, impatient)}).
		Recorded(overtaken(2*time.Minute)).Told(memberAt("m3"), run(2, 3))
}

func TestARestartMovesNoPatience(t *testing.T) {
	b := drive(t, settings(impatient))
	m := stored(duplicated(), b.Now().Add(-20*time.Second))
	m.Spec.GracefulEvictionTasks[0].PurgeMode = api.PurgeDirectly
	b.tell(m).Told(memberAt("m1"), removal).Told(memberAt("m3")).WakesIn(40 * time.Second)
	b.advance(40*time.Second).Recorded(overtaken(time.Minute)).Told(memberAt("m3"), run(2, 2))
}

func TestARestartDoesNotWaitAgainForWhatWasOvertaken(t *testing.T) {
	b := drive(t, settings(impatient))
	m := stored(duplicated(), b.Now().Add(-2*time.Minute))
	m.Spec.GracefulEvictionTasks[0].PurgeMode = api.PurgeDirectly
	b.tell(m).Told(memberAt("m3"), run(2, 2))
	if facts := actorstest.FactsOf[*messages.PurgeOvertaken](b.Facts()); len(facts) > 0 {
		t.Fatal("said again:", facts)
	}
}
