package cluster_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"leeward/actors/actorstest"
	"leeward/actors/cluster"
	"leeward/messages"
	"leeward/messages/api"
)

func adds(policy messages.PolicyName, generation uint64, key string) *messages.VerdictGiven {
	return &messages.VerdictGiven{
		Policy: policy, Generation: generation, Add: true, AddCause: "X=True",
		Taints: []api.PolicyTaint{{Key: key, Effect: "NoSchedule"}},
	}
}

func removes(policy messages.PolicyName, generation uint64, keys ...string) *messages.VerdictGiven {
	v := &messages.VerdictGiven{Policy: policy, Generation: generation, Remove: true, RemoveCause: "X=False"}
	for _, key := range keys {
		v.Taints = append(v.Taints, api.PolicyTaint{Key: key, Effect: "NoSchedule"})
	}
	return v
}

func abstains(policy messages.PolicyName, generation uint64) *messages.VerdictGiven {
	return &messages.VerdictGiven{Policy: policy, Generation: generation}
}

func TestAClusterActsOnceAllPoliciesHaveAnswered(t *testing.T) {
	d := drive(t, nil, listed("a", "b")...)
	d.Tell(adds("b", 1, "x")).Quiet()
	d.Tell(abstains("a", 1)).Recorded(tainted("x:NoSchedule", d.Now(), byPolicy("b", "X=True")))
}

func TestVerdictsComeTrueInOneChange(t *testing.T) {
	d := drive(t, nil, listed("a", "b")...)
	n := d.Tell(adds("a", 1, "x"), adds("b", 1, "y"))
	require.Equal(t, []string{"x:NoSchedule", "y:NoSchedule"}, taintsOf(t, n))
	require.Len(t, actorstest.MailTo(n.Mail(), scheduler), 1)
}

func TestStaleVerdictsAreVoid(t *testing.T) {
	d := drive(t, nil, listed("a")...)
	d.Tell(report("X", "True")).Recorded(changed("X", "True"))
	d.Tell(adds("a", 1, "x")).Quiet()
	d.Tell(adds("a", 2, "y")).Recorded(tainted("y:NoSchedule", d.Now(), byPolicy("a", "X=True")))
	d.Tell(adds("a", 2, "z")).Quiet()
}

func TestVerdictsAreVoidAsSoonAsAConditionChanges(t *testing.T) {
	d := drive(t, nil, listed("a")...)
	n := d.Tell(report("X", "True"), adds("a", 1, "x")).Recorded(changed("X", "True"))
	require.Equal(t, uint64(2), actorstest.MailTo(n.Mail(), policyAt("a"))[0].(*messages.JudgeCluster).Generation)
}

func TestAVerdictOfAStrangerCountsForNothing(t *testing.T) {
	d := drive(t, nil, listed("a")...)
	d.Tell(adds("stranger", 1, "x")).Quiet()
	d.Tell(abstains("a", 1)).Quiet()
}

func TestTheYoungestPolicyHasTheLastWord(t *testing.T) {
	d := drive(t, nil, listed("old", "young")...)
	d.Tell(adds("old", 1, "x"), removes("young", 1, "x")).Quiet()
	d.Tell(&messages.PolicyListed{Name: "old", CreatedAt: d.Now().Add(time.Hour * 9), Targeted: true})
	d.Tell(removes("young", 2, "x"), adds("old", 2, "x")).Recorded(tainted("x:NoSchedule", d.Now(), byPolicy("old", "X=True")))
}

func TestPoliciesOfOneSecondActByNameOrByLot(t *testing.T) {
	same := []messages.PolicyListed{{Name: "adder", CreatedAt: actorstest.Start.Add(1)}, {Name: "remover", CreatedAt: actorstest.Start}}
	lastWord := func(tie string, seed uint64) string {
		d := actorstest.Drive(t, cluster.New(name, settings(func(s *messages.Settings) { s.PolicyTieBreak = tie }), seed))
		d.Tell(joined(ready("True"), same...))
		if len(d.Tell(adds("adder", 1, "x"), removes("remover", 1, "x")).Facts()) == 0 {
			return "remover"
		}
		return "adder"
	}
	seen := map[string]bool{}
	for seed := range uint64(20) {
		require.Equal(t, "remover", lastWord(messages.TieByName, seed))
		require.Equal(t, lastWord(messages.TieUndefined, seed), lastWord(messages.TieUndefined, seed))
		seen[lastWord(messages.TieUndefined, seed)] = true
	}
	require.Len(t, seen, 2, "another seed, another order")
}

func TestAnotherTieBreakHoldsFromNowOn(t *testing.T) {
	undefined := func(s *messages.Settings) { s.PolicyTieBreak = messages.TieUndefined }
	same := []messages.PolicyListed{{Name: "adder"}, {Name: "remover"}}
	for seed := range uint64(20) {
		d := actorstest.Drive(t, cluster.New(name, settings(undefined), seed))
		d.Tell(joined(ready("True"), same...))
		d.Tell(&messages.SettingsChanged{Settings: settings(nil)})
		d.Tell(adds("adder", 2, "x"), removes("remover", 2, "x")).Quiet()
	}
}

func TestAPolicyThatIsDroppedIsWaitedForNoMore(t *testing.T) {
	d := drive(t, nil, listed("a", "b")...)
	d.Tell(adds("a", 1, "x")).Quiet()
	d.Tell(&messages.PolicyDropped{Name: "b"}).Recorded(tainted("x:NoSchedule", d.Now(), byPolicy("a", "X=True")))
	d.Tell(&messages.PolicyDropped{Name: "a"}).Quiet()
	d.Tell(&messages.PolicyDropped{Name: "never there"}).Quiet()
}

func TestADroppedPolicyLeavesOthersToTheirAnswers(t *testing.T) {
	d := drive(t, nil, listed("a", "b", "c")...)
	d.Tell(adds("a", 1, "x"), &messages.PolicyDropped{Name: "a"}).Quiet()
	d.Tell(abstains("b", 1), abstains("c", 1)).Quiet()
}

func TestANewPolicyIsAskedWithAllOthers(t *testing.T) {
	d := drive(t, nil, listed("a")...)
	d.Tell(abstains("a", 1))
	n := d.Tell(&messages.PolicyListed{Name: "b", Targeted: true}, &messages.PolicyListed{Name: "c"})
	for _, p := range []string{"a", "b", "c"} {
		require.Len(t, actorstest.MailTo(n.Mail(), policyAt(p)), 1, "%s is asked once", p)
	}
}

func TestAPolicyForOtherClustersIsAskedWhenConditionsChange(t *testing.T) {
	d := drive(t, nil, listed("a")...)
	d.Tell(abstains("a", 1))
	require.Empty(t, actorstest.MailTo(d.Tell(&messages.PolicyListed{Name: "b"}).Mail(), policyAt("a")))
	n := d.Tell(&messages.ConditionReported{Type: "X", Status: "False"})
	for _, p := range []string{"a", "b"} {
		require.Len(t, actorstest.MailTo(n.Mail(), policyAt(p)), 1)
	}
}

func TestAPolicyThatIsListedWhileOthersJudgeIsAskedToo(t *testing.T) {
	d := drive(t, nil, listed("a")...)
	n := d.Tell(&messages.PolicyListed{Name: "b"})
	require.Len(t, actorstest.MailTo(n.Mail(), policyAt("b")), 1)
	d.Tell(adds("a", 2, "x"), abstains("b", 2)).Recorded(tainted("x:NoSchedule", d.Now(), byPolicy("a", "X=True")))
}

func TestChangedSettingsHavePoliciesJudgeAgain(t *testing.T) {
	d := drive(t, nil, listed("a")...)
	n := d.Tell(&messages.SettingsChanged{Settings: settings(nil)})
	require.Len(t, actorstest.MailTo(n.Mail(), policyAt("a")), 1)
}

func TestWhoRemovesATaintIsItsCause(t *testing.T) {
	d := drive(t, nil, listed("a")...)
	d.Tell(abstains("a", 1))
	d.Tell(edit("x=theirs:NoSchedule"), report("X", "False"))
	d.Tell(removes("a", 2, "x")).Recorded(untainted("x=theirs:NoSchedule", time.Time{}, byPolicy("a", "X=False")))
}

// notReady returns a cluster with policy a that is not ready and whose policy has just been asked for the
// third time.
func notReady(t *testing.T, change func(*messages.Settings)) *driver {
	d := drive(t, change, listed("a")...)
	d.Tell(abstains("a", 1))
	d.Tell(report("Ready", "False"))
	d.Tell(abstains("a", 2))
	d.Advance(time.Second)
	d.Tell(report("X", "True"))
	return d
}

func TestWhatAPolicyTakesFromTheSystemTheSystemPutsBack(t *testing.T) {
	d := notReady(t, nil)
	d.Tell(removes("a", 3, "cluster.karmada.io/not-ready")).Recorded(
		untainted(notReadyNoSchedule, actorstest.Start, byPolicy("a", "X=False")),
		tainted(notReadyNoSchedule, d.Now(), bySystem("Ready=False")))
	d.Tell(report("X", "False"))
	d.Tell(abstains("a", 4)).Recorded()
}

// A deadline counts from when its taint was added last.
func TestBindingsHearOfATaintThatTheSystemPutsBackLater(t *testing.T) {
	d := drive(t, legacy, listed("a")...)
	d.Tell(abstains("a", 1), &messages.BindingPlaced{Binding: "web"})
	d.Tell(report("Ready", "False"))
	d.Tell(abstains("a", 2))
	d.Advance(6 * time.Minute)
	d.Tell(report("X", "True"))
	takes := removes("a", 3, "cluster.karmada.io/not-ready")
	takes.Taints[0].Effect = corev1.TaintEffectNoExecute
	told := actorstest.MailTo(d.Tell(takes).Mail(), bindingAt("web"))
	require.Len(t, told, 1)
	require.Equal(t, []corev1.Taint{parsed(notReadyNoExecute, d.Now())}, told[0].(*messages.TaintsChanged).Taints)
}

// own has policies take away only what policies added.
func own(s *messages.Settings) { s.PolicyRemoves = messages.RemovesOwn }

// spares is the fact that a taint stays though policy a would have it gone.
func spares(spec string, at time.Time, cause api.TaintCause) *messages.TaintSpared {
	added := tainted(spec, at, cause)
	return &messages.TaintSpared{Cluster: name, Taint: added.Taint, Cause: added.Cause, Policy: "a", Because: "X=False"}
}

func TestAPolicyLeavesTheTaintsOfOthersAlone(t *testing.T) {
	d := notReady(t, own)
	d.Tell(removes("a", 3, "cluster.karmada.io/not-ready")).
		Recorded(spares(notReadyNoSchedule, actorstest.Start, bySystem("Ready=False")))
	d.Tell(edit("x:NoSchedule"))
	d.Tell(report("X", "False"))
	d.Tell(removes("a", 4, "x", "cluster.karmada.io/not-ready")).Recorded(spares("x:NoSchedule", time.Time{}, byHand))
	d.Tell(report("X", "True"))
	d.Tell(abstains("a", 5)).Recorded()
	d.Tell(report("X", "False"))
	d.Tell(removes("a", 6, "x")).Recorded(spares("x:NoSchedule", time.Time{}, byHand))
	d.Tell(report("Ready", "True"))
	d.Tell(removes("a", 7, "cluster.karmada.io/not-ready")).
		Recorded(untainted(notReadyNoSchedule, actorstest.Start, bySystem("Ready=True")))
}

func TestAPolicyTakesWhatAnotherPolicyAdded(t *testing.T) {
	d := drive(t, own, listed("a", "b")...)
	d.Tell(adds("a", 1, "x"), abstains("b", 1))
	d.Tell(report("X", "True"))
	d.Tell(abstains("a", 2), removes("b", 2, "x")).Recorded(untainted("x:NoSchedule", actorstest.Start, byPolicy("b", "X=False")))
}

func TestAVerdictIsCarriedOutOnce(t *testing.T) {
	d := drive(t, legacy, listed("a")...)
	d.Tell(report("Ready", "False"))
	d.Tell(adds("a", 2, "x"))
	d.Tell(edit("x-")).Recorded(untainted("x:NoSchedule", d.Now(), byHand))
	d.Advance(5 * time.Minute).Recorded(tainted(notReadyNoExecute, d.Now(), bySystem("Ready=False")))
}

func TestTheTwinComesInTimeThoughAPolicyIsStillAsked(t *testing.T) {
	d := drive(t, legacy, listed("a")...)
	d.Tell(report("Ready", "False"))
	d.Advance(5*time.Minute).Recorded(
		tainted(notReadyNoSchedule, d.Now(), bySystem("Ready=False")),
		tainted(notReadyNoExecute, d.Now(), bySystem("Ready=False")))
}

// A policy whose condition must last has the cluster judged again when it has, once for all policies.
func TestAClusterIsJudgedAgainWhenAConditionHasLasted(t *testing.T) {
	d := drive(t, nil, listed("a", "b")...)
	waits := abstains("a", 1)
	waits.Due = d.Now().Add(5 * time.Minute)
	later := abstains("b", 1)
	later.Due = d.Now().Add(9 * time.Minute)
	d.Tell(waits, later).WakesIn(5 * time.Minute)
	n := d.Advance(5 * time.Minute)
	for _, policy := range []string{"a", "b"} {
		require.Equal(t, uint64(2), actorstest.MailTo(n.Mail(), policyAt(policy))[0].(*messages.JudgeCluster).Generation)
	}
	d.Tell(adds("a", 2, "x"), abstains("b", 2)).Recorded(tainted("x:NoSchedule", d.Now(), byPolicy("a", "X=True")))
	d.Tell().Sleeps()
}

func TestWhatIsWaitedForIsForgottenWhenAConditionChanges(t *testing.T) {
	d := drive(t, nil, listed("a")...)
	waits := abstains("a", 1)
	waits.Due = d.Now().Add(5 * time.Minute)
	d.Tell(waits)
	d.Tell(report("X", "True")).Recorded(changed("X", "True"))
	d.Tell(abstains("a", 2)).Sleeps()
}

// Policies are told since when a condition is missing, also after a restart.
func TestAClusterRemembersSinceWhenAConditionIsMissing(t *testing.T) {
	d := drive(t, nil, listed("a")...)
	d.Tell(report("X", "True"))
	d.Advance(time.Minute)
	gone := d.Now()
	n := d.Tell(report("X", ""))
	view := actorstest.MailTo(n.Mail(), policyAt("a"))[0].(*messages.JudgeCluster).View
	require.Equal(t, gone, view.MissingSince("X"))
	require.Equal(t, view.Created, view.MissingSince("Y"))
}

// cleaning is a policy that takes its taints away.
func cleaning(name messages.PolicyName, mode api.CleanupMode) messages.PolicyListed {
	return messages.PolicyListed{Name: name, CreatedAt: actorstest.Start, Cleanup: mode}
}

// has is a verdict that asks for nothing and keeps one taint where the policy selects the cluster.
func has(policy messages.PolicyName, generation uint64, selects bool, key string) *messages.VerdictGiven {
	v := abstains(policy, generation)
	v.Selects, v.Taints = selects, []api.PolicyTaint{{Key: key, Effect: "NoSchedule"}}
	return v
}

func TestTaintsGoWithTheirPolicyByChoice(t *testing.T) {
	for _, c := range []struct {
		mode api.CleanupMode
		goes bool
	}{{"", false}, {api.CleanupNever, false}, {api.CleanupOnDelete, true}, {api.CleanupOnChange, true}} {
		t.Run(string(c.mode), func(t *testing.T) {
			d := drive(t, nil, cleaning("a", c.mode), cleaning("other", c.mode))
			d.Tell(adds("a", 1, "x"), adds("other", 1, "y"))
			d.Tell(edit("by-hand:NoSchedule"))
			at := d.Now()
			d.Tell(&messages.PolicyDropped{Name: "a"})
			if n := d.Tell(has("other", 2, true, "y")); c.goes {
				n.Recorded(untainted("x:NoSchedule", at, byPolicy("a", "it was deleted")))
			} else {
				n.Quiet()
			}
		})
	}
}

func TestATaintThatAnotherPolicyAsksForIsAdopted(t *testing.T) {
	d := drive(t, nil, cleaning("a", api.CleanupOnDelete), cleaning("b", ""))
	d.Tell(adds("a", 1, "x"), adds("b", 1, "x"))
	at := d.Now()
	d.QuietFor(time.Minute)
	d.Tell(&messages.PolicyDropped{Name: "a"}).Recorded()
	cause := byPolicy("b", "X=True")
	cause.Key, cause.Effect = "x", "NoSchedule"
	d.Tell(adds("b", 2, "x")).Recorded(&messages.TaintAdopted{Cluster: name, Taint: parsed("x:NoSchedule", at), Cause: cause})
	d.Tell(&messages.PolicyDropped{Name: "b"}).Recorded()
}

func TestBindingsHearWhichPolicyAsksForATaintNow(t *testing.T) {
	d := drive(t, nil, cleaning("a", api.CleanupOnDelete), cleaning("b", ""))
	d.Tell(&messages.BindingPlaced{Binding: "web"})
	evict := func(policy messages.PolicyName, generation uint64) *messages.VerdictGiven {
		v := adds(policy, generation, "x")
		v.Taints[0].Effect = corev1.TaintEffectNoExecute
		return v
	}
	d.Tell(evict("a", 1), evict("b", 1))
	at := d.Now()
	d.Advance(time.Minute)
	d.Tell(&messages.PolicyDropped{Name: "a"})
	cause := byPolicy("b", "X=True")
	cause.Key, cause.Effect = "x", "NoExecute"
	d.Tell(evict("b", 2)).Told(bindingAt("web"), &messages.TaintsChanged{
		Cluster: name, Taints: []corev1.Taint{parsed("x:NoExecute", at)}, Causes: []api.TaintCause{cause}, Since: at,
	})
}

func TestThePolicyThatIsDroppedLastTakesItsTaint(t *testing.T) {
	d := drive(t, nil, cleaning("a", api.CleanupOnDelete))
	d.Tell(adds("a", 1, "x"))
	d.Tell(&messages.PolicyDropped{Name: "a"}).Recorded(untainted("x:NoSchedule", d.Now(), byPolicy("a", "it was deleted")))
	d.Tell(edit("x:NoSchedule"))
	d.Tell(&messages.PolicyListed{Name: "a", Targeted: true})
	d.Tell(abstains("a", 3)).Quiet()
}

func TestAPolicyThatIsCreatedAgainKeepsWhatItAdds(t *testing.T) {
	d := drive(t, nil, cleaning("a", api.CleanupOnDelete))
	d.Tell(adds("a", 1, "x"))
	d.Tell(&messages.PolicyDropped{Name: "a"}).Recorded(untainted("x:NoSchedule", d.Now(), byPolicy("a", "it was deleted")))
	d.Tell(&messages.PolicyListed{Name: "a", Cleanup: api.CleanupOnDelete, Targeted: true})
	d.Tell(adds("a", 3, "x")).Recorded(tainted("x:NoSchedule", d.Now(), byPolicy("a", "X=True")))
	d.Tell(report("Disk", "True"))
	d.Tell(has("a", 4, true, "x")).Quiet()
}

func TestAPolicyGivesUpWhatItNoLongerAsksFor(t *testing.T) {
	for name, c := range map[string]struct {
		change  messages.ToCluster
		selects bool
		key     string
		because string
	}{
		"it still counts for it": {&messages.PolicyListed{Name: "a", Cleanup: api.CleanupOnChange}, true, "x", ""},
		"an edit of its targets": {&messages.PolicyListed{Name: "a", Cleanup: api.CleanupOnChange}, false, "x", "it no longer selects the cluster"},
		"an edit of its taints":  {&messages.PolicyListed{Name: "a", Cleanup: api.CleanupOnChange, Targeted: true}, true, "y", "it no longer has the taint"},
		"a new label":            {&messages.LabelsEdited{Labels: map[string]*string{"tier": new(string)}}, false, "x", "it no longer selects the cluster"},
		"a new region":           {&messages.ClusterEdited{Object: &api.Cluster{Spec: api.ClusterSpec{Region: "eu"}}}, false, "x", "it no longer selects the cluster"},
	} {
		t.Run(name, func(t *testing.T) {
			d := drive(t, nil, cleaning("a", api.CleanupOnChange))
			d.Tell(adds("a", 1, "x"))
			at := d.Now()
			d.Tell(c.change)
			if n := d.Tell(has("a", 2, c.selects, c.key)); c.because != "" {
				n.Recorded(untainted("x:NoSchedule", at, byPolicy("a", c.because)))
			} else {
				n.Quiet()
			}
		})
	}
}

func TestATaintThatUsersRemoveAndThatAPolicyAsksForComesBack(t *testing.T) {
	d := drive(t, nil, cleaning("a", api.CleanupOnChange))
	d.Tell(adds("a", 1, "x"))
	at := d.Now()
	d.Advance(time.Minute)
	n := d.Tell(edit("x:NoSchedule-")).Recorded(untainted("x:NoSchedule", at, byHand))
	require.Len(t, actorstest.MailTo(n.Mail(), policyAt("a")), 1)
	d.Tell(adds("a", 2, "x")).Recorded(tainted("x:NoSchedule", d.Now(), byPolicy("a", "X=True")))
	require.Empty(t, actorstest.MailTo(d.Tell(edit("y:NoSchedule")).Mail(), policyAt("a")), "no policy is against that")
}

// Source: Karmada, whose policies do not look at taints.
func TestATaintThatUsersRemoveStaysAwayWherePoliciesDoNotCleanUp(t *testing.T) {
	d := drive(t, nil, cleaning("a", api.CleanupNever))
	d.Tell(adds("a", 1, "x"))
	require.Empty(t, actorstest.MailTo(d.Tell(edit("x:NoSchedule-")).Mail(), policyAt("a")))
}

// A policy that cleans up only with its own deletion does not look again at a label.
func TestOnlyAPolicyThatFollowsChangesLooksAtLabels(t *testing.T) {
	d := drive(t, nil, cleaning("a", api.CleanupOnDelete))
	d.Tell(adds("a", 1, "x"))
	n := d.Tell(&messages.LabelsEdited{Labels: map[string]*string{"tier": new(string)}})
	require.Empty(t, actorstest.MailTo(n.Mail(), policyAt("a")))
}

func TestWhatWasSparedBeforeARestartIsNotSaidAgain(t *testing.T) {
	for recovered, want := range map[bool][]messages.Fact{true: nil, false: {spares("x:NoSchedule", time.Time{}, byHand)}} {
		o := ready("True")
		o.Spec.Taints = []corev1.Taint{parsed("x:NoSchedule", time.Time{})}
		m := joined(o, listed("a")...)
		m.Recovered = recovered
		d := actorstest.Drive(t, cluster.New(name, settings(own), 0))
		d.Tell(m)
		d.Tell(removes("a", 1, "x")).Recorded(want...)
		d.Tell(edit("y:NoSchedule"), report("X", "False"))
		d.Tell(removes("a", 2, "x", "y")).Recorded(spares("y:NoSchedule", time.Time{}, byHand))
	}
}
