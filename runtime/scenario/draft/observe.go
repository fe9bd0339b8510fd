package draft

import (
	"cmp"
	"maps"
	"slices"
	"time"

	yaml "go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/span"
	"leeward/runtime/fleet/store"
	"leeward/runtime/scenario/replay"
)

const (
	// mostWorkloads is how many of a scenario have expectations, the most affected first.
	mostWorkloads = 10
	// mostClusters is of how many clusters an expectation names the replicas.
	mostClusters = 8
)

// observed is what an outage does.
type observed struct {
	workloads []*workload
	// end is when nothing more happened for some minutes.
	end time.Duration
}

// workload follows one workload.
type workload struct {
	name      messages.BindingName
	affected  bool
	evictions []eviction
	// available replicas: now, before the outage, and at the least after it began.
	available, before, lowest int32
	stored                    *store.Binding
}

type eviction struct {
	from  messages.ClusterName
	after time.Duration
}

// observe reads off a run what happened to workloads after the outage began.
func observe(run *replay.Run) *observed {
	all := workloads{}
	struck := run.Start.Add(outageAt)
	last, began := struck, false
	for i := range run.Events {
		e := &run.Events[i]
		if !began && !e.At.Before(struck) {
			began = true
			for _, w := range all { // order-free: each by itself
				w.before, w.lowest = w.available, w.available
			}
		}
		if all.take(e.Fact, e.At.Sub(struck), began) && began {
			last = e.At
		}
		if began && (i+1 == len(run.Events) || run.Events[i+1].At.After(e.At)) {
			for _, w := range all { // order-free: each by itself
				w.lowest = min(w.lowest, w.available)
			}
		}
	}
	for _, o := range run.Objects {
		if b := store.AsBinding(o); b != nil && all[b.Name()] != nil {
			all[b.Name()].stored = b
		}
	}
	seen := &observed{end: outageAt + roundUp(last.Sub(struck)+5*time.Minute, 5*time.Minute)}
	for _, w := range all { // sorted below
		if w.affected && w.stored != nil {
			seen.workloads = append(seen.workloads, w)
		}
	}
	slices.SortFunc(seen.workloads, func(a, b *workload) int {
		return cmp.Or(cmp.Compare(b.before-b.available, a.before-a.available), cmp.Compare(b.before-b.lowest, a.before-a.lowest), cmp.Compare(a.name, b.name))
	})
	return seen
}

// workloads are those that facts are about.
type workloads map[messages.BindingName]*workload

func (all workloads) of(name messages.BindingName) *workload {
	if all[name] == nil {
		all[name] = &workload{name: name}
	}
	return all[name]
}

// take follows a fact, and reports whether it changes where a workload runs or serves.
func (all workloads) take(fact messages.Fact, after time.Duration, began bool) bool {
	switch f := fact.(type) {
	case *messages.AvailabilityChanged:
		w := all.of(f.Binding)
		w.available += f.Available - f.Before
		w.affected = w.affected || began && f.Outage != ""
	case *messages.EvictionStarted:
		w := all.of(f.Binding)
		w.affected = w.affected || began
		if began && !slices.ContainsFunc(w.evictions, func(e eviction) bool { return e.from == f.Cluster }) {
			w.evictions = append(w.evictions, eviction{f.Cluster, after})
		}
	case *messages.EvictionEnded, *messages.Scheduled:
	default:
		return false
	}
	return true
}

func roundUp(d, to time.Duration) time.Duration { return (d + to - 1) / to * to }

func brief(d time.Duration) string { return span.String(d) }

// expectations are what holds of the workloads that are affected most.
func (s *observed) expectations() (all []*yaml.Node) {
	for _, w := range s.workloads[:min(len(s.workloads), mostWorkloads)] {
		all = append(all, w.expectations(s.end)...)
	}
	return all
}

func (w *workload) expectations(end time.Duration) (all []*yaml.Node) {
	name := string(w.name)
	for i, e := range w.evictions {
		if i == mostClusters {
			break
		}
		within := flow(fields("after", brief(outageAt), "for", brief(roundUp(max(e.after, 1), time.Minute))))
		event := flow(fields("kind", "EvictionStarted", "binding", name, "cluster", string(e.from)))
		all = append(all, flow(fields("within", within, "event", event)))
	}
	if len(w.evictions) == 0 {
		event := flow(fields("kind", "EvictionStarted", "binding", name))
		all = append(all, flow(fields("never", true, "from", brief(outageAt), "event", event)))
	}
	if w.lowest > 0 {
		least := flow(fields("name", name, "available", flow(fields("min", w.lowest))))
		all = append(all, flow(fields("always", true, "from", brief(outageAt-time.Minute), "binding", least)))
	}
	placed := fields("name", name)
	if targets := w.stored.Spec.Clusters; len(targets) > 0 && len(targets) <= mostClusters {
		add(placed, "clusters", clusters(targets))
	} else {
		add(placed, "clusterCount", len(targets))
	}
	at := func(binding *yaml.Node) *yaml.Node {
		return flow(fields("at", brief(end), "binding", flow(binding)))
	}
	all = append(all, at(placed), at(fields("name", name, "available", w.available)))
	if c := meta.FindStatusCondition(w.stored.Status.Conditions, api.ConditionScheduled); c != nil && c.Status == metav1.ConditionFalse {
		all = append(all, at(fields("name", name, "scheduled", c.Reason)))
	}
	return all
}

// clusters are those of a placement, with their replicas where it has any.
func clusters(targets []api.TargetCluster) *yaml.Node {
	replicas := map[string]int32{}
	sum := int32(0)
	for _, t := range targets {
		replicas[t.Name], sum = t.Replicas, sum+t.Replicas
	}
	if sum == 0 {
		return flow(value(slices.Sorted(maps.Keys(replicas))))
	}
	all := fields()
	for _, name := range slices.Sorted(maps.Keys(replicas)) {
		add(all, name, replicas[name])
	}
	return flow(all)
}
