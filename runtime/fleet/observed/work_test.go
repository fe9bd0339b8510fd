package observed_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/observed"
)

const deployment = `{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {"replicas": 2}}`

// work is a Work of a manifest, applied or not, with what its agent says of it.
func work(manifest string, applied metav1.ConditionStatus, said ...api.ManifestStatus) *api.Work {
	w := &api.Work{}
	if manifest != "" {
		w.Spec.Workload.Manifests = []api.Manifest{{RawExtension: runtime.RawExtension{Raw: []byte(manifest)}}}
	}
	if applied != "" {
		w.Status.Conditions = []metav1.Condition{{Type: api.ConditionApplied, Status: applied, ObservedGeneration: 3}}
	}
	w.Status.ManifestStatuses = said
	return w
}

func says(health api.ResourceHealth, status string) api.ManifestStatus {
	s := api.ManifestStatus{Health: health}
	if status != "" {
		s.Status = &runtime.RawExtension{Raw: []byte(status)}
	}
	return s
}

func TestAReportIsWhatTheAgentSays(t *testing.T) {
	const two = `{"replicas": 2, "readyReplicas": 2, "updatedReplicas": 2, "availableReplicas": 2, "observedGeneration": 1}`
	const rest = `{"observedGeneration":1}`
	said := observed.Reports{}
	for name, c := range map[string]struct {
		work *api.Work
		want *messages.WorkReport
	}{
		"it says nothing yet":                {work(deployment, ""), nil},
		"it applied the manifest":            {work(deployment, "True"), &messages.WorkReport{Generation: 3, Health: api.Unknown}},
		"the cluster refused the manifest":   {work(deployment, "False", says(api.Healthy, two)), &messages.WorkReport{Generation: 3, Health: api.Unknown, Refused: "the agent does not say why"}},
		"health is said":                     {work(deployment, "True", says(api.Unhealthy, two)), &messages.WorkReport{Generation: 3, Health: api.Unhealthy, Ready: 2, Status: rest}},
		"health follows from the status":     {work(deployment, "True", says("", two)), &messages.WorkReport{Generation: 3, Health: api.Healthy, Ready: 2, Status: rest}},
		"a status that is no object":         {work(deployment, "True", says("", `7`)), &messages.WorkReport{Generation: 3, Health: api.Unknown}},
		"a Work without a manifest":          {work("", "True", says("", two)), &messages.WorkReport{Generation: 3, Health: api.Unknown, Ready: 2, Status: rest}},
		"a manifest that is no object":       {work("7", "True", says("", two)), &messages.WorkReport{Generation: 3, Health: api.Unknown, Ready: 2, Status: rest}},
		"a kind without rules":               {work(`{"apiVersion": "v2", "kind": "Odd"}`, "True", says("", "")), &messages.WorkReport{Generation: 3, Health: api.Healthy}},
		"replicas that cannot start":         {work(deployment, "True", says(api.Healthy, `{"unschedulableReplicas": 1}`)), &messages.WorkReport{Generation: 3, Health: api.Healthy, Unschedulable: 1}},
		"an agent that leaves Applied aside": {work(deployment, "", says(api.Healthy, "")), &messages.WorkReport{Health: api.Healthy}},
	} {
		require.Equal(t, c.want, observed.Report(c.work), name)
		status, err := json.Marshal(c.work.Status)
		require.NoError(t, err, name)
		for range 2 { // read, and remembered
			report, whole, err := said.Of(status)
			require.NoError(t, err, name)
			if !whole {
				require.Equal(t, c.want, report, name)
			}
			require.Equal(t, strings.Contains(string(status), `"identifier"`) && !strings.Contains(string(status), `"health"`), whole, name)
		}
	}
}

func TestWhyAWorkIsRefusedIsShort(t *testing.T) {
	w := work(deployment, "False")
	w.Status.Conditions[0].Reason = "Refused"
	require.Equal(t, "Refused", observed.Report(w).Refused)
	w.Status.Conditions[0].Message = "quota exceeded:\n\tcpu"
	require.Equal(t, "quota exceeded: cpu", observed.Report(w).Refused, "on one line")
	w.Status.Conditions[0].Message = strings.Repeat("ä", 30_000)
	require.Equal(t, strings.Repeat("ä", 512)+" ...", observed.Report(w).Refused)
}

func TestAStatusThatIsNoneIsRefused(t *testing.T) {
	_, _, err := observed.Reports{}.Of([]byte(`{"conditions": 7}`))
	require.ErrorContains(t, err, "conditions")
	report, whole, err := observed.Reports{}.Of(nil)
	require.Equal(t, []any{(*messages.WorkReport)(nil), false, nil}, []any{report, whole, err}, "none was written yet")
}

func TestAWorkIsACopyOfTheBindingThatItNames(t *testing.T) {
	for _, b := range []messages.BindingName{"shop/web-deployment", "reader-clusterrole"} {
		w := &api.Work{}
		w.Namespace, w.Annotations = api.WorkNamespacePrefix+"eu-1", observed.Names(b)
		cluster, binding, ours := observed.Copy(w)
		require.True(t, ours)
		require.Equal(t, messages.ClusterName("eu-1"), cluster)
		require.Equal(t, b, binding)
	}
	_, _, ours := observed.Copy(&api.Work{})
	require.False(t, ours)
}
