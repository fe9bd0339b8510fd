package governor

import (
	"fmt"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors"
	"leeward/actors/rules/storm"
	"leeward/messages"
	"leeward/messages/api"
)

// starts are the clusters on which copies failed to start: fewer may start there at the same time, for a while.
type starts struct {
	settings *messages.Settings
	backoffs map[messages.ClusterName]*storm.Backoff
	// failed are those of this instant by when they began, and succeeded where others did; expires is when time alone changes
	// a back-off; zero: it does not.
	failed    map[messages.ClusterName][]time.Time
	succeeded map[messages.ClusterName]bool
	expires   time.Time
	// review is set where the settings are others.
	review bool
}

// limitedTo is how many may start at the same time on a cluster that backs off.
const limitedTo = 1

func newStarts(settings *messages.Settings) starts {
	return starts{
		settings: settings, backoffs: map[messages.ClusterName]*storm.Backoff{},
		failed: map[messages.ClusterName][]time.Time{}, succeeded: map[messages.ClusterName]bool{},
	}
}

func (s *starts) fail(m *messages.StartFailed) {
	s.failed[m.Cluster] = append(s.failed[m.Cluster], m.Began)
}

func (s *starts) succeed(m *messages.StartsSucceeded) {
	for _, c := range m.Clusters {
		s.succeeded[c] = true
	}
}

// backingOff is how clusters back off.
func (s *starts) backingOff() storm.BackingOff {
	return storm.BackingOff{Failures: s.settings.StartFailureLimit, Window: s.settings.StartFailureWindow, First: s.settings.StartBackoff}
}

// judge takes in how the starts of this instant ended. One that succeeds says more than all that fail: the cluster
// can start copies.
func (s *starts) judge(now time.Time, out *actors.Outbox) {
	t := s.backingOff()
	if !s.review && !s.ended() && (s.expires.IsZero() || s.expires.After(now)) {
		return
	}
	if !t.Works() {
		clear(s.failed)
	}
	for c, began := range s.failed { // order-free: each cluster by itself
		s.of(c).Fail(now, began, t)
	}
	for _, c := range slices.Sorted(maps.Keys(s.backoffs)) {
		s.judgeCluster(now, c, len(s.failed[c]) > 0, out)
	}
	clear(s.failed)
	clear(s.succeeded)
	s.expires, s.review = time.Time{}, false
	for _, b := range s.backoffs { // order-free: the earliest counts
		s.expires = actors.Earlier(s.expires, b.Due(t))
	}
}

// ended reports whether any start ended in this instant.
func (s *starts) ended() bool { return len(s.failed)+len(s.succeeded) > 0 }

// due is when there is reason to judge; zero: never.
func (s *starts) due(now time.Time) time.Time {
	if s.ended() {
		return now
	}
	return s.expires
}

// judgeCluster brings one cluster up to date, and records what is new of it.
func (s *starts) judgeCluster(now time.Time, c messages.ClusterName, counted bool, out *actors.Outbox) {
	b := s.backoffs[c]
	limits, why := counted && b.Since.Equal(now) && b.InForce(), ""
	switch {
	case b.InForce() && s.succeeded[c]:
		*b, limits, why = storm.Backoff{}, true, "a start succeeded"
	case b.Judge(now, s.backingOff()):
		limits, why = true, "it is tried again"
	case limits:
		why = failedStarts(b)
	}
	gone := !b.InForce() && len(b.Failed) == 0 && b.Level == 0
	if gone {
		delete(s.backoffs, c)
	}
	if limits {
		limitStarts(c, b, why, out)
	}
	if limits || counted || gone {
		f := &messages.StartsCounted{StartBackoff: statusOf(c, b), Limits: limits}
		f.Message = why
		out.Record(f)
	}
}

// of returns what is known of a cluster.
func (s *starts) of(c messages.ClusterName) *storm.Backoff {
	if s.backoffs[c] == nil {
		s.backoffs[c] = &storm.Backoff{}
	}
	return s.backoffs[c]
}

// failedStarts says what a back-off is for.
func failedStarts(b *storm.Backoff) string {
	n := len(b.Failed)
	if n == 1 {
		return "1 start failed"
	}
	if span := b.Failed[n-1].Sub(b.Failed[0]); span > 0 {
		return fmt.Sprintf("%d starts failed within %s", n, messages.Period(span))
	}
	return fmt.Sprintf("%d starts failed", n)
}

// limitStarts has the scheduler place as many on a cluster as it may start now.
func limitStarts(c messages.ClusterName, b *storm.Backoff, why string, out *actors.Outbox) {
	m := &messages.StartsLimited{Cluster: c}
	if b.InForce() {
		m.Most, m.Why = limitedTo, why
	}
	out.TellScheduler(m)
}

// statusOf is a back-off as the API shows it.
func statusOf(c messages.ClusterName, b *storm.Backoff) api.StartBackoff {
	s := api.StartBackoff{Cluster: string(c), Level: b.Level}
	for _, at := range b.Failed {
		s.Failed = append(s.Failed, metav1.MicroTime{Time: at})
	}
	if b.Level > 0 {
		s.Since = &metav1.MicroTime{Time: b.Since}
	}
	if b.InForce() {
		s.Most, s.Until = limitedTo, &metav1.MicroTime{Time: b.Until}
	}
	return s
}

// restore takes over what was known of starts before a restart.
func (s *starts) restore(stored []api.StartBackoff, out *actors.Outbox) {
	for i := range stored {
		b := &storm.Backoff{Level: stored[i].Level}
		for _, at := range stored[i].Failed {
			b.Failed = append(b.Failed, at.Time)
		}
		if stored[i].Since != nil {
			b.Since = stored[i].Since.Time
		}
		if stored[i].Until != nil {
			b.Until = stored[i].Until.Time
		}
		c := messages.ClusterName(stored[i].Cluster)
		s.backoffs[c] = b
		s.expires = actors.Earlier(s.expires, b.Due(s.backingOff()))
		if b.InForce() {
			limitStarts(c, b, stored[i].Message, out)
		}
	}
}
