package invariant

import (
	"fmt"
	"strings"
	"time"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

// Invariant is what must be true, as a sentence.
type Name string

// The invariants, with the settings that they hold under; without any: all.
const (
	// OneTask: neither do two tasks evict from one cluster, nor is one that is evicted from a target.
	OneTask Name = "a cluster has at most one eviction task of a binding, and is no target then"
	// TasksEnd: a task that is neither suppressed nor about the last copy that serves (keepLastCopy) ends
	// when its time is up.
	TasksEnd Name = "a task ends when its grace period is over"
	// ReplicasConserved: a workload that is scheduled has its replicas on its clusters, none more or less.
	ReplicasConserved Name = "replicas are conserved"
	// CopiesAgree: clusters that answer run what the binding says, what is being evicted included, and nothing
	// else.
	CopiesAgree Name = "clusters run what the binding says"
	// BeliefFollows: the health that a binding has on record of a copy is what it was last told. It is asked where
	// the run says what bindings were told: Monitor.Reported.
	BeliefFollows Name = "the recorded health of a copy is the last one reported"
	// DeadlinesFollow: what a binding says of its evictions to come is what the taints and tolerations give as they are now:
	// an edited toleration counts from when the taint was added, and a taint that is added again counts from then.
	DeadlinesFollow Name = "deadlines follow taints and tolerations"
	// NeverEarly: no workload leaves for a taint before its deadline, or for one that it tolerates for good.
	NeverEarly Name = "no eviction before its deadline"
	// NeverLate: no workload stays past its deadline, unless it says what holds it, longer than it may have
	// to wait for a permit and for the next re-list.
	NeverLate Name = "no eviction later than its deadline and the wait for a permit"
	// LastCopyKept, with keepLastCopy: no old copy is let go before another can serve.
	LastCopyKept Name = "the last healthy copy is kept"
	// ScaledToZero: of a workload that the scheduler is to place with no replicas nothing remains, whatever was under way.
	ScaledToZero Name = "a workload scaled to zero runs nowhere, and every task ends"
	// DestinationsHear, with destinationsMustHear: nothing new is placed on a cluster to which dispatching is suspended, and
	// no old copy goes while a cluster that took over from it was not told so.
	DestinationsHear Name = "target clusters are told to run"
	// FailsBack: what fails back has an earlier affinity group to return to, or clusters that ran it before it was evicted; one
	// that is made again has none.
	FailsBack Name = "a failback returns to where the workload ran"
	// RemovedByTask, with gracefulMoves: a placement that gives way to another leaves clusters by tasks. What is scaled to
	// nothing goes immediately.
	RemovedByTask Name = "no copy is removed without an eviction task"
	// PlacementFollows: a cluster that comes to a workload is one that its placement selects and whose taints it tolerates, with
	// scaleUpNeedsReady a Ready one; with exactSpread there are as many as its spread constraints say.
	PlacementFollows Name = "a placement keeps to its policy and to the taints of clusters"
	// TasksFollow: an eviction does with the old copy what its policy says, and none for health begins before the copy was Unhealthy
	// for as long as the policy tolerates.
	TasksFollow Name = "an eviction is carried out as its policy says"
	// ObservedFollows: what was placed was placed as it is, unless it changed since; a workload that was to be placed again was.
	ObservedFollows Name = "the scheduler has observed what it placed"
	// QuotasKept, with federatedQuotaEnforcement: no placement adds to what a namespace uses beyond its quotas.
	QuotasKept Name = "quotas are kept"
	// TaintsFollow: the taints of a cluster are what its newest conditions ask for.
	TaintsFollow Name = "taints follow the newest conditions"
	// NeverOversold, with capacityReservation: what goes by capacity goes where there is capacity.
	NeverOversold Name = "capacity is never oversold"
	// StartsKept, with maxStartingPerCluster or startFailureLimit: no more workloads that had to leave another cluster start on
	// one at the same time than may; where it backs off, of those that came since.
	StartsKept Name = "no cluster starts more workloads than its limit"
	// LimitsKept: no more is permitted than the rates of fleet, regions and clusters, their breakers, the state of the
	// fleet and people let go, over restarts, too; and no more permits for taints than the eviction workers take.
	LimitsKept Name = "evictions keep to the limits of the governor"
	// PermitValid: what leaves for a taint has a permit of that very instant, where a limit of the fleet or of clusters counts
	// permits, and nothing that people hold is evicted; what they released needs neither.
	PermitValid Name = "every eviction has a permit that is valid when it starts"
	// PermitsSpent: who gets a permit that is counted leaves in that instant, or gives it back.
	PermitsSpent Name = "each permit is used or given back"
	// BudgetsKept, with evictionBudgets: no more replicas leave for taints in a window than an EvictionBudget lets move, and
	// none by which too few remain that serve.
	BudgetsKept Name = "budgets are kept"
)

// Invariants returns all invariants.
func All() []Name {
	return []Name{
		OneTask, TasksEnd, ReplicasConserved, CopiesAgree, BeliefFollows, DeadlinesFollow, NeverEarly, NeverLate, LastCopyKept, ScaledToZero, DestinationsHear, FailsBack, RemovedByTask,
		PlacementFollows, TasksFollow, ObservedFollows, QuotasKept, TaintsFollow, NeverOversold, StartsKept, LimitsKept, PermitValid, PermitsSpent, BudgetsKept,
	}
}

// Violation is an invariant that was broken. An invariant that stays broken for one binding and cluster is one violation.
type Violation struct {
	Invariant Name
	// At is when it was seen, at the end of an instant.
	At time.Time
	// Binding and Cluster say where; one may be empty.
	Binding messages.BindingName
	Cluster messages.ClusterName
	// Detail says what is wrong, with the values.
	Detail string
}

// String returns the violation in one line.
func (v *Violation) String() string {
	place := strings.TrimSpace(string(v.Binding) + " " + string(v.Cluster))
	return fmt.Sprintf("%s: %s: %s", v.Invariant, place, v.Detail)
}

// About is the key of the binding, or else of the cluster, that it is about; the zero key: neither.
func (v *Violation) About() api.Key {
	switch {
	case v.Binding != "":
		return store.BindingKey(v.Binding)
	case v.Cluster != "":
		return store.ClusterKey(v.Cluster)
	}
	return api.Key{}
}
