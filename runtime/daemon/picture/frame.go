package picture

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/taint"
	"leeward/messages/api"
)

// How much a picture names. What is beyond is in the totals.
const (
	mostClusters  = 500
	mostEvictions = 100 // of each state
	mostTaints    = 6   // of a cluster
	mostPlaces    = 50  // regions, priorities and holds, each
)

// frame is a picture, its parts as they are sent.
type frame struct {
	totals, governor    json.RawMessage
	clusters, evictions map[string]json.RawMessage
}

// draw makes the picture of the fleet as it was last read.
func (f *fleet) draw() *frame {
	p := &frame{clusters: map[string]json.RawMessage{}, evictions: map[string]json.RawMessage{}}
	totals := Totals{Workloads: f.tally.workloads, Replicas: f.tally.replicas, BlockedBy: f.tally.reasons()}
	for _, s := range states {
		tree := f.tally.evictions[s]
		*totals.Evictions.of(s) = tree.Len()
		left := mostEvictions
		tree.Ascend(func(d due) bool {
			p.evictions[d.key] = encode(&d.eviction)
			left--
			return left > 0
		})
	}
	for _, c := range f.named(&totals.Clusters) {
		p.clusters[c.Name] = encode(f.cluster(c))
	}
	p.totals, p.governor = encode(totals), encode(governorOf(f.governor))
	f.tally.sweep()
	f.changed = false
	return p
}

// named are the clusters of a picture: those first that are not as they must be, then by name. It counts all.
func (f *fleet) named(count *Ready) []*api.Cluster {
	all := make([]*api.Cluster, 0, len(f.clusters))
	calm := map[string]bool{}
	for name, c := range f.clusters { // order-free: sorted below
		all = append(all, c)
		ready := meta.IsStatusConditionTrue(c.Status.Conditions, api.ConditionReady)
		draining := c.Status.Drain != nil
		count.add(ready, len(c.Spec.Taints) > 0, draining)
		calm[name] = ready && len(c.Spec.Taints) == 0 && !draining
	}
	slices.SortFunc(all, func(a, b *api.Cluster) int {
		if calm[a.Name] != calm[b.Name] {
			if calm[b.Name] {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.Name, b.Name)
	})
	return all[:min(len(all), mostClusters)]
}

func (r *Ready) add(ready, tainted, draining bool) {
	r.All++
	r.Ready += number(ready)
	r.Tainted += number(tainted)
	r.Draining += number(draining)
}

func number(is bool) int {
	if is {
		return 1
	}
	return 0
}

func (f *fleet) cluster(c *api.Cluster) *Cluster {
	row := &Cluster{
		Region: short(c.Spec.Region), Provider: short(c.Spec.Provider), Ready: string(metav1.ConditionUnknown), TaintCount: len(c.Spec.Taints),
		Held: short(c.Annotations[api.AnnotationHold]), Stay: short(c.Status.WorkloadsStay),
	}
	if ready := meta.FindStatusCondition(c.Status.Conditions, api.ConditionReady); ready != nil {
		row.Ready = short(string(ready.Status))
		if !ready.LastTransitionTime.IsZero() {
			row.Since = &ready.LastTransitionTime
		}
		if ready.Status != metav1.ConditionTrue {
			row.Reason = short(ready.Reason + ": " + ready.Message)
		}
	}
	for i := range c.Spec.Taints[:min(len(c.Spec.Taints), mostTaints)] {
		row.Taints = append(row.Taints, short(taint.String(&c.Spec.Taints[i])))
		row.TaintedAt = append(row.TaintedAt, c.Spec.Taints[i].TimeAdded)
	}
	if !slices.ContainsFunc(row.TaintedAt, func(t *metav1.Time) bool { return t != nil }) {
		row.TaintedAt = nil
	}
	if d := c.Status.Drain; d != nil {
		row.Drain = &Drain{Deadline: d.Deadline, Bindings: d.Bindings, Left: d.Left, Missed: d.Missed}
	}
	if l := f.tally.clusters[c.Name]; l != nil {
		row.Workloads, row.Replicas, row.Available, row.Evictions, row.CPU = l.bindings, l.replicas, l.available, l.evictions, l.cpu
	}
	if s := c.Status.ResourceSummary; s != nil {
		q := s.Allocatable[corev1.ResourceCPU]
		row.CPUCapacity = q.MilliValue()
	}
	return row
}

func governorOf(g *api.Governor) Governor {
	if g == nil {
		return Governor{}
	}
	s := &g.Status
	out := Governor{
		Governance: governanceOf("", &s.Governance), HoldCount: len(s.Holds), Releases: len(s.Releases), Quarantined: s.QuarantinedCount, Profile: short(s.Profile),
	}
	if p := g.Spec.Pause; p != nil {
		out.Pause = &Hold{Reason: short(p.Reason)}
		if p.Until != nil {
			out.Pause.Until = &metav1.MicroTime{Time: p.Until.Time}
		}
	}
	for i := range s.Regions[:min(len(s.Regions), mostPlaces)] {
		out.Regions = append(out.Regions, governanceOf(s.Regions[i].Name, &s.Regions[i].Governance))
	}
	for i := range s.Priorities[:min(len(s.Priorities), mostPlaces)] {
		out.Priorities = append(out.Priorities, governanceOf(fmt.Sprint(s.Priorities[i].Priority), &s.Priorities[i].Governance))
	}
	for i := range s.Holds[:min(len(s.Holds), mostPlaces)] {
		h := &s.Holds[i]
		out.Holds = append(out.Holds, Hold{Binding: short(h.Binding), Cluster: short(h.Cluster), Reason: short(h.Reason), Until: micro(h.Until)})
	}
	return out
}

func governanceOf(name string, g *api.Governance) Governance {
	out := Governance{Name: short(name), State: short(g.State), Message: short(g.Message), Rate: g.EvictionsPerSecond, Until: micro(g.Until)}
	if b := g.Breaker; b != nil {
		out.Breaker = &Breaker{State: short(b.State), Message: short(b.Message), Until: micro(b.Until)}
	}
	return out
}

func encode(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("picture: write %T: %v", v, err)) // values of its own types
	}
	return text
}

// whole is the picture as a viewer that has none is told.
func (p *frame) whole(at time.Time) *Message {
	return &Message{Format: Format, Version: Version, At: at, Totals: p.totals, Governor: p.governor, Clusters: p.clusters, Evictions: p.evictions}
}

// changedSince is what a viewer that has another picture is told; nil: nothing is new.
func (p *frame) changedSince(before *frame, at time.Time) *Message {
	m := &Message{At: at, Clusters: changes(before.clusters, p.clusters), Evictions: changes(before.evictions, p.evictions)}
	if !bytes.Equal(p.totals, before.totals) {
		m.Totals = p.totals
	}
	if !bytes.Equal(p.governor, before.governor) {
		m.Governor = p.governor
	}
	if m.Totals == nil && m.Governor == nil && len(m.Clusters)+len(m.Evictions) == 0 {
		return nil
	}
	return m
}

var gone = json.RawMessage("null")

// changes are the rows that are other than before, and null for those that are gone.
func changes(before, now map[string]json.RawMessage) map[string]json.RawMessage {
	var changed map[string]json.RawMessage
	note := func(key string, row json.RawMessage) {
		if changed == nil {
			changed = map[string]json.RawMessage{}
		}
		changed[key] = row
	}
	for key, row := range now { // order-free: into a map
		if !bytes.Equal(row, before[key]) {
			note(key, row)
		}
	}
	for key := range before { // order-free: into a map
		if _, remains := now[key]; !remains {
			note(key, gone)
		}
	}
	return changed
}
