package live

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"leeward/messages/api"
)

func TestAWriteIsPreviewed(t *testing.T) {
	f := running(t)
	before := f.engine.Version()
	warn := func(o, old api.Object) []string { return f.config.Warnings(t.Context(), settings(t), o, old) }
	old := get(f, member("m1"))
	tainted := api.Copy(old).(*api.Cluster)
	tainted.Spec.Taints = []corev1.Taint{failed}
	require.Equal(t, []string{"preview: 1 binding would be evicted, at once"}, warn(tainted, old))

	drained := api.Copy(old).(*api.Cluster)
	drained.Annotations = map[string]string{api.AnnotationDrain: ""}
	require.Equal(t, []string{"preview: 1 binding would be evicted, at once"}, warn(drained, old))

	reported := api.Copy(old).(*api.Cluster)
	reported.Status.Conditions = nil
	require.Nil(t, warn(reported, old), "agents are not told")
	require.Nil(t, warn(member("m3"), nil))
	require.Nil(t, warn(deployment(1, ""), nil))

	nowhere := api.Copy(get(f, policy())).(*api.PropagationPolicy)
	nowhere.Spec.Placement.ClusterAffinity = &api.ClusterAffinity{ClusterNames: []string{"m9"}}
	nowhere.Generation++
	require.Equal(t, []string{"preview: no other cluster would take 1 binding"}, warn(nowhere, get(f, policy())))

	invalid := api.Copy(get(f, policy())).(*api.PropagationPolicy)
	invalid.Spec.ResourceSelectors = nil
	invalid.Generation++
	require.Contains(t, warn(invalid, get(f, policy()))[0], "preview: not made: ")
	require.Equal(t, before, f.engine.Version(), "nothing was written")
	require.Equal(t, "m1:2", placed(f))
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
		"preview: 1 binding would have to leave, at once",
		"preview: in a fleet of this size, create a FailoverPreview to see who takes them over",
	}
	require.Equal(t, leaves, outline(func(c *api.Cluster) { c.Spec.Taints = []corev1.Taint{failed} }))
	require.Equal(t, leaves, outline(func(c *api.Cluster) { c.Annotations = map[string]string{api.AnnotationDrain: ""} }))
	require.Nil(t, outline(func(c *api.Cluster) {
		c.Spec.Taints = []corev1.Taint{{Key: "full", Effect: corev1.TaintEffectNoSchedule}}
	}))
	unmade := []string{"preview: not made, for there are 100000 bindings; create a FailoverPreview for one"}
	require.Equal(t, unmade, outline(func(c *api.Cluster) { c.Spec.Region = "us" }))
	require.Equal(t, unmade, f.config.outline(&s, policy(), policy(), 100_000))
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
