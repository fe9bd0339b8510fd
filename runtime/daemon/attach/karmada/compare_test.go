package karmada

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/runtime/fleet/shadow"
)

func TestADecisionThatBothMakeAgrees(t *testing.T) {
	t.Parallel()
	s := open(t, "karmada", 0, "m1", "m2", "m3")
	s.write(clusterOf("m2", "failed"))
	require.Equal(t, "m1:2 m3:2 -m2", s.ours(web))
	s.advance(time.Second)
	s.evicts("m2", []string{"m1"}, []string{"m1", "m3"})
	require.Equal(t, []string{"eviction agreed from m2", "placement agreed"}, s.said())
	s.write(workOf("m3"))
	s.advance(time.Second)
	s.theirs(func(b *bindingOf) { b.tasks, b.healthy = nil, []string{"m1", "m3"} })
	require.Equal(t, "m1:2 m3:2", s.ours(web))
	require.Equal(t, []string{"removal agreed from m2"}, s.said())
}

func TestALaterEvictionIsTheTimeThatLeewardWouldHaveSaved(t *testing.T) {
	t.Parallel()
	s := open(t, "karmada", 0, "m1", "m2", "m3")
	s.write(clusterOf("m2", "failed"))
	s.advance(2 * time.Minute)
	s.theirs(func(b *bindingOf) { b.clusters, b.tasks = placed("m1"), []string{"m2"} })
	c := s.last()
	require.Equal(t, shadow.Later, c.Verdict)
	require.Equal(t, 2*time.Minute, c.Theirs.At.Sub(c.Ours.At))
	require.Equal(t, "Deployment shop/web", c.Workload)
	require.Contains(t, c.Ours.Reason, "taint failed:NoExecute")
	require.Equal(t, "TaintManager", c.Theirs.By)
	require.Equal(t, "TaintUntolerated", c.Theirs.Reason)
}

func TestADeadlineThatIsStillToComeMakesTheOtherEarlier(t *testing.T) {
	t.Parallel()
	s := open(t, "karmada", 300, "m1", "m2", "m3")
	s.write(clusterOf("m2", "failed"))
	s.evicts("m2", []string{"m1"}, nil)
	c := s.last()
	require.Equal(t, []string{"eviction earlier from m2"}, s.said())
	require.Equal(t, start.Add(5*time.Minute), c.Ours.At.UTC())
}

// TestWhatTheOtherDecidesIsAdoptedOnlyOnceItIsCompared: the machines place web on m3, the other on m4, and what they decide next rests on that.
func TestWhatTheOtherDecidesIsAdoptedOnlyOnceItIsCompared(t *testing.T) {
	t.Parallel()
	s := open(t, "karmada", 0, "m1", "m2", "m3", "m4")
	s.write(clusterOf("m2", "failed"))
	s.evicts("m2", []string{"m1"}, nil)
	require.Equal(t, "m1:2 m3:2 -m2", s.ours(web))
	s.theirs(func(b *bindingOf) { b.clusters = placed("m1", "m4") })
	c := s.last()
	require.Equal(t, []string{"eviction agreed from m2", "placement elsewhere"}, s.said())
	require.Equal(t, "m3", c.Ours.Clusters[1].Name)
	require.Equal(t, "m4", c.Theirs.Clusters[1].Name)
	require.Equal(t, "m1:2 m4:2 -m2", s.ours(web))
	s.write(clusterOf("m4", "failed"))
	require.Equal(t, "m1:2 m3:2 -m2 -m4", s.ours(web))
}

func TestWhatTheOtherNeverDecidesIsToldOnce(t *testing.T) {
	t.Parallel()
	s := open(t, "leeward", 0, "m1", "m2", "m3")
	s.write(clusterOf("m2", "failed"))
	require.Equal(t, "m1:2 m3:2 -m2", s.ours(web))
	s.advance(shadow.Patience - time.Second)
	require.Empty(t, s.said())
	s.advance(time.Second)
	require.Equal(t, []string{"eviction never from m2"}, s.said())
	for range 4 {
		s.advance(shadow.Patience)
	}
	require.Empty(t, s.said())
	s.evicts("m2", []string{"m1"}, []string{"m1", "m3"})
	require.Contains(t, s.said(), "eviction later from m2")
}

func TestWhatLeewardNoLongerWantsIsAsItWas(t *testing.T) {
	t.Parallel()
	s := open(t, "leeward", 0, "m1", "m2", "m3")
	s.write(clusterOf("m2", "failed"))
	s.advance(shadow.Patience)
	require.Equal(t, []string{"eviction never from m2"}, s.said())
	s.write(clusterOf("m2"))
	s.advance(time.Hour)
	require.Equal(t, "m1:2 m2:2", s.ours(web))
	require.Empty(t, s.said())
}

func TestWhatLeewardDidNotAskForIsSeenAndAdopted(t *testing.T) {
	t.Parallel()
	s := open(t, "leeward", 0, "m1", "m2", "m3")
	s.evicts("m2", []string{"m1"}, []string{"m1", "m3"})
	require.Equal(t, "m1:2 m2:2", s.ours(web))
	s.advance(delay)
	require.Equal(t, []string{"eviction unasked from m2", "placement unasked"}, s.said())
	require.Equal(t, "m1:2 m3:2 -m2", s.ours(web))
}

func TestAnEvictionThatLeewardCancelledIsSavedByIt(t *testing.T) {
	t.Parallel()
	s := open(t, "leeward", 60, "m1", "m2", "m3")
	s.write(clusterOf("m2", "failed"))
	s.advance(30 * time.Second)
	s.write(clusterOf("m2"))
	s.advance(31 * time.Second)
	s.evicts("m2", []string{"m1"}, nil)
	s.advance(delay)
	c := s.last()
	require.Equal(t, shadow.Unasked, c.Verdict)
	require.True(t, c.Cancelled)
	require.Contains(t, c.Why, "eviction cancelled")
}

// TestTheLastCopyThatLeewardKeepsIsTold: no cluster can take web. Karmada evicts and, after its grace period, removes the only copy.
func TestTheLastCopyThatLeewardKeepsIsTold(t *testing.T) {
	t.Parallel()
	s := open(t, "leeward", 0, "m1")
	s.write(clusterOf("m1", "failed"))
	require.Equal(t, "m1:2", s.ours(web), "it is blocked")
	s.evicts("m1", nil, nil)
	s.advance(delay)
	c := s.last()
	require.Equal(t, []string{"eviction unasked from m1"}, s.said())
	require.Contains(t, c.Why, "blocked")
	s.advance(time.Minute)
	s.theirs(func(b *bindingOf) { b.tasks = nil })
	s.advance(delay)
	c = s.last()
	require.Equal(t, shadow.Removal, c.Kind)
	require.Equal(t, shadow.Unasked, c.Verdict)
	require.True(t, c.LastCopy)
}

func TestAPlacementOfANewWorkloadIsCompared(t *testing.T) {
	t.Parallel()
	s := open(t, "karmada", 0, "m1", "m2", "m3")
	s.write(object("apps/v1", "Deployment", "shop", "db", map[string]any{"spec": map[string]any{"replicas": 1}}))
	s.write(object("policy.karmada.io/v1alpha1", "PropagationPolicy", "shop", "db", map[string]any{"spec": map[string]any{
		"resourceSelectors": []any{map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": "db"}},
		"placement":         map[string]any{"clusterAffinity": map[string]any{"clusterNames": []any{"m4"}}},
	}}))
	require.Equal(t, "m4:1", s.ours("shop/db-deployment"))
	o := (&bindingOf{clusters: []any{map[string]any{"name": "m4", "replicas": 1}}}).object(map[string]any{})
	o["metadata"].(map[string]any)["name"] = "db-deployment"
	o["spec"].(map[string]any)["resource"].(map[string]any)["name"] = "db"
	s.write(o)
	require.Equal(t, []string{"placement agreed"}, s.said())
}

// TestTaintsOfControllersAreCompared: both taint m2 by a policy, Leeward alone unties it in time, and the other taints m3 without cause.
func TestTaintsOfControllersAreCompared(t *testing.T) {
	t.Parallel()
	s := open(t, "leeward", 600, "m1", "m2", "m3")
	s.write(object("policy.karmada.io/v1alpha1", "ClusterTaintPolicy", "", "down", map[string]any{"spec": map[string]any{
		"taints":             []any{map[string]any{"key": "failed", "effect": "NoExecute"}},
		"addOnConditions":    []any{map[string]any{"conditionType": "Net", "operator": "In", "statusValues": []any{"False"}}},
		"removeOnConditions": []any{map[string]any{"conditionType": "Net", "operator": "In", "statusValues": []any{"True"}}},
	}}))
	reports := func(o map[string]any, status string) map[string]any {
		of := o["status"].(map[string]any)
		of["conditions"] = append(of["conditions"].([]any), map[string]any{"type": "Net", "status": status, "reason": "R", "lastTransitionTime": start.Format(time.RFC3339)})
		return o
	}
	s.write(reports(clusterOf("m2"), "False"))
	s.advance(time.Second)
	s.write(reports(clusterOf("m2", "failed"), "False"))
	require.Equal(t, []string{"taint agreed from m2"}, s.said())
	s.write(reports(clusterOf("m2", "failed"), "True"))
	s.advance(time.Minute)
	s.write(reports(clusterOf("m2"), "True"))
	require.Equal(t, []string{"taint later from m2"}, s.said())
	s.write(clusterOf("m3", "failed"))
	s.advance(delay)
	require.Equal(t, []string{"taint unasked from m3"}, s.said())
	s.write(reports(clusterOf("m1"), "False"))
	s.write(reports(clusterOf("m1"), "True"))
	s.advance(shadow.Patience)
	require.Empty(t, s.said(), "it was taken back")
}

// TestAPlacementThatTheOtherCannotMakeIsToldOnce: however often its scheduler says so, in other words each time.
func TestAPlacementThatTheOtherCannotMakeIsToldOnce(t *testing.T) {
	t.Parallel()
	s := open(t, "karmada", 0, "m1", "m2", "m3")
	s.write(clusterOf("m2", "failed"))
	s.evicts("m2", []string{"m1"}, nil)
	for _, why := range []string{"0/4 clusters are available", "still 0/4 clusters are available", "0/4"} {
		s.theirs(func(b *bindingOf) { b.unschedulable = why })
		s.advance(time.Minute)
	}
	d := s.last()
	require.Equal(t, []string{"eviction agreed from m2", "placement elsewhere"}, s.said())
	require.Equal(t, "NoClusterFit: 0/4 clusters are available", d.Theirs.Reason)
	s.theirs(func(b *bindingOf) { b.clusters, b.unschedulable = placed("m1", "m3"), "" })
	s.advance(time.Minute)
	require.Equal(t, "m1:2 m3:2 -m2", s.ours(web))
}

// TestWhatAStartFindsIsNoChange: the log of a start does not tell of each workload.
func TestWhatAStartFindsIsNoChange(t *testing.T) {
	t.Parallel()
	s := open(t, "leeward", 0, "m1", "m2", "m3")
	require.NotContains(t, s.log.String(), "binding updated")
	s.write(object("apps/v1", "Deployment", "shop", "web", map[string]any{"spec": map[string]any{
		"replicas": 3, "selector": map[string]any{"matchLabels": map[string]any{"app": "web"}},
		"template": map[string]any{"metadata": map[string]any{"labels": map[string]any{"app": "web"}}, "spec": map[string]any{"containers": []any{map[string]any{"name": "c", "image": "i"}}}},
	}}))
	require.Contains(t, s.log.String(), `"message":"binding updated"`)
}
