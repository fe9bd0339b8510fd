package binding

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/messages"
	"leeward/messages/api"
)

// target is one cluster that runs the resource.
type target struct {
	cluster  messages.ClusterName
	replicas int32
	// keeps is how many it goes on running while it is to shrink and others do not serve yet.
	keeps int32
	// countdown is why and when the binding is evicted. It is looked at with every message.
	countdown countdown
	// components are those of a whole set, as last scheduled; nil: there are replicas, or nothing to count.
	components *api.TargetComponents
	// taints are the cluster's NoExecute taints as last told, with their causes; since is the phase in
	// which the cluster is listed again.
	taints []corev1.Taint
	causes []api.TaintCause
	since  time.Time
	// timer is when Karmada's taint manager would evict, as far as it has noticed; zero: never, or no such manager.
	timer time.Time
}

// countdown is why and when a binding is evicted from a cluster, and how far that is. The deadline is a fact,
// computed again from the taints and tolerations at every change.
type countdown struct {
	// at is when the eviction is due; zero: never. It is due from then on.
	at      time.Time
	due     bool
	grounds messages.Grounds
	// requested is set while the governor has the request, permitted once it agreed, trial if that was on trial, seeking
	// after a permit was given back, while the scheduler looks for a destination; blocked is what keeps it waiting.
	requested, permitted, seeking, trial bool
	blocked                              blocked
}

// deadline is when to look again; an eviction that is due waits for others, not for time.
func (l *countdown) deadline() time.Time {
	if l.due {
		return time.Time{}
	}
	return l.at
}

// awaits reports whether the scheduler looks for a destination.
func (l *countdown) awaits() bool { return l.permitted || l.seeking }

// unhealthy reports whether the target is evicted from for the health of its copy.
func (l *countdown) unhealthy() bool { return l.grounds.Reason == api.EvictionReasonApplicationFailure }

// blocked is why an eviction may not start yet, in one word and in a sentence, and until when, where time
// ends it.
type blocked struct {
	reason, message string
	until           time.Time
}

// targets are the clusters that run a resource.
type targets []target

func (ts targets) of(c messages.ClusterName) *target {
	for i := range ts {
		if ts[i].cluster == c {
			return &ts[i]
		}
	}
	return nil
}

// shown is the present result as the API shows it.
func (ts targets) shown() []api.TargetCluster {
	if len(ts) == 0 {
		return nil
	}
	return ts.appendTo(make([]api.TargetCluster, 0, len(ts)))
}

// asListed is the present result: the list itself where it says just that, as the scheduler's mostly does, else another.
func (ts targets) asListed(list []api.TargetCluster) []api.TargetCluster {
	same := func(t target, c api.TargetCluster) bool { return t.shown() == c }
	if len(list) > 0 && slices.EqualFunc(ts, list, same) {
		return list
	}
	return ts.shown()
}

// appendTo appends the present result to a list.
func (ts targets) appendTo(clusters []api.TargetCluster) []api.TargetCluster {
	for i := range ts {
		clusters = append(clusters, ts[i].shown())
	}
	return clusters
}

// shown is the target as the API shows it.
func (t *target) shown() api.TargetCluster {
	return api.TargetCluster{Name: string(t.cluster), Replicas: t.replicas, Components: t.components}
}

// replicas are those of all targets.
func (ts targets) replicas() (all int64) {
	for i := range ts {
		all += int64(ts[i].replicas)
	}
	return all
}

// pods counts what a copy on the target runs.
func (t *target) pods() int32 { return t.replicas + t.components.Pods() }
