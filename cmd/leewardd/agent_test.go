package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages/api"
	"leeward/runtime/client/agent"
	"leeward/runtime/fleet/catalog"
)

// The kinds of these tests.
var (
	configMaps  = catalog.Of(api.Key{APIVersion: "v1", Kind: "ConfigMap"})
	secrets     = catalog.Secrets
	deployments = catalog.Of(api.Key{APIVersion: "apps/v1", Kind: "Deployment"})
)

// webOf is a Deployment with so many replicas.
func webOf(replicas int) string {
	return fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: %d
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: nginx}]}`, replicas)
}

func settingsOf(name, value string) string {
	return fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, namespace: shop}, data: {key: %q}}", name, value)
}

const password = "{apiVersion: v1, kind: Secret, metadata: {name: password, namespace: shop}, stringData: {key: secret}}"

// serving is the status of a Deployment as the member's controllers write it.
func serving(generation, replicas int) string {
	return fmt.Sprintf(`{"status":{"observedGeneration":%d,"replicas":%[2]d,"readyReplicas":%[2]d,"availableReplicas":%[2]d,"updatedReplicas":%[2]d}}`, generation, replicas)
}

func TestAnAgentAppliesAWorkReportsItAndRemovesIt(t *testing.T) {
	t.Parallel()
	p := newPair(t, nil)
	p.work("web", webOf(2), settingsOf("settings", "1"), password)
	p.awaitWork("web", metav1.ConditionTrue, "", func(w *api.Work) bool {
		s := w.Status.ManifestStatuses
		return len(s) == 3 && s[0].Health == api.Unhealthy && s[1].Health == api.Healthy && s[0].Identifier == api.ResourceIdentifier{
			Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments", Namespace: "shop", Name: "web",
		}
	})
	require.Equal(t, "c2VjcmV0", p.member.get(secrets, "shop", "password").Object["data"].(map[string]any)["key"])

	p.member.patch(deployments, "shop", "web", serving(1, 2), "status")
	p.awaitWork("web", metav1.ConditionTrue, "", func(w *api.Work) bool {
		s := w.Status.ManifestStatuses[0]
		return s.Health == api.Healthy && s.Status != nil && strings.Contains(string(s.Status.Raw), `"readyReplicas":2`)
	})

	p.rewrite("web", webOf(3), settingsOf("others", "1"), password)
	p.awaitWork("web", metav1.ConditionTrue, "", func(w *api.Work) bool {
		s := w.Status.ManifestStatuses
		return w.Generation == 2 && len(s) == 3 && s[0].Health == api.Unhealthy && s[1].Identifier.Name == "others"
	})
	awaitAt(p.member, configMaps, "shop", "settings", isAbsent[*corev1.ConfigMap])

	p.hub.delete(catalog.Works, agentWorks, "web")
	awaitAt(p.hub, catalog.Works, agentWorks, "web", isAbsent[*api.Work])
	for _, gone := range []struct {
		r    *catalog.Resource
		name string
	}{{deployments, "web"}, {configMaps, "others"}, {secrets, "password"}} {
		_, err := p.member.in(gone.r, "shop").Get(t.Context(), gone.name, metav1.GetOptions{})
		require.True(t, apierrors.IsNotFound(err), "%s: %v", gone.name, err)
	}
	for _, said := range []string{`"object":"Deployment shop/web","message":"applied"`, `"object":"ConfigMap shop/settings","message":"deleted"`, `"message":"removed"`} {
		p.log.await(t, said) // "removed" is logged once the hub has answered, which a watch may tell before
	}
}

func TestAnAgentRepairsDriftAndCreatesAgainWhatOthersDelete(t *testing.T) {
	t.Parallel()
	p := newPair(t, nil)
	p.work("web", webOf(2), settingsOf("settings", "1"))
	p.awaitApplied("web")

	p.member.patch(deployments, "shop", "web", `{"spec":{"replicas":7},"metadata":{"annotations":{"mine":"stays"}}}`)
	awaitAt(p.member, deployments, "shop", "web", func(d *appsv1.Deployment) bool { return *d.Spec.Replicas == 2 && d.Annotations["mine"] == "stays" })

	before := p.member.get(configMaps, "shop", "settings").GetUID()
	p.member.delete(configMaps, "shop", "settings")
	awaitAt(p.member, configMaps, "shop", "settings", func(c *corev1.ConfigMap) bool { return c != nil && c.UID != before && c.Data["key"] == "1" })

	p.member.patch(configMaps, "shop", "settings", `{"metadata":{"labels":{"karmada.io/managed":null}}}`)
	awaitAt(p.member, configMaps, "shop", "settings", func(c *corev1.ConfigMap) bool { return c.Labels["karmada.io/managed"] == "true" })

	p.member.patch(configMaps, "shop", "settings", `{"metadata":{"annotations":{"work.karmada.io/name":null,"work.karmada.io/namespace":null}}}`)
	awaitAt(p.member, configMaps, "shop", "settings", func(c *corev1.ConfigMap) bool { return c.Annotations["work.karmada.io/name"] == "web" })
	p.awaitApplied("web")
}

func TestAnObjectOfAnotherIsAConflict(t *testing.T) {
	p := newPair(t, nil)
	p.member.create("{apiVersion: v1, kind: Namespace, metadata: {name: shop}}")
	p.member.create(settingsOf("settings", "theirs"))
	p.work("web", settingsOf("settings", "ours"), settingsOf("others", "1"))
	p.awaitWork("web", metav1.ConditionFalse, "(1/2): ConfigMap shop/settings exists, and no Work applied it", nil)
	require.Equal(t, "theirs", p.member.get(configMaps, "shop", "settings").Object["data"].(map[string]any)["key"])
	p.member.get(configMaps, "shop", "others")

	p.work("rival", settingsOf("others", "2"))
	p.awaitWork("rival", metav1.ConditionFalse, "ConfigMap shop/others exists, and is of the Work karmada-es-m1/web", nil)

	p.rewrite("web", strings.Replace(settingsOf("settings", "ours"), "metadata: {", "metadata: {annotations: {work.karmada.io/conflict-resolution: overwrite}, ", 1))
	p.awaitApplied("web")
	require.Equal(t, "ours", p.member.get(configMaps, "shop", "settings").Object["data"].(map[string]any)["key"])
	awaitAt(p.hub, catalog.Works, agentWorks, "rival", func(w *api.Work) bool { // what was in its way is pruned
		return meta.IsStatusConditionTrue(w.Status.Conditions, api.ConditionApplied)
	})
}

func TestAWorkThatIsSuspendedIsNotApplied(t *testing.T) {
	p := newPair(t, nil)
	p.work("web", settingsOf("settings", "1"))
	p.awaitApplied("web")
	p.hub.patch(catalog.Works, agentWorks, "web", `{"spec":{"suspendDispatching":true}}`)
	p.rewrite("web", settingsOf("settings", "2"))
	awaitAt(p.hub, catalog.Works, agentWorks, "web", func(w *api.Work) bool {
		c := meta.FindStatusCondition(w.Status.Conditions, "Dispatching")
		return c != nil && c.Status == metav1.ConditionFalse && c.ObservedGeneration == w.Generation
	})
	require.Equal(t, "1", p.member.get(configMaps, "shop", "settings").Object["data"].(map[string]any)["key"])
	p.member.delete(configMaps, "shop", "settings")
	awaitAt(p.hub, catalog.Works, agentWorks, "web", func(w *api.Work) bool { // it is not applied again, and that it is gone is reported
		return len(w.Status.ManifestStatuses) == 1 && w.Status.ManifestStatuses[0].Health == api.Unhealthy
	})
	_, err := p.member.in(configMaps, "shop").Get(t.Context(), "settings", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), "%v", err)
	p.hub.patch(catalog.Works, agentWorks, "web", `{"spec":{"suspendDispatching":false}}`)
	p.awaitApplied("web")
	require.Equal(t, "2", p.member.get(configMaps, "shop", "settings").Object["data"].(map[string]any)["key"])
}

func TestWhatIsPreservedIsOfNoWorkAfterwards(t *testing.T) {
	p := newPair(t, nil)
	p.work("web", settingsOf("settings", "1"))
	p.awaitApplied("web")
	p.hub.patch(catalog.Works, agentWorks, "web", `{"spec":{"preserveResourcesOnDeletion":true}}`)
	p.hub.delete(catalog.Works, agentWorks, "web")
	awaitAt(p.hub, catalog.Works, agentWorks, "web", isAbsent[*api.Work])
	o := p.member.get(configMaps, "shop", "settings")
	require.Empty(t, o.GetLabels())
	require.Empty(t, o.GetAnnotations())
}

func TestTheMembersOutageShowsAndNothingIsLost(t *testing.T) {
	t.Parallel()
	p := newPair(t, nil)
	p.work("web", settingsOf("settings", "1"))
	p.awaitApplied("web")
	p.awaitReady(metav1.ConditionTrue, "ClusterReady")
	p.member.stop()
	p.awaitReady(metav1.ConditionFalse, "ClusterNotReachable")
	p.rewrite("web", settingsOf("settings", "2"))
	renewed := p.renewals(0)
	p.renewals(renewed) // the agent lives
	p.member.start()
	p.awaitReady(metav1.ConditionTrue, "ClusterReady")
	p.awaitApplied("web")
	require.Equal(t, "2", p.member.get(configMaps, "shop", "settings").Object["data"].(map[string]any)["key"])
	p.member.patch(configMaps, "shop", "settings", `{"data":{"key":"drift"}}`)
	awaitAt(p.member, configMaps, "shop", "settings", func(c *corev1.ConfigMap) bool { return c.Data["key"] == "2" })
}

func (p *pair) awaitReady(status metav1.ConditionStatus, reason string) {
	p.t.Helper()
	p.awaitReadySays(status, reason, "")
}

func (p *pair) awaitReadySays(status metav1.ConditionStatus, reason, message string) {
	p.t.Helper()
	awaitAt(p.hub, catalog.Clusters, "", agentCluster, func(c *api.Cluster) bool {
		r := meta.FindStatusCondition(c.Status.Conditions, api.ConditionReady)
		return r != nil && r.Status == status && r.Reason == reason && strings.Contains(r.Message, message)
	})
}

// renewals waits for a renewal of the Lease after an instant, in nanoseconds, and returns when it was.
func (p *pair) renewals(after int64) (at int64) {
	p.t.Helper()
	awaitAt(p.hub, catalog.Leases, api.LeaseNamespace, agentCluster, func(l *coordinationv1.Lease) bool {
		if l == nil || l.Spec.RenewTime == nil {
			return false
		}
		at = l.Spec.RenewTime.UnixNano()
		return at > after
	})
	return at
}

func TestTheHubsOutageEndsWithAReportOfAll(t *testing.T) {
	t.Parallel()
	p := newPair(t, nil)
	p.work("web", webOf(2), settingsOf("settings", "1"))
	p.work("leaves", settingsOf("others", "1"))
	p.awaitApplied("web")
	p.awaitApplied("leaves")
	p.hub.stop()
	p.member.patch(deployments, "shop", "web", serving(1, 2), "status")
	p.member.patch(configMaps, "shop", "settings", `{"data":{"key":"drift"}}`)
	awaitAt(p.member, configMaps, "shop", "settings", func(c *corev1.ConfigMap) bool { return c.Data["key"] == "1" })
	p.hub.start()
	p.hub.delete(catalog.Works, agentWorks, "leaves")
	awaitAt(p.hub, catalog.Works, agentWorks, "leaves", isAbsent[*api.Work])
	p.awaitWork("web", metav1.ConditionTrue, "", func(w *api.Work) bool { return w.Status.ManifestStatuses[0].Health == api.Healthy })
}

// What happened while no agent ran is done by the next: a manifest that went, a Work that was deleted, drift.
func TestAnAgentThatBeginsAgainCatchesUp(t *testing.T) {
	p := newPair(t, nil)
	p.work("web", settingsOf("settings", "1"), settingsOf("former", "1"))
	p.work("leaves", password)
	p.awaitApplied("web")
	p.awaitApplied("leaves")
	require.NoError(t, p.end())
	p.rewrite("web", settingsOf("settings", "1"))
	p.hub.delete(catalog.Works, agentWorks, "leaves")
	p.member.patch(configMaps, "shop", "settings", `{"data":{"key":"drift"}}`)
	p.begin()
	awaitAt(p.hub, catalog.Works, agentWorks, "leaves", isAbsent[*api.Work])
	awaitAt(p.member, secrets, "shop", "password", isAbsent[*corev1.Secret])
	awaitAt(p.member, configMaps, "shop", "former", isAbsent[*corev1.ConfigMap])
	awaitAt(p.member, configMaps, "shop", "settings", func(c *corev1.ConfigMap) bool { return c.Data["key"] == "1" })
	p.awaitApplied("web")
}

// A Work that vanishes, as when the hub loses its disk, takes nothing with it.
func TestAWorkThatVanishesLeavesItsObjects(t *testing.T) {
	p := newPair(t, nil)
	p.work("web", settingsOf("settings", "1"))
	p.awaitApplied("web")
	p.hub.patch(catalog.Works, agentWorks, "web", `{"metadata":{"finalizers":null}}`)
	p.hub.delete(catalog.Works, agentWorks, "web")
	awaitAt(p.hub, catalog.Works, agentWorks, "web", isAbsent[*api.Work])
	p.work("sign", settingsOf("sign", "1"))
	p.awaitApplied("sign")
	p.member.get(configMaps, "shop", "settings")
	p.work("web", settingsOf("settings", "2"))
	p.awaitApplied("web")
	require.Equal(t, "2", p.member.get(configMaps, "shop", "settings").Object["data"].(map[string]any)["key"])
}

func TestAnAgentActsForItsOwnClusterOnly(t *testing.T) {
	p := newPair(t, func(c *agent.Config) { c.Cluster = "m2" })
	require.ErrorContains(t, p.failure(), "the hub refuses to show cluster m2: are these the credentials of another cluster's agent?")

	p.change = nil
	p.hub.patch(catalog.Clusters, "", agentCluster, `{"spec":{"id":"another"}}`)
	p.begin()
	require.ErrorContains(t, p.failure(), "that of cluster m1 is another")
}

// failure is why an agent ended by itself.
func (p *pair) failure() error {
	p.t.Helper()
	return <-p.ended
}

func TestAnAgentReportsWhatTheMemberHas(t *testing.T) {
	p := newPair(t, nil)
	p.member.create(`
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {topology.kubernetes.io/region: eu, topology.kubernetes.io/zone: eu-a}}
status: {allocatable: {cpu: "4", pods: "10"}, conditions: [{type: Ready, status: "True"}]}`)
	p.member.patch(catalog.Nodes, "", "n1", `{"status":{"allocatable":{"cpu":"4","pods":"10"},"conditions":[{"type":"Ready","status":"True"}]}}`, "status")
	p.member.create("{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: default}, spec: {nodeName: n1, containers: [{name: a, image: a, resources: {requests: {cpu: 500m}}}]}}")
	awaitAt(p.hub, catalog.Clusters, "", agentCluster, func(c *api.Cluster) bool {
		s := c.Status.ResourceSummary
		return s != nil && s.Allocatable.Cpu().MilliValue() == 4000 && s.Allocated.Cpu().MilliValue() == 500 && s.Allocated.Pods().Value() == 1 &&
			c.Status.NodeSummary.ReadyNum == 1 && c.Status.KubernetesVersion != "" &&
			meta.IsStatusConditionTrue(c.Status.Conditions, api.ConditionCompleteAPIEnablements) &&
			c.Spec.Region == "eu" && slices.Equal(c.Spec.Zones, []string{"eu-a"})
	})

	// What people write of where it is has the last word, until they take it back.
	p.hub.patch(catalog.Clusters, "", agentCluster, `{"spec":{"region":"europe"}}`)
	p.member.patch(catalog.Nodes, "", "n1", `{"metadata":{"labels":{"topology.kubernetes.io/region":"us","topology.kubernetes.io/zone":"us-a"}}}`)
	awaitAt(p.hub, catalog.Clusters, "", agentCluster, func(c *api.Cluster) bool {
		return c.Spec.Region == "europe" && slices.Equal(c.Spec.Zones, []string{"us-a"})
	})
	p.hub.patch(catalog.Clusters, "", agentCluster, `{"spec":{"region":null}}`)
	require.Equal(t, "us", p.hub.get(catalog.Clusters, "", agentCluster).Object["spec"].(map[string]any)["region"])
}

// Two replicas share a cluster: one applies, and the other goes on when it ends.
func TestOfTwoReplicasOneApplies(t *testing.T) {
	p := newPair(t, func(c *agent.Config) { c.Identity = "a" })
	p.work("web", settingsOf("settings", "1"))
	p.awaitApplied("web")
	first := p.end
	p.change = func(c *agent.Config) { c.Identity = "b" }
	p.begin()
	require.NoError(t, first())
	p.rewrite("web", settingsOf("settings", "2"))
	p.awaitApplied("web")
	require.Equal(t, "2", p.member.get(configMaps, "shop", "settings").Object["data"].(map[string]any)["key"])
	awaitAt(p.hub, catalog.Leases, api.LeaseNamespace, agentCluster, func(l *coordinationv1.Lease) bool { return *l.Spec.HolderIdentity == "b" })
}
