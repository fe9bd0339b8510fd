package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/karmada"
	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/failover"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/span"
	"leeward/runtime/fleet/store"
)

// The states of a move. Those that are over have the last five.
const (
	StateScheduled = "eviction scheduled"
	StateBlocked   = "eviction blocked"
	StateEvicting  = "evicting"
	// StateDeleting is that of a pod that was deleted without an eviction for a taint, and has not ended yet.
	StateDeleting  = "deleting"
	StateEvicted   = "evicted"
	StateCancelled = "eviction cancelled"
	StateReturned  = "handover cancelled"
	StateDeleted   = "deleted"
	// StateGivenUp is that of an eviction that the API server refused too often.
	StateGivenUp = "eviction given up"
)

// Move is one failover of a binding: its eviction from a cluster, from the countdown until the old copy is removed. Of a pod it is one
// eviction from its node, or another deletion, until the pod is gone.
type Move struct {
	// Cluster is what a binding is evicted from, Node what a pod is.
	Cluster messages.ClusterName `json:"cluster,omitempty"`
	Node    messages.NodeName    `json:"node,omitempty"`
	State   string               `json:"state"`
	// Taint, Policy or TaintedBy, Condition, which asked for the taint, and Toleration are why, each apart; Reason is set where it is
	// no taint.
	Taint      string `json:"taint,omitempty"`
	Policy     string `json:"policy,omitempty"`
	TaintedBy  string `json:"taintedBy,omitempty"`
	Condition  string `json:"condition,omitempty"`
	Toleration string `json:"toleration,omitempty"`
	Reason     string `json:"reason,omitempty"`
	// Deadline is when the eviction is due, or was, or when its handover ends at the latest; nil: there is none, or immediately.
	Deadline *Seconds `json:"deadlineSeconds,omitempty"`
	// Blocked is what blocks it or what it waits for, Until when that is looked at again by itself.
	Blocked string   `json:"blocked,omitempty"`
	Until   *Seconds `json:"untilSeconds,omitempty"`
	// To are the clusters that take over.
	To []api.TargetCluster `json:"to,omitempty"`
	// Replacement is the pod that its owner created in its place; empty: none yet.
	Replacement messages.PodName `json:"replacement,omitempty"`
	// Waits is what it goes on with, and Ends what would cancel it, or end it or the handover, one each.
	Waits []string `json:"waits,omitempty"`
	Ends  []string `json:"ends,omitempty"`
	// Steps are what happened, in order.
	Steps []Step `json:"steps"`

	// failover is of a binding, as removed is; budget and deleted are of a pod.
	failover *failover.Failover
	removed  bool
	budget   messages.PodBudgetName
	deleted  time.Time
}

// from is what the binding or the pod is evicted from.
func (m *Move) from() string { return string(m.Cluster) + string(m.Node) }

// ended reports whether Ends are what ends the move, and not what would cancel it.
func (m *Move) ended() bool {
	return m.State == StateDeleting || m.State == StateEvicting && (m.Node == "" || m.Blocked == "")
}

// open reports whether the move goes on.
func (m *Move) open() bool {
	switch m.State {
	case StateScheduled, StateBlocked, StateEvicting, StateDeleting:
		return true
	}
	return false
}

// Step is one thing that happened: the part of a failover that it is, and in words.
type Step struct {
	At   Seconds `json:"atSeconds"`
	Part string  `json:"part"`
	Text string  `json:"text"`
}

// add adds a step, unless it says what the last one of its part did.
func (m *Move) add(s Step) {
	for i := len(m.Steps) - 1; i >= 0; i-- {
		if m.Steps[i].Part == s.Part {
			if m.Steps[i].Text == s.Text {
				return
			}
			break
		}
	}
	m.Steps = append(m.Steps, s)
}

// moves folds what happened into failovers: those that are under way, and those that are over.
func (q *query) moves(b *store.Binding) (underWay, past []Move) {
	all := q.folded(b.Name())
	underWay, past = []Move{}, append([]Move{}, q.before(b)...)
	known := map[messages.ClusterName]bool{}
	for _, m := range all {
		m.state()
		if !m.open() {
			q.causes(m)
			past = append(past, *m)
			continue
		}
		q.detail(m, b)
		known[m.Cluster] = true
		underWay = append(underWay, *m)
	}
	for i := range b.Status.Evictions {
		if e := &b.Status.Evictions[i]; e.State != api.EvictionEvicting && !known[messages.ClusterName(e.Cluster)] {
			underWay = append(underWay, q.shown(b, e))
		}
	}
	for i := range b.Spec.GracefulEvictionTasks { // of a dump: the eviction came before the start
		if t := &b.Spec.GracefulEvictionTasks[i]; !known[messages.ClusterName(t.FromCluster)] {
			m := Move{Cluster: messages.ClusterName(t.FromCluster), State: StateEvicting, Reason: joined(": ", t.Reason, t.Message), To: t.ReplacedBy, Steps: []Step{}}
			q.handover(&m, t)
			underWay = append(underWay, m)
		}
	}
	return underWay, past
}

// folded are the failovers of a binding, in the order in which they began.
func (q *query) folded(name messages.BindingName) (all []*Move) {
	of := map[*failover.Failover]*Move{}
	fold := failover.Fold{}
	if spec := q.stored()[name]; spec != nil {
		fold[name] = failover.Stored(name, spec)
	}
	for e := range q.concerning(name) {
		if p, is := e.Fact.(*messages.EvictionsPermitted); is {
			permitted(all, name, q.since(e.At), p)
		}
		if h, is := e.Fact.(*messages.HandoverBlocked); is && h.Binding == name {
			handoverBlocked(all, q.since(e.At), h)
		}
		fold.Take(e.At, e.Fact, func(at time.Time, s failover.Step, f *failover.Failover) {
			if f.Binding != name {
				return
			}
			m := of[f]
			if m == nil {
				m = &Move{Cluster: f.Cluster, failover: f}
				of[f], all = m, append(all, m)
				if f.Eviction != nil && f.Evicted.Before(q.start) { // stored
					m.add(Step{q.since(f.Evicted), "eviction", joined("; ", "from "+string(f.Cluster), f.Eviction.Task.Reason)})
				}
			}
			m.removed = m.removed || s == failover.Removed
			if part := parts[s]; part != "" {
				m.add(Step{q.since(at), part, q.words(s, f, e.Fact)})
			}
		})
	}
	return all
}

// before are the failovers that were over before the start, as the binding's status has them.
func (q *query) before(b *store.Binding) (all []Move) {
	for i := range b.Status.FailoverHistory {
		r := &b.Status.FailoverHistory[i]
		if !r.StartTime.Before(&metav1.MicroTime{Time: q.start}) || r.CompletionTime == nil || r.CompletionTime.After(q.start) {
			continue
		}
		m := Move{Cluster: messages.ClusterName(r.FromCluster), State: StateEvicted, Reason: r.Reason, To: r.ToClusters}
		m.Steps = []Step{
			{q.since(r.StartTime.Time), "eviction", joined("; ", "from "+r.FromCluster, r.Reason, "by "+r.Producer)},
			{q.since(r.StartTime.Time), "placement", "taken over by " + clusters(r.ToClusters)},
			{q.since(r.CompletionTime.Time), "handover", "ended: " + r.Outcome},
		}
		all = append(all, m)
	}
	return all
}

// parts are what steps are of a failover.
var parts = map[failover.Step]string{
	failover.Scheduled: "scheduled", failover.Blocked: "blocked", failover.Evicted: "eviction", failover.Placed: "placement",
	failover.Available: "available", failover.Released: "handover", failover.Cancelled: "cancelled", failover.Removed: "removed",
}

// words say what a step did.
func (q *query) words(s failover.Step, f *failover.Failover, fact messages.Fact) string {
	switch s {
	case failover.Scheduled:
		return joined("; ", "for "+q.since(f.Cause.Deadline).String(), q.grounded(f.Cause))
	case failover.Blocked:
		text := joined(": ", f.BlockedBy.Reason, f.BlockedBy.Message)
		if until := f.BlockedBy.Until; !until.IsZero() {
			text += ", until " + q.since(until).String()
		}
		return text
	case failover.Evicted:
		return joined("; ", "from "+string(f.Cluster), q.grounded(f.Cause))
	case failover.Placed:
		if len(f.To) > 0 {
			return "taken over by " + clusters(f.To)
		}
		if placed, is := fact.(*messages.Scheduled); is {
			return "scheduled on " + clusters(placed.Clusters)
		}
		if _, is := fact.(*messages.PlacementConfirmed); is {
			return "the placement is confirmed"
		}
		return "no other cluster takes over"
	case failover.Available:
		return "a copy on another cluster is healthy"
	case failover.Cancelled:
		return f.Reason
	case failover.Removed:
		return "the old copy is removed"
	default:
		return strings.TrimPrefix(journal.Tell(q.start, fact).Text(), string(f.Binding)+" ")
	}
}

// grounded is the reason of an eviction in short: its taint and toleration.
func (q *query) grounded(g *messages.Grounds) string {
	m := &Move{}
	m.why(g)
	return joined("; ", m.Taint, strings.Replace(labelled("toleration", m.Toleration), "toleration not", "not", 1), m.Reason)
}

// permitted notes permits that a governor granted.
func permitted(all []*Move, name messages.BindingName, at Seconds, p *messages.EvictionsPermitted) {
	for _, given := range p.Permits {
		for _, m := range all {
			if given.Binding == name && given.Cluster == m.Cluster && m.failover.Evicted.IsZero() && m.failover.Cancelled.IsZero() {
				m.add(Step{at, "permit", "the governor permits the eviction"})
			}
		}
	}
}

// handoverBlocked notes that an old copy keeps running for want of a healthy one elsewhere.
func handoverBlocked(all []*Move, at Seconds, h *messages.HandoverBlocked) {
	for _, m := range all {
		if m.Cluster == h.Cluster && !m.failover.Evicted.IsZero() && m.failover.Released.IsZero() && m.failover.Cancelled.IsZero() {
			m.Blocked = "the old copy keeps running: " + h.Message
			m.add(Step{at, "blocked", m.Blocked})
		}
	}
}

// state says how far a failover has come.
func (m *Move) state() {
	f := m.failover
	switch {
	case !f.Cancelled.IsZero() && !f.Evicted.IsZero():
		m.State = StateReturned
	case !f.Cancelled.IsZero():
		m.State = StateCancelled
	case !f.Released.IsZero() || m.removed:
		m.State = StateEvicted
	case !f.Evicted.IsZero():
		m.State = StateEvicting
	case f.BlockedBy != nil:
		m.State = StateBlocked
	default:
		m.State = StateScheduled
	}
	m.To = f.To
	if g := f.Cause; g != nil {
		m.why(g)
	}
	if m.Taint == "" && m.Reason == "" && f.Eviction != nil { // stored before the start
		m.Reason = joined(": ", f.Eviction.Task.Reason, f.Eviction.Task.Message)
	}
}

func (m *Move) why(g *messages.Grounds) {
	if g.Taint == nil {
		m.Reason = g.Reason
		return
	}
	m.Taint = taint.String(g.Taint)
	m.Toleration = shortToleration(g.Toleration, g.Taint)
	if g.Cause != nil {
		m.Condition, m.Policy = g.Cause.Because, cmp.Or(g.Cause.Policy, joined(" ", "none, by", g.Cause.By, g.Cause.User))
	}
}

// detail says of a failover that is under way until when, and what would cancel it.
func (q *query) detail(m *Move, b *store.Binding) {
	f := m.failover
	q.causes(m)
	if m.State == StateEvicting {
		if t := b.Spec.TaskFrom(string(m.Cluster)); t != nil {
			q.handover(m, t)
		}
		return
	}
	if f.Cause != nil && !f.Cause.Deadline.IsZero() {
		m.Deadline = new(q.since(f.Cause.Deadline))
	}
	if by := f.BlockedBy; by != nil {
		m.Blocked = joined(": ", by.Reason, by.Message)
		if !by.Until.IsZero() {
			m.Until = new(q.since(by.Until))
		}
	}
	m.Ends = q.cancels(m)
}

// cancels are what would cancel an eviction that has not begun.
func (q *query) cancels(m *Move) (all []string) {
	if m.Taint == "" {
		return []string{"its copy on " + string(m.Cluster) + " is reported healthy"}
	}
	if p, is := q.taintPolicy(m.Policy); is && len(p.Spec.RemoveOnConditions) > 0 {
		all = append(all, fmt.Sprintf("policy %s removes the taint: %s", m.Policy, conditionsOf(p.Spec.RemoveOnConditions)))
	}
	return append(all,
		fmt.Sprintf("the taint %s is removed from %s", m.Taint, m.Cluster),
		fmt.Sprintf("the placement tolerates %s for longer, or without tolerationSeconds", m.Taint))
}

// handover says when a handover ends.
func (q *query) handover(m *Move, t *api.GracefulEvictionTask) {
	grace := q.settings().GracefulEvictionTimeout
	if t.GracePeriodSeconds != nil {
		grace = time.Duration(*t.GracePeriodSeconds) * time.Second
	}
	switch {
	case t.SuppressDeletion != nil && *t.SuppressDeletion:
		m.Ends = []string{"suppressDeletion is set to false"}
	case t.CreationTimestamp != nil:
		m.Deadline = new(q.since(t.CreationTimestamp.Add(grace)))
		over := "its grace period of " + span.String(grace) + " is over"
		if karmada.Of(q.settings()).KeepsLastCopy() {
			over += ", and a healthy copy runs on another cluster"
		}
		m.Ends = []string{"the copies on the other clusters are healthy", over}
	}
}

// causes puts before the steps of a failover which condition and which taint led to it.
func (q *query) causes(m *Move) {
	if m.Taint == "" || len(m.Steps) == 0 {
		return
	}
	before := time.Duration(m.Steps[0].At)
	var tainted, condition *journal.Entry
	for i := range q.entries {
		e := &q.entries[i]
		if e.At.Sub(q.start) > before {
			break
		}
		if f, is := e.Fact.(*messages.TaintAdded); is && f.Cluster == m.Cluster && taint.String(&f.Taint) == m.Taint {
			tainted = e
			condition = q.lastCondition(i, m)
		}
	}
	var first []Step
	if condition != nil {
		first = append(first, q.step("condition", condition, m.Cluster))
	}
	if tainted != nil {
		first = append(first, q.step("taint", tainted, m.Cluster))
	}
	m.Steps = slices.Concat(first, m.Steps)
}

func (q *query) step(part string, e *journal.Entry, c messages.ClusterName) Step {
	text := strings.TrimPrefix(journal.Tell(q.start, e.Fact).Text(), string(c)+" ")
	return Step{q.since(e.At), part, strings.TrimPrefix(strings.TrimPrefix(text, "condition "), "tainted ")}
}

// lastCondition is the change of the condition, the last before an entry, that asked for a taint.
func (q *query) lastCondition(before int, m *Move) *journal.Entry {
	kind, _, _ := strings.Cut(m.Condition, "=")
	for i := before - 1; i >= 0; i-- {
		if f, is := q.entries[i].Fact.(*messages.ConditionChanged); is && f.Cluster == m.Cluster && f.Type == kind {
			return &q.entries[i]
		}
	}
	return nil
}

// shown is an eviction that is scheduled or blocked, and that the status of a binding told of before the start: where it is decided in
// the same way again, no fact tells of it.
func (q *query) shown(b *store.Binding, e *api.Eviction) Move {
	m := Move{Cluster: messages.ClusterName(e.Cluster), State: StateScheduled, Steps: []Step{}}
	if g := q.reasonFor(b, e); g != nil {
		m.why(g)
	} else if m.Taint, m.Policy = e.Taint, e.Policy; e.Taint == "" {
		m.Reason = e.Reason
	}
	if !e.Deadline.IsZero() {
		m.Deadline = new(q.since(e.Deadline.Time))
	}
	if e.State == api.EvictionBlocked {
		m.State, m.Blocked = StateBlocked, joined(": ", e.Reason, e.Message)
		if e.Until != nil {
			m.Until = new(q.since(e.Until.Time))
		}
	}
	m.Ends = q.cancels(&m)
	return m
}

// reasonFor is why an eviction is shown, by the taint that its cluster has now; nil: it has no such taint.
func (q *query) reasonFor(b *store.Binding, e *api.Eviction) *messages.Grounds {
	c := q.store.Cluster(messages.ClusterName(e.Cluster))
	if c == nil || b.Spec.Placement == nil {
		return nil
	}
	i := slices.IndexFunc(c.Spec.Taints, func(t corev1.Taint) bool { return taint.String(&t) == e.Taint })
	if i < 0 {
		return nil
	}
	g := &messages.Grounds{Taint: &c.Spec.Taints[i], Cause: c.Status.CauseOf(&c.Spec.Taints[i])}
	s, tolerations := q.settings(), b.Spec.Placement.ClusterTolerations
	if v := taint.Deadline(c.Spec.Taints[i:i+1], tolerations, taint.Rule{Match: s.TolerationMatch, Numeric: s.NumericTolerations}); v.Outcome == taint.Until {
		g.Toleration = &tolerations[v.Toleration]
	}
	return g
}
