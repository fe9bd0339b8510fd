package world

import (
	"iter"
	"slices"
	"time"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

// Labels by which a binding shows who manages it. Source: Karmada's scheduler, which
// places no others.
const (
	labelPolicyID        = "propagationpolicy.karmada.io/permanent-id"
	labelClusterPolicyID = "clusterpropagationpolicy.karmada.io/permanent-id"
	labelManagedBy       = "app.kubernetes.io/managed-by"
)

// Restart makes the engine lose its memory and recover from the stored objects. Members are not part
// of the engine: they go on; of nodes only the controllers restart. The instant must be settled.
func (w *World) Restart() {
	if w.nodes != nil {
		w.Note(&messages.Restarted{})
		w.nodes.Restart(w.now)
		return
	}
	w.stopEngine()
	w.Revive()
}

// StopControllers has the controllers of nodes and pods do nothing until Restart. The instant must be settled.
func (w *World) StopControllers() {
	w.Note(&messages.Crashed{})
	w.nodes.StopControllers()
}

// Revive lets an engine that is gone come back from the stored objects.
func (w *World) Revive() {
	w.Note(&messages.Restarted{})
	w.down = false
	w.offers, w.orders = newOffers(), newOrders()
	w.awaitAnswers()
	w.spawnSingletons()
	w.Recover()
}

// Load takes over objects as they were stored, without admission, as store.Store.Load says, and starts what represents the
// agents of their clusters. The world must be new; it does nothing until Recover.
func (w *World) Load(stored iter.Seq2[api.Object, store.Row]) {
	for o, row := range stored {
		w.store.Load(o, row)
	}
	w.loading = true
	w.readScripts()
	for _, c := range w.clusters() {
		w.spawnMember(c)
	}
	w.awaitAnswers()
}

// LoadTemplate takes over a resource template as it was stored, after what Load does.
func (w *World) LoadTemplate(o api.Object, row store.Row) {
	w.store.Load(o, row)
	w.workload(o)
	w.noteSelected(api.KeyOf(o), o.GetLabels(), false)
}

// Recover brings the machines to life from the objects of Load.
func (w *World) Recover() {
	w.recoverGovernor()
	w.showSettings()
	w.tellMisread()
	w.recoverBudgets()
	w.recoverClusters()
	w.recoverBindings()
	w.recoverOrders()
	w.eachPropagation(w.admitPropagation)
	for _, o := range w.store.List("FederatedResourceQuota") {
		w.tellQuota(o.(*api.FederatedResourceQuota))
	}
	w.askAgain()
}

// End ends a binding whose resource is gone.
func (w *World) End(name messages.BindingName) { w.dropBinding(name) }

// CopyLeft has a copy looked at that a start has found, and that the stored binding does not tell of.
func (w *World) CopyLeft(name messages.BindingName, cluster messages.ClusterName) {
	switch at := bindingAt(name); {
	case w.kernel.Has(at):
		w.kernel.Post(at, &messages.CopyLeft{Cluster: cluster})
	case !w.config.Quarantined[at]:
		w.TellAgent(cluster, &messages.RemoveCopy{Binding: name})
	}
}

func (w *World) stopEngine() {
	w.went = w.now
	w.kernel.Stop(schedulerAt)
	w.kernel.Stop(governorAt)
	for _, c := range w.clusters() {
		w.kernel.Stop(clusterAt(c))
	}
	for _, o := range w.store.List("ClusterTaintPolicy") {
		w.kernel.Stop(policyAt(messages.PolicyName(o.GetName())))
	}
	w.eachPropagation(func(name messages.PropagationName, _ *api.PropagationSpec) {
		w.kernel.Stop(propagationAt(name))
	})
	for _, k := range w.templates() {
		w.kernel.Stop(bindingAt(bindingOf(k.Namespace, k.Kind, k.Name)))
	}
	for _, b := range w.store.Bindings() {
		w.kernel.Stop(bindingAt(b.Name()))
	}
}

func (w *World) recoverGovernor() {
	if w.store.Get(store.GovernorKey) != nil {
		w.kernel.Post(governorAt, &messages.GovernorRestored{Status: new(w.store.Governor())})
	}
}

func (w *World) recoverClusters() {
	for _, o := range w.store.List("ClusterTaintPolicy") {
		name := messages.PolicyName(o.GetName())
		w.spawnPolicy(name)
		w.kernel.Post(policyAt(name), &messages.PolicyApplied{Spec: &o.(*api.ClusterTaintPolicy).Spec})
	}
	for _, c := range w.clusters() {
		w.recoverCluster(c, w.went)
	}
}

// recoverCluster makes the machine of a stored cluster, after one that is gone since some time.
func (w *World) recoverCluster(c messages.ClusterName, gone time.Time) {
	w.spawnCluster(c)
	w.showQuarantined(w.store.Cluster(c))
	joined := w.joining(w.store.Cluster(c))
	joined.Recovered = true
	w.kernel.Post(clusterAt(c), joined)
	w.kernel.Post(memberAt(c), &messages.EngineRestarted{Gone: gone})
}

func (w *World) recoverBindings() {
	templates := make(chan []api.Key, 1)
	go func() { templates <- w.templates() }() // to put a hundred thousand in order takes as long as the bindings
	for _, b := range w.store.Bindings() {
		w.hostBinding(b.Name())
		stored := w.restored(b)
		stored.Recovered = true
		w.kernel.Post(bindingAt(b.Name()), stored)
	}
	for _, k := range <-templates {
		r := w.workloadAt(k)
		if !w.kernel.Has(bindingAt(r.Binding)) {
			w.hostBinding(r.Binding)
		}
		w.kernel.Post(bindingAt(r.Binding), &messages.WorkloadApplied{Workload: r, Recovered: true})
		w.noteDependencies(r)
	}
}

func (w *World) eachPropagation(visit func(messages.PropagationName, *api.PropagationSpec)) {
	for _, o := range w.store.List("PropagationPolicy") {
		p := o.(*api.PropagationPolicy)
		visit(messages.NamePropagation(p.Namespace, p.Name), &p.Spec)
	}
	for _, o := range w.store.List("ClusterPropagationPolicy") {
		p := o.(*api.ClusterPropagationPolicy)
		visit(messages.NamePropagation("", p.Name), &p.Spec)
	}
}

// restored is a stored binding as its actor takes it over.
func (w *World) restored(b *store.Binding) *messages.BindingApplied {
	spec, status := *b.Spec, *b.Status
	spec.Placement = w.store.Placement(spec.Placement)
	status.AggregatedStatus = w.store.Said(b)
	return &messages.BindingApplied{
		Spec: &spec, Status: &status, Applied: b.Applied, Owner: b.Owner(),
		Managed: b.Owner() != "" || w.settings.TolerationSource == messages.SourcePlacement || labelled(b),
	}
}

func labelled(b *store.Binding) bool {
	return slices.ContainsFunc([]string{labelPolicyID, labelClusterPolicyID, labelManagedBy}, func(key string) bool { return b.Meta.Labels[key] != "" })
}
