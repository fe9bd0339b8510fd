package main

import (
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"leeward/messages/api"
	"leeward/runtime/client/install"
	"leeward/runtime/daemon/attach/karmada"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/store"
)

// documented is a command of a section of docs/attach.md, without its first word and the kubeconfig.
func documented(t *testing.T, section string) []string {
	t.Helper()
	text, err := os.ReadFile("../../docs/attach.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(text), "#### "+section+"\n")
	require.True(t, found)
	_, rest, found = strings.Cut(rest, "leewardd --attach acting.kubeconfig ")
	require.True(t, found)
	line, _, _ := strings.Cut(rest, "\n")
	return append(strings.Fields(line), "--attach-namespace", "leeward-system")
}

// as has another writer change the spec of the binding of web.
func (o *otherPlane) as(by string, spec map[string]any) {
	o.t.Helper()
	body, err := json.Marshal(map[string]any{"spec": spec})
	require.NoError(o.t, err)
	require.NoError(o.t, o.foreign.client.CoreV1().RESTClient().Patch(types.MergePatchType).
		AbsPath("/apis/work.karmada.io/v1alpha2/namespaces/default/resourcebindings/web-deployment").Param("fieldManager", by).Body(body).Do(o.t.Context()).Error())
}

// awaits waits until the binding of web is as wanted.
func (o *otherPlane) awaits(right func(b *api.ResourceBinding) bool) {
	o.t.Helper()
	require.Eventually(o.t, func() bool {
		found, err := o.objects.Get(o.t.Context(), catalog.Bindings, "default", "web-deployment")
		return err == nil && right(found.(*api.ResourceBinding))
	}, 3*time.Minute, 10*time.Millisecond)
}

func placedOn(b *api.ResourceBinding, names ...string) bool {
	return len(b.Spec.Clusters) == len(names) && !slices.ContainsFunc(names, func(n string) bool { return api.FindTarget(b.Spec.Clusters, n) < 0 })
}

// newActingPlane is a server where a daemon with the rights of the example may act on the binding of web.
func newActingPlane(t *testing.T) *otherPlane {
	t.Helper()
	o := newOtherPlane(t)
	o.workload("web")
	require.Equal(t, []string{"created", "created", "created", "created", "created", "created", "created", "created", "created", "created", "kept", "kept", "kept", "created"}, o.install())
	o.allowOnly(install.Act, install.Karmada)
	return o
}

// install installs what acting needs, and says what was done to each object.
func (o *otherPlane) install() (did []string) {
	o.t.Helper()
	choice := install.Choice{Role: install.Act, Server: install.Karmada, Namespace: install.DefaultNamespace}
	all, err := choice.Manifests()
	require.NoError(o.t, err)
	i := install.Installation{Client: o.objects, Tell: func(s *install.Step) error {
		did = append(did, s.Did)
		return nil
	}}
	require.NoError(o.t, i.Install(o.t.Context(), all))
	return did
}

// uninstall takes it back, and says what was deleted.
func (o *otherPlane) uninstall() (did []string, err error) {
	r := install.Removal{Client: o.objects, Server: install.Karmada, Namespace: install.DefaultNamespace, Clock: clock.New(), Tell: func(s *install.Step) error {
		did = append(did, s.String())
		return nil
	}}
	return did, r.Uninstall(o.t.Context())
}

// TestCutOverOnePolicyAndRollBack does what docs/attach.md says, with the rights of the example, none of which it does without.
func TestCutOverOnePolicyAndRollBack(t *testing.T) {
	t.Parallel() // it waits
	o := newActingPlane(t)
	o.as("karmada-controller-manager", map[string]any{"schedulerName": "leeward"}) // as the detector does of a new policy
	a := o.attach(documented(t, "Cut over one policy")...)
	a.await(t, "this daemon acts")
	o.awaits(func(b *api.ResourceBinding) bool { return b.Status.SchedulerObservedGeneration == b.Generation })
	o.taintCluster("m2", "failed")
	o.awaits(func(b *api.ResourceBinding) bool {
		return placedOn(b, "m1", "m3") && len(b.Spec.GracefulEvictionTasks) == 1 && b.Status.SchedulerObservedGeneration == b.Generation
	})
	a.answers(t, "/metrics", `leeward_attach_mode{mode="acting"} 1`)
	done, err := o.uninstall()
	require.ErrorContains(t, err, "acts by the Lease leeward-system/leewardd-karmada: stop it first")
	require.Empty(t, done)
	a.answers(t, "/metrics", `leeward_attach_requests_total{outcome="served",verb="patch"}`)
	o.work("web", "m3")
	a.await(t, "eviction ended")
	require.Eventually(t, func() bool {
		told, err := o.client.CoreV1().Events("default").List(t.Context(), metav1.ListOptions{FieldSelector: "involvedObject.name=web-deployment,reason=EvictionStarted"})
		return err == nil && len(told.Items) == 1 && strings.Contains(told.Items[0].Message, "taint failed:NoExecute")
	}, 3*time.Minute, 10*time.Millisecond)
	a.stop() // rolled back: Karmada ends the task that it finds
	require.NoError(t, <-a.ended)
	o.awaits(func(b *api.ResourceBinding) bool {
		return placedOn(b, "m1", "m3") && len(b.Spec.GracefulEvictionTasks) == 1
	})
	o.as("karmada-controller-manager", map[string]any{"gracefulEvictionTasks": nil})
	for _, r := range o.requests() {
		require.NotContains(t, r.URL.Path, "deployments")
	}
	again := o.install()
	require.NotContains(t, again, "created")
	require.NotContains(t, again, "configured")
	done, err = o.uninstall()
	require.NoError(t, err)
	require.Contains(t, done, "clusterrole/leewardd-karmada-acting deleted")
	require.Equal(t, "namespace/leeward-system deleted", done[len(done)-1])
	require.Len(t, done, 11)
}

// TestCutOverAFleet does, too; then a karmada-scheduler is started beside it.
func TestCutOverAFleet(t *testing.T) {
	t.Parallel() // it waits
	o := newActingPlane(t)
	a := o.attach(documented(t, "Cut over a fleet")...)
	a.await(t, "this daemon acts")
	o.taintCluster("m2", "failed")
	o.awaits(func(b *api.ResourceBinding) bool { return placedOn(b, "m1", "m3") })
	o.work("web", "m3")
	o.awaits(func(b *api.ResourceBinding) bool { return len(b.Spec.GracefulEvictionTasks) == 0 })
	require.Eventually(t, func() bool {
		found, err := o.objects.Get(t.Context(), catalog.Of(store.GovernorKey), "", api.GovernorName)
		return err == nil && len(found.(*api.Governor).Status.Permits) > 0
	}, 3*time.Minute, 10*time.Millisecond)
	rights := rightsOf(t, install.Act, install.Karmada)
	asked := rightsAsked(o.requests())
	for _, one := range rights {
		for _, verb := range one.Verbs {
			for _, resource := range one.Resources {
				used := slices.ContainsFunc(asked, func(r rbacv1.PolicyRule) bool { return r.Verbs[0] == verb && r.Resources[0] == resource })
				rare := resource == "events" && verb == "patch" // of one that is told again
				require.True(t, used || rare || strings.HasPrefix(resource, "clusterresourcebindings"), "no request is %s of %s", verb, resource)
			}
		}
	}
	o.as("karmada-scheduler", map[string]any{"clusters": clustersOf("m1", "m2")})
	a.await(t, "stepped back to shadow: nothing is written any more")
	code, why := a.read(t, "/readyz")
	require.Equal(t, http.StatusServiceUnavailable, code)
	require.Contains(t, why, "karmada-scheduler (it wrote default/web-deployment at ")
	a.answers(t, "/metrics", `leeward_attach_mode{mode="stepped-back"} 1`)
}

// TestTheFieldsThatAreWrittenAreDocumented in the words of the code.
func TestTheFieldsThatAreWrittenAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/attach.md")
	require.NoError(t, err)
	for _, f := range karmada.Fields {
		require.Contains(t, string(text), "| `"+f.Path+"` | "+f.Was+" |\n")
	}
}
