package agent

import (
	"time"

	"leeward/actors"
	"leeward/messages"
)

// lease is the agent's sign of life. A cluster that never had one is not watched: the component that reports its
// conditions answers for them.
type lease struct {
	renewedAt time.Time // zero: never
	silent    bool
}

// deadline is when the agent counts as silent; zero: it does not, or does already. How long the cluster
// then tolerates it is the cluster's to say.
func (l *lease) deadline(s *messages.Settings) time.Time {
	if l.renewedAt.IsZero() || l.silent {
		return time.Time{}
	}
	return l.renewedAt.Add(min(s.ClusterLeaseDuration, s.ClusterMonitorGracePeriod))
}

// renewed takes in a renewal. One that is not newer than the last is none: an old lease may be read again.
func (l *lease) renewed(a *Agent, at time.Time, out *actors.Outbox) {
	if !at.After(l.renewedAt) {
		return
	}
	l.renewedAt = at
	if l.silent {
		l.silent = false
		out.TellCluster(a.cluster, &messages.ContactRestored{})
	}
}

func (l *lease) expire(a *Agent, now time.Time, out *actors.Outbox) {
	if due := l.deadline(&a.settings); due.IsZero() || now.Before(due) {
		return
	}
	l.silent = true
	l.tell(a, out)
}

// tell says that the agent is silent, if it is.
func (l *lease) tell(a *Agent, out *actors.Outbox) {
	if l.silent {
		out.TellCluster(a.cluster, &messages.ContactLost{At: l.renewedAt, RenewedAt: l.renewedAt})
	}
}
