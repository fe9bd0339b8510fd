package live

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/observed"
	"leeward/runtime/fleet/store"
)

// problems are what is otherwise in the store than machines wish, or than it must be.
func (w *writers) problems() (found []string) {
	complain := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	same := func(what string, ours, stored any) {
		if !equality.Semantic.DeepEqual(ours, stored) {
			complain("%s: machines have %+v, the store has %+v", what, ours, stored)
		}
	}
	wished := w.world.Store()
	for _, c := range all[*api.Cluster](w.fixture, catalog.Clusters) {
		ours := wished.Cluster(messages.ClusterName(c.Name))
		if ours == nil {
			complain("cluster %s is stored, and machines have none", c.Name)
			continue
		}
		if c.DeletionTimestamp != nil && !w.runsAnything(c.Name) {
			complain("cluster %s is being deleted, and nothing is left on it", c.Name)
		}
		same(c.Name+" taints", ours.Spec.Taints, c.Spec.Taints)
		same(c.Name+" conditions", ours.Status.Conditions, c.Status.Conditions)
		same(c.Name+" labels", ours.Labels, c.Labels)
	}
	for _, o := range wished.List("Cluster") {
		if get(w.fixture, o.(*api.Cluster)) == nil {
			complain("machines have cluster %s, and none is stored", o.GetName())
		}
	}
	bindings, wanted := map[messages.BindingName]*api.ResourceBinding{}, map[string]*int32{}
	for _, b := range all[*api.ResourceBinding](w.fixture, catalog.Bindings) {
		name := messages.NameBinding(b.Namespace, b.Name)
		bindings[name] = b
		ours, there := wished.Snapshot(store.BindingKey(name)).(*api.ResourceBinding)
		if !there {
			complain("binding %s is stored, and machines have none", name)
			continue
		}
		same(string(name)+" spec", ours.Spec, b.Spec)
		same(string(name)+" status", ours.Status, b.Status)
		for i := range b.Spec.Clusters {
			t := &b.Spec.Clusters[i]
			wanted[workKey(messages.ClusterName(t.Name), name)] = &t.Replicas
		}
		for _, k := range b.Spec.GracefulEvictionTasks {
			wanted[workKey(messages.ClusterName(k.FromCluster), name)] = nil
		}
	}
	wished.EachBinding(func(b *store.Binding) {
		if bindings[b.Name()] == nil {
			complain("machines have binding %s, and none is stored", b.Name())
		}
	})
	templates := map[messages.BindingName]*appsv1.Deployment{}
	for _, d := range all[*appsv1.Deployment](w.fixture, catalog.Of(api.Key{APIVersion: "apps/v1", Kind: "Deployment"})) {
		name := messages.NameBinding(d.Namespace, d.Name+"-deployment")
		templates[name] = d
		if bindings[name] == nil {
			if p := w.claiming(d.Namespace); get(w.fixture, p) != nil {
				complain("deployment %s/%s has no binding", d.Namespace, d.Name)
			}
			continue
		}
		if d.Status.ObservedGeneration != d.Generation {
			complain("deployment %s/%s: generation %d, observed %d", d.Namespace, d.Name, d.Generation, d.Status.ObservedGeneration)
		}
	}
	for name := range bindings {
		if templates[name] == nil {
			complain("binding %s has no workload", name)
		}
	}
	for _, is := range all[*api.Work](w.fixture, catalog.Works) {
		_, key := w.table(is)
		cluster, name, ours := observed.Copy(is)
		replicas, runs := wanted[key]
		delete(wanted, key)
		switch {
		case !ours || workKey(cluster, name) != key:
			complain("work %s is that of %s on %s", key, name, cluster)
			continue
		case !runs:
			complain("work %s is of no copy", key)
			continue
		case is.DeletionTimestamp != nil:
			complain("work %s is being deleted", key)
		}
		if d := templates[name]; d != nil && replicas != nil { // what is evicted keeps the template that it has
			m := manifest{replicas: *replicas, scales: true}
			raw, err := m.render(w.world, d)
			require.NoError(w.t, err)
			if !asksFor(is, raw) {
				complain("work %s asks for %s, and not for %s", key, is.Spec.Workload.Manifests, raw)
			}
		}
	}
	for key := range wanted {
		complain("work %s is missing", key)
	}
	slices.Sort(found)
	return found
}

// runsAnything reports whether a cluster still has a copy, or must have one.
func (w *writers) runsAnything(cluster string) bool {
	runs := func(b *api.ResourceBinding) bool { return api.FindTarget(b.Spec.Clusters, cluster) >= 0 }
	for range w.worksOn(messages.ClusterName(cluster)) {
		return true
	}
	return slices.ContainsFunc(all[*api.ResourceBinding](w.fixture, catalog.Bindings), runs)
}

// misreported are the evictions of which Events, or the record, tell more often than a fleet said so, and those that are in no record.
func (w *writers) misreported() (found []string) {
	events, recorded := maps.Clone(w.evictions), maps.Clone(w.evictions)
	told := func(left map[string]int, where, what string) {
		if left[what]--; left[what] == -1 {
			found = append(found, what+" is told again "+where)
		}
	}
	for _, d := range w.record.told {
		if what := sayEviction(d.At, d.Fact); what != "" {
			told(recorded, "in the record", what)
		}
	}
	for _, e := range all[*corev1.Event](w.fixture, catalog.Events) {
		_, what, _ := strings.Cut(e.Message, " evicting from ")
		from, _, _ := strings.Cut(what, ":")
		if e.InvolvedObject.Kind == "ResourceBinding" && e.Reason == kindStarted && from != "" {
			name := messages.NameBinding(e.InvolvedObject.Namespace, e.InvolvedObject.Name)
			told(events, "by Events", sayEviction(e.FirstTimestamp.Time, &messages.EvictionStarted{Binding: name, Cluster: messages.ClusterName(from)}))
		}
	}
	w.world.Store().EachBinding(func(b *store.Binding) {
		for i := range b.Status.FailoverHistory {
			h := &b.Status.FailoverHistory[i]
			if !w.record.recorded(kindStarted, b.Name(), messages.ClusterName(h.FromCluster), h.StartTime.Time) {
				found = append(found, fmt.Sprintf("eviction of %s from %s at %s is in no record", b.Name(), h.FromCluster, h.StartTime))
			}
		}
	})
	return found
}

// sayEviction tells of the beginning of an eviction, or of its end, and when that was; empty: it is another fact.
func sayEviction(at time.Time, f messages.Fact) string {
	if ofEviction(f) {
		return fmt.Sprintf("%s of %s from %s at %s", f.Kind(), f.(messages.AboutBinding).AboutBinding(), f.(messages.AboutCluster).AboutCluster(), at.UTC().Format(time.TimeOnly))
	}
	return ""
}
