package rehearsal

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/lists"
	"leeward/messages/spelling"
	"leeward/runtime/fleet/observed"
	"leeward/runtime/fleet/span"
	"leeward/runtime/fleet/store"
)

// Prediction is what a change would do that does not happen without it. The warnings of the API, a FailoverPreview and what-if are made
// of it, in the same words. Times count from the change.
type Prediction struct {
	Evictions     []Eviction `json:"evictions"`
	Blocked       []Blocked  `json:"blocked"`
	Unschedulable []Trouble  `json:"unschedulable"`
	// Stays tell of the clusters that are not Ready in the end and keep their workloads, because nothing evicts them.
	Stays []string `json:"workloadsStay"`
}

// Eviction is one that the change would cause.
type Eviction struct {
	At         span.Seconds         `json:"atSeconds"`
	Workload   messages.BindingName `json:"workload"`
	Replicas   int32                `json:"replicas"`
	From       messages.ClusterName `json:"from"`
	To         []api.TargetCluster  `json:"to"`
	Reason     string               `json:"reason"`
	Taint      *corev1.Taint        `json:"taint,omitempty"`
	Policy     string               `json:"policy,omitempty"`
	Toleration *corev1.Toleration   `json:"toleration,omitempty"`
}

// String is the eviction in words, without its time.
func (e *Eviction) String() string {
	return fmt.Sprintf("%s evicted from %s (%s) to %s: %s", e.Workload, e.From, spelling.Count(int(e.Replicas), "replica"), Targets(e.To), e.Reason)
}

// Blocked is an eviction that would be due and have to wait.
type Blocked struct {
	At       span.Seconds         `json:"atSeconds"`
	Workload messages.BindingName `json:"workload"`
	Cluster  messages.ClusterName `json:"cluster"`
	Reason   string               `json:"reason"`
	// Evicted is set where it happens later.
	Evicted bool `json:"evicted"`
}

// String is the blocked eviction in words, without its time.
func (b *Blocked) String() string {
	then := "not evicted"
	if b.Evicted {
		then = "evicted later"
	}
	return fmt.Sprintf("%s blocked on %s, %s: %s", b.Workload, b.Cluster, then, b.Reason)
}

// Trouble is a workload of which replicas would have no cluster, or would not be available.
type Trouble struct {
	Workload messages.BindingName `json:"workload"`
	// Missing are those replicas; 0: their number is not known.
	Missing int32  `json:"missing"`
	Reason  string `json:"reason"`
}

// String is the workload in words, with what it lacks and why. One that no other cluster can take lacks nothing while it remains where it is.
func (t *Trouble) String() string {
	if t.Missing == 0 {
		return fmt.Sprintf("%s: %s", t.Workload, t.Reason)
	}
	return fmt.Sprintf("%s %s: %s", t.Workload, spelling.Count(int(t.Missing), "replica"), t.Reason)
}

// Targets are clusters in words, with the replicas that each has: "eu-2 (2), us-1 (1)".
func Targets(all []api.TargetCluster) string {
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(lists.Of(all, func(t api.TargetCluster) string { return fmt.Sprintf("%s (%d)", t.Name, t.Replicas) }), ", ")
}

// evicted are the bindings that would be evicted from a cluster at least once.
func (p *Prediction) evicted() int {
	moved := map[messages.BindingName]bool{}
	for i := range p.Evictions {
		moved[p.Evictions[i].Workload] = true
	}
	return len(moved)
}

// Summary is the prediction in a few lines; none: nothing of it would happen.
func (p *Prediction) Summary() (lines []string) {
	if n := len(p.Evictions); n > 0 {
		lines = append(lines, fmt.Sprintf("%s would be evicted, %s", spelling.Count(p.evicted(), "binding"), between(p.Evictions[0].At.Length(), p.Evictions[n-1].At.Length())))
	}
	waiting := 0
	for i := range p.Blocked {
		if !p.Blocked[i].Evicted {
			waiting++
		}
	}
	if waiting > 0 {
		lines = append(lines, spelling.Count(waiting, "eviction")+" would be blocked")
	}
	if n := len(p.Unschedulable); n > 0 {
		lines = append(lines, spelling.Count(n, "binding")+" would be unschedulable")
	}
	return append(lines, p.Stays...)
}

// Warnings are the summary for users who are about to make the change.
func (p *Prediction) Warnings() []string { return previews(p.Summary()) }

// previews says of lines that they are a preview.
func previews(lines []string) []string {
	for i := range lines {
		lines[i] = "preview: " + lines[i]
	}
	return lines
}

// mostNamed is how many unschedulable bindings an answer names; all are counted.
const mostNamed = 100

// Status is the prediction as the answer to a FailoverPreview that was asked at an instant.
func (p *Prediction) Status(now time.Time) *api.FailoverPreviewStatus {
	s := &api.FailoverPreviewStatus{Summary: p.Summary(), Evicted: int32(p.evicted()), Unschedulable: int32(len(p.Unschedulable)), Warnings: p.Stays}
	for i := range p.Evictions {
		e := &p.Evictions[i]
		namespace, name := e.Workload.Split()
		s.Evictions = append(s.Evictions, api.PreviewedEviction{
			Namespace: namespace, Name: name, FromCluster: string(e.From), ToClusters: e.To, At: metav1.MicroTime{Time: now.Add(e.At.Length())}, Message: e.String(),
		})
	}
	for _, t := range p.Unschedulable[:min(mostNamed, len(p.Unschedulable))] {
		namespace, name := t.Workload.Split()
		s.UnschedulableBindings = append(s.UnschedulableBindings, api.UnschedulableBinding{Namespace: namespace, Name: name, Message: t.Reason})
	}
	return s
}

// Outline puts evictions from a fleet that is too large to be rehearsed into words: those that tolerations alone make of a change.
func Outline(at []time.Time, now time.Time) []string {
	if len(at) == 0 {
		return nil
	}
	return previews([]string{
		fmt.Sprintf("an eviction of %s would be due, %s", spelling.Count(len(at), "binding"), between(at[0].Sub(now), at[len(at)-1].Sub(now))),
		"in a fleet of this size, create a FailoverPreview to see what is evicted, and where to",
	})
}

// Warnings put what a change of nodes would lead to into words for users who are about to make it: how many pods would be evicted, the first
// of them when and why, and how many a PodDisruptionBudget would keep.
func (m *PodMoves) Warnings() (lines []string) {
	if n := len(m.Evicted); n > 0 {
		first, last := &m.Evicted[0], &m.Evicted[n-1]
		lines = append(lines, fmt.Sprintf("%s would be evicted, %s: %s, %s", spelling.Count(n, "pod"), between(first.After, last.After), first.Pod, first.Why))
	}
	if n := len(m.Blocked); n > 0 {
		lines = append(lines, "PodDisruptionBudgets would keep "+spelling.Count(n, "pod"))
	}
	return previews(lines)
}

// between is when the first and the last would be evicted, from now on.
func between(first, last time.Duration) string {
	switch {
	case last <= 0:
		return "immediately"
	case rounded(first) == rounded(last):
		return "in " + rounded(first)
	case first <= 0:
		return fmt.Sprintf("from now on, the last in %s", rounded(last))
	}
	return fmt.Sprintf("the first in %s, the last in %s", rounded(first), rounded(last))
}

func rounded(d time.Duration) string {
	if d > time.Second {
		d = d.Round(time.Second)
	}
	return d.String()
}

// Departures tells when bindings would be evicted from a cluster for what is written of it, in order: those that are not evicted
// as it is now, or later. It asks the rule of tolerations and nothing else, which takes milliseconds in the largest fleet: what
// else may keep them, and who takes them over, is for a rehearsal.
func Departures(of iter.Seq[*store.Binding], before, after *api.Cluster, s *messages.Settings, now time.Time) []time.Time {
	if !s.Evicts() {
		return nil
	}
	was, is := taintsAt(before, now), taintsAt(after, now)
	var at []time.Time
	for b := range of {
		if b.Spec.Placement == nil || !slices.ContainsFunc(b.Spec.Clusters, func(t api.TargetCluster) bool { return t.Name == after.Name }) {
			continue
		}
		stays, ends := stay(was, b, s, now)
		if leaves, sooner := stay(is, b, s, now); sooner && (!ends || leaves.Before(stays)) {
			at = append(at, leaves)
		}
	}
	slices.SortFunc(at, time.Time.Compare)
	return at
}

// taintsAt are those of a cluster as machines would have them: one that is drained has more.
func taintsAt(c *api.Cluster, now time.Time) []corev1.Taint {
	taints := c.Spec.Taints
	if observed.DrainOf(c).Wanted {
		for _, swap := range taint.Draining(true) {
			taints, _ = swap.Apply(taints, now)
		}
	}
	return taints
}

// stay is until when a binding tolerates taints; false: for good.
func stay(taints []corev1.Taint, b *store.Binding, s *messages.Settings, now time.Time) (until time.Time, ends bool) {
	v := taint.Deadline(taints, b.Spec.Placement.ClusterTolerations, taint.Rule{Match: s.TolerationMatch, Numeric: s.NumericTolerations})
	if v.Outcome == taint.Untolerated {
		return now, true
	}
	return v.At, v.Outcome == taint.Until
}
