package world

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/store"
)

// TellCluster sends to a cluster: what its agent reports, or what people do with it.
func (w *World) TellCluster(name messages.ClusterName, m messages.ToCluster) {
	w.kernel.Post(clusterAt(name), m)
}

// TellMember sends to a simulated member.
func (w *World) TellMember(name messages.ClusterName, m messages.ToMember) {
	w.kernel.Post(memberAt(name), m)
}

// TellAgent sends to the machine that represents the agent of a real cluster.
func (w *World) TellAgent(name messages.ClusterName, m messages.ToAgent) {
	w.kernel.Post(memberAt(name), m)
}

// Unread reports whether machines were told something that the next instant has them act on.
func (w *World) Unread() bool { return w.kernel.Counters().Queued > 0 }

// Delete removes an object as people would, and tells whom that concerns. It reports false if there is
// no such object.
func (w *World) Delete(key api.Key) bool {
	if w.deleteOfNodes(key) {
		return true
	}
	if !w.store.Has(key) {
		return false
	}
	w.Note(&messages.ObjectDeleted{Object: key.String()})
	switch {
	case key.Kind == "Cluster":
		w.TellCluster(messages.ClusterName(key.Name), &messages.ClusterDeleted{})
		return true // its object goes when the last binding has left it
	case key.Kind == "ClusterTaintPolicy":
		w.dropTaintPolicy(messages.PolicyName(key.Name))
	case key.Kind == "PropagationPolicy", key.Kind == "ClusterPropagationPolicy":
		w.dropPropagation(messages.NamePropagation(key.Namespace, key.Name))
	case key.Kind == "FederatedResourceQuota":
		w.kernel.Post(schedulerAt, &messages.QuotaDeleted{Namespace: key.Namespace, Name: key.Name})
	case key == store.GovernorKey:
		w.noteHold(messages.HoldScope{}, nil)
	case key.Kind == "ResourceBinding", key.Kind == "ClusterResourceBinding":
		w.renewBinding(messages.NameBinding(key.Namespace, key.Name))
		return true // its object goes with it
	case isTemplate(key):
		name := bindingOf(key.Namespace, key.Kind, key.Name)
		delete(w.workloads, name)
		w.unfollow(name)
		w.dropBinding(name)
	}
	before := w.store.Get(key)
	w.store.Delete(key)
	w.noteSelected(key, nil, true)
	if c, is := before.(*api.ResourceInterpreterCustomization); is {
		w.interpret(nil, c)
	}
	if key.Kind == "EvictionBudget" || key.Kind == "ClusterEvictionBudget" {
		w.tellBudgets()
	}
	w.noteOverride(key)
	return true
}

func (w *World) dropTaintPolicy(name messages.PolicyName) {
	for _, c := range w.clusters() {
		w.kernel.Post(clusterAt(c), &messages.PolicyDropped{Name: name})
	}
	w.kernel.Stop(policyAt(name))
}

func (w *World) dropPropagation(name messages.PropagationName) {
	w.offers.drop(name)
	w.kernel.Post(propagationAt(name), &messages.PropagationDeleted{})
	w.kernel.Stop(propagationAt(name))
}

// renewBinding ends a binding, and has one made again where its resource is still there: what runs must not depend on
// whether the engine was started since.
func (w *World) renewBinding(name messages.BindingName) {
	template := w.store.Get(w.store.Binding(name).Spec.Resource.Key())
	w.dropBinding(name)
	if template != nil {
		w.AdmitWorkload(w.workload(template))
	}
}

// dropBinding ends a binding; that of a resource which no policy ever claimed has nothing to end.
func (w *World) dropBinding(name messages.BindingName) {
	if w.store.Binding(name) == nil {
		w.kernel.Stop(bindingAt(name))
		return
	}
	w.kernel.Post(bindingAt(name), &messages.WorkloadDeleted{})
	if w.kernel.Has(bindingAt(name)) {
		w.ending[name] = nil
	}
}

// bindingEnded takes what was applied in the place of a binding that has ended; else its actor ends, unless its resource was made
// again meanwhile.
func (w *World) bindingEnded(name messages.BindingName, resource api.Key) {
	next := w.ending[name]
	delete(w.ending, name)
	switch {
	case next != nil:
		w.admitBinding(next, nil, false)
	case !w.store.Has(resource):
		w.kernel.Stop(bindingAt(name))
	}
}

// Binding is a binding as the store has it, nil where there is none: one whose machine was told to end does not count, and ends is set;
// what people applied in its place does.
func (w *World) Binding(name messages.BindingName) (b *store.Binding, ends bool) {
	next, ends := w.ending[name]
	if ends {
		return store.AsBinding(next), true
	}
	return w.store.Binding(name), false
}

// standing is an object as the store has it, as Binding says.
func (w *World) standing(key api.Key) api.Object {
	if o := w.nodeObject(key); o != nil {
		return o
	}
	if key.Kind == "ResourceBinding" || key.Kind == "ClusterResourceBinding" {
		if next, ends := w.ending[messages.NameBinding(key.Namespace, key.Name)]; ends {
			return next
		}
	}
	return w.store.Get(key)
}

// Set changes settings for everyone from now on. With a problem nothing changes.
func (w *World) Set(overrides []config.Override) error {
	next := *w.settings
	for _, o := range overrides {
		if err := config.Set(&next, o.Field, o.Value); err != nil {
			return fmt.Errorf("%s: %w", o.Source, err)
		}
	}
	w.SetAll(next)
	return nil
}

// Settings are those that hold now. They are not to be changed.
func (w *World) Settings() *messages.Settings { return w.settings }

// SetAll has settings hold for everyone from now on in place of those before.
func (w *World) SetAll(s messages.Settings) {
	for _, change := range config.Changes(w.settings, &s) {
		w.Note(change)
	}
	m := &messages.SettingsChanged{Settings: s}
	w.settings = &m.Settings
	w.showSettings()
	clear(w.workloads) // what must be known of them depends on settings
	w.broadcast(m)
}

// showSettings has a daemon show what it runs with, for people, and for recordings of it.
func (w *World) showSettings() {
	if w.config.Agents {
		profile, differing := config.Describe(w.settings)
		w.store.RunsWith(w.now, profile, differing)
	}
}

func (w *World) broadcast(m *messages.SettingsChanged) {
	w.kernel.Post(schedulerAt, m)
	w.kernel.Post(governorAt, m)
	for _, o := range w.store.List("ClusterTaintPolicy") { // before the clusters, which ask them
		w.kernel.Post(policyAt(messages.PolicyName(o.GetName())), m)
	}
	for _, c := range w.clusters() {
		w.kernel.Post(clusterAt(c), m)
		w.kernel.Post(memberAt(c), m)
	}
	w.eachBinding(func(at messages.Address) { w.kernel.Post(at, m) })
}

// eachBinding visits the actors of all bindings, also of those that no policy has claimed yet.
func (w *World) eachBinding(visit func(messages.Address)) {
	for _, k := range w.templates() {
		visit(bindingAt(bindingOf(k.Namespace, k.Kind, k.Name)))
	}
	for _, b := range w.store.Bindings() {
		if !w.store.Has(b.Spec.Resource.Key()) {
			visit(bindingAt(b.Name())) // it has no template
		}
	}
}

// Scale changes the replicas of a workload. It fails for what has none.
func (w *World) Scale(key api.Key, replicas int32) error {
	old := w.store.Get(key)
	if old == nil {
		return fmt.Errorf("scale %s: there is no such object", key)
	}
	next, before, err := w.scaled(old, replicas)
	if err != nil {
		return fmt.Errorf("scale %s: %w", key, err)
	}
	w.Note(&messages.Scaled{Object: key.String(), Replicas: replicas, Before: before})
	next.SetGeneration(generationAfter(next, old))
	w.admit(next, old)
	return nil
}

// WithReplicas returns a copy of a workload with other replicas. It fails for what has none.
func (w *World) WithReplicas(o api.Object, replicas int32) (api.Object, error) {
	next, _, err := w.scaled(o, replicas)
	return next, err
}

// scaled returns a copy of a workload with other replicas, and how many it had.
func (w *World) scaled(o api.Object, replicas int32) (next api.Object, before int32, err error) {
	name := BindingOf(o)
	revised, known, err := w.interpreters.Revise(o, replicas)
	w.noteMisread(name, misreadRevision, reasonOf(err))
	if !known {
		return scaled(o, replicas)
	}
	if r := w.workloads[name]; r != nil {
		before = r.Replicas
	}
	return revised, before, nil
}

func scaled(o api.Object, replicas int32) (next api.Object, before int32, err error) {
	if at := api.WorkloadOf(o).Replicas; at != nil {
		next = api.Shallow(o)
		*api.WorkloadOf(next).Replicas = &replicas
		return next, ptr.Deref(*at, 1), nil
	}
	switch o := o.(type) {
	case *batchv1.Job:
		c := *o
		before, c.Spec.Parallelism = ptr.Deref(o.Spec.Parallelism, 1), &replicas
		return &c, before, nil
	case *unstructured.Unstructured:
		return scaledUnstructured(o, replicas)
	}
	return nil, 0, fmt.Errorf("a %T has no replicas", o)
}

func scaledUnstructured(o *unstructured.Unstructured, replicas int32) (api.Object, int32, error) {
	before, found, err := unstructured.NestedInt64(o.Object, "spec", "replicas")
	if err != nil || !found {
		return nil, 0, fmt.Errorf("spec.replicas is not a number")
	}
	c := o.DeepCopy()
	if err := unstructured.SetNestedField(c.Object, int64(replicas), "spec", "replicas"); err != nil {
		return nil, 0, fmt.Errorf("set spec.replicas: %w", err)
	}
	return c, int32(before), nil
}
