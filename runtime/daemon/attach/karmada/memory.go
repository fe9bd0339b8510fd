package karmada

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

// memory is what Leeward must know of a binding after a restart, and Karmada's API has no field for: the annotation leeward.dev/state. Its
// size is that of the histories of Leeward's own status, which are bounded.
type memory struct {
	Tasks    map[string]*taskMemory `json:"tasks,omitempty"`
	ReturnAt *metav1.MicroTime      `json:"returnAt,omitempty"`
	Home     []api.PreferredShare   `json:"home,omitempty"`
	// Shrinking, FailoverHistory and UnhealthySince are those of the status; the last one for each cluster whose copy is not healthy.
	Shrinking       *api.Shrinking              `json:"shrinking,omitempty"`
	FailoverHistory []api.FailoverRecord        `json:"failoverHistory,omitempty"`
	UnhealthySince  map[string]metav1.MicroTime `json:"unhealthySince,omitempty"`
	// Scheduled is what the status is to say of the target clusters: it is written after them.
	Scheduled *scheduled `json:"scheduled,omitempty"`
}

// scheduled is when a binding was placed, and in which affinity group.
type scheduled struct {
	At       metav1.MicroTime `json:"at"`
	Affinity string           `json:"affinity,omitempty"`
}

// taskMemory is that of one graceful eviction task.
type taskMemory struct {
	Handover     api.Handover        `json:"handover,omitempty"`
	ReplacedBy   []api.TargetCluster `json:"replacedBy,omitempty"`
	FromAffinity string              `json:"fromAffinity,omitempty"`
	// At is when it was created, to the fraction of a second that its own field lacks.
	At *metav1.MicroTime `json:"at,omitempty"`
}

// memoryOf is the annotation of a binding, with when it was placed or without; empty: there is nothing to know.
func memoryOf(b *store.Binding, placed bool) string {
	s := memory{ReturnAt: b.Status.ReturnAt, Home: b.Status.Home, Shrinking: b.Status.Shrinking, FailoverHistory: b.Status.FailoverHistory}
	for i := range b.Spec.GracefulEvictionTasks {
		k := &b.Spec.GracefulEvictionTasks[i]
		t := &taskMemory{Handover: k.Handover, ReplacedBy: k.ReplacedBy, FromAffinity: k.FromAffinity}
		if at := k.CreationTimestamp; !at.IsZero() && !at.Truncate(time.Second).Equal(at.Time) {
			t.At = &metav1.MicroTime{Time: at.UTC()}
		}
		if t.Handover == "" && len(t.ReplacedBy) == 0 && t.FromAffinity == "" && t.At == nil {
			continue
		}
		if s.Tasks == nil {
			s.Tasks = map[string]*taskMemory{}
		}
		s.Tasks[k.FromCluster] = t
	}
	if f := b.Spec.Failover; f != nil && f.Application != nil { // nothing else counts from then
		for i := range b.Status.AggregatedStatus {
			item := &b.Status.AggregatedStatus[i]
			if item.UnhealthySince == nil {
				continue
			}
			if s.UnhealthySince == nil {
				s.UnhealthySince = map[string]metav1.MicroTime{}
			}
			s.UnhealthySince[item.ClusterName] = *item.UnhealthySince
		}
	}
	if at := b.Status.LastScheduledTime; placed && !at.IsZero() {
		s.Scheduled = &scheduled{metav1.MicroTime{Time: at.UTC()}, b.Status.SchedulerObservedAffinityName}
	}
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // it is made of strings, numbers and times
	}
	if string(text) == "{}" {
		return ""
	}
	return string(text)
}

// remember gives a binding that is taken over what its annotation says. One that cannot be read is as good as none.
func remember(b *store.Binding) error {
	text := b.Meta.Annotations[api.AnnotationState]
	if text == "" {
		return nil
	}
	var s memory
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return err
	}
	b.Status.FailoverHistory = s.FailoverHistory
	if s.placed(b) {
		b.Status.ReturnAt, b.Status.Home, b.Status.Shrinking = s.ReturnAt, s.Home, s.Shrinking
	}
	all := make([]api.GracefulEvictionTask, len(b.Spec.GracefulEvictionTasks))
	copy(all, b.Spec.GracefulEvictionTasks)
	for i := range all {
		t := s.Tasks[all[i].FromCluster]
		if t == nil {
			continue
		}
		all[i].Handover, all[i].ReplacedBy, all[i].FromAffinity = t.Handover, t.ReplacedBy, t.FromAffinity
		if at := all[i].CreationTimestamp; t.At != nil && !at.IsZero() && t.At.Truncate(time.Second).Equal(at.Time) {
			all[i].CreationTimestamp = &metav1.Time{Time: t.At.Time}
		}
	}
	if len(all) > 0 {
		b.Spec.GracefulEvictionTasks = all
	}
	items := make([]api.AggregatedStatusItem, len(b.Status.AggregatedStatus))
	copy(items, b.Status.AggregatedStatus)
	for i := range items {
		if since, is := s.UnhealthySince[items[i].ClusterName]; is && items[i].Health != api.Healthy {
			items[i].UnhealthySince = &since
		}
	}
	if len(items) > 0 {
		b.Status.AggregatedStatus = items
	}
	return nil
}

// placed tells a binding when it was placed, as far as its status does not say that: it is written after the target clusters. It reports
// whether no other scheduler has placed it since.
func (s *memory) placed(b *store.Binding) bool {
	if s.Scheduled == nil {
		return false
	}
	at, said := &metav1.Time{Time: s.Scheduled.At.Time}, wholeSeconds(b.Status.LastScheduledTime)
	whole := wholeSeconds(at)
	switch {
	case said != nil && said.After(whole.Time):
		return false
	case said == nil || whole.After(said.Time):
		b.Status.SchedulerObservedAffinityName = s.Scheduled.Affinity
		b.Status.Conditions = slices.Clone(b.Status.Conditions)
		meta.SetStatusCondition(&b.Status.Conditions, metav1.Condition{
			Type: api.ConditionScheduled, Status: metav1.ConditionTrue, Reason: api.ReasonSuccess, Message: store.PlacedOn(b.Spec.Clusters), LastTransitionTime: *at,
		})
	}
	b.Status.LastScheduledTime = at
	return true
}

// mostAlike is how many different placements are known at the same time. Beyond those all are forgotten.
const mostAlike = 10_000

// alike has bindings of one policy share their placement, and the text of the annotation that says which was applied: in a large fleet those
// would be a tenth of the memory.
type alike struct {
	mu sync.Mutex
	of map[string]applied
}

// applied is a placement with the text that says that it was applied, which it is known by.
type applied struct {
	text      string
	placement *api.Placement
}

// share has a binding that was decoded just now share what another one has. It changes nothing that can be read of it.
func (a *alike) share(b *store.Binding) {
	text := b.Meta.Annotations[api.AnnotationAppliedPlacement]
	if text == "" || b.Spec.Placement == nil {
		return
	}
	if r := b.Spec.Placement.ReplicaScheduling; r != nil && r.ReplicaSchedulingType == "" {
		return // machines complete it in its place
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	known, is := a.of[text]
	if !is {
		if len(a.of) >= mostAlike || a.of == nil {
			a.of = map[string]applied{}
		}
		known = applied{strings.Clone(text), b.Spec.Placement}
		a.of[known.text] = known
	}
	b.Meta.Annotations[api.AnnotationAppliedPlacement] = known.text
	if equality.Semantic.DeepEqual(known.placement, b.Spec.Placement) {
		b.Spec.Placement = known.placement
	}
}

// sharedPlacements are those of all bindings that are read.
var sharedPlacements alike
