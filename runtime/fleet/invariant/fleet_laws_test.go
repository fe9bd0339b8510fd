package invariant_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/invariant"
)

// runs has copies of d/web run on clusters, one replica each.
func runs(clusters ...messages.ClusterName) (facts []messages.Fact) {
	for _, c := range clusters {
		facts = append(facts, &messages.CopyStarted{Binding: "d/web", Cluster: c, Replicas: 1})
	}
	return facts
}

func and(facts []messages.Fact, more ...messages.Fact) []messages.Fact { return append(facts, more...) }

// claimed has a policy look after the binding.
func claimed(tasks ...api.GracefulEvictionTask) func(*api.ResourceBinding) {
	return func(b *api.ResourceBinding) {
		b.Annotations = map[string]string{"propagationpolicy.karmada.io/namespace": "d", "propagationpolicy.karmada.io/name": "web"}
		b.Spec.GracefulEvictionTasks = tasks
	}
}

func TestWhatRunsIsWhatTheBindingSays(t *testing.T) {
	stopped := &messages.CopyStopped{Binding: "d/web", Cluster: "m3"}
	direct := task("m3", start)
	direct.PurgeMode = api.PurgeDirectly
	judge(t, map[string]ruling{
		"a copy runs on each target":                    {situation{binding: claimed(), facts: runs("m1", "m2")}, invariant.CopiesAgree, false},
		"no copy runs on a target":                      {situation{binding: claimed(), facts: runs("m1")}, invariant.CopiesAgree, true},
		"a copy is too large":                           {situation{binding: claimed(), facts: and(runs("m1", "m2"), &messages.CopyScaled{Binding: "d/web", Cluster: "m2", Replicas: 2})}, invariant.CopiesAgree, true},
		"a copy runs that was not asked for":            {situation{binding: claimed(), facts: runs("m1", "m2", "m3")}, invariant.CopiesAgree, true},
		"the old copy runs on beside its task":          {situation{binding: claimed(task("m3", start)), facts: runs("m1", "m2", "m3")}, invariant.CopiesAgree, false},
		"the old copy goes before its task":             {situation{binding: claimed(task("m3", start.Add(-time.Second))), facts: and(runs("m1", "m2", "m3"), stopped)}, invariant.CopiesAgree, true},
		"a copy that is purged immediately goes before": {situation{binding: claimed(direct), facts: and(runs("m1", "m2", "m3"), stopped)}, invariant.CopiesAgree, false},
		"a user wrote the binding":                      {situation{facts: runs("m3")}, invariant.CopiesAgree, false},
	})
}

func TestTheLastCopyThatServesIsKept(t *testing.T) {
	keeps := messages.Settings{KeepLastCopy: true}
	ended := &messages.EvictionEnded{Binding: "d/web", Cluster: "m3", Reason: messages.EndedTimeout}
	healthy := &messages.HealthChanged{Binding: "d/web", Cluster: "m1", Health: api.Healthy, Ready: 1}
	moved := &messages.Scheduled{Binding: "d/web", Clusters: []api.TargetCluster{{Name: "m2", Replicas: 1}}, Before: []api.TargetCluster{{Name: "m1", Replicas: 1}}}
	judge(t, map[string]ruling{
		"another serves":                     {situation{settings: keeps, facts: and(runs("m1"), healthy, ended)}, invariant.LastCopyKept, false},
		"none serves":                        {situation{settings: keeps, facts: and(runs("m1"), ended)}, invariant.LastCopyKept, true},
		"the one that served has ended":      {situation{settings: keeps, facts: and(runs("m1"), healthy, &messages.CopyStopped{Binding: "d/web", Cluster: "m1"}, ended)}, invariant.LastCopyKept, true},
		"it moves on immediately after that": {situation{settings: keeps, facts: and(runs("m1"), ended, moved)}, invariant.LastCopyKept, false},
		"it had moved on before that":        {situation{settings: keeps, facts: and(runs("m1"), moved, ended)}, invariant.LastCopyKept, true},
		"without keepLastCopy none must":     {situation{facts: and(runs("m1"), ended)}, invariant.LastCopyKept, false},
		"a user ended it":                    {situation{settings: keeps, facts: []messages.Fact{&messages.EvictionEnded{Binding: "d/web", Cluster: "m3", Reason: messages.EndedDeleted}}}, invariant.LastCopyKept, false},
	})
}

func TestNoClusterIsEvictedFromWithoutATask(t *testing.T) {
	graceful := messages.Settings{GracefulMoves: true}
	both := []api.TargetCluster{{Name: "m1", Replicas: 1}, {Name: "m2", Replicas: 1}}
	moved := &messages.Scheduled{Binding: "d/web", Clusters: both, Before: []api.TargetCluster{{Name: "m3", Replicas: 2}}}
	gone := &messages.Scheduled{Binding: "d/web", Clusters: both, Before: []api.TargetCluster{{Name: "m4", Replicas: 2}}}
	by := &messages.EvictionStarted{Binding: "d/web", Cluster: "m3", Task: task("m3", start), Grounds: messages.Grounds{Reason: api.EvictionReasonReschedule}}
	judge(t, map[string]ruling{
		"a task leaves it":                   {situation{settings: graceful, facts: []messages.Fact{by, moved}}, invariant.RemovedByTask, false},
		"nothing leaves it":                  {situation{settings: graceful, facts: []messages.Fact{moved}}, invariant.RemovedByTask, true},
		"a cluster that is gone":             {situation{settings: graceful, facts: []messages.Fact{gone}}, invariant.RemovedByTask, false},
		"what is scaled to nothing":          {situation{settings: graceful, facts: []messages.Fact{&messages.Scheduled{Binding: "d/web", Before: both}}}, invariant.RemovedByTask, false},
		"without gracefulMoves nothing must": {situation{facts: []messages.Fact{moved}}, invariant.RemovedByTask, false},
	})
}

func down(c *api.Cluster) {
	c.Spec.Taints = []corev1.Taint{{Key: "down", Effect: corev1.TaintEffectNoExecute, TimeAdded: &metav1.Time{Time: start}}}
}

// tolerating has the binding stay for so many seconds, or for good.
func tolerating(seconds *int64) func(*api.ResourceBinding) {
	return func(b *api.ResourceBinding) {
		b.Spec.Placement.ClusterTolerations = []corev1.Toleration{{Key: "down", Operator: corev1.TolerationOpExists, TolerationSeconds: seconds}}
	}
}

func TestNoStayPastTheDeadline(t *testing.T) {
	minute := int64(60)
	evicts := messages.Settings{Failover: true, EnableTaintManager: true, EnableNoExecuteTaintEviction: true, PlacementHonoursDeadlines: true}
	relists, slow := evicts, evicts
	relists.TaintRelistPeriod, slow.ClusterEvictionRate = time.Hour, 0.001
	held := func(b *api.ResourceBinding) {
		b.Status.Evictions = []api.Eviction{{State: api.EvictionBlocked, Cluster: "m1", Reason: "NoDestination"}}
	}
	judge(t, map[string]ruling{
		"it leaves in the instant":        {situation{m1: down, settings: evicts}, invariant.NeverLate, false},
		"it stays":                        {situation{m1: down, settings: evicts, later: time.Second}, invariant.NeverLate, true},
		"it tolerates that for a minute":  {situation{m1: down, settings: evicts, binding: tolerating(&minute), later: time.Minute}, invariant.NeverLate, false},
		"it stays for longer":             {situation{m1: down, settings: evicts, binding: tolerating(&minute), later: time.Minute + 1}, invariant.NeverLate, true},
		"it tolerates that for good":      {situation{m1: down, settings: evicts, binding: tolerating(nil), later: time.Hour}, invariant.NeverLate, false},
		"it says what holds it":           {situation{m1: down, settings: evicts, binding: held, later: time.Hour}, invariant.NeverLate, false},
		"its permit may take that long":   {situation{m1: down, settings: slow, later: time.Minute}, invariant.NeverLate, false},
		"it is found at the next re-list": {situation{m1: down, settings: relists, later: time.Hour}, invariant.NeverLate, false},
		"no evictions at all":             {situation{m1: down, later: time.Hour}, invariant.NeverLate, false},
		"the governor slows things down":  {situation{m1: down, settings: evicts, facts: []messages.Fact{&messages.GovernorChanged{State: "Blackout"}}, later: time.Hour}, invariant.NeverLate, false},
	})
}

func TestTaintsFollowConditions(t *testing.T) {
	ready := func(status metav1.ConditionStatus, taints ...string) func(*api.Cluster) {
		return func(c *api.Cluster) {
			c.Status.Conditions[0].Status = status
			for _, key := range taints {
				c.Spec.Taints = append(c.Spec.Taints, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoSchedule})
			}
		}
	}
	p := &api.ClusterTaintPolicy{TypeMeta: metav1.TypeMeta{APIVersion: "policy.karmada.io/v1alpha1", Kind: "ClusterTaintPolicy"}}
	p.Name = "down"
	p.Spec.AddOnConditions = []api.MatchCondition{{ConditionType: "Ready", Operator: "NotIn", StatusValues: []metav1.ConditionStatus{"True"}}}
	p.Spec.Taints = []api.PolicyTaint{{Key: "lost", Effect: corev1.TaintEffectNoSchedule}}
	policies, failover := []api.Object{p}, messages.Settings{Failover: true}
	changed := []messages.Fact{&messages.ConditionChanged{Cluster: "m1", Type: api.ConditionReady}}
	judge(t, map[string]ruling{
		"a cluster that is Ready has none":         {situation{facts: changed}, invariant.TaintsFollow, false},
		"one that is not Ready has its taint":      {situation{m1: ready("False", api.TaintNotReady), facts: changed}, invariant.TaintsFollow, false},
		"one that is not Ready has none":           {situation{m1: ready("False"), facts: changed}, invariant.TaintsFollow, true},
		"one that is Ready again keeps its taint":  {situation{m1: ready("True", api.TaintNotReady), facts: changed}, invariant.TaintsFollow, true},
		"a policy taints it":                       {situation{m1: ready("False", api.TaintNotReady, "lost"), objects: policies, settings: failover, facts: changed}, invariant.TaintsFollow, false},
		"a policy should taint it":                 {situation{m1: ready("False", api.TaintNotReady), objects: policies, settings: failover, facts: changed}, invariant.TaintsFollow, true},
		"a policy does nothing without failover":   {situation{m1: ready("False", api.TaintNotReady), objects: policies, facts: changed}, invariant.TaintsFollow, false},
		"a cluster that is not news is not judged": {situation{m1: ready("False", api.TaintNotReady), objects: policies, settings: failover}, invariant.TaintsFollow, false},
	})
}

func TestCapacityIsNotOversold(t *testing.T) {
	reserves := messages.Settings{CapacityReservation: true}
	capacity := func(cpu string) func(*api.Cluster) {
		return func(c *api.Cluster) {
			free := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourcePods: resource.MustParse("10")}
			c.Status.ResourceSummary = &api.ResourceSummary{Allocatable: free}
		}
	}
	asks := func(b *api.ResourceBinding) {
		b.Spec.ReplicaRequirements = &api.ReplicaRequirements{ResourceRequest: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}}
	}
	placed := func(preference api.ReplicaDivisionPreference) []messages.Fact {
		how := &api.ReplicaSchedulingStrategy{ReplicaSchedulingType: api.Divided, ReplicaDivisionPreference: preference}
		return []messages.Fact{&messages.Scheduled{Binding: "d/web", Clusters: []api.TargetCluster{{Name: "m1", Replicas: 1}}, Applied: &api.Placement{ReplicaScheduling: how}}}
	}
	resized := and(placed(api.Aggregated), &messages.CapacityChanged{Cluster: "m1"})
	judge(t, map[string]ruling{
		"there is capacity":                       {situation{binding: asks, m1: capacity("2"), settings: reserves, facts: placed(api.Aggregated)}, invariant.NeverOversold, false},
		"there is less":                           {situation{binding: asks, m1: capacity("1900m"), settings: reserves, facts: placed(api.Aggregated)}, invariant.NeverOversold, true},
		"it does not go by capacity":              {situation{binding: asks, m1: capacity("1"), settings: reserves, facts: placed(api.Weighted)}, invariant.NeverOversold, false},
		"the capacity was lost since":             {situation{binding: asks, m1: capacity("1"), settings: reserves, facts: resized}, invariant.NeverOversold, false},
		"without reservation it is not asked for": {situation{binding: asks, m1: capacity("1"), facts: placed(api.Aggregated)}, invariant.NeverOversold, false},
	})
}

func TestWhatIsBelievedIsWhatWasSaid(t *testing.T) {
	said := &messages.CopyReported{Cluster: "m1", Health: api.Healthy, Ready: 1}
	believed := func(item api.AggregatedStatusItem) func(*api.ResourceBinding) {
		return func(b *api.ResourceBinding) { b.Status.AggregatedStatus = []api.AggregatedStatusItem{item} }
	}
	for name, c := range map[string]struct {
		change func(*api.ResourceBinding)
		broken bool
	}{
		"just that":                    {believed(api.AggregatedStatusItem{ClusterName: "m1", Health: api.Healthy, ReadyReplicas: 1}), false},
		"another health":               {believed(api.AggregatedStatusItem{ClusterName: "m1", Health: api.Unhealthy, ReadyReplicas: 1}), true},
		"fewer replicas":               {believed(api.AggregatedStatusItem{ClusterName: "m1", Health: api.Healthy}), true},
		"nothing yet":                  {believed(api.AggregatedStatusItem{ClusterName: "m1"}), false},
		"of a cluster that was silent": {believed(api.AggregatedStatusItem{ClusterName: "m2", Health: api.Unhealthy}), false},
		"of a copy that is not asked for": {func(b *api.ResourceBinding) {
			believed(api.AggregatedStatusItem{ClusterName: "m1", Health: api.Unhealthy})(b)
			b.Spec.Clusters = nil
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := situation{binding: c.change, reported: said}
			require.Equal(t, c.broken, s.broken()[invariant.BeliefFollows] > 0)
		})
	}
}
