package karmada

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

// Field is one that Leeward writes of a binding that it acts on.
type Field struct {
	// Path is where it is, as a JSON Pointer; Was names who writes it where Leeward does not act.
	Path, Was string
}

// Fields are all that Leeward writes, of ResourceBindings and ClusterResourceBindings alike. All else of an object is others', and of a list
// that is named here Leeward touches the items that it decided on: what it does not know survives.
var Fields = []Field{
	{"/spec/clusters", "karmada-scheduler; taint manager and application failover take clusters off"},
	{"/spec/gracefulEvictionTasks", "taint manager, application failover; graceful eviction ends tasks and sets their creationTimestamp"},
	{"/metadata/annotations/policy.karmada.io~1applied-placement", "karmada-scheduler"},
	{"/metadata/annotations/leeward.dev~1state", "no controller: it has what Leeward must know after a restart, and Karmada's API has no field for"},
	{"/status/schedulerObservedGeneration", "karmada-scheduler"},
	{"/status/schedulerObservingAffinityName", "karmada-scheduler"},
	{"/status/lastScheduledTime", "karmada-scheduler"},
	{"/status/conditions", "karmada-scheduler: the condition Scheduled alone"},
}

// op is one operation of a JSON Patch. Source: RFC 6902.
type op struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

func set(path string, value any) op { return op{"add", path, value} } // add replaces a member that is there
func unset(path string) op          { return op{Op: "remove", Path: path} }

// edit is what must be written of a binding, of the object first: its status tells of that. Both name the version that they change.
type edit struct {
	object []op
	status map[string]any
	// decides is set where the change is a decision, and not only what is said of one.
	decides bool
}

// none reports whether there is nothing to write.
func (c *edit) none() bool { return len(c.object) == 0 && len(c.status) == 0 }

// editOf is what makes a binding of the server what the machines decided. Both stay as they are.
func editOf(ours, theirs *store.Binding) *edit {
	c := &edit{}
	c.object = append(c.object, clusterOps(theirs.Spec.Clusters, ours.Spec.Clusters)...)
	c.object = append(c.object, tasks.ops(theirs.Spec.GracefulEvictionTasks, ours.Spec.GracefulEvictionTasks)...)
	c.decides = len(c.object) > 0
	c.object = append(c.object, annotationOps(theirs, ours, c.decides)...)
	if !c.decides {
		c.status = statusChange(theirs, ours)
	}
	return c
}

const (
	clustersPath = "/spec/clusters"
	tasksPath    = "/spec/gracefulEvictionTasks"
)

// list says how the items of a list are told apart, and compared.
type list[T any] struct {
	path string
	name func(*T) string
	// edits are what makes an item, at a path, another of its name.
	edits func(path string, theirs, ours *T) []op
	wire  func(*T) any
}

// ops make a list of the server ours. Its order stays, and what is new comes last.
func (l *list[T]) ops(theirs, ours []T) (ops []op) {
	find := func(among []T, name string) int {
		return slices.IndexFunc(among, func(o T) bool { return l.name(&o) == name })
	}
	wires := make([]any, len(ours))
	for i := range ours {
		wires[i] = l.wire(&ours[i])
	}
	switch {
	case len(ours) == 0 && len(theirs) == 0:
		return nil
	case len(ours) == 0:
		return []op{unset(l.path)}
	case len(theirs) == 0:
		return []op{set(l.path, wires)}
	}
	var kept []T
	for i := range theirs {
		if find(ours, l.name(&theirs[i])) >= 0 {
			kept = append(kept, theirs[i])
		}
	}
	if len(kept) == 0 {
		return []op{set(l.path, wires)}
	}
	for i := len(theirs) - 1; i >= 0; i-- {
		if find(ours, l.name(&theirs[i])) < 0 {
			ops = append(ops, unset(fmt.Sprintf("%s/%d", l.path, i)))
		}
	}
	for i := range kept {
		ops = append(ops, l.edits(fmt.Sprintf("%s/%d", l.path, i), &kept[i], &ours[find(ours, l.name(&kept[i]))])...)
	}
	for i := range ours {
		if find(kept, l.name(&ours[i])) < 0 {
			ops = append(ops, set(l.path+"/-", wires[i]))
		}
	}
	return ops
}

var targets = list[api.TargetCluster]{
	path: clustersPath, name: func(t *api.TargetCluster) string { return t.Name }, wire: func(t *api.TargetCluster) any { return t },
	edits: func(path string, theirs, ours *api.TargetCluster) (ops []op) {
		switch {
		case theirs.Replicas == ours.Replicas:
		case ours.Replicas == 0:
			ops = append(ops, unset(path+"/replicas"))
		default:
			ops = append(ops, set(path+"/replicas", ours.Replicas))
		}
		switch {
		case theirs.Components.Equal(ours.Components):
		case ours.Components.IsZero():
			ops = append(ops, unset(path+"/components"))
		default:
			ops = append(ops, set(path+"/components", ours.Components))
		}
		return ops
	},
}

func clusterOps(theirs, ours []api.TargetCluster) []op { return targets.ops(theirs, ours) }

var tasks = list[api.GracefulEvictionTask]{
	path: tasksPath, name: func(k *api.GracefulEvictionTask) string { return k.FromCluster },
	wire: func(k *api.GracefulEvictionTask) any { return wireTask(k) },
	edits: func(path string, theirs, ours *api.GracefulEvictionTask) (ops []op) { // of a task that is there, nothing else is decided
		if ours.Replicas != nil && !equality.Semantic.DeepEqual(theirs.Replicas, ours.Replicas) {
			ops = append(ops, set(path+"/replicas", *ours.Replicas))
		}
		if theirs.CreationTimestamp.IsZero() && !ours.CreationTimestamp.IsZero() {
			ops = append(ops, set(path+"/creationTimestamp", wholeSeconds(ours.CreationTimestamp)))
		}
		return ops
	},
}

// wireTask is a task as Karmada's API has it: what is Leeward's own is in the annotation.
func wireTask(k *api.GracefulEvictionTask) *api.GracefulEvictionTask {
	wire := *k
	wire.Handover, wire.ReplacedBy, wire.FromAffinity = "", nil, ""
	wire.CreationTimestamp = wholeSeconds(k.CreationTimestamp)
	return &wire
}

// wholeSeconds is a time as an API server keeps it.
func wholeSeconds(t *metav1.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return &metav1.Time{Time: t.UTC().Truncate(time.Second)}
}

// annotationOps write the placement that was applied, and what must be remembered. One that reads otherwise and says the same stays as it is.
func annotationOps(theirs, ours *store.Binding, decides bool) []op {
	next := map[string]string{}
	if text := ours.Meta.Annotations[api.AnnotationAppliedPlacement]; text != "" && !samePlacement(text, theirs.Meta.Annotations[api.AnnotationAppliedPlacement]) {
		next[api.AnnotationAppliedPlacement] = text
	}
	memory, was := memoryOf(ours, true), theirs.Meta.Annotations[api.AnnotationState]
	if memory != was && (decides || len(next) > 0 || was != memoryOf(ours, false)) {
		next[api.AnnotationState] = memory
	}
	if len(next) == 0 {
		return nil
	}
	if len(theirs.Meta.Annotations) == 0 {
		return []op{set("/metadata/annotations", next)}
	}
	var ops []op
	for _, key := range []string{api.AnnotationAppliedPlacement, api.AnnotationState} {
		path := "/metadata/annotations/" + strings.ReplaceAll(key, "/", "~1")
		switch text, is := next[key]; {
		case is && text == "":
			ops = append(ops, unset(path))
		case is:
			ops = append(ops, set(path, text))
		}
	}
	return ops
}

func samePlacement(ours, theirs string) bool {
	if ours == theirs {
		return true
	}
	var a, b api.Placement
	return json.Unmarshal([]byte(ours), &a) == nil && json.Unmarshal([]byte(theirs), &b) == nil && equality.Semantic.DeepEqual(a, b)
}

// statusChange is what must be said of a binding whose object is as the machines have it.
func statusChange(theirs, ours *store.Binding) map[string]any {
	said, is := theirs.Status, ours.Status
	change := map[string]any{}
	if settled := is.SchedulerObservedGeneration == ours.Meta.Generation; settled && said.SchedulerObservedGeneration != theirs.Meta.Generation {
		change["schedulerObservedGeneration"] = theirs.Meta.Generation
	}
	if is.SchedulerObservedAffinityName != said.SchedulerObservedAffinityName {
		change["schedulerObservingAffinityName"] = is.SchedulerObservedAffinityName
	}
	if at := wholeSeconds(is.LastScheduledTime); at != nil && !at.Equal(wholeSeconds(said.LastScheduledTime)) {
		change["lastScheduledTime"] = at
	}
	if c := meta.FindStatusCondition(is.Conditions, api.ConditionScheduled); c != nil {
		all := slices.Clone(said.Conditions)
		next := metav1.Condition{Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message, LastTransitionTime: *wholeSeconds(&c.LastTransitionTime)}
		if was := meta.FindStatusCondition(all, c.Type); was == nil || was.Status != c.Status || was.Reason != c.Reason || was.Message != c.Message {
			if was != nil && was.Status == c.Status {
				next.LastTransitionTime = was.LastTransitionTime
			}
			all = slices.DeleteFunc(all, func(o metav1.Condition) bool { return o.Type == c.Type })
			change["conditions"] = append(all, next)
		}
	}
	return change
}

// body is the patch that makes the first part of the change, at a version, and whether it is that of the status.
func (c *edit) body(version string) (data []byte, status bool, err error) {
	if len(c.object) > 0 {
		data, err = json.Marshal(append([]op{{"replace", "/metadata/resourceVersion", version}}, c.object...))
		return data, false, err
	}
	data, err = json.Marshal(map[string]any{"metadata": map[string]any{"resourceVersion": version}, "status": c.status})
	return data, true, err
}

// sameDecision reports whether two versions of a binding have the same target clusters and the same tasks, as Karmada's API has them.
func sameDecision(a, b *api.BindingSpec) bool {
	return len(clusterOps(a.Clusters, b.Clusters)) == 0 && slices.EqualFunc(a.GracefulEvictionTasks, b.GracefulEvictionTasks, func(x, y api.GracefulEvictionTask) bool {
		return equality.Semantic.DeepEqual(wireTask(&x), wireTask(&y))
	})
}
