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

// starts are the clusters on which starts failed of late.
type starts struct {
	backoffs map[messages.ClusterName]*storm.Backoff
	// failed are those of this instant by when they began, and succeeded where others did; due is when time alone changes a
	// back-off; zero: it does not.
	failed    map[messages.ClusterName][]time.Time
	succeeded map[messages.ClusterName]bool
	due       time.Time
	// review is set where other settings hold.
	review bool
}

// limitedTo is how many may start at once on a cluster that backs off.
const limitedTo = 1

func newStarts() starts {
	return starts{
		backoffs: map[messages.ClusterName]*storm.Backoff{},
		failed:   map[messages.ClusterName][]time.Time{}, succeeded: map[messages.ClusterName]bool{},
	}
}

func (g *Governor) startFailed(m *messages.StartFailed) {
	g.starts.failed[m.Cluster] = append(g.starts.failed[m.Cluster], m.Began)
}

func (g *Governor) startsSucceeded(m *messages.StartsSucceeded) {
	for _, c := range m.Clusters {
		g.starts.succeeded[c] = true
	}
}

// backingOff is how clusters back off.
func (g *Governor) backingOff() storm.BackingOff {
	s := &g.settings
	return storm.BackingOff{Failures: s.StartFailureLimit, Window: s.StartFailureWindow, First: s.StartBackoff}
}

// judgeStarts takes in how the starts of this instant ended. One that succeeds says more than all that fail: the cluster
// can start copies.
func (g *Governor) judgeStarts(now time.Time, out *actors.Outbox) {
	s, t := &g.starts, g.backingOff()
	if !s.review && len(s.failed)+len(s.succeeded) == 0 && (s.due.IsZero() || s.due.After(now)) {
		return
	}
	if !t.Works() {
		clear(s.failed)
	}
	for c, began := range s.failed { // order-free: each cluster by itself
		s.of(c).Fail(now, began, t)
	}
	for _, c := range slices.Sorted(maps.Keys(s.backoffs)) {
		g.judgeStart(now, c, len(s.failed[c]) > 0, out)
	}
	clear(s.failed)
	clear(s.succeeded)
	s.due, s.review = time.Time{}, false
	for _, b := range s.backoffs { // order-free: the earliest counts
		s.due = actors.Earlier(s.due, b.Due(t))
	}
}

// judgeStart brings one cluster up to date, and says what is new of it.
func (g *Governor) judgeStart(now time.Time, c messages.ClusterName, counted bool, out *actors.Outbox) {
	s, t := &g.starts, g.backingOff()
	b := s.backoffs[c]
	limits, why := counted && b.Since.Equal(now) && b.InForce(), ""
	switch {
	case b.InForce() && s.succeeded[c]:
		*b, limits, why = storm.Backoff{}, true, "a start succeeded"
	case b.Judge(now, t):
		limits, why = true, "it is tried again"
	case limits:
		why = failedStarts(b)
	}
	gone := !b.InForce() && len(b.Failed) == 0 && b.Level == 0
	if gone {
		delete(s.backoffs, c)
	}
	if limits {
		g.limitStarts(c, b, why, out)
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

// limitStarts has the scheduler send as many to a cluster as it may start now.
func (g *Governor) limitStarts(c messages.ClusterName, b *storm.Backoff, why string, out *actors.Outbox) {
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

// restoreStarts takes over what was known of starts before a restart.
func (g *Governor) restoreStarts(stored []api.StartBackoff, out *actors.Outbox) {
	s := &g.starts
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
		s.due = actors.Earlier(s.due, b.Due(g.backingOff()))
		if b.InForce() {
			g.limitStarts(c, b, stored[i].Message, out)
		}
	}
}
