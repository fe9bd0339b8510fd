package live

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/whatif"
)

func TestAWriteIsPreviewed(t *testing.T) {
	f := running(t)
	before := f.engine.Version()
	warn := func(o, old api.Object) []string { return f.config.Warnings(t.Context(), settings(t), o, old) }
	old := get(f, member("m1"))
	tainted := api.Copy(old).(*api.Cluster)
	tainted.Spec.Taints = []corev1.Taint{failed}
	require.Equal(t, []string{"preview: 1 binding would be evicted, immediately"}, warn(tainted, old))

	drained := api.Copy(old).(*api.Cluster)
	drained.Annotations = map[string]string{api.AnnotationDrain: ""}
	require.Equal(t, []string{"preview: 1 binding would be evicted, immediately"}, warn(drained, old))

	reported := api.Copy(old).(*api.Cluster)
	reported.Status.Conditions = nil
	require.Nil(t, warn(reported, old), "agents are not told")
	require.Nil(t, warn(member("m3"), nil))
	require.Nil(t, warn(deployment(1, ""), nil))

	nowhere := api.Copy(get(f, policy())).(*api.PropagationPolicy)
	nowhere.Spec.Placement.ClusterAffinity = &api.ClusterAffinity{ClusterNames: []string{"m9"}}
	nowhere.Generation++
	require.Equal(t, []string{"preview: 1 binding would be unschedulable"}, warn(nowhere, get(f, policy())))

	invalid := api.Copy(get(f, policy())).(*api.PropagationPolicy)
	invalid.Spec.ResourceSelectors = nil
	invalid.Generation++
	require.Contains(t, warn(invalid, get(f, policy()))[0], "preview: not made: ")
	require.Equal(t, before, f.engine.Version(), "nothing was written")
	require.Equal(t, "m1:2", placed(f))
}

func TestAClusterFromWhichNothingEvictsIsTold(t *testing.T) {
	f := running(t)
	const line = "m1 is not Ready, but no ClusterTaintPolicy adds NoExecute for it: its workloads stay"
	edit(f, member("m1"), func(c *api.Cluster) {
		meta.SetStatusCondition(&c.Status.Conditions, metav1.Condition{Type: api.ConditionReady, Status: metav1.ConditionFalse, Reason: "Down"})
	})
	require.NoError(t, f.step())
	require.Equal(t, "no ClusterTaintPolicy adds NoExecute for it", get(f, member("m1")).Status.WorkloadsStay)
	require.Contains(t, f.events(member("m1")), "WorkloadsStay: "+line)
	f.restart()
	require.Len(t, slices.DeleteFunc(f.events(member("m1")), func(e string) bool { return !strings.Contains(e, "stay") }), 1)

	warn := func(o, old api.Object) []string { return f.config.Warnings(t.Context(), settings(t), o, old) }
	keepsOut := taintPolicy(corev1.TaintEffectNoSchedule)
	require.Equal(t, []string{"preview: " + line}, warn(keepsOut, nil), "the policy does not help")
	require.NotContains(t, strings.Join(warn(taintPolicy(corev1.TaintEffectNoExecute), nil), "\n"), "stay", "this one does")
	old := get(f, member("m1"))
	cordoned := api.Copy(old).(*api.Cluster)
	cordoned.Spec.Taints = append(cordoned.Spec.Taints, corev1.Taint{Key: "full", Effect: corev1.TaintEffectNoSchedule})
	require.Nil(t, warn(cordoned, old), "it is no news to who writes of other things")
}

// taintPolicy adds a taint to every cluster that is not Ready.
func taintPolicy(effect corev1.TaintEffect) *api.ClusterTaintPolicy {
	p := &api.ClusterTaintPolicy{ObjectMeta: metav1.ObjectMeta{Name: "down"}}
	p.APIVersion, p.Kind = "policy.karmada.io/v1alpha1", "ClusterTaintPolicy"
	p.Spec.AddOnConditions = []api.MatchCondition{{ConditionType: api.ConditionReady, Operator: api.MatchNotIn, StatusValues: []metav1.ConditionStatus{"True"}}}
	p.Spec.Taints = []api.PolicyTaint{{Key: "down", Effect: effect}}
	return p
}

func TestAWriteToALargeFleetIsOutlined(t *testing.T) {
	f := running(t)
	s := settings(t)
	old := get(f, member("m1"))
	outline := func(change func(*api.Cluster)) []string {
		changed := api.Copy(old).(*api.Cluster)
		change(changed)
		return f.config.outline(&s, changed, old, 100_000)
	}
	leaves := []string{
		"preview: an eviction of 1 binding would be due, immediately",
		"preview: in a fleet of this size, create a FailoverPreview to see what is evicted, and where to",
	}
	require.Equal(t, leaves, outline(func(c *api.Cluster) { c.Spec.Taints = []corev1.Taint{failed} }))
	require.Equal(t, leaves, outline(func(c *api.Cluster) { c.Annotations = map[string]string{api.AnnotationDrain: ""} }))
	require.Nil(t, outline(func(c *api.Cluster) {
		c.Spec.Taints = []corev1.Taint{{Key: "full", Effect: corev1.TaintEffectNoSchedule}}
	}))
	unmade := []string{"preview: not made, for there are 100000 bindings; create a FailoverPreview for one"}
	require.Equal(t, unmade, outline(func(c *api.Cluster) { c.Spec.Region = "us" }))
	require.Equal(t, unmade, f.config.outline(&s, policy(), policy(), 100_000))
	there := apiPolicy()
	there.Spec.Placement.ClusterAffinity = &api.ClusterAffinity{ClusterNames: []string{"m1"}}
	f.apply(there, apiDeployment(2))
	require.Equal(t, "m1:2", apiPlaced(f))
	require.Equal(t, "preview: an eviction of 2 bindings would be due, immediately", outline(func(c *api.Cluster) { c.Spec.Taints = []corev1.Taint{failed} })[0])
}

func TestAPreviewIsAnswered(t *testing.T) {
	f := running(t)
	ask := func(spec api.FailoverPreviewSpec) (*api.FailoverPreviewStatus, error) {
		return f.config.Preview(t.Context(), settings(t), &spec)
	}
	answer, err := ask(api.FailoverPreviewSpec{Clusters: []string{"m1"}, Taints: []corev1.Taint{failed}})
	require.NoError(t, err)
	require.Equal(t, int32(1), answer.Evicted)
	_, err = ask(api.FailoverPreviewSpec{Clusters: []string{"m1", "m9"}})
	require.EqualError(t, err, `spec.clusters: there is no cluster "m9"`)
	_, err = ask(api.FailoverPreviewSpec{})
	require.EqualError(t, err, "spec: name clusters or objects: nothing is to happen")
}

func TestWhatUsersWantOfAClusterIsPreviewedAndNothingElse(t *testing.T) {
	old := member("m1")
	old.Labels, old.Annotations = map[string]string{"region": "eu"}, map[string]string{"note": "mine"}
	for name, c := range map[string]struct {
		change func(*api.Cluster)
		want   bool
	}{
		"a label":       {func(c *api.Cluster) { c.Labels = nil }, true},
		"an annotation": {func(c *api.Cluster) { c.Annotations = nil }, true},
		"its place":     {func(c *api.Cluster) { c.Spec.Region = "us" }, true},
		"a deletion":    {func(c *api.Cluster) { c.DeletionTimestamp = &metav1.Time{Time: start} }, true},
		"its status":    {func(c *api.Cluster) { c.Status.Conditions = nil }, false},
		"nothing":       {func(*api.Cluster) {}, false},
	} {
		now := api.Copy(old).(*api.Cluster)
		c.change(now)
		require.Equal(t, c.want, changeOf(now, old) != nil, name)
	}
}

// TestAWriteToAFleetThatIsTooLargeIsOutlined and not rehearsed.
func TestAWriteToAFleetThatIsTooLargeIsOutlined(t *testing.T) {
	f := running(t)
	old := get(f, member("m1"))
	var writes []engine.Write
	for n := range largestPreview {
		b := binding()
		b.Name = fmt.Sprintf("other-%05d", n)
		_, key := f.table(b)
		writes = append(writes, engine.Create(key, b))
	}
	require.NoError(t, f.engine.Commit(writes...))
	tainted := api.Copy(old).(*api.Cluster)
	tainted.Spec.Taints = []corev1.Taint{failed}
	require.Equal(t, []string{
		"preview: an eviction of 1 binding would be due, immediately",
		"preview: in a fleet of this size, create a FailoverPreview to see what is evicted, and where to",
	}, f.config.Warnings(t.Context(), settings(t), tainted, old))
	require.Equal(t, []string{"preview: not made, for there are 20001 bindings; create a FailoverPreview for one"},
		f.config.Warnings(t.Context(), settings(t), policy(), nil))
}

// TestWarningsPreviewsAndWhatIfHaveTheSameWords asks three ways what one taint would do: of a copy with a place to go, and of one without.
func TestWarningsPreviewsAndWhatIfHaveTheSameWords(t *testing.T) {
	f := running(t)
	edit(f, policy(), func(p *api.PropagationPolicy) {
		p.Spec.Placement.ClusterTolerations = []corev1.Toleration{
			{Key: failed.Key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(300))},
		}
	})
	require.NoError(t, f.step())
	for _, c := range []struct{ tainted, evicted, summary string }{
		{"m1", "default/web-deployment evicted from m1 (2 replicas) to m2 (2): taint failed:NoExecute; by user; toleration 300s", "1 binding would be evicted, in 5m0s"},
		{"m1,m2", "", "1 binding would be unschedulable"},
	} {
		clusters := strings.Split(c.tainted, ",")
		answer, err := f.config.Preview(t.Context(), settings(t), &api.FailoverPreviewSpec{Clusters: clusters, Taints: []corev1.Taint{failed}})
		require.NoError(t, err)
		require.Equal(t, []string{c.summary}, answer.Summary)

		var changes []*whatif.Change
		for _, name := range clusters {
			change, err := whatif.Parse(whatif.FlagTaint, name+"="+failed.ToString())
			require.NoError(t, err)
			changes = append(changes, change)
		}
		objects := slices.DeleteFunc(f.config.Rehearsal(settings(t)).Objects, func(o api.Object) bool {
			kind := o.GetObjectKind().GroupVersionKind().Kind
			return kind == "Work" || kind == "Lease"
		})
		for i := range objects {
			objects[i] = api.Copy(objects[i])
		}
		p, err := whatif.Run(t.Context(), whatif.Config{Fleet: scenario.FleetOf(objects, "the daemon"), Seed: 1, Changes: changes})
		require.NoError(t, err)
		var text strings.Builder
		require.NoError(t, whatif.WriteText(&text, p, true))
		require.Contains(t, text.String(), "\npredicted: "+c.summary+"\n")
		require.Equal(t, answer.Summary, p.Summary())
		if c.evicted != "" {
			require.Contains(t, text.String(), "\npredicted:   +5m "+c.evicted+"\n")
			require.Equal(t, c.evicted, answer.Evictions[0].Message)
		} else {
			require.Contains(t, text.String(), answer.UnschedulableBindings[0].Message+"\n")
		}

		if len(clusters) == 1 { // kubectl taint writes one at a time
			old := get(f, member(c.tainted))
			tainted := api.Copy(old).(*api.Cluster)
			tainted.Spec.Taints = []corev1.Taint{failed}
			require.Equal(t, []string{"preview: " + c.summary}, f.config.Warnings(t.Context(), settings(t), tainted, old))
		}
	}
	edit(f, member("m2"), func(c *api.Cluster) { c.Spec.Taints = []corev1.Taint{failed} })
	require.NoError(t, f.step())
	old := get(f, member("m1"))
	tainted := api.Copy(old).(*api.Cluster)
	tainted.Spec.Taints = []corev1.Taint{failed}
	require.Equal(t, []string{"preview: 1 binding would be unschedulable"}, f.config.Warnings(t.Context(), settings(t), tainted, old))
}
