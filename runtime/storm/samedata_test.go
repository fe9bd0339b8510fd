package storm

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/eviction"
	"leeward/actors/rules/health"
	"leeward/actors/rules/placement"
	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
)

// sameData is the other floor: every rule that a failover applies, to all that it is about, in the order in which that
// becomes due, and nothing else. There are no actors, so nothing is said, nothing is recorded, no machine keeps a state of
// his own of what others know, and no rule is asked twice.
//
//	rule                                                         where the engine asks it        least work
//	what a taint's tolerations come to, and why                   binding, of each target         outcome only
//	who goes first: priority, waiting time, name                  scheduler                       in the order of the list
//	a placement without evicted ones, with capacity            scheduler                       the same
//	no cluster gains that evictions are due from                 scheduler                       left out
//	capacity is given back and reserved                           scheduler                       the same
//	a task with its reason, purge mode and creation time          binding                         the same
//	which copies clusters are to run, of which placement          binding                         left out
//	copies start, grow, serve and are reported                    members                         left out
//	what the taints of the new clusters come to                   binding                         left out
//	health, of this placement alone; a copy that serves elsewhere binding                         taken for granted
//	what becomes of the task                                      binding                         the same
//	whether the rest calls for another placement                  scheduler                       left out
//	the old copy goes, its cluster lists it no more               binding, member, cluster        left out
//
// What this fleet does not have is asked by neither loop: limits, quotas, budgets, groups, application failover.
type sameData struct {
	*bareFleet
	workloads []bareWorkload
	clusters  map[string]*bareCluster
}

// bareWorkload is a workload as the API shows its binding, and what is under way.
type bareWorkload struct {
	name    messages.BindingName
	spec    api.BindingSpec
	status  api.BindingStatus
	applied *api.Placement
	since   time.Time
	leaving []bareLeave
	// told counts what clusters were told to run.
	told int64
}

// bareLeave is why and when a cluster must be evicted from.
type bareLeave struct {
	cluster messages.ClusterName
	grounds messages.Grounds
}

// bareCluster is a cluster with its copies.
type bareCluster struct {
	taints []corev1.Taint
	copies map[messages.BindingName]*bareCopy
}

// bareCopy is what a cluster is to run, and what it says of that.
type bareCopy struct {
	workload *bareWorkload
	replicas int32
	told     int64
	report   health.Report
}

func newSameData(b *testing.B, bindings, clusters int) *sameData {
	f := &sameData{newBareFleet(b, bindings, clusters), make([]bareWorkload, bindings), map[string]*bareCluster{}}
	for _, v := range f.views {
		f.clusters[string(v.Name)] = &bareCluster{copies: map[messages.BindingName]*bareCopy{}}
	}
	for i := range f.workloads {
		d, w := workload(i, nil, f.each), &f.workloads[i]
		*w = bareWorkload{name: d.Binding, applied: f.asked, spec: api.BindingSpec{
			Resource: api.ObjectReference{APIVersion: d.APIVersion, Kind: d.Kind, Namespace: d.Namespace, Name: d.Name},
			Replicas: d.Replicas, ReplicaRequirements: d.Requirements, Placement: f.asked,
		}}
		w.spec.Clusters = f.place(b, nil, nil)
		f.run(b, w)
		f.report(w)
	}
	return f
}

// storm has every workload leave what it must, step by step, and returns the CPU time of one failover.
func (f *sameData) storm(b *testing.B) time.Duration {
	dark := f.fail()
	for _, v := range dark {
		f.clusters[string(v.Name)].taints = v.Taints
	}
	before, failovers := cpuTime(), 0
	leavers := f.due(dark)
	slices.SortFunc(leavers, func(a, b *bareWorkload) int {
		return cmp.Or(-cmp.Compare(a.priority(), b.priority()), a.since.Compare(b.since), cmp.Compare(a.name, b.name))
	})
	for _, w := range leavers {
		f.move(b, w)
	}
	for _, w := range leavers {
		f.run(b, w)
	}
	for _, w := range leavers {
		f.report(w)
	}
	for _, w := range leavers {
		failovers += f.assess(b, w)
	}
	require.Positive(b, failovers)
	return (cpuTime() - before) / time.Duration(failovers)
}

// due are the workloads that must leave a cluster now, each once.
func (f *sameData) due(dark []*messages.ClusterView) (leavers []*bareWorkload) {
	for _, v := range dark {
		c := f.clusters[string(v.Name)]
		for _, k := range c.copies {
			w := k.workload
			verdict := f.tolerates(w, c)
			if verdict.Outcome != taint.Untolerated {
				continue
			}
			if len(w.leaving) == 0 {
				w.since = bareNow
				leavers = append(leavers, w)
			}
			t := &c.taints[verdict.Taint]
			w.leaving = append(w.leaving, bareLeave{v.Name, messages.Grounds{
				Reason: api.EvictionReasonTaintUntolerated, Taint: t, Deadline: t.TimeAdded.Time,
			}})
		}
	}
	return leavers
}

// tolerates is what the taints of a cluster mean to a workload.
func (f *sameData) tolerates(w *bareWorkload, c *bareCluster) taint.Tolerance {
	return taint.Deadline(c.taints, w.spec.Placement.ClusterTolerations, f.rule())
}

func (w *bareWorkload) priority() int32 {
	if w.spec.SchedulePriority == nil {
		return 0
	}
	return w.spec.SchedulePriority.Priority
}

// move finds a place without the clusters that must be evicted from, and writes their tasks.
func (f *sameData) move(b *testing.B, w *bareWorkload) {
	slices.SortFunc(w.leaving, func(x, y bareLeave) int {
		return cmp.Or(x.grounds.Deadline.Compare(y.grounds.Deadline), cmp.Compare(x.cluster, y.cluster))
	})
	leaving := make([]messages.ClusterName, len(w.leaving))
	for i, l := range w.leaving {
		leaving[i] = l.cluster
	}
	next := f.place(b, w.spec.Clusters, leaving)
	for _, l := range w.leaving {
		if share(next, l.cluster) > 0 {
			b.Fatalf("%s must be left and gains", l.cluster)
		}
		task := eviction.ForTaint(eviction.Origin{Cluster: string(l.cluster), Replicas: share(w.spec.Clusters, l.cluster)},
			w.spec.Failover, f.settings.NoExecuteTaintEvictionPurgeMode)
		task.CreationTimestamp = &metav1.Time{Time: bareNow}
		w.spec.GracefulEvictionTasks = append(w.spec.GracefulEvictionTasks, task)
	}
	w.spec.Clusters, w.applied, w.leaving = next, w.spec.Placement, nil
	w.status.LastScheduledTime = &metav1.Time{Time: bareNow}
}

func share(targets []api.TargetCluster, c messages.ClusterName) int32 {
	for _, t := range targets {
		if t.Name == string(c) {
			return t.Replicas
		}
	}
	return 0
}

// run has clusters run what they are to, where that is news, and looks at their taints.
func (f *sameData) run(b *testing.B, w *bareWorkload) {
	for _, t := range w.spec.Clusters {
		c := f.clusters[t.Name]
		if verdict := f.tolerates(w, c); verdict.Outcome != taint.Forever {
			b.Fatalf("%s must leave %s, where it has just come", w.name, t.Name)
		}
		k := c.copies[w.name]
		if k == nil {
			k = &bareCopy{workload: w}
			c.copies[w.name] = k
		}
		if k.replicas != t.Replicas {
			w.told++
			k.replicas, k.told = t.Replicas, w.told
		}
	}
}

// report has every copy serve what it is to run, and the status of its binding say so.
func (f *sameData) report(w *bareWorkload) {
	for _, t := range w.spec.Clusters {
		k := f.clusters[t.Name].copies[w.name]
		if k.report.ForPlacement == k.told {
			continue
		}
		k.report = health.Report{Cluster: messages.ClusterName(t.Name), Health: api.Healthy, ReadyReplicas: k.replicas, ForPlacement: k.told}
		i := slices.IndexFunc(w.status.AggregatedStatus, func(s api.AggregatedStatusItem) bool { return s.ClusterName == t.Name })
		if i < 0 {
			i = len(w.status.AggregatedStatus)
			w.status.AggregatedStatus = append(w.status.AggregatedStatus, api.AggregatedStatusItem{ClusterName: t.Name, Applied: true})
		}
		item := &w.status.AggregatedStatus[i]
		item.Health, item.ReadyReplicas = k.report.Health, k.report.ReadyReplicas
	}
}

// assess ends the tasks whose replacements stand, and lets the old copies go. It returns how many.
func (f *sameData) assess(b *testing.B, w *bareWorkload) (done int) {
	var (
		wanted  [spread]health.Target
		reports [spread]health.Report
	)
	n := len(w.spec.Clusters)
	for i, t := range w.spec.Clusters {
		k := f.clusters[t.Name].copies[w.name]
		wanted[i] = health.Target{Cluster: messages.ClusterName(t.Name), Replicas: t.Replicas, Placement: k.told}
		reports[i] = k.report
	}
	verdict, elsewhere := health.Of(reports[:n], wanted[:n], f.settings.HandoverHealth), false
	for i := 0; i < n && !elsewhere; i++ {
		elsewhere = health.Of(reports[:n], wanted[i:i+1], f.settings.HandoverHealth).Healthy
	}
	w.spec.GracefulEvictionTasks = slices.DeleteFunc(w.spec.GracefulEvictionTasks, func(t api.GracefulEvictionTask) bool {
		drop := eviction.Assess(&t, bareNow, eviction.Handover{
			Timeout: f.settings.GracefulEvictionTimeout, Scheduled: true, Healthy: verdict.Healthy,
			KeepLastCopy: f.settings.KeepLastCopy, HealthyElsewhere: elsewhere,
		}).Drop()
		if drop {
			done++
			f.release(w, t.FromCluster)
		}
		return drop
	})
	if cause := f.planner.NeedsPlacing(&placement.Current{
		Applied: w.applied, Placement: w.spec.Placement, Workload: true, Replicas: w.spec.Replicas, Targets: w.spec.Clusters,
	}); cause != "" {
		b.Fatalf("%s needs another place: %s", w.name, cause)
	}
	return done
}

// release removes the copy on a cluster that is evicted from.
func (f *sameData) release(w *bareWorkload, cluster string) {
	delete(f.clusters[cluster].copies, w.name)
	w.status.AggregatedStatus = slices.DeleteFunc(w.status.AggregatedStatus, func(s api.AggregatedStatusItem) bool { return s.ClusterName == cluster })
}
