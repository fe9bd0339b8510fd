package invariant_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/invariant"
)

func TestAPlacementKeepsToItsPolicyAndToTaints(t *testing.T) {
	minute := int64(60)
	both := []api.TargetCluster{{Name: "m1", Replicas: 1}, {Name: "m2", Replicas: 1}}
	onto := func(p api.Placement) []messages.Fact {
		return []messages.Fact{&messages.Scheduled{Binding: "d/web", Clusters: both, Before: both[1:], Applied: &p, Affinity: "first"}}
	}
	repels := func(c *api.Cluster) {
		c.Spec.Taints = []corev1.Taint{{Key: "spot", Effect: corev1.TaintEffectNoSchedule}}
	}
	avoided := func(c *api.Cluster) {
		c.Spec.Taints = []corev1.Taint{{Key: "spot", Effect: corev1.TaintEffectPreferNoSchedule}}
	}
	tolerates := api.Placement{ClusterTolerations: []corev1.Toleration{{Key: "spot", Operator: corev1.TolerationOpExists}}}
	forAMinute := api.Placement{ClusterTolerations: []corev1.Toleration{{Key: "down", Operator: corev1.TolerationOpExists, TolerationSeconds: &minute}}}
	honours := messages.Settings{PlacementHonoursDeadlines: true}
	named := func(names ...string) api.Placement {
		return api.Placement{ClusterAffinity: &api.ClusterAffinity{ClusterNames: names}}
	}
	groups := func(of string) api.Placement {
		return api.Placement{ClusterAffinities: []api.ClusterAffinityTerm{
			{AffinityName: of, ClusterAffinity: api.ClusterAffinity{ClusterNames: []string{"m1"}}},
			{AffinityName: "other", ClusterAffinity: api.ClusterAffinity{ClusterNames: []string{"m3"}}},
		}}
	}
	overflows := groups("first")
	overflows.ClusterAffinities[0].ClusterNames = []string{"m2"}
	overflows.ClusterAffinities[0].OverflowAffinities = []api.OverflowAffinity{{ClusterAffinity: api.ClusterAffinity{ClusterNames: []string{"m1"}}}}
	spread := func(least, most int) api.Placement {
		return api.Placement{SpreadConstraints: []api.SpreadConstraint{{SpreadByField: api.SpreadByCluster, MinGroups: least, MaxGroups: most}}}
	}
	exact := messages.Settings{ExactSpread: true}
	notReady := func(c *api.Cluster) { c.Status.Conditions[0].Status = metav1.ConditionFalse }
	ready := messages.Settings{ScaleUpNeedsReady: true}
	labelled := api.Placement{ClusterAffinity: &api.ClusterAffinity{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "gold"}}}}
	gold := func(c *api.Cluster) { c.Labels = map[string]string{"tier": "gold"} }
	retainted := &messages.TaintAdded{Cluster: "m1", Taint: corev1.Taint{Key: "spot", Effect: corev1.TaintEffectNoSchedule}}
	judge(t, map[string]ruling{
		"no taint":                                {situation{facts: onto(api.Placement{})}, invariant.PlacementFollows, false},
		"a taint that it does not tolerate":       {situation{m1: repels, facts: onto(api.Placement{})}, invariant.PlacementFollows, true},
		"one that evicts":                         {situation{m1: down, facts: onto(api.Placement{})}, invariant.PlacementFollows, true},
		"one that is only to be avoided":          {situation{m1: avoided, facts: onto(api.Placement{})}, invariant.PlacementFollows, false},
		"a taint that it tolerates":               {situation{m1: repels, facts: onto(tolerates)}, invariant.PlacementFollows, false},
		"one that is added in that instant":       {situation{m1: repels, facts: and(onto(api.Placement{}), retainted)}, invariant.PlacementFollows, false},
		"where a copy runs":                       {situation{m1: repels, facts: and(runs("m1"), onto(api.Placement{})...)}, invariant.PlacementFollows, false},
		"a toleration that has not expired":       {situation{m1: down, settings: honours, facts: onto(forAMinute)}, invariant.PlacementFollows, false},
		"one that has":                            {situation{m1: down, settings: honours, later: time.Hour, next: onto(forAMinute)}, invariant.PlacementFollows, true},
		"one that has, as in Karmada":             {situation{m1: down, later: time.Hour, next: onto(forAMinute)}, invariant.PlacementFollows, false},
		"a cluster by its name":                   {situation{later: time.Second, next: onto(named("m1", "m2"))}, invariant.PlacementFollows, false},
		"a cluster that is not selected":          {situation{later: time.Second, next: onto(named("m2", "m3"))}, invariant.PlacementFollows, true},
		"one that is excluded":                    {situation{later: time.Second, next: onto(api.Placement{ClusterAffinity: &api.ClusterAffinity{ExcludeClusters: []string{"m1"}}})}, invariant.PlacementFollows, true},
		"one by its label":                        {situation{m1: gold, later: time.Second, next: onto(labelled)}, invariant.PlacementFollows, false},
		"one without the label":                   {situation{later: time.Second, next: onto(labelled)}, invariant.PlacementFollows, true},
		"one of the group":                        {situation{later: time.Second, next: onto(groups("first"))}, invariant.PlacementFollows, false},
		"one of another group":                    {situation{later: time.Second, next: onto(groups("second"))}, invariant.PlacementFollows, true},
		"one that the group overflows into":       {situation{later: time.Second, next: onto(overflows)}, invariant.PlacementFollows, false},
		"as many clusters as allowed":             {situation{settings: exact, facts: onto(spread(1, 2))}, invariant.PlacementFollows, false},
		"one too many":                            {situation{settings: exact, facts: onto(spread(1, 1))}, invariant.PlacementFollows, true},
		"one too few":                             {situation{settings: exact, facts: onto(spread(3, 3))}, invariant.PlacementFollows, true},
		"one too few, where Karmada's rules hold": {situation{facts: onto(spread(3, 3))}, invariant.PlacementFollows, false},
		"a cluster that is not Ready":             {situation{m1: notReady, settings: ready, facts: onto(api.Placement{})}, invariant.PlacementFollows, true},
		"so it may, as in Karmada":                {situation{m1: notReady, facts: onto(api.Placement{})}, invariant.PlacementFollows, false},
	})
}

func TestAnEvictionIsCarriedOutAsItsPolicySays(t *testing.T) {
	ten, minute := int32(10), int32(60)
	failsOver := func(f api.FailoverBehavior) func(*api.ResourceBinding) {
		return func(b *api.ResourceBinding) { b.Spec.Failover = &f }
	}
	directly := failsOver(api.FailoverBehavior{Cluster: &api.ClusterFailover{PurgeMode: api.PurgeDirectly}})
	graceful := failsOver(api.FailoverBehavior{Cluster: &api.ClusterFailover{PurgeMode: api.PurgeGracefully, GracePeriodSeconds: &ten}})
	never := failsOver(api.FailoverBehavior{Application: &api.ApplicationFailover{
		DecisionConditions: api.DecisionConditions{TolerationSeconds: &minute}, PurgeMode: api.PurgeNever,
	}})
	evicted := func(reason string, mode api.PurgeMode, seconds *int32, suppress bool) *messages.EvictionStarted {
		k := task("m3", start)
		k.PurgeMode, k.GracePeriodSeconds = mode, seconds
		if suppress {
			k.SuppressDeletion = &suppress
		}
		return &messages.EvictionStarted{Binding: "d/web", Cluster: "m3", Task: k, Grounds: messages.Grounds{Reason: reason}}
	}
	const taint, health = api.EvictionReasonTaintUntolerated, api.EvictionReasonApplicationFailure
	unhealthy := &messages.HealthChanged{Binding: "d/web", Cluster: "m3", Health: api.Unhealthy, Since: start}
	recovered := &messages.HealthChanged{Binding: "d/web", Cluster: "m3", Health: api.Healthy}
	forHealth := []messages.Fact{evicted(health, api.PurgeNever, nil, true)}
	again := []messages.Fact{
		forHealth[0], &messages.HealthForgotten{Binding: "d/web", Cluster: "m3"},
		&messages.HealthChanged{Binding: "d/web", Cluster: "m3", Health: api.Unhealthy, Since: start.Add(time.Minute)},
	}
	edited := &messages.BindingUpdated{Binding: "d/web"}
	judge(t, map[string]ruling{
		"directly":                              {situation{binding: directly, facts: []messages.Fact{evicted(taint, api.PurgeDirectly, nil, false)}}, invariant.TasksFollow, false},
		"gracefully for directly":               {situation{binding: directly, facts: []messages.Fact{evicted(taint, api.PurgeGracefully, nil, false)}}, invariant.TasksFollow, true},
		"directly for what says nothing":        {situation{facts: []messages.Fact{evicted(taint, api.PurgeDirectly, nil, false)}}, invariant.TasksFollow, true},
		"as the setting says":                   {situation{settings: messages.Settings{NoExecuteTaintEvictionPurgeMode: api.PurgeDirectly}, facts: []messages.Fact{evicted(taint, api.PurgeDirectly, nil, false)}}, invariant.TasksFollow, false},
		"the grace period of the policy":        {situation{binding: graceful, facts: []messages.Fact{evicted(taint, api.PurgeGracefully, &ten, false)}}, invariant.TasksFollow, false},
		"another grace period":                  {situation{binding: graceful, facts: []messages.Fact{evicted(taint, api.PurgeGracefully, &minute, false)}}, invariant.TasksFollow, true},
		"none":                                  {situation{binding: graceful, facts: []messages.Fact{evicted(taint, api.PurgeGracefully, nil, false)}}, invariant.TasksFollow, true},
		"the policy was edited meanwhile":       {situation{binding: graceful, facts: []messages.Fact{edited, evicted(taint, api.PurgeGracefully, nil, false)}}, invariant.TasksFollow, false},
		"the old copy is kept":                  {situation{binding: never, facts: forHealth}, invariant.TasksFollow, false},
		"it is not, against the policy":         {situation{binding: never, facts: []messages.Fact{evicted(health, api.PurgeNever, nil, false)}}, invariant.TasksFollow, true},
		"it was Unhealthy long enough":          {situation{binding: never, facts: []messages.Fact{unhealthy}, later: time.Minute, next: forHealth}, invariant.TasksFollow, false},
		"it was not":                            {situation{binding: never, facts: []messages.Fact{unhealthy}, later: time.Minute - 1, next: forHealth}, invariant.TasksFollow, true},
		"the next copy is Unhealthy, too":       {situation{binding: never, facts: []messages.Fact{unhealthy}, later: time.Minute, next: again}, invariant.TasksFollow, false},
		"the next copy goes for another reason": {situation{binding: never, facts: []messages.Fact{unhealthy}, later: time.Minute, next: and(again, evicted(api.EvictionReasonFailback, api.PurgeGracefully, nil, false))}, invariant.TasksFollow, false},
		"it recovered, which is not judged":     {situation{binding: never, facts: []messages.Fact{unhealthy, recovered}, later: time.Second, next: forHealth}, invariant.TasksFollow, false},
	})
}

func TestWhatIsPlacedIsObserved(t *testing.T) {
	lags := func(b *api.ResourceBinding) { b.Generation = 2 }
	ahead := func(b *api.ResourceBinding) { b.Status.SchedulerObservedGeneration = 2 }
	again := func(last time.Time) func(*api.ResourceBinding) {
		return func(b *api.ResourceBinding) {
			b.Spec.RescheduleTriggeredAt, b.Status.LastScheduledTime = &metav1.Time{Time: start}, &metav1.Time{Time: last}
		}
	}
	placed := &messages.Scheduled{Binding: "d/web", Clusters: []api.TargetCluster{{Name: "m1", Replicas: 1}}}
	confirmed := &messages.PlacementConfirmed{Binding: "d/web"}
	edited := &messages.BindingUpdated{Binding: "d/web"}
	judge(t, map[string]ruling{
		"as it is":                       {situation{facts: []messages.Fact{placed}}, invariant.ObservedFollows, false},
		"not as it is":                   {situation{binding: lags, facts: []messages.Fact{placed}}, invariant.ObservedFollows, true},
		"confirmed, not as it is":        {situation{binding: lags, facts: []messages.Fact{confirmed}}, invariant.ObservedFollows, true},
		"edited after it":                {situation{binding: lags, facts: []messages.Fact{placed, edited}}, invariant.ObservedFollows, false},
		"not placed yet":                 {situation{binding: lags}, invariant.ObservedFollows, false},
		"a generation that is yet to be": {situation{binding: ahead}, invariant.ObservedFollows, true},
		"placed again, as was asked":     {situation{binding: again(start)}, invariant.ObservedFollows, false},
		"not placed again, as was asked": {situation{binding: again(start.Add(-time.Second))}, invariant.ObservedFollows, true},
	})
}

func TestNothingReturnsBeforeItsClusterIsStable(t *testing.T) {
	returns := func(b *api.ResourceBinding) {
		minute := int32(60)
		b.Spec.Failover = &api.FailoverBehavior{Cluster: &api.ClusterFailover{Failback: &api.Failback{Mode: api.FailbackAutomatic, StabilizationSeconds: &minute}}}
		b.Status.Home = []api.PreferredShare{{TargetCluster: api.TargetCluster{Name: "m3", Replicas: 1}}}
	}
	able := &messages.ShareFailbackScheduled{Binding: "d/web", Cluster: "m3", At: start.Add(time.Minute)}
	not := &messages.ShareFailbackCancelled{Binding: "d/web", Cluster: "m3"}
	back := []messages.Fact{&messages.FailbackStarted{Binding: "d/web", Clusters: []api.TargetCluster{{Name: "m3", Replicas: 1}}}}
	judge(t, map[string]ruling{
		"after that time":       {situation{binding: returns, facts: []messages.Fact{able}, later: time.Minute, next: back}, invariant.FailsBack, false},
		"before":                {situation{binding: returns, facts: []messages.Fact{able}, later: time.Minute - 1, next: back}, invariant.FailsBack, true},
		"the time begins again": {situation{binding: returns, facts: []messages.Fact{able, not}, later: time.Second, next: back}, invariant.FailsBack, false},
		"the policy was edited": {situation{binding: returns, facts: []messages.Fact{able}, later: time.Second, next: and([]messages.Fact{&messages.BindingUpdated{Binding: "d/web"}}, back...)}, invariant.FailsBack, false},
	})
}

func TestQuotasAreKept(t *testing.T) {
	quota := func(used string) []api.Object {
		q := &api.FederatedResourceQuota{TypeMeta: metav1.TypeMeta{APIVersion: "policy.karmada.io/v1alpha1", Kind: "FederatedResourceQuota"}}
		q.Namespace, q.Name = "d", "team"
		q.Spec.Overall = corev1.ResourceList{"cpu": resource.MustParse(used)}
		return []api.Object{q}
	}
	requests := func(b *api.ResourceBinding) {
		b.Spec.ReplicaRequirements = &api.ReplicaRequirements{ResourceRequest: corev1.ResourceList{"cpu": resource.MustParse("1")}}
	}
	placed := func(before, after int32) []messages.Fact {
		return []messages.Fact{&messages.Scheduled{
			Binding: "d/web", Before: []api.TargetCluster{{Name: "m1", Replicas: before}}, Clusters: []api.TargetCluster{{Name: "m1", Replicas: after}},
		}}
	}
	enforced := messages.Settings{FederatedQuotaEnforcement: true}
	edited := &messages.BindingUpdated{Binding: "d/other"}
	judge(t, map[string]ruling{
		"two of two":                   {situation{binding: requests, settings: enforced, objects: quota("2"), facts: placed(1, 2)}, invariant.QuotasKept, false},
		"two of one":                   {situation{binding: requests, settings: enforced, objects: quota("1"), facts: placed(1, 2)}, invariant.QuotasKept, true},
		"two of one, and no more":      {situation{binding: requests, settings: enforced, objects: quota("1"), facts: placed(2, 2)}, invariant.QuotasKept, false},
		"it requests nothing":          {situation{settings: enforced, objects: quota("1"), facts: placed(1, 2)}, invariant.QuotasKept, false},
		"another was edited beside it": {situation{binding: requests, settings: enforced, objects: quota("1"), facts: and(placed(1, 2), edited)}, invariant.QuotasKept, false},
		"quotas are not enforced":      {situation{binding: requests, objects: quota("1"), facts: placed(1, 2)}, invariant.QuotasKept, false},
	})
}

// What served before a workload was deleted serves nothing of the next of that name.
func TestACopyOfADeletedWorkloadTakesNothingOver(t *testing.T) {
	healthy := func(c messages.ClusterName) messages.Fact {
		return &messages.HealthChanged{Binding: "d/web", Cluster: c, Health: api.Healthy, Ready: 1}
	}
	served := and(runs("m1", "m2"), healthy("m1"), healthy("m2"))
	keeps := messages.Settings{GracefulEvictionTimeout: time.Minute, KeepLastCopy: true}
	deleted := and(served, &messages.BindingDeleted{Binding: "d/web"})
	judge(t, map[string]ruling{
		"all serve, and the time is up":  {situation{binding: leaving(task("m3", start)), settings: keeps, facts: served, later: time.Hour}, invariant.TasksEnd, true},
		"those that served were deleted": {situation{binding: leaving(task("m3", start)), settings: keeps, facts: deleted, later: time.Hour}, invariant.TasksEnd, false},
	})
}

func TestEvictionsForHealthKeepToTheirPace(t *testing.T) {
	two, minute := int32(2), int32(60)
	paced := func(b *api.ResourceBinding) {
		b.Spec.Failover = &api.FailoverBehavior{Application: &api.ApplicationFailover{
			Pace: &api.FailoverPace{MaxFailovers: &two, WindowSeconds: &minute, CooldownSeconds: &minute},
		}}
	}
	evicted := func(from messages.ClusterName) messages.Fact {
		return &messages.EvictionStarted{
			Binding: "d/web", Cluster: from, Task: task(string(from), start), Grounds: messages.Grounds{Reason: api.EvictionReasonApplicationFailure},
		}
	}
	twice := []messages.Fact{evicted("m1"), evicted("m2")}
	once := []messages.Fact{evicted("m1")}
	third := []messages.Fact{evicted("m3")}
	back := []messages.Fact{&messages.Scheduled{
		Binding: "d/web", Clusters: []api.TargetCluster{{Name: "m1", Replicas: 1}}, Applied: &api.Placement{},
	}}
	edited := []messages.Fact{&messages.BindingUpdated{Binding: "d/web"}}
	settings := messages.Settings{ApplicationFailoverLimit: 1, ApplicationFailoverWindow: time.Hour, ApplicationCooldown: time.Hour}
	plain := func(b *api.ResourceBinding) {
		b.Spec.Failover = &api.FailoverBehavior{Application: &api.ApplicationFailover{}}
	}
	judge(t, map[string]ruling{
		"as many as may":                       {situation{binding: paced, facts: twice}, invariant.TasksFollow, false},
		"one more within the window":           {situation{binding: paced, facts: twice, later: time.Minute - 1, next: third}, invariant.TasksFollow, true},
		"one more after it":                    {situation{binding: paced, facts: twice, later: time.Minute, next: third}, invariant.TasksFollow, false},
		"as settings say":                      {situation{binding: plain, settings: settings, facts: once, later: time.Minute, next: third}, invariant.TasksFollow, true},
		"any number":                           {situation{binding: plain, facts: twice, later: time.Second, next: third}, invariant.TasksFollow, false},
		"it returns too early":                 {situation{binding: paced, facts: once, later: time.Minute - 1, next: back}, invariant.PlacementFollows, true},
		"it returns when that is over":         {situation{binding: paced, facts: once, later: time.Minute, next: back}, invariant.PlacementFollows, false},
		"too early, and edited meanwhile":      {situation{binding: paced, facts: once, later: time.Second, next: and(edited, back...)}, invariant.PlacementFollows, false},
		"made again, it knows nothing of that": {situation{binding: paced, facts: and(once, &messages.BindingDeleted{Binding: "d/web"}), later: time.Second, next: back}, invariant.PlacementFollows, false},
	})
}

func TestAGroupIsKeptApart(t *testing.T) {
	other := func(group string, on string) []api.Object {
		b := &api.ResourceBinding{TypeMeta: metav1.TypeMeta{APIVersion: "work.karmada.io/v1alpha2", Kind: "ResourceBinding"}}
		b.Namespace, b.Name = "d", "shop"
		b.Spec.WorkloadAffinityGroups = &api.WorkloadAffinityGroups{AntiAffinityGroup: group}
		b.Spec.Clusters = []api.TargetCluster{{Name: on, Replicas: 1}}
		return []api.Object{b}
	}
	apart := func(b *api.ResourceBinding) {
		b.Spec.WorkloadAffinityGroups = &api.WorkloadAffinityGroups{AntiAffinityGroup: "team=a"}
	}
	left := func(b *api.ResourceBinding) {
		apart(b)
		b.Spec.Clusters = nil
	}
	placed := []messages.Fact{&messages.Scheduled{Binding: "d/web", Clusters: []api.TargetCluster{{Name: "m1", Replicas: 1}}, Applied: &api.Placement{}}}
	gate := messages.Settings{WorkloadAffinity: true}
	edited := &messages.BindingUpdated{Binding: "d/shop"}
	judge(t, map[string]ruling{
		"another of the group is elsewhere":   {situation{binding: apart, settings: gate, objects: other("team=a", "m2"), facts: placed}, invariant.PlacementFollows, false},
		"another of the group is there":       {situation{binding: apart, settings: gate, objects: other("team=a", "m1"), facts: placed}, invariant.PlacementFollows, true},
		"one of another group is there":       {situation{binding: apart, settings: gate, objects: other("team=b", "m1"), facts: placed}, invariant.PlacementFollows, false},
		"it joined the group in that instant": {situation{binding: apart, settings: gate, objects: other("team=a", "m1"), facts: and(placed, edited)}, invariant.PlacementFollows, false},
		"it left in that instant":             {situation{binding: left, settings: gate, objects: other("team=a", "m1"), facts: placed}, invariant.PlacementFollows, false},
		"the feature is off":                  {situation{binding: apart, objects: other("team=a", "m1"), facts: placed}, invariant.PlacementFollows, false},
	})
}
