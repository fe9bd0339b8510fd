package incident

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/lists"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/observed"
	"leeward/runtime/fleet/store"
)

// signs are what tells something of the flags of a Karmada.
type signs struct {
	incident *Incident
	taints   []tainting
	tasks    []taskSeen
}

// tainting is a taint that was put on a cluster while it was recorded.
type tainting struct {
	cluster string
	taint   corev1.Taint
	at      time.Duration
}

func (i *Incident) taintings() (all []tainting) {
	for n := range i.Changes {
		c := &i.Changes[n]
		now, is := c.Now.(*api.Cluster)
		if !is {
			continue
		}
		before, _ := c.Before.(*api.Cluster)
		for _, t := range now.Spec.Taints {
			had := func(b corev1.Taint) bool { return b.MatchTaint(&t) }
			if before == nil || !slices.ContainsFunc(before.Spec.Taints, had) {
				all = append(all, tainting{now.Name, t, c.At})
			}
		}
	}
	return all
}

// taskSeen is a graceful eviction task whose beginning was recorded.
type taskSeen struct {
	binding messages.BindingName
	task    api.GracefulEvictionTask
	purge   api.PurgeMode // the policy's own; empty: it has none
	// at is when it was seen first, lasted how long it was there by its own creation time; ended is false for one that
	// was there to the end.
	at, lasted time.Duration
	ended      bool
	// waited is set where its last sight was of a placement that did not serve: only time can have ended it.
	waited bool
}

// tasks are the graceful eviction tasks of all bindings, in the order in which they were seen.
func (i *Incident) tasks() []taskSeen {
	var all []taskSeen
	open := map[left]int{} // by binding and cluster, an index of all
	for n := range i.Changes {
		c := &i.Changes[n]
		b := store.AsBinding(c.Now)
		if b == nil {
			continue
		}
		for _, k := range b.Spec.GracefulEvictionTasks {
			at, known := open[left{binding: b.Name(), cluster: k.FromCluster}]
			if !known {
				at = len(all)
				open[left{binding: b.Name(), cluster: k.FromCluster}] = at
				all = append(all, taskSeen{binding: b.Name(), at: c.At, purge: purgeOf(b)})
			}
			all[at].task, all[at].waited = k, !serves(b)
			all[at].lasted = i.since(&all[at], c.At)
		}
		for l, at := range open { // order-free: each by itself
			gone := b.Spec.TaskFrom(l.cluster) == nil
			if l.binding == b.Name() && gone {
				all[at].ended, all[at].lasted = true, i.since(&all[at], c.At)
				delete(open, l)
			}
		}
	}
	for _, at := range open { // order-free: each by itself
		all[at].lasted = i.since(&all[at], i.Duration)
	}
	return all
}

// since is how long a task has been there. Its creation time is what its control plane counts from.
func (i *Incident) since(k *taskSeen, at time.Duration) time.Duration {
	if created := k.task.CreationTimestamp; created != nil {
		return at - created.Sub(i.Start)
	}
	return at - k.at
}

// serves reports whether every target of a binding is reported to be healthy.
func serves(b *store.Binding) bool {
	return len(b.Spec.Clusters) > 0 && !slices.ContainsFunc(b.Spec.Clusters, func(t api.TargetCluster) bool {
		s := b.Status.Of(t.Name)
		return s == nil || s.Health != api.Healthy
	})
}

func purgeOf(b *store.Binding) api.PurgeMode {
	if f := b.Spec.Failover; f != nil && f.Cluster != nil {
		return f.Cluster.PurgeMode
	}
	return ""
}

// forTaint reports whether a task is one of the taint manager.
func (k *taskSeen) forTaint() bool { return k.task.Reason == api.EvictionReasonTaintUntolerated }

func (s *signs) allowsNoExecute(profile *messages.Settings) *Assumption {
	if profile.AllowNoExecuteTaintPolicy {
		return nil
	}
	evicts := func(t api.PolicyTaint) bool { return t.Effect == corev1.TaintEffectNoExecute }
	for _, o := range s.incident.all() {
		if p, is := o.(*api.ClusterTaintPolicy); is && slices.ContainsFunc(p.Spec.Taints, evicts) {
			return assume("allowNoExecuteTaintPolicy", true, "ClusterTaintPolicy %s was admitted", p.Name)
		}
	}
	return nil
}

func (s *signs) evicts(profile *messages.Settings) *Assumption {
	for i := range s.tasks {
		if k := &s.tasks[i]; k.forTaint() && !profile.Evicts() {
			return assume("enableNoExecuteTaintEviction", true, "%s was evicted from %s for a taint at %s", k.binding, k.task.FromCluster, journal.Clock(k.at))
		}
	}
	return nil
}

func (s *signs) purgeMode(profile *messages.Settings) *Assumption {
	for i := range s.tasks {
		if k := &s.tasks[i]; k.forTaint() && k.purge == "" && k.task.PurgeMode != "" && k.task.PurgeMode != profile.NoExecuteTaintEvictionPurgeMode {
			return assume("noExecuteTaintEvictionPurgeMode", string(k.task.PurgeMode), "%s was evicted so, and its policy does not ask for it", k.binding)
		}
	}
	return nil
}

// gracePeriod is how long the tasks lasted that only time can have ended.
func (s *signs) gracePeriod(profile *messages.Settings) *Assumption {
	var longest *taskSeen
	for i := range s.tasks {
		k := &s.tasks[i]
		if k.waited && k.task.GracePeriodSeconds == nil && k.task.SuppressDeletion == nil && (longest == nil || k.lasted > longest.lasted) {
			longest = k
		}
	}
	if longest == nil || !longest.ended && longest.lasted <= profile.GracefulEvictionTimeout {
		return nil
	}
	timeout := longest.lasted.Truncate(time.Second)
	if timeout <= 0 || longest.ended && timeout == profile.GracefulEvictionTimeout {
		return nil
	}
	if !longest.ended {
		return assume("gracefulEvictionTimeout", timeout.String(), "%s was still being evicted from %s, and did not serve elsewhere: it may be more", longest.binding, longest.task.FromCluster)
	}
	return assume("gracefulEvictionTimeout", timeout.String(), "so long %s kept its copy on %s, and did not serve elsewhere", longest.binding, longest.task.FromCluster)
}

// roundRates are those that people choose, in evictions per second of one worker.
var roundRates = []float64{0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000}

// evictionRate is the least at which the evictions for taints could come so fast: each worker begins with one, and goes on
// at the rate.
func (s *signs) evictionRate(profile *messages.Settings) *Assumption {
	var at []time.Duration
	for i := range s.tasks {
		if s.tasks[i].forTaint() {
			at = append(at, s.tasks[i].at)
		}
	}
	slices.Sort(at)
	workers, least, most := max(1, profile.EvictionWorkers), 0.0, 0
	for i := range at {
		for j := i + workers; j < len(at); j++ {
			span := max(at[j]-at[i], time.Second).Seconds() // less is within what a watch delays
			if rate := float64(j-i+1-workers) / (float64(workers) * span); rate > least {
				least, most = rate, j-i+1
			}
		}
	}
	if profile.ResourceEvictionRate == 0 || least <= profile.ResourceEvictionRate*1.1 {
		return nil
	}
	rate := roundRates[len(roundRates)-1]
	if i := slices.IndexFunc(roundRates, func(r float64) bool { return r >= least*0.95 }); i >= 0 {
		rate = roundRates[i]
	}
	return assume("resourceEvictionRate", rate, "%d evictions for taints came faster than at %v: it may be more", most, profile.ResourceEvictionRate)
}

// systemNoExecute is the first NoExecute taint that the system put on a cluster by itself; nil: it did not.
func (s *signs) systemNoExecute() *tainting {
	named := func(t *corev1.Taint) bool {
		return slices.ContainsFunc(s.incident.all(), func(o api.Object) bool {
			p, is := o.(*api.ClusterTaintPolicy)
			return is && p.Spec.Has(t.Key, t.Effect)
		})
	}
	for i := range s.taints {
		t := &s.taints[i].taint
		if t.Effect == corev1.TaintEffectNoExecute && (t.Key == api.TaintNotReady || t.Key == api.TaintUnreachable) && !named(t) {
			return &s.taints[i]
		}
	}
	return nil
}

// failoverTimeout is how long after NoSchedule a cluster got NoExecute by itself.
func (s *signs) failoverTimeout(profile *messages.Settings) *Assumption {
	system := s.systemNoExecute()
	if system == nil {
		return nil
	}
	for i := range s.taints {
		t := &s.taints[i]
		if t.cluster != system.cluster || t.taint.Key != system.taint.Key || t.taint.Effect != corev1.TaintEffectNoSchedule || t.at >= system.at {
			continue
		}
		waited := (system.at - t.at).Truncate(time.Second)
		if near(waited, profile.FailoverEvictionTimeout, profile.ClusterMonitorPeriod) {
			return nil
		}
		return assume("failoverEvictionTimeout", waited.String(), "so long after NoSchedule %s got %s:NoExecute", t.cluster, t.taint.Key)
	}
	return nil
}

// near reports whether what was seen may come of a setting whose effect is checked once a period.
func near(seen, setting, period time.Duration) bool {
	return seen >= setting-time.Second && seen <= setting+period+2*time.Second
}

// monitorGrace is how long an agent was silent before its cluster was Unknown.
func (s *signs) monitorGrace(profile *messages.Settings) *Assumption {
	heard := map[string]time.Duration{}
	for n := range s.incident.Changes {
		c := &s.incident.Changes[n]
		if key := c.Key(); catalog.Of(key) == catalog.Leases && key.Namespace == api.LeaseNamespace {
			heard[key.Name] = c.At
			continue
		}
		now, is := c.Now.(*api.Cluster)
		last, known := heard[c.Key().Name]
		if !is || !known || !fellSilent(c.Before, now) {
			continue
		}
		silent := (c.At - last).Truncate(time.Second)
		if near(silent, profile.ClusterMonitorGracePeriod, profile.ClusterMonitorPeriod) {
			return nil
		}
		grace := max(time.Second, silent-profile.ClusterMonitorPeriod/2)
		return assume("clusterMonitorGracePeriod", grace.String(), "%s was silent for %s when it became Unknown", now.Name, silent)
	}
	return nil
}

// fellSilent reports whether a change is that a cluster became Unknown for its silence.
func fellSilent(before api.Object, now *api.Cluster) bool {
	old, is := before.(*api.Cluster)
	return is && !silentCluster(old) && silentCluster(now)
}

func silentCluster(k *api.Cluster) bool {
	return slices.ContainsFunc(k.Status.Conditions, observed.OfSilence)
}

func (s *signs) preservesState(profile *messages.Settings) *Assumption {
	for i := range s.tasks {
		if k := &s.tasks[i]; k.task.PreservedLabelState != nil && !profile.StatefulFailoverInjection {
			return assume("statefulFailoverInjection", true, "%s took its state along from %s", k.binding, k.task.FromCluster)
		}
	}
	return nil
}

func assume(field string, value any, because string, args ...any) *Assumption {
	return &Assumption{Setting: config.Override{Field: field, Value: value}, Because: fmt.Sprintf(because, args...)}
}

// all are the objects as they were at first and after each change.
func (i *Incident) all() []api.Object {
	all := slices.Clone(i.Stood)
	for n := range i.Changes {
		if now := i.Changes[n].Now; now != nil {
			all = append(all, now)
		}
	}
	return all
}

// Assumptions are what a control plane is taken to have run with where neither its recording nor its Governor says so.
// A setting that is not named is taken to be the profile's.
type Assumptions struct {
	Profile string
	// Because says what speaks for the profile.
	Because  string
	Settings []Assumption
}

// Assumption is one setting, and what was seen that speaks for it.
type Assumption struct {
	Setting config.Override
	Because string
}

// Lines tells assumptions, one a line; none of nil.
func (a *Assumptions) Lines() []string {
	if a == nil {
		return nil
	}
	lines := []string{fmt.Sprintf("profile %s: %s", a.Profile, a.Because)}
	for _, s := range a.Settings {
		lines = append(lines, fmt.Sprintf("%s=%v: %s", s.Setting.Field, s.Setting.Value, s.Because))
	}
	return append(lines, "every other setting as in the profile; --profile and --set say what it really ran with")
}

func (a *Assumptions) overrides() []config.Override {
	return lists.Of(a.Settings, func(s Assumption) config.Override { return s.Setting })
}

// Assumed returns what the recorded control plane is taken to have run with; nil where that is known, or where no part of
// it is missing: the header has a setting, or a Governor tells all.
//
// Source: the names under which Karmada's components write, and the effects of its flags (--resource-eviction-rate,
// --graceful-eviction-timeout, --failover-eviction-timeout, --cluster-monitor-grace-period) on what was recorded.
func (i *Incident) Assumed() *Assumptions {
	if _, _, governed := i.governed(); governed || len(i.Config) > 0 {
		return nil
	}
	components := i.components()
	switch ofKarmada := strings.HasPrefix(i.Profile, "karmada"); {
	case i.Profile != "" && !ofKarmada:
		return nil
	case len(components) == 0 && !ofKarmada:
		return &Assumptions{Profile: config.Default, Because: "nothing says what was recorded"}
	}
	s := &signs{incident: i, taints: i.taintings(), tasks: i.tasks()}
	a := &Assumptions{Profile: i.Profile, Because: "the recording says so, and names no settings"}
	if a.Profile == "" {
		a.Profile, a.Because = "karmada", "it was written by "+strings.Join(components, " and ")
		if system := s.systemNoExecute(); system != nil {
			a.Profile = "karmada-legacy"
			a.Because += fmt.Sprintf(", which up to 1.13 evicts without a policy, as from %s at %s", system.cluster, journal.Clock(system.at))
		}
	}
	profile, _ := config.Profile(a.Profile) // one of the above, or one that the header names: an unknown one is told later
	for _, infer := range []func(*messages.Settings) *Assumption{
		s.allowsNoExecute, s.evicts, s.purgeMode, s.gracePeriod, s.evictionRate, s.failoverTimeout, s.monitorGrace, s.preservesState,
	} {
		if found := infer(&profile); found != nil {
			found.Setting.Source = i.File
			a.Settings = append(a.Settings, *found)
		}
	}
	return a
}

// components are those of a Karmada control plane that wrote what was recorded. Its agent may be another's, too.
func (i *Incident) components() (names []string) {
	for _, name := range []string{"karmada-controller-manager", "karmada-scheduler"} {
		if i.managers[name] {
			names = append(names, name)
		}
	}
	return names
}
