package incident

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"leeward/messages/api"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/replay"
)

// Apart is how far apart a recorded and a replayed instant may be and still be the same: what is recorded was seen when
// it had been written, and clocks of an API tick in seconds.
const Apart = 2 * time.Second

// Held holds a run of the scenario of an incident against what was recorded, until an instant; zero: until the end of the recording.
func (i *Incident) Held(run *replay.Run, s *scenario.Scenario, until time.Duration) []replay.Comparison {
	recorded, end := i.Evictions(), i.Duration
	if until > 0 && until < end {
		end = until
		recorded = recorded.until(end, nil)
	}
	return Compare(recorded, Replayed(run, s.Began.Objects), end)
}

// Compare holds evictions against each other, in order of time. What comes to pass only after the end of the recording,
// and not in it, does not count: that may have come to pass later, too.
func Compare(recorded, replayed Evictions, end time.Duration) []replay.Comparison {
	replayed = replayed.until(end, recorded)
	both := maps.Clone(replayed)
	maps.Copy(both, recorded)
	all := make([]replay.Comparison, 0, len(both))
	times := make(map[left]time.Duration, len(both))
	keys := slices.Collect(maps.Keys(both))
	for _, l := range keys {
		if times[l] = both[l].At; recorded[l] != nil {
			times[l] = recorded[l].At
		}
	}
	slices.SortFunc(keys, func(a, b left) int {
		return cmp.Or(cmp.Compare(times[a], times[b]), cmp.Compare(a.binding, b.binding), cmp.Compare(a.cluster, b.cluster), cmp.Compare(a.times, b.times))
	})
	for _, l := range keys {
		all = append(all, replay.Comparison{
			Binding: string(l.binding), Cluster: l.cluster, Recorded: recorded[l], Replayed: replayed[l],
			Verdict: agreement(recorded[l], replayed[l]),
		})
	}
	return all
}

// until are the evictions as far as they had come to pass at an instant, and those that others were ahead of by then.
func (all Evictions) until(end time.Duration, others Evictions) Evictions {
	by := Evictions{}
	for l, d := range all { // order-free: each by itself
		other, seen := others[l], *d
		if d.At > end && other == nil {
			continue
		}
		if !d.Open && d.Released > end && (other == nil || other.Open) {
			seen.Open, seen.Back, seen.Released = true, false, 0
		}
		by[l] = &seen
	}
	return by
}

func agreement(recorded, replayed *replay.EvictionRecord) replay.Agreement {
	switch {
	case replayed == nil:
		return replay.OnlyRecorded
	case recorded == nil:
		return replay.OnlyReplayed
	case !slices.EqualFunc(recorded.To, replayed.To, api.TargetCluster.Equal) || recorded.Open != replayed.Open || recorded.Back != replayed.Back:
		return replay.Differs
	}
	for _, d := range []time.Duration{replayed.At - recorded.At, replayed.Released - recorded.Released} {
		switch {
		case d < -Apart:
			return replay.Earlier
		case d > Apart:
			return replay.Later
		}
	}
	return replay.Same
}
