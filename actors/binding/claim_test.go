package binding_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"leeward/actors"
	"leeward/actors/actorstest"
	"leeward/actors/binding"
	"leeward/messages"
	"leeward/messages/api"
)

// claiming is a claim with a priority and a policy of its own kind of placement.
func claiming(policy messages.PropagationName, priority int32) *messages.ClaimMade {
	spec := duplicated()
	spec.SchedulerName = string(policy)
	return &messages.ClaimMade{Policy: policy, Priority: priority, Spec: spec}
}

func preempting(m *messages.ClaimMade) *messages.ClaimMade {
	m.Preempts = true
	return m
}

// owners are the policies that the facts of a step name.
func owners(n *actorstest.Network) []string {
	list := []string{}
	for _, f := range n.Facts() {
		switch f := f.(type) {
		case *messages.BindingCreated:
			list = append(list, "created "+f.Policy)
		case *messages.BindingUpdated:
			list = append(list, "updated "+f.Policy)
		}
	}
	return list
}

func TestTheFirstClaimCreatesTheBinding(t *testing.T) {
	b := drive(t, settings())
	w, c := workload(2), claim("default/p", duplicated(fiveMinutes))
	n := b.tell(w, c)
	spec := &api.BindingSpec{
		Resource:  api.ObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "default", Name: "web", UID: "u"},
		Replicas:  2,
		Placement: &c.Spec.Placement,
	}
	n.Recorded(&messages.BindingCreated{Binding: name, Policy: "PropagationPolicy default/p", Replicas: 2, Spec: spec, UID: "u"})
	n.Told(scheduler, &messages.PlaceBinding{
		Binding: name, Request: 1, APIVersion: "apps/v1", Kind: "Deployment", UID: "u", HasReplicas: true, Replicas: 2,
		Placement: &c.Spec.Placement, Since: b.Now(),
	})
}

func TestAWorkloadThatNoPolicyClaimsIsNotChanged(t *testing.T) {
	b := drive(t, settings())
	b.tell(workload(2)).Quiet().Sleeps()
	b.tell(workload(3)).Quiet()
}

func TestAClaimWaitsForItsWorkload(t *testing.T) {
	b := drive(t, settings())
	b.tell(claim("default/p", duplicated())).Quiet()
	require.Equal(t, []string{"created PropagationPolicy default/p"}, owners(b.tell(workload(2))))
}

func TestTheClaimsOfOneInstantEndTheSameInAnyOrder(t *testing.T) {
	clusterScoped := claiming("all", 99)
	clusterScoped.ClusterScoped = true
	closer := claiming("default/closer", 3)
	closer.Rank = 3
	var first *actorstest.Outcome
	actorstest.EveryWay(func(choose actorstest.Choose) {
		b := drive(t, settings())
		arrivals := actorstest.Interleave(choose,
			[]messages.ToBinding{workload(1), workload(2)},
			[]messages.ToBinding{claiming("default/low", 1)},
			[]messages.ToBinding{claiming("default/high", 3)},
			[]messages.ToBinding{closer},
			[]messages.ToBinding{clusterScoped},
			[]messages.ToBinding{claiming("default/gone", 9), &messages.ClaimWithdrawn{Policy: "default/gone"}},
		)
		n := b.tell(arrivals...)
		require.Equal(t, []string{"created PropagationPolicy default/closer"}, owners(n))
		got := n.Outcome()
		if first == nil {
			first = &got
		}
		require.Equal(t, *first, got)
	})
}

func TestAnOwnerKeepsItsResource(t *testing.T) {
	b := drive(t, settings())
	b.tell(workload(2), claiming("default/first", 0))
	require.Empty(t, owners(b.tell(claiming("default/better", 9))))
	require.Equal(t, []string{"updated PropagationPolicy default/eager"}, owners(b.tell(preempting(claiming("default/eager", 1)))))
	require.Empty(t, owners(b.tell(preempting(claiming("default/equal", 1)))), "only a higher priority preempts")
}

func TestPreemptionHasItsGate(t *testing.T) {
	off, on := settings(func(s *messages.Settings) { s.PropagationPolicyPreemption = false }), settings()
	b := drive(t, off)
	b.tell(workload(2), claiming("default/first", 0))
	require.Empty(t, owners(b.tell(preempting(claiming("default/eager", 1)))))
	require.Equal(t, []string{"updated PropagationPolicy default/eager"}, owners(b.tell(&messages.SettingsChanged{Settings: on})))
	require.Empty(t, owners(b.tell(&messages.SettingsChanged{Settings: off})), "what was taken is not given back")
}

// lazily makes a claim wait for its resource to change.
func lazily(m *messages.ClaimMade) *messages.ClaimMade {
	m.Spec.ActivationPreference = api.ActivateLazily
	return m
}

func TestALazyPolicyCountsWhenItsResourceChanges(t *testing.T) {
	deferred := &messages.ActivationDeferred{Binding: name, Policy: "PropagationPolicy default/p"}
	b := drive(t, settings())
	b.tell(workload(2)).Quiet()
	b.tell(lazily(claim("default/p", duplicated()))).Recorded(deferred)
	require.Equal(t, []string{"created PropagationPolicy default/p"}, owners(b.tell(workload(2))), "even a change of nothing")
	b.tell(lazily(claim("default/p", duplicated()))).Quiet()
	b.tell(lazily(claim("default/p", divided()))).Recorded(deferred)
	b.tell(&messages.WorkloadApplied{Workload: workload(2).Workload, Recovered: true}).Quiet()
	require.Equal(t, []string{"updated PropagationPolicy default/p"}, owners(b.tell(workload(2))))
}

func TestALazyPolicyAndItsResourceMayComeInAnyOrder(t *testing.T) {
	actorstest.EveryWay(func(choose actorstest.Choose) {
		b := drive(t, settings())
		n := b.tell(actorstest.Interleave(choose,
			[]messages.ToBinding{workload(1)},
			[]messages.ToBinding{lazily(claim("default/p", duplicated()))},
		)...)
		require.Equal(t, []string{"created PropagationPolicy default/p"}, owners(n))
	})
}

func TestALazyPolicyTakesOverBeforeItCounts(t *testing.T) {
	b := drive(t, settings())
	b.tell(workload(2), claiming("default/first", 0))
	n := b.tell(lazily(preempting(claiming("default/lazy", 1))))
	updates := actorstest.FactsOf[*messages.BindingUpdated](n.Facts())
	require.Len(t, updates, 1)
	require.Equal(t, []string{"policy"}, updates[0].Changed)
	require.Equal(t, "default/first", updates[0].Spec.SchedulerName, "all else is as it was")
}

func TestAPolicyOfANamespacePreemptsAnyThatIsClusterScoped(t *testing.T) {
	b := drive(t, settings())
	all := claiming("all", 9)
	all.ClusterScoped = true
	b.tell(workload(2), all)
	require.Empty(t, owners(b.tell(claiming("default/meek", 10))))
	require.Equal(t, []string{"updated PropagationPolicy default/eager"}, owners(b.tell(preempting(claiming("default/eager", 0)))))
	other := preempting(claiming("other", 99))
	other.ClusterScoped = true
	require.Empty(t, owners(b.tell(other)), "never the other way round")
}

func TestAnOwnerThatLetsGoLeavesTheResourceToTheBestOfTheOthers(t *testing.T) {
	b := drive(t, settings())
	b.tell(workload(2), claiming("default/first", 9), claiming("default/second", 1))
	require.Equal(t, []string{"updated PropagationPolicy default/second"}, owners(b.tell(&messages.ClaimWithdrawn{Policy: "default/first"})))
	b.tell(&messages.ClaimWithdrawn{Policy: "default/second"}).Quiet()
	require.Equal(t, []string{"updated PropagationPolicy default/third"}, owners(b.tell(claiming("default/third", 0))))
}

func TestANewOwnerIsNamedThoughItGivesTheSame(t *testing.T) {
	b := drive(t, settings())
	b.tell(workload(2), claim("default/first", duplicated()))
	b.tell(&messages.ClaimWithdrawn{Policy: "default/first"})
	require.Equal(t, []string{"updated PropagationPolicy default/second"}, owners(b.tell(claim("default/second", duplicated()))))
}

func TestAClusterPropagationPolicyIsNamedAsSuch(t *testing.T) {
	b := drive(t, settings())
	c := claiming("all", 0)
	c.ClusterScoped = true
	require.Equal(t, []string{"created ClusterPropagationPolicy all"}, owners(b.tell(workload(2), c)))
}

func TestWhatChangedIsNamedAndTheSchedulerAskedOnce(t *testing.T) {
	base := duplicated()
	for change, c := range map[string]struct {
		message messages.ToBinding
		want    []string
	}{
		"nothing":      {claim("default/p", duplicated()), nil},
		"replicas":     {workload(3), []string{"replicas"}},
		"the resource": {&messages.WorkloadApplied{Workload: &messages.Workload{APIVersion: "apps/v2", Kind: "Deployment", Namespace: "default", Name: "web", UID: "u", Replicas: 2, HasReplicas: true}}, []string{"resource"}},
		"requirements": {&messages.WorkloadApplied{Workload: needy()}, []string{"requirements"}},
		"placement":    {claim("default/p", divided()), []string{"placement"}},
		"failover":     {claim("default/p", with(func(s *api.PropagationSpec) { s.Failover = &api.FailoverBehavior{} })), []string{"failover"}},
		"suspension":   {claim("default/p", with(func(s *api.PropagationSpec) { s.Suspension = &api.Suspension{} })), []string{"suspension"}},
		"priority":     {claim("default/p", with(func(s *api.PropagationSpec) { s.SchedulePriority = &api.SchedulePriority{Priority: 1} })), []string{"schedulePriority"}},
		"dependencies": {claim("default/p", with(func(s *api.PropagationSpec) { s.PropagateDeps = true })), []string{"policy"}},
		"preservation": {claim("default/p", with(func(s *api.PropagationSpec) { s.PreserveResourcesOnDeletion = new(true) })), []string{"policy"}},
	} {
		t.Run(change, func(t *testing.T) {
			b := drive(t, settings())
			b.tell(workload(2), claim("default/p", base))
			n := b.tell(c.message)
			if c.want == nil {
				n.Quiet()
				return
			}
			facts := actorstest.FactsOf[*messages.BindingUpdated](n.Facts())
			require.Len(t, facts, 1)
			require.Equal(t, c.want, facts[0].Changed)
			require.Len(t, actorstest.MailTo(n.Mail(), scheduler), 1)
		})
	}
}

func needy() *messages.Workload {
	w := *workload(2).Workload
	w.Requirements = &api.ReplicaRequirements{Namespace: "default"}
	return &w
}

func with(change func(*api.PropagationSpec)) *api.PropagationSpec {
	spec := duplicated()
	change(spec)
	return spec
}

func TestAPlacementThatStaysKeepsItsPointer(t *testing.T) {
	b := drive(t, settings())
	first := claim("default/p", duplicated())
	b.tell(workload(2), first)
	b.tell(workload(3), claim("default/p", duplicated()))
	require.Same(t, &first.Spec.Placement, b.asked.Placement)
}

func TestARebalancerAsksForAFreshPlacement(t *testing.T) {
	b := placed(t, settings(), duplicated(), "m1:2")
	b.advance(1)
	b.tell(&messages.RescheduleTriggered{At: b.Now(), By: "spread"}).
		Recorded(&messages.RescheduleRequested{Binding: name, At: b.Now(), By: "spread"})
	require.Equal(t, b.Now(), b.asked.RescheduleAt)
	require.Equal(t, actorstest.Start, b.asked.LastScheduled)
}

func TestPlacementsAreToldToMembersAndClusters(t *testing.T) {
	b := drive(t, settings())
	b.tell(workload(3), claim("default/p", divided()))
	chosen := b.place("m1:1", "m2:2")
	chosen.Affinity, chosen.Trigger = "near", "first placement"
	b.tell(chosen).Recorded(&messages.Scheduled{
		Binding: name, Clusters: targets("m1:1", "m2:2"), Affinity: "near", Trigger: "first placement", Applied: &divided().Placement,
	}).
		Told(memberAt("m1"), run(1, 1)).Told(memberAt("m2"), run(2, 2)).Told(clusterAt("m1"), here).Told(clusterAt("m2"), here)
	b.tell(workload(5))
	require.Equal(t, "near", b.asked.Affinity)
	n := b.tell(b.place("m3:1", "m2:3", "m1:1")).Told(memberAt("m1")).Told(memberAt("m2"), run(3, 3)).Told(memberAt("m3"), run(1, 4))
	require.Equal(t, targets("m1:1", "m2:3", "m3:1"), scheduled(t, n), "kept ones first")
}

func TestADeletedWorkloadTakesEverythingAlong(t *testing.T) {
	b := placed(t, settings(), duplicated(), "m1:2", "m2:2", "m3:2")
	b.tell(tainted("m1", b.Now(), "down"), tainted("m2", b.Now(), "down"))
	b.tell(permit("m1"))
	b.tell(&messages.WorkloadDeleted{}).Recorded(&messages.BindingDeleted{Binding: name}).
		Told(memberAt("m1"), removal).Told(memberAt("m2"), removal).Told(memberAt("m3"), removal).
		Told(clusterAt("m1"), left).Told(clusterAt("m2"), left).Told(clusterAt("m3"), left).
		Told(governor, unwish("m2")).Told(scheduler, &messages.BindingGone{Binding: name}).Sleeps()
	b.tell(permit("m2"), tainted("m3", b.Now(), "down"), report("m3", api.Healthy, 2, 3), &messages.CopyRemoved{Cluster: "m1"}).Quiet()
}

func TestADeletedWorkloadDoesNotAskTwiceForACopyToGo(t *testing.T) {
	b := placed(t, settings(), duplicated(), "m1:2", "m2:2")
	b.tell(claim("default/p", divided()))
	b.tell(b.place("m2:2"))
	b.tell(&messages.WorkloadDeleted{}).Told(memberAt("m1")).Told(memberAt("m2"), removal)
}

func TestAnUnclaimedWorkloadIsDeletedInSilence(t *testing.T) {
	b := drive(t, settings())
	b.tell(workload(2))
	b.tell(&messages.WorkloadDeleted{}).Quiet()
	b.tell(claim("default/p", duplicated())).Quiet()
}

func TestWhatHasNoReplicasByItselfHasThemInAManifest(t *testing.T) {
	for c, m := range map[string]struct {
		spec api.BindingSpec
		want bool
	}{
		"replicas":     {api.BindingSpec{Replicas: 1}, true},
		"requirements": {api.BindingSpec{ReplicaRequirements: &api.ReplicaRequirements{}}, true},
		"neither":      {api.BindingSpec{}, false},
	} {
		t.Run(c, func(t *testing.T) {
			m.spec.Placement = &api.Placement{ClusterTolerations: []corev1.Toleration{fiveMinutes}}
			b := drive(t, settings())
			b.tell(&messages.BindingApplied{Spec: &m.spec, Managed: true})
			require.Equal(t, m.want, b.asked.HasReplicas)
		})
	}
}

func TestAStrangeMessageIsABrokenInvariant(t *testing.T) {
	require.PanicsWithValue(t, "binding default/web: unknown message <nil>", func() {
		binding.New(name, new(settings())).Receive(actorstest.Start, nil, &actors.Outbox{})
	})
}

// waiting is a claim of a policy whose dependentOverrides do not all exist.
func waiting(c *messages.ClaimMade) *messages.ClaimMade {
	c.Waits = true
	return c
}

func TestAPolicyThatWaitsKeepsTheResourceFromThoseAfterIt(t *testing.T) {
	b := drive(t, settings())
	b.tell(workload(2), waiting(claim("default/a", duplicated())), claim("default/b", duplicated())).Recorded()
	n := b.tell(claim("default/a", duplicated()))
	require.Equal(t, "PropagationPolicy default/a", actorstest.FactsOf[*messages.BindingCreated](n.Facts())[0].Policy)
}

func TestAPolicyThatWaitsTakesNothingFromTheOwner(t *testing.T) {
	s := settings()
	s.PropagationPolicyPreemption = true
	b := placed(t, s, duplicated(), "m1:2")
	taker := waiting(claim("default/taker", duplicated()))
	taker.Preempts, taker.Priority = true, 9
	b.tell(taker).Recorded()
	b.tell(claim("default/p", divided()))
	require.NotNil(t, b.asked.Placement.ReplicaScheduling, "the owner is heard")
}

func TestAnOwnerThatWaitsIsNotHeard(t *testing.T) {
	b := placed(t, settings(), duplicated(), "m1:2")
	b.tell(waiting(claim("default/p", divided()))).Recorded()
}

func TestALazyPolicyThatWaitedCountsForANewResource(t *testing.T) {
	b := drive(t, settings())
	lazy := duplicated()
	lazy.ActivationPreference = api.ActivateLazily
	b.tell(workload(2), waiting(claim("default/p", lazy))).Recorded()
	require.Contains(t, kinds(b.tell(claim("default/p", lazy))), "BindingCreated")
}

func TestAPolicyThatIsCreatedAgainKeepsItsClaim(t *testing.T) {
	again := func(life int) *messages.ClaimMade {
		c := claiming("default/p", 0)
		c.Life = life
		return c
	}
	b := drive(t, settings())
	b.tell(workload(2), again(1))
	b.tell(again(2), &messages.ClaimWithdrawn{Policy: "default/p", Life: 1})
	b.tell(claiming("default/other", 9)).Quiet()

	late := drive(t, settings())
	late.tell(workload(2), again(2), &messages.ClaimWithdrawn{Policy: "default/p", Life: 2})
	require.Equal(t, []string{"created PropagationPolicy default/other"}, owners(late.tell(claiming("default/other", 0))), "its own withdrawal counts")
}

// A binding that is created again, for it was deleted or its workload came back, was never placed: its scheduling is recorded.
func TestABindingThatIsCreatedAgainWasNeverPlaced(t *testing.T) {
	b := placed(t, settings(), duplicated(), "m1:2")
	first := b.asked.Request
	b.tell(&messages.RescheduleTriggered{At: b.Now()})
	b.advance(time.Minute)
	b.tell(&messages.WorkloadDeleted{}, workload(0), claim("default/p", duplicated()))
	require.Nil(t, b.asked.Applied)
	require.Zero(t, b.asked.LastScheduled)
	require.Zero(t, b.asked.RescheduleAt)
	require.Equal(t, b.Now(), b.asked.Since)
	require.Greater(t, b.asked.Request, first, "an answer to the one before is void")
}
