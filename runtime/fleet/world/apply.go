package world

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"leeward/actors/rules/affinity"
	"leeward/actors/rules/propagation"
	"leeward/actors/rules/storm"
	"leeward/messages"
	"leeward/messages/admission"
	"leeward/messages/api"
	"leeward/messages/lists"
	"leeward/runtime/fleet/interpreter"
	"leeward/runtime/fleet/store"
)

// Rejected says that an object was refused, with every reason. Nothing changed.
type Rejected struct {
	Object   api.Key
	Problems field.ErrorList
}

// Error lists the reasons, one a line if there are several.
func (r *Rejected) Error() string {
	if len(r.Problems) == 1 {
		return fmt.Sprintf("%s: %v", r.Object, r.Problems[0])
	}
	return fmt.Sprintf("%s:\n  %s", r.Object, strings.Join(r.reasons(), "\n  "))
}

func (r *Rejected) reasons() []string {
	return lists.Of(r.Problems, func(p *field.Error) string { return p.Error() })
}

// Apply admits an object as the webhooks would and hands it to whom it concerns. As with kubectl apply, the labels and
// annotations that others gave a binding, and the annotations of a cluster, stay. The caller gives the object away. The
// error is a *Rejected.
func (w *World) Apply(o api.Object) error {
	return w.apply(o, func(old api.Object) {
		switch o.(type) {
		case *api.ResourceBinding, *api.ClusterResourceBinding:
			o.SetLabels(kept(old.GetLabels(), o.GetLabels()))
			o.SetAnnotations(kept(old.GetAnnotations(), o.GetAnnotations()))
		case *api.Cluster:
			o.SetAnnotations(kept(old.GetAnnotations(), o.GetAnnotations()))
		}
	})
}

// Replace is Apply of an object as a server has it, with all its labels and annotations: those that it lacks are gone.
func (w *World) Replace(o api.Object) error { return w.apply(o, func(api.Object) {}) }

// Recreate is Apply of a cluster of which another of its name may still be here: the new one is not being deleted, and has an identity of its own.
func (w *World) Recreate(o *api.Cluster) error {
	if !w.store.Has(api.KeyOf(o)) {
		return w.Apply(o)
	}
	old, err := w.admissible(o)
	if err != nil {
		return err
	}
	w.identify(o, nil)
	w.Note(&messages.ObjectApplied{Object: api.KeyOf(o).String(), Created: true})
	known := old.(*api.Cluster)
	manifest := api.Shallow(o).(*api.Cluster)
	o.Spec.Taints, o.Status = known.Spec.Taints, known.Status
	w.store.Put(o)
	w.kernel.Post(clusterAt(messages.ClusterName(o.Name)), &messages.ClusterRecreated{Object: manifest})
	w.noteOrders(api.KeyOf(o), o.Annotations)
	return nil
}

// AdoptCluster has a cluster be as another engine that leads has it, as Adopt does with a binding. The instant must be settled.
func (w *World) AdoptCluster(o *api.Cluster) {
	name := messages.ClusterName(o.Name)
	w.store.Put(o)
	w.kernel.Stop(clusterAt(name))
	w.recoverCluster(name, w.now)
	w.store.EachBinding(func(b *store.Binding) {
		if b.CopyOn(name) {
			w.kernel.Post(clusterAt(name), &messages.BindingPlaced{Binding: b.Name(), Leaving: true})
		}
	})
}

// Adopt has a binding be as another engine that leads has it. Its machine is made again, as after a restart: what it knew of its own decisions
// counts no more.
func (w *World) Adopt(o api.Object) error {
	name, generation := store.AsBinding(o).Name(), o.GetGeneration()
	old, err := w.admissible(o)
	if err != nil {
		return err
	}
	if old != nil {
		w.retire(name)
		w.store.Adopt(name, store.AsBinding(o).Status)
	}
	w.identify(o, old)
	o.SetGeneration(max(generation, o.GetGeneration()))
	w.admitBinding(o, old, true)
	if r := w.workloads[name]; r != nil && w.store.Has(templateOf(r)) {
		w.kernel.Post(bindingAt(name), &messages.WorkloadApplied{Workload: r, Recovered: true})
		for _, p := range w.offers.to(r) {
			w.kernel.Post(propagationAt(p), &messages.WorkloadOffered{Workload: r})
		}
	}
	return nil
}

// retire ends the machine of a binding, and has all others forget what they know of it.
func (w *World) retire(name messages.BindingName) {
	for c := range w.store.Binding(name).Copies() {
		w.kernel.Post(governorAt, &messages.WithdrawRequest{Binding: name, Cluster: c}) // if there is one
		w.kernel.Post(clusterAt(c), &messages.BindingLeft{Binding: name})
	}
	w.kernel.Post(schedulerAt, &messages.BindingGone{Binding: name})
	w.kernel.Stop(bindingAt(name))
}

// apply admits an object; one that is there already it lets inherit first.
func (w *World) apply(o api.Object, inherit func(old api.Object)) error {
	old, err := w.admissible(o)
	if err != nil {
		return err
	}
	if old != nil {
		inherit(old)
	}
	if w.ofNodes(o) {
		return w.applyToNodes(o, old == nil)
	}
	w.identify(o, old)
	w.Note(&messages.ObjectApplied{Object: api.KeyOf(o).String(), Created: old == nil})
	w.admit(o, old)
	return nil
}

// admissible defaults an object and checks it, and returns the one that is there already, if any.
func (w *World) admissible(o api.Object) (old api.Object, err error) {
	admission.DefaultNamespace(o)
	key := api.KeyOf(o)
	old = w.standing(key)
	admission.KeepTimes(o, old)
	admission.Default(o, w.settings, w.now)
	if err := w.admitToNodes(o, old == nil); err != nil {
		return nil, err
	}
	if problems := append(admission.Validate(o, old, w.settings), w.validateRead(o)...); len(problems) > 0 {
		r := &Rejected{Object: key, Problems: problems}
		w.Note(&messages.ObjectRejected{Object: key.String(), Problems: r.reasons()})
		return nil, r
	}
	return old, nil
}

// validateRead holds the pod templates of a workload that has several to what its binding may say, and scripts to what can be run.
func (w *World) validateRead(o api.Object) field.ErrorList {
	if c, is := o.(*api.ResourceInterpreterCustomization); is {
		return interpreter.Validate(c)
	}
	if !w.settings.MultiplePodTemplatesScheduling {
		return nil
	}
	if _, known, _ := w.interpreters.Components(o); known {
		return nil // its script has checked them
	}
	components, problem := propagation.Components(o, w.settings.ExactComponentSets)
	if problem != nil {
		return field.ErrorList{problem}
	}
	return admission.ValidateComponents(components, field.NewPath("components"))
}

// identify gives an object what an API server would: uid, creation time and generation. A uid that the
// manifest has is honoured; otherwise it follows from the seed and the name.
func (w *World) identify(o, old api.Object) {
	if old != nil {
		o.SetUID(old.GetUID())
		o.SetCreationTimestamp(old.GetCreationTimestamp())
		o.SetGeneration(generationAfter(o, old))
		revise(o, old)
		return
	}
	if o.GetUID() == "" {
		o.SetUID(w.store.UID(api.KeyOf(o)))
	}
	if created := o.GetCreationTimestamp(); created.IsZero() {
		o.SetCreationTimestamp(metav1.Time{Time: w.now.Truncate(time.Second)})
	}
}

// revise numbers the pod template of a resource that takes the place of an older one.
func revise(o, old api.Object) {
	if r := propagation.Revised(o, old); r > 0 {
		o.SetAnnotations(kept(o.GetAnnotations(), map[string]string{api.AnnotationRevision: strconv.Itoa(int(r))}))
	}
}

// admit stores an object and tells its actor, by kind.
func (w *World) admit(o, old api.Object) {
	switch o := o.(type) {
	case *api.Cluster:
		w.admitCluster(o, old == nil)
	case *api.ClusterTaintPolicy:
		w.store.Put(o)
		w.admitTaintPolicy(o, old == nil)
	case *api.PropagationPolicy:
		w.store.Put(o)
		w.admitPropagation(messages.NamePropagation(o.Namespace, o.Name), &o.Spec)
	case *api.ClusterPropagationPolicy:
		w.store.Put(o)
		w.admitPropagation(messages.NamePropagation("", o.Name), &o.Spec)
	case *api.FederatedResourceQuota:
		w.admitQuota(o, old)
	case *api.EvictionBudget, *api.ClusterEvictionBudget:
		w.admitBudget(o, old)
	case *api.ResourceBinding, *api.ClusterResourceBinding:
		w.admitBinding(o, old, false)
	case *api.WorkloadRebalancer:
		w.admitRebalancer(o, old)
	case *api.Governor:
		w.admitGovernor(o)
	case *api.ResourceInterpreterCustomization:
		w.store.Put(o)
		w.interpret(o, old)
	default:
		w.store.Put(o)
		w.admitOther(o, api.KeyOf(o))
	}
}

// admitOther takes what has no actor of its own: a resource template, or what policies refer to by its name.
func (w *World) admitOther(o api.Object, key api.Key) {
	if w.runByPods(o) {
		return
	}
	if isTemplate(key) {
		w.AdmitWorkload(w.workload(o))
	}
	if key == priorityClass(key.Name) {
		w.admitPriorityClass(key.Name)
	}
	w.noteOverride(key)
}

// admitCluster starts a new cluster, or has a known one take over what the manifest says: it then
// changes the stored object itself, fact by fact.
func (w *World) admitCluster(o *api.Cluster, isNew bool) {
	name := messages.ClusterName(o.Name)
	if !isNew {
		w.kernel.Post(clusterAt(name), &messages.ClusterEdited{Object: o})
		w.store.Annotate(api.KeyOf(o), o.Annotations)
		w.noteOrders(api.KeyOf(o), o.Annotations)
		return
	}
	w.stampConditions(o)
	w.store.Put(o)
	w.spawnCluster(name)
	w.spawnMember(name)
	w.kernel.Post(clusterAt(name), w.joining(o))
	w.noteOrders(store.ClusterKey(name), o.Annotations)
}

// stampConditions gives conditions that do not say since when they hold the present.
func (w *World) stampConditions(o *api.Cluster) {
	for i := range o.Status.Conditions {
		if k := &o.Status.Conditions[i]; k.LastTransitionTime.IsZero() {
			k.LastTransitionTime = metav1.Time{Time: w.now}
		}
	}
}

// joining is the first message of a cluster.
func (w *World) joining(o *api.Cluster) *messages.ClusterJoined {
	m := &messages.ClusterJoined{Object: o, Blind: w.store.Governor().State == string(storm.Blackout)}
	for _, p := range w.store.List("ClusterTaintPolicy") {
		if w.judges(p.(*api.ClusterTaintPolicy)) {
			m.Policies = append(m.Policies, listing(p.(*api.ClusterTaintPolicy)))
		}
	}
	return m
}

func listing(p *api.ClusterTaintPolicy) messages.PolicyListed {
	return messages.PolicyListed{
		Name: messages.PolicyName(p.Name), CreatedAt: p.CreationTimestamp.Time, Cleanup: p.Spec.Cleanup,
	}
}

func (w *World) admitTaintPolicy(o *api.ClusterTaintPolicy, isNew bool) {
	name := messages.PolicyName(o.Name)
	if isNew {
		w.spawnPolicy(name)
	}
	w.kernel.Post(policyAt(name), &messages.PolicyApplied{Spec: &o.Spec})
	if !w.judges(o) {
		return
	}
	for _, c := range w.clusters() {
		listed := listing(o)
		listed.Targeted = affinity.Matches(o.Spec.TargetClusters, messages.Located(w.store.Cluster(c)))
		w.kernel.Post(clusterAt(c), &listed)
	}
}

// admitPropagation hands a policy its spec and offers it what it may select now or did before.
func (w *World) admitPropagation(name messages.PropagationName, spec *api.PropagationSpec) {
	before := w.selectable(w.offers.specs[name])
	w.offers.put(name, spec)
	if !w.kernel.Has(propagationAt(name)) {
		w.spawnPropagation(name)
	}
	w.kernel.Post(propagationAt(name), &messages.PropagationApplied{
		Spec: w.prioritized(spec), Absent: w.absentOverrides(name.Namespace(), spec),
	})
	for _, k := range union(before, w.selectable(spec)) {
		w.kernel.Post(propagationAt(name), &messages.WorkloadOffered{Workload: w.workloadAt(k)})
	}
}

// admitBinding takes a binding that people, or another engine, wrote. Of one that is there its status stays.
func (w *World) admitBinding(o, old api.Object, recovered bool) {
	name := messages.NameBinding(o.GetNamespace(), o.GetName())
	if _, ends := w.ending[name]; ends {
		w.ending[name] = o
		return
	}
	var status api.BindingStatus
	if before := w.store.Binding(name); before != nil {
		status = *before.Status
	}
	w.store.Put(o)
	b := w.store.Binding(name)
	if old != nil {
		*b.Status = status
	}
	if !w.kernel.Has(bindingAt(name)) {
		w.hostBinding(name)
	}
	applied := w.restored(b)
	applied.Recovered = recovered
	w.kernel.Post(bindingAt(name), applied)
	w.noteOrders(api.KeyOf(o), b.Meta.Annotations)
}

// kept is what was there before with what is new on top.
func kept(before, now map[string]string) map[string]string {
	all := maps.Clone(before)
	if all == nil {
		return now
	}
	maps.Copy(all, now)
	return all
}

// AdmitWorkload tells a resource's binding of it and offers it to the policies that may select it. The
// resource need not be an object of the world.
func (w *World) AdmitWorkload(r *messages.Workload) {
	if !w.kernel.Has(bindingAt(r.Binding)) {
		w.hostBinding(r.Binding)
	}
	w.kernel.Post(bindingAt(r.Binding), &messages.WorkloadApplied{Workload: r})
	w.noteDependencies(r)
	for _, name := range w.offers.to(r) {
		w.kernel.Post(propagationAt(name), &messages.WorkloadOffered{Workload: r})
	}
}
