package invariant_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/invariant"
)

// evicts are settings under which taints evict.
var evicts = messages.Settings{Failover: true, EnableTaintManager: true, EnableNoExecuteTaintEviction: true, TolerationSource: messages.SourcePlacement}

// tolerates has d/web tolerate everything for some seconds, negative: for good, and say so of its eviction from m1.
func tolerates(seconds int64, evictions ...api.Eviction) func(*api.ResourceBinding) {
	return func(b *api.ResourceBinding) {
		toleration := corev1.Toleration{Operator: corev1.TolerationOpExists}
		if seconds >= 0 {
			toleration.TolerationSeconds = &seconds
		}
		b.Spec.Placement.ClusterTolerations = []corev1.Toleration{toleration}
		b.Status.Evictions = evictions
	}
}

// evictionAt is what is said of an eviction from m1 that is so long after the start.
func evictionAt(after time.Duration, state api.EvictionState, reason string) api.Eviction {
	return api.Eviction{Cluster: "m1", State: state, Reason: reason, Deadline: metav1.MicroTime{Time: start.Add(after)}}
}

// since has m1 have a taint since so long after the start.
func since(after time.Duration) func(*api.Cluster) {
	return func(c *api.Cluster) {
		c.Spec.Taints = []corev1.Taint{{Key: "down", Effect: corev1.TaintEffectNoExecute, TimeAdded: &metav1.Time{Time: start.Add(after)}}}
	}
}

func TestDeadlinesFollowTaintsAndTolerations(t *testing.T) {
	minute := func(reason string) api.Eviction { return evictionAt(time.Minute, api.EvictionScheduled, reason) }
	taint, unhealthy := api.EvictionReasonTaintUntolerated, api.EvictionReasonApplicationFailure
	relists := evicts
	relists.TaintRelistPeriod = 10 * time.Second
	minimum := evicts
	minimum.TolerationMatch = messages.MatchMinimum
	off := evicts
	off.EnableNoExecuteTaintEviction = false
	judge(t, map[string]ruling{
		"it is scheduled for when the toleration ends":        {situation{binding: tolerates(60, minute(taint)), m1: since(0), settings: evicts}, invariant.DeadlinesFollow, false},
		"the toleration was edited to end sooner":             {situation{binding: tolerates(30, minute(taint)), m1: since(0), settings: evicts}, invariant.DeadlinesFollow, true},
		"the toleration was edited to end later":              {situation{binding: tolerates(90, minute(taint)), m1: since(0), settings: evicts}, invariant.DeadlinesFollow, true},
		"the toleration was edited to last for good":          {situation{binding: tolerates(-1, minute(taint)), m1: since(0), settings: evicts}, invariant.DeadlinesFollow, true},
		"it lasts for good, and nothing is scheduled":         {situation{binding: tolerates(-1), m1: since(0), settings: evicts}, invariant.DeadlinesFollow, false},
		"the taint was added again":                           {situation{binding: tolerates(60, minute(taint)), m1: since(time.Second), settings: evicts}, invariant.DeadlinesFollow, true},
		"the taint is gone":                                   {situation{binding: tolerates(60, minute(taint)), settings: evicts}, invariant.DeadlinesFollow, true},
		"nothing is scheduled":                                {situation{binding: tolerates(60), m1: since(0), settings: evicts}, invariant.DeadlinesFollow, true},
		"taints do not evict":                                 {situation{binding: tolerates(60), m1: since(0), settings: off}, invariant.DeadlinesFollow, false},
		"something blocks it, which is said":                  {situation{binding: tolerates(60, evictionAt(0, api.EvictionBlocked, "Held")), m1: since(0), settings: evicts}, invariant.DeadlinesFollow, false},
		"it leaves for its health before that":                {situation{binding: tolerates(90, minute(unhealthy)), m1: since(0), settings: evicts}, invariant.DeadlinesFollow, false},
		"it leaves for its health after that":                 {situation{binding: tolerates(30, minute(unhealthy)), m1: since(0), settings: evicts}, invariant.DeadlinesFollow, true},
		"it is unhealthy, and tolerates the taint for good":   {situation{binding: tolerates(-1, minute(unhealthy)), m1: since(0), settings: evicts}, invariant.DeadlinesFollow, false},
		"one is shown that it is not placed on":               {situation{binding: tolerates(60, minute(taint), elsewhere(api.EvictionScheduled)), m1: since(0), settings: evicts}, invariant.DeadlinesFollow, true},
		"one is shown that it is taken off":                   {situation{binding: leavesM3(tolerates(60, minute(taint), elsewhere(api.EvictionEvicting))), m1: since(0), settings: evicts}, invariant.DeadlinesFollow, false},
		"it is due":                                           {situation{binding: tolerates(60, minute(taint)), m1: since(0), settings: evicts, later: time.Minute}, invariant.DeadlinesFollow, false},
		"it is noticed when its cluster is looked at":         {situation{binding: tolerates(55, minute(taint)), m1: since(5 * time.Second), settings: relists}, invariant.DeadlinesFollow, false},
		"it is noticed later than that":                       {situation{binding: tolerates(30, minute(taint)), m1: since(0), settings: relists}, invariant.DeadlinesFollow, true},
		"an edit may be noticed later than it counts from":    {situation{binding: tolerates(1, evictionAt(10*time.Second, api.EvictionScheduled, taint)), m1: since(0), settings: relists}, invariant.DeadlinesFollow, false},
		"it is noticed sooner than it may leave":              {situation{binding: tolerates(90, minute(taint)), m1: since(0), settings: relists}, invariant.DeadlinesFollow, true},
		"the shortest toleration counts where all of them do": {situation{binding: twice(60, 30, minute(taint)), m1: since(0), settings: minimum}, invariant.DeadlinesFollow, true},
		"the first toleration counts otherwise":               {situation{binding: twice(60, 30, minute(taint)), m1: since(0), settings: evicts}, invariant.DeadlinesFollow, false},
	})
}

// elsewhere is what is said of an eviction from m3, on which d/web is not placed.
func elsewhere(state api.EvictionState) api.Eviction {
	e := evictionAt(time.Minute, state, api.EvictionReasonTaintUntolerated)
	e.Cluster = "m3"
	return e
}

// leavesM3 has d/web be taken off m3 by a task, too.
func leavesM3(is func(*api.ResourceBinding)) func(*api.ResourceBinding) {
	return func(b *api.ResourceBinding) {
		is(b)
		b.Spec.GracefulEvictionTasks = []api.GracefulEvictionTask{task("m3", start)}
	}
}

// twice has d/web tolerate everything twice over.
func twice(first, second int64, evictions ...api.Eviction) func(*api.ResourceBinding) {
	return func(b *api.ResourceBinding) {
		tolerates(first, evictions...)(b)
		more := b.Spec.Placement.ClusterTolerations[0]
		more.TolerationSeconds = &second
		b.Spec.Placement.ClusterTolerations = append(b.Spec.Placement.ClusterTolerations, more)
	}
}
