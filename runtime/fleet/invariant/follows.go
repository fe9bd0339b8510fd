package invariant

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

// forgetHealth forgets what is known of the health of a binding's copies: it says nothing of those that follow them.
func (m *Monitor) forgetHealth(b messages.BindingName) {
	for i := range m.copies.of[b] {
		k := &m.copies.of[b][i]
		k.health, k.ready = "", 0
		delete(m.unhealthy, evictedFrom{b, k.cluster})
	}
	delete(m.left, b)
	m.forgetReturns(b)
}

// healthEviction is an eviction for the health of a copy.
type healthEviction struct {
	from messages.ClusterName
	at   time.Time
}

// mostLeft is how many of those a policy may count.
const mostLeft = 16

// leaves notes an eviction for the health of a copy.
func (m *Monitor) leaves(at time.Time, f *messages.EvictionStarted) {
	if f.Grounds.Reason == api.EvictionReasonApplicationFailure && !m.real {
		all := append(m.left[f.Binding], healthEviction{f.Cluster, at})
		m.left[f.Binding] = all[max(0, len(all)-mostLeft):]
	}
}

// healthPace is how often a binding may be evicted for its health within a window, and for how long the clusters rest: as its policy says, or
// as the settings do.
func (m *Monitor) healthPace(b *store.Binding) (limit int, window, cooldown time.Duration) {
	limit, window, cooldown = m.settings.ApplicationFailoverLimit, m.settings.ApplicationFailoverWindow, m.settings.ApplicationCooldown
	if b.Spec.Failover == nil || b.Spec.Failover.Application == nil || b.Spec.Failover.Application.Pace == nil {
		return limit, window, cooldown
	}
	seconds := func(n *int32, otherwise time.Duration) time.Duration {
		if n == nil {
			return otherwise
		}
		return time.Duration(*n) * time.Second
	}
	p := b.Spec.Failover.Application.Pace
	if p.MaxFailovers != nil {
		limit = int(*p.MaxFailovers)
	}
	return limit, seconds(p.WindowSeconds, window), seconds(p.CooldownSeconds, cooldown)
}

// notTooOften asks that no more evictions for health begin within a window than may.
func (m *Monitor) notTooOften(at time.Time, b *store.Binding, v Violation) {
	limit, window, _ := m.healthPace(b)
	n := 0
	for _, d := range m.left[v.Binding] {
		if !d.at.After(at) && d.at.Add(window).After(at) {
			n++
		}
	}
	m.check(TasksFollow, limit == 0 || n <= limit, v, "it is the eviction %d for health within %s, and %d may be", n, window, limit)
}

// rested asks that no workload comes to a cluster that it was evicted from for its health before that has rested.
func (m *Monitor) rested(at time.Time, b *store.Binding, left []healthEviction, v Violation) {
	_, _, cooldown := m.healthPace(b)
	for _, d := range left {
		rests := d.from == v.Cluster && d.at.Add(cooldown).After(at)
		m.check(PlacementFollows, !rests, v, "it was evicted from there for its health at %s, and may return after %s", d.at.Format(time.TimeOnly), cooldown)
	}
}

// keptApart asks, of a workload of an anti-affinity group, that no other one of the group is placed where it comes to.
func (m *Monitor) keptApart(s *store.Store, b *store.Binding, v Violation) {
	of := b.Spec.WorkloadAffinityGroups
	if !m.settings.WorkloadAffinity || of == nil || of.AntiAffinityGroup == "" || !targets(b, string(v.Cluster)) {
		return // or it left in that instant, and made way
	}
	s.EachBinding(func(o *store.Binding) {
		same := o != b && o.Spec.WorkloadAffinityGroups != nil && o.Spec.WorkloadAffinityGroups.AntiAffinityGroup == of.AntiAffinityGroup
		if same && !m.edited[o.Name()] && o.Name().Namespace() == b.Name().Namespace() {
			m.check(PlacementFollows, !targets(o, string(v.Cluster)), v, "it is placed beside %s, of the same anti-affinity group", o.Name())
		}
	})
}

// decision is a placement with the clusters that come to the workload, and what it was evicted from for its health before.
type decision struct {
	*messages.Scheduled
	newcomers []messages.ClusterName
	left      []healthEviction
}

// newcomers are the clusters of a placement that neither were in the one before nor run a copy: that comes back, or never left.
func (m *Monitor) newcomers(f *messages.Scheduled) (names []messages.ClusterName) {
	if m.real {
		return nil
	}
	for i := range f.Clusters {
		name := messages.ClusterName(f.Clusters[i].Name)
		if api.FindTarget(f.Before, f.Clusters[i].Name) >= 0 {
			continue
		}
		if k := m.copies.find(f.Binding, name); k == nil || !k.runs {
			names = append(names, name)
		}
	}
	return names
}

// placementFollows asks of a placement that its policy allows each cluster that comes to it, and as many of them. What changed of
// a cluster in the instant may have come after the decision, and is not asked.
func (m *Monitor) placementFollows(at time.Time, s *store.Store, f *decision) {
	b := s.Binding(f.Binding)
	if b == nil || f.Applied == nil || m.real {
		return
	}
	for _, name := range f.newcomers {
		c := s.Cluster(name)
		if c == nil || !m.batch.current(at, f.Binding, name) {
			continue
		}
		v := Violation{At: at, Binding: f.Binding, Cluster: name}
		if !m.clusterChanged[name].Equal(at) {
			m.taintsAllow(at, f.Scheduled, c, v)
		}
		if !m.edited[f.Binding] {
			m.rested(at, b, f.left, v)
			m.keptApart(s, b, v)
		}
		if !m.touched[name] {
			m.check(PlacementFollows, selects(f.Applied, f.Affinity, c), v, "it is placed there, because %s, and the cluster affinity does not select the cluster", f.Trigger)
		}
		if m.settings.ScaleUpNeedsReady && !m.judged[name] && !m.clusterChanged[name].Equal(at) {
			ready := meta.FindStatusCondition(c.Status.Conditions, api.ConditionReady)
			tolerates := taint.FirstUntolerated(unready, f.Applied.ClusterTolerations, m.settings.NumericTolerations) < 0
			m.check(PlacementFollows, ready == nil || ready.Status == metav1.ConditionTrue || tolerates, v, "it is placed there, because %s, and the cluster is not Ready", f.Trigger)
		}
	}
	m.spreadFollows(at, b, f.Scheduled)
}

// unready are the taints that a cluster which is not Ready has, or should have.
var unready = []corev1.Taint{
	{Key: api.TaintNotReady, Effect: corev1.TaintEffectNoSchedule}, {Key: api.TaintUnreachable, Effect: corev1.TaintEffectNoSchedule},
}

// taintsAllow asks that a placement tolerates the taints of a cluster that comes to it, now and, with placementHonoursDeadlines, not
// only until a deadline that is over.
func (m *Monitor) taintsAllow(at time.Time, f *messages.Scheduled, c *api.Cluster, v Violation) {
	for i := range c.Spec.Taints {
		t := &c.Spec.Taints[i]
		repels := t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
		tolerates := slices.ContainsFunc(f.Applied.ClusterTolerations, func(o corev1.Toleration) bool {
			return taint.Tolerates(&o, t, m.settings.NumericTolerations)
		})
		m.check(PlacementFollows, !repels || tolerates, v, "it is placed there, because %s, and does not tolerate the taint %s:%s", f.Trigger, t.Key, t.Effect)
	}
	if m.settings.PlacementHonoursDeadlines {
		until, leaves := deadline(c.Spec.Taints, f.Applied.ClusterTolerations, m.rule())
		m.check(PlacementFollows, !leaves || until.IsZero() || until.After(at), v, "it is placed there, because %s, and tolerated the taints until %s", f.Trigger, until.Format(time.TimeOnly))
	}
}

// selects reports whether a placement selects a cluster, of the affinity group of that name where it has some.
func selects(p *api.Placement, group string, c *api.Cluster) bool {
	if len(p.ClusterAffinities) == 0 {
		return p.ClusterAffinity == nil || matches(p.ClusterAffinity, c)
	}
	return slices.ContainsFunc(p.ClusterAffinities, func(t api.ClusterAffinityTerm) bool {
		return t.AffinityName == group && (matches(&t.ClusterAffinity, c) || slices.ContainsFunc(t.OverflowAffinities, func(o api.OverflowAffinity) bool {
			return matches(&o.ClusterAffinity, c)
		}))
	})
}

// matches reports whether an affinity selects a cluster by its name and labels. What it says of fields is not asked.
func matches(a *api.ClusterAffinity, c *api.Cluster) bool {
	if slices.Contains(a.ExcludeClusters, c.Name) || len(a.ClusterNames) > 0 && !slices.Contains(a.ClusterNames, c.Name) {
		return false
	}
	selector, err := metav1.LabelSelectorAsSelector(a.LabelSelector)
	return a.LabelSelector == nil || err == nil && selector.Matches(labels.Set(c.Labels))
}

// spreadFollows asks, where all spread constraints count, that a placement has as many clusters as it may have, and no fewer than it
// must. Static weights make the constraints void, and there are no more clusters than replicas that are divided by capacity.
func (m *Monitor) spreadFollows(at time.Time, b *store.Binding, f *messages.Scheduled) {
	how := f.Applied.ReplicaScheduling
	static := how.Divides() && !byCapacity(f.Applied)
	if !m.settings.ExactSpread || static || len(f.Clusters) == 0 {
		return
	}
	for i := range f.Applied.SpreadConstraints {
		c := &f.Applied.SpreadConstraints[i]
		if c.SpreadByField != api.SpreadByCluster && (c.SpreadByField != "" || c.SpreadByLabel != "") {
			continue
		}
		least := c.MinGroups
		if byCapacity(f.Applied) {
			least = min(least, int(b.Spec.Replicas))
		}
		v := Violation{At: at, Binding: f.Binding}
		m.check(PlacementFollows, c.MaxGroups == 0 || len(f.Clusters) <= c.MaxGroups, v, "it is placed on %d clusters, because %s, and at most %d are allowed", len(f.Clusters), f.Trigger, c.MaxGroups)
		m.check(PlacementFollows, len(f.Clusters) >= least, v, "it is placed on %d clusters, because %s, and at least %d are required", len(f.Clusters), f.Trigger, least)
	}
}

// taskFollows asks that the task of an eviction is what its policy says: its purge mode, and after how long.
func (m *Monitor) taskFollows(at time.Time, s *store.Store, f *messages.EvictionStarted) {
	b := s.Binding(f.Binding)
	if b == nil || m.real || m.edited[f.Binding] {
		return
	}
	v := Violation{At: at, Binding: f.Binding, Cluster: f.Cluster}
	failover := b.Spec.Failover
	switch f.Grounds.Reason {
	case api.EvictionReasonTaintUntolerated:
		mode, grace := m.settings.NoExecuteTaintEvictionPurgeMode, (*int32)(nil)
		if failover != nil && failover.Cluster != nil {
			mode, grace = failover.Cluster.PurgeMode, failover.Cluster.GracePeriodSeconds
		}
		m.check(TasksFollow, (f.Task.PurgeMode == api.PurgeDirectly) == (mode == api.PurgeDirectly), v, "its task purges %s, and the policy says %q", f.Task.PurgeMode, mode)
		m.check(TasksFollow, ptr.Equal(f.Task.GracePeriodSeconds, grace), v, "its task has another grace period than the policy")
	case api.EvictionReasonApplicationFailure:
		if failover == nil || failover.Application == nil {
			return
		}
		a := failover.Application
		suppresses := f.Task.SuppressDeletion != nil && *f.Task.SuppressDeletion
		m.check(TasksFollow, suppresses == (a.PurgeMode == api.PurgeNever), v, "its task suppresses the deletion: %t, and the policy says %q", suppresses, a.PurgeMode)
		m.check(TasksFollow, (f.Task.PurgeMode == api.PurgeDirectly) == (a.PurgeMode == api.PurgeDirectly), v, "its task purges %s, and the policy says %q", f.Task.PurgeMode, a.PurgeMode)
		m.unhealthyLongEnough(at, a, v)
		m.notTooOften(at, b, v)
	}
}

// unhealthyLongEnough asks that a copy was Unhealthy for as long as its policy tolerates. A restart may forget since when, which makes
// evictions later and never earlier.
func (m *Monitor) unhealthyLongEnough(at time.Time, a *api.ApplicationFailover, v Violation) {
	since, known := m.batch.unhealthy[evictedFrom{v.Binding, v.Cluster}]
	seconds := int32(300)
	if s := a.DecisionConditions.TolerationSeconds; s != nil {
		seconds = *s
	}
	if known {
		until := since.Add(time.Duration(seconds) * time.Second)
		m.check(TasksFollow, !at.Before(until), v, "it is evicted for its health, and may be Unhealthy for another %s", until.Sub(at))
	}
}

// leavesUnhealthy notes since when the copy was Unhealthy that is evicted for it. One that follows it in the instant is another.
func (m *Monitor) leavesUnhealthy(f *messages.EvictionStarted) {
	of := evictedFrom{f.Binding, f.Cluster}
	since, known := m.unhealthy[of]
	if _, noted := m.batch.unhealthy[of]; known && !noted && f.Grounds.Reason == api.EvictionReasonApplicationFailure {
		m.batch.unhealthy[of] = since
	}
}

// notesHealth notes since when a copy is Unhealthy.
func (m *Monitor) notesHealth(f *messages.HealthChanged) {
	of := evictedFrom{f.Binding, f.Cluster}
	if f.Since.IsZero() {
		delete(m.unhealthy, of)
		return
	}
	m.unhealthy[of] = f.Since
}

// noteObserved notes which bindings are as they were when they were placed, and which have changed since.
func (m *Monitor) noteObserved(f messages.AboutBinding) {
	switch f.(type) {
	case *messages.Scheduled, *messages.PlacementConfirmed:
		m.observed[f.AboutBinding()] = true
	case *messages.BindingUpdated, *messages.BindingCreated, *messages.BindingDeleted, *messages.BindingDescheduled, *messages.EvictionStarted,
		*messages.EvictionWithdrawn, *messages.ReplicasReleased, *messages.ScheduleFailed, *messages.RescheduleRequested, *messages.RequirementChanged:
		delete(m.observed, f.AboutBinding())
	}
}

// observedFollows asks that a binding which was placed says that it was placed as it is, and that one which was to be placed again was.
func (m *Monitor) observedFollows(now time.Time, b *store.Binding) {
	if m.real { // people may have written to it since
		return
	}
	v := Violation{At: now, Binding: b.Name()}
	n, of := b.Status.SchedulerObservedGeneration, b.Meta.Generation
	m.check(ObservedFollows, n <= of && (n == of || !m.observed[b.Name()]), v, "it was placed, and generation %d of %d was observed", n, of)
	if asked, last := b.Spec.RescheduleTriggeredAt, b.Status.LastScheduledTime; asked != nil && last != nil && settled(b) {
		m.check(ObservedFollows, !asked.After(last.Time), v, "it was to be placed again at %s, and was placed last at %s", asked.UTC().Format(time.TimeOnly), last.UTC().Format(time.TimeOnly))
	}
}

// returnStarted asks that a cluster was able to take back what it ran for as long as the policy says, where something returns to it.
func (m *Monitor) returnStarted(at time.Time, s *store.Store, f *messages.FailbackStarted) {
	b := s.Binding(f.Binding)
	if b == nil || m.real || m.edited[f.Binding] || b.Spec.Failover == nil || b.Spec.Failover.Cluster == nil || b.Spec.Failover.Cluster.Failback == nil {
		return
	}
	wait := 5 * time.Minute
	if seconds := b.Spec.Failover.Cluster.Failback.StabilizationSeconds; seconds != nil {
		wait = time.Duration(*seconds) * time.Second
	}
	for i := range f.Clusters {
		of := evictedFrom{f.Binding, messages.ClusterName(f.Clusters[i].Name)}
		if since, known := m.returns[of]; known {
			m.check(FailsBack, !at.Before(since.Add(wait)), Violation{At: at, Binding: of.binding, Cluster: of.cluster}, "it returns %s after the cluster could take it, and %s are required", at.Sub(since), wait)
		}
		delete(m.returns, of)
	}
}

// quotasKept asks, where placements add replicas, that their namespaces use no more than their quotas. A quota that was edited may be
// exceeded already, and so may one whose workloads request more than before.
func (m *Monitor) quotasKept(at time.Time, s *store.Store, decided []decision) {
	if m.real || !m.settings.FederatedQuotaEnforcement || len(m.edited) > 0 {
		return
	}
	for i := range decided {
		f := decided[i].Scheduled
		b := s.Binding(f.Binding)
		if b == nil || b.Spec.ReplicaRequirements == nil || total(f.Clusters) <= total(f.Before) || len(b.Spec.GracefulEvictionTasks) > 0 {
			continue
		}
		for _, o := range s.List("FederatedResourceQuota") {
			q, is := o.(*api.FederatedResourceQuota)
			if !is || q.Namespace != f.Binding.Namespace() {
				continue
			}
			for name, limit := range q.Spec.Overall { // order-free: one violation for all
				used := q.Status.OverallUsed[name]
				_, requests := b.Spec.ReplicaRequirements.ResourceRequest[name]
				m.check(QuotasKept, !requests || used.Cmp(limit) <= 0, Violation{At: at, Binding: f.Binding}, "it gets %d replicas for %d, and %s of %s %s are used", total(f.Clusters), total(f.Before), used.String(), limit.String(), name)
			}
		}
	}
}

func total(targets []api.TargetCluster) (sum int64) {
	for i := range targets {
		sum += int64(targets[i].Replicas)
	}
	return sum
}

// forgetReturns forgets since when clusters could take back what they ran of a binding that was edited.
func (m *Monitor) forgetReturns(b messages.BindingName) {
	for of := range m.returns { // order-free: all of the binding go
		if of.binding == b {
			delete(m.returns, of)
		}
	}
}
