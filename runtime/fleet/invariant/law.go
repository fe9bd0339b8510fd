package invariant

import (
	"fmt"
	"strings"
	"time"

	"leeward/messages"
)

// Law is what must be true, as a sentence.
type Law string

// The laws, with the settings that they hold under; without any: all.
const (
	// OneTask: neither do two tasks evict from one cluster, nor is one that is evicted from a target.
	OneTask Law = "a cluster has at most one eviction task of a binding, and is no target then"
	// TasksEnd: a task that is neither suppressed nor about the last copy that serves (keepLastCopy) ends
	// when its time is up.
	TasksEnd Law = "a task ends when its grace period is over"
	// ReplicasConserved: a workload that is scheduled has its replicas on its clusters, none more or less.
	ReplicasConserved Law = "replicas are conserved"
	// CopiesAgree: clusters that answer run what the binding says, what is being evicted included, and nothing
	// else.
	CopiesAgree Law = "clusters run what the binding says"
	// BeliefFollows: the health that a binding has on record of a copy is what it was last told. It is asked where
	// the run says what bindings were told: Monitor.Reported.
	BeliefFollows Law = "the recorded health of a copy is the last one reported"
	// DeadlinesFollow: what a binding says of its evictions to come is what the taints and tolerations give as they are now:
	// an edited toleration counts from when the taint was added, and a taint that is added again counts from then.
	DeadlinesFollow Law = "deadlines follow taints and tolerations"
	// NeverEarly: no workload leaves for a taint before its deadline, or for one that it tolerates for good.
	NeverEarly Law = "no eviction before its deadline"
	// NeverLate: no workload stays past its deadline, unless it says what holds it, longer than it may have
	// to wait for a permit and for the next re-list.
	NeverLate Law = "no eviction later than its deadline and the wait for a permit"
	// LastCopyKept, with keepLastCopy: no old copy is let go before another can serve.
	LastCopyKept Law = "the last healthy copy is kept"
	// ScaledToZero: of a workload that the scheduler is to place with no replicas nothing remains, whatever was under way.
	ScaledToZero Law = "a workload scaled to zero runs nowhere, and every task ends"
	// DestinationsHear, with destinationsMustHear: nothing new is placed on a cluster to which dispatching is suspended, and
	// no old copy goes while a cluster that took over from it was not told so.
	DestinationsHear Law = "target clusters are told to run"
	// FailsBack: what fails back has an earlier affinity group to return to, or clusters that ran it before it was evicted; one
	// that is made again has none.
	FailsBack Law = "a failback returns to where the workload ran"
	// LeftByTask, with gracefulMoves: a placement that gives way to another leaves clusters by tasks. What is scaled to
	// nothing goes immediately.
	LeftByTask Law = "no copy is removed without an eviction task"
	// TaintsFollow: the taints of a cluster are what its newest conditions ask for.
	TaintsFollow Law = "taints follow the newest conditions"
	// NeverOversold, with capacityReservation: what goes by capacity goes where there is capacity.
	NeverOversold Law = "capacity is never oversold"
	// StartsKept, with maxStartingPerCluster or startFailureLimit: no more workloads that had to leave another cluster start on
	// one at the same time than may; where it backs off, of those that came since.
	StartsKept Law = "no cluster starts more workloads than its limit"
	// LimitsKept: no more is permitted than the rates of fleet, regions and clusters, their breakers, the state of the
	// fleet and people let go, over restarts, too; and no more permits for taints than the eviction workers take.
	LimitsKept Law = "evictions keep to the limits of the governor"
	// PermitValid: what leaves for a taint has a permit of that very instant, where a limit of the fleet or of clusters counts
	// permits, and nothing that people hold is evicted; what they released needs neither.
	PermitValid Law = "every eviction has a permit that is valid when it starts"
	// PermitsSpent: who gets a permit that is counted leaves in that instant, or gives it back.
	PermitsSpent Law = "each permit is used or given back"
	// BudgetsKept, with evictionBudgets: no more replicas leave for taints in a window than an EvictionBudget lets move, and
	// none by which too few remain that serve.
	BudgetsKept Law = "budgets are kept"
)

// Laws returns all laws.
func Laws() []Law {
	return []Law{
		OneTask, TasksEnd, ReplicasConserved, CopiesAgree, BeliefFollows, DeadlinesFollow, NeverEarly, NeverLate, LastCopyKept, ScaledToZero, DestinationsHear, FailsBack, LeftByTask,
		TaintsFollow, NeverOversold, StartsKept, LimitsKept, PermitValid, PermitsSpent, BudgetsKept,
	}
}

// Violation is a law that was broken. A law that stays broken for one binding and cluster is one violation.
type Violation struct {
	Law Law
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
	return fmt.Sprintf("%s: %s: %s", v.Law, place, v.Detail)
}
