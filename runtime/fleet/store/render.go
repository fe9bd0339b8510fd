package store

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"leeward/messages/api"
)

// show returns the snapshot of an object's present version. What only readers need is written here
// and not when facts are applied: resourceVersion, the uid of a binding, the applied placement and the copies' raw status.
func (s *Store) show(e *entry) api.Object {
	if e.object == nil {
		return e.row.Object()
	}
	if e.shownAt != e.version {
		e.shown, e.shownAt = s.snapshot(e), e.version
	}
	return e.shown
}

// Snapshot returns what Get does, and keeps nothing of it: of a cluster, a binding, a taint policy or a quota it is
// the caller's own, as far as it goes.
func (s *Store) Snapshot(key api.Key) api.Object {
	switch e := s.find(key); {
	case e == nil:
		return nil
	case e.object == nil:
		return e.row.Object()
	default:
		return s.snapshot(e)
	}
}

func (s *Store) snapshot(e *entry) api.Object {
	o := e.object
	switch o.(type) { // all else is changed by Put alone
	case *api.Cluster, *api.ClusterTaintPolicy, *api.FederatedResourceQuota, *api.EvictionBudget, *api.ClusterEvictionBudget:
		o = api.Shallow(o)
	case *api.ResourceBinding, *api.ClusterResourceBinding:
		s.annotate(e.binding)
		o = api.Shallow(o)
		shown := AsBinding(o)
		shown.Meta.UID = cmp.Or(shown.Meta.UID, s.UID(api.KeyOf(o)))
		shown.Status.AggregatedStatus = s.rawStatuses(e.binding)
	}
	o.SetResourceVersion(strconv.FormatUint(e.version, 10))
	return o
}

// annotate makes the annotation show the placement last applied.
func (s *Store) annotate(b *Binding) {
	if b.Applied == b.annotated {
		return
	}
	annotations := maps.Clone(b.Meta.Annotations)
	if annotations == nil {
		annotations = map[string]string{}
	}
	delete(annotations, api.AnnotationAppliedPlacement)
	if b.Applied != nil {
		annotations[api.AnnotationAppliedPlacement] = s.placements.text(b.Applied)
	}
	b.Meta.Annotations, b.annotated = annotations, b.Applied
}

// replicaCounts is what a workload's own status says of its replicas.
type replicaCounts struct {
	Available int32 `json:"availableReplicas"`
	Ready     int32 `json:"readyReplicas"`
	Replicas  int32 `json:"replicas"`
	Updated   int32 `json:"updatedReplicas"`
}

// rawStatuses returns the items with the status that a workload with replicas would have: fields that
// a manifest gave stay, the counts follow what is known of the copy.
func (s *Store) rawStatuses(b *Binding) []api.AggregatedStatusItem {
	if b.Spec.Replicas == 0 && b.Spec.ReplicaRequirements == nil {
		return b.Status.AggregatedStatus
	}
	items := slices.Clone(b.Status.AggregatedStatus)
	for i := range items {
		item, ready := &items[i], items[i].ReadyReplicas
		counts := s.rawCounts(replicaCounts{
			Available: ready,
			Ready:     ready,
			Replicas:  max(ready, b.share(item.ClusterName)),
			Updated:   ready,
		})
		if said := s.beside(item.Status); said == nil {
			item.Status = counts
		} else {
			item.Status = &runtime.RawExtension{Raw: overlay(said.Raw, counts.Raw)}
		}
	}
	return items
}

// Said returns the items of a binding's status with what copies said of themselves, without the counts that are shown
// beside it.
func (s *Store) Said(b *Binding) []api.AggregatedStatusItem {
	if b.Spec.Replicas == 0 && b.Spec.ReplicaRequirements == nil {
		return b.Status.AggregatedStatus
	}
	items := slices.Clone(b.Status.AggregatedStatus)
	for i := range items {
		items[i].Status = s.beside(items[i].Status)
	}
	return items
}

// mostSaid bounds what is remembered of statuses.
const mostSaid = 4096

// beside returns a raw status without counts; nil where there is nothing else. Most copies say the same.
func (s *Store) beside(raw *runtime.RawExtension) *runtime.RawExtension {
	if raw == nil {
		return nil
	}
	rest, known := s.said[string(raw.Raw)]
	if !known {
		rest = withoutCounts(raw)
		if len(s.said) == mostSaid {
			clear(s.said)
		}
		s.said[string(raw.Raw)] = rest
	}
	return rest
}

func withoutCounts(raw *runtime.RawExtension) *runtime.RawExtension {
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(raw.Raw, &fields) != nil {
		return raw
	}
	for _, counted := range [...]string{"availableReplicas", "readyReplicas", "replicas", "updatedReplicas"} {
		delete(fields, counted)
	}
	if len(fields) == 0 {
		return nil
	}
	return &runtime.RawExtension{Raw: marshal(fields)}
}

// rawCounts writes counts as a status, once.
func (s *Store) rawCounts(c replicaCounts) *runtime.RawExtension {
	raw, known := s.statuses[c]
	if !known {
		raw = &runtime.RawExtension{Raw: marshal(c)}
		s.statuses[c] = raw
	}
	return raw
}

// overlay returns the fields of under with those of over in their place.
func overlay(under, over []byte) []byte {
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(under, &fields) != nil || json.Unmarshal(over, &fields) != nil {
		return over
	}
	return marshal(fields)
}

// uncounted reports whether copies of a manifest say only in their raw statuses how many replicas serve.
func (b *Binding) uncounted() bool {
	return slices.ContainsFunc(b.Status.AggregatedStatus, func(i api.AggregatedStatusItem) bool { return ReadyReplicas(&i) > i.ReadyReplicas })
}

// withReadyReplicas returns the items of a manifest with Leeward's own count taken from the raw
// status, where the manifest was written by a control plane that knows only that.
func withReadyReplicas(items []api.AggregatedStatusItem) []api.AggregatedStatusItem {
	items = slices.Clone(items)
	for i := range items {
		items[i].ReadyReplicas = ReadyReplicas(&items[i])
	}
	return items
}

// ReadyReplicas is how many replicas of a copy serve: Leeward's own count, or what the raw status says where there is none.
func ReadyReplicas(i *api.AggregatedStatusItem) int32 {
	var counts replicaCounts
	if i.ReadyReplicas != 0 || i.Status == nil || json.Unmarshal(i.Status.Raw, &counts) != nil {
		return i.ReadyReplicas
	}
	return counts.Ready
}

// Counts returns how many replicas the copies of a binding are known to have, and how many of them serve: the sums of
// what their raw statuses say.
func (b *Binding) Counts() (replicas, ready int32) {
	for i := range b.Status.AggregatedStatus {
		item := &b.Status.AggregatedStatus[i]
		replicas += max(item.ReadyReplicas, b.share(item.ClusterName))
		ready += item.ReadyReplicas
	}
	return replicas, ready
}

// share returns how many replicas a cluster is to run, or still runs while they leave it.
func (b *Binding) share(cluster string) int32 {
	for _, c := range b.Spec.Clusters {
		if c.Name == cluster {
			return c.Replicas
		}
	}
	if t := b.Spec.TaskFrom(cluster); t != nil {
		return ptr.Deref(t.Replicas, 0)
	}
	return 0
}

// marshal writes values that have no way to fail.
func marshal(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("store: write %T as JSON: %v", v, err))
	}
	return text
}
