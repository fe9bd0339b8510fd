package kubeapi_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"leeward/messages/api"
	"leeward/runtime/daemon/kubeapi"
)

func TestAWriteIsCompletedAndHeldToTheRules(t *testing.T) {
	d := serve(t)
	admin := d.in(clusters, kubeapi.Admin())
	for name, c := range map[string]struct {
		kind    types.PatchType
		patch   string
		path    string
		shows   string
		refused string
	}{
		"a taint gets its time": {
			types.MergePatchType, `{"spec":{"taints":[{"key":"k","effect":"NoExecute","timeAdded":"2026-01-02T03:04:05Z"}]}}`, ".spec.taints[0].timeAdded", "2026-01-02T03:04:05Z", ""},
		"a label is no change of what is asked for": {
			types.MergePatchType, `{"metadata":{"labels":{"a":"b"}}}`, ".metadata.generation", "1", ""},
		"a region is one": {
			types.JSONPatchType, `[{"op":"add","path":"/spec/region","value":"eu"}]`, ".metadata.generation", "2", ""},
		"a status is not written with the object": {
			types.MergePatchType, `{"status":{"kubernetesVersion":"v1"}}`, ".status.kubernetesVersion", "", ""},
		"a strategic patch replaces taints, which have no key of their own": {
			types.StrategicMergePatchType, `{"spec":{"taints":[{"key":"other","effect":"NoSchedule"}]}}`, ".spec.taints[*].key", "other", ""},
		"a wrong effect is refused with its place": {
			types.MergePatchType, `{"spec":{"taints":[{"key":"k","effect":"Never"}]}}`, "", "", `spec.taints[0].effect: Unsupported value: "Never"`},
	} {
		t.Run(name, func(t *testing.T) {
			fresh := cluster("")
			fresh.SetGenerateName("m-")
			before := d.create(clusters, fresh)
			after, err := admin.Patch(t.Context(), before.GetName(), c.kind, []byte(c.patch), metav1.PatchOptions{})
			if c.refused != "" {
				require.ErrorContains(t, err, c.refused)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.shows, at(t, after, c.path))
		})
	}
}

func TestAnUnknownFieldIsRefusedWhereTheClientAsksForIt(t *testing.T) {
	d := serve(t)
	c := cluster("m1")
	c.Object["spec"].(map[string]any)["regoin"] = "eu"
	_, err := d.in(clusters, kubeapi.Admin()).Create(t.Context(), c, metav1.CreateOptions{FieldValidation: "Strict"})
	require.ErrorContains(t, err, `unknown field "spec.regoin"`)
}

func TestTheStatusIsWrittenByItself(t *testing.T) {
	d := serve(t)
	d.create(clusters, cluster("m1"))
	patch := `{"metadata":{"labels":{"a":"b"}},"spec":{"region":"eu"},"status":{"kubernetesVersion":"v1.33.0"}}`
	after, err := d.in(clusters, kubeapi.Admin()).Patch(t.Context(), "m1", types.MergePatchType, []byte(patch), metav1.PatchOptions{}, "status")
	require.NoError(t, err)
	require.Equal(t, "v1.33.0", at(t, after, ".status.kubernetesVersion"))
	require.Empty(t, at(t, after, ".spec.region"))
	require.Empty(t, after.GetLabels())
	require.Equal(t, int64(1), after.GetGeneration())
}

func TestAnOldVersionIsAConflict(t *testing.T) {
	d := serve(t)
	old := d.create(clusters, cluster("m1"))
	changed := old.DeepCopy()
	changed.SetLabels(map[string]string{"a": "b"})
	_, err := d.in(clusters, kubeapi.Admin()).Update(t.Context(), changed, metav1.UpdateOptions{})
	require.NoError(t, err)
	old.SetLabels(map[string]string{"c": "d"})
	_, err = d.in(clusters, kubeapi.Admin()).Update(t.Context(), old, metav1.UpdateOptions{})
	require.True(t, apierrors.IsConflict(err), err)
}

func TestAWriteThatChangesNothingTakesNoVersion(t *testing.T) {
	d := serve(t)
	o := d.create(clusters, cluster("m1"))
	var versions []string
	for range 2 { // the first one takes over what was filled in
		var err error
		o, err = d.in(clusters, kubeapi.Admin()).Update(t.Context(), o, metav1.UpdateOptions{FieldManager: "test"})
		require.NoError(t, err)
		versions = append(versions, o.GetResourceVersion())
	}
	require.Equal(t, versions[0], versions[1])
}

func TestADryRunChangesNothing(t *testing.T) {
	d := serve(t)
	dry := []string{metav1.DryRunAll}
	admin := d.in(clusters, kubeapi.Admin())
	created, err := admin.Create(t.Context(), cluster("m1"), metav1.CreateOptions{DryRun: dry})
	require.NoError(t, err)
	require.NotEmpty(t, at(t, created, ".spec.resourceModels"))
	_, err = admin.Get(t.Context(), "m1", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), err)
	d.create(clusters, cluster("m1"))
	require.NoError(t, admin.Delete(t.Context(), "m1", metav1.DeleteOptions{DryRun: dry}))
	d.get(clusters, "m1")
}

func TestAFinalizerHoldsADeletion(t *testing.T) {
	d := serve(t)
	held := cluster("m1")
	held.SetFinalizers([]string{"leeward.dev/held"})
	d.create(clusters, held)
	admin := d.in(clusters, kubeapi.Admin())
	require.NoError(t, admin.Delete(t.Context(), "m1", metav1.DeleteOptions{}))
	require.NotNil(t, d.get(clusters, "m1").GetDeletionTimestamp())
	_, err := admin.Patch(t.Context(), "m1", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	_, err = admin.Get(t.Context(), "m1", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), err)
}

func TestServerSideApplyKnowsWhoseAFieldIs(t *testing.T) {
	d := serve(t)
	admin := d.in(clusters, kubeapi.Admin())
	wanted := cluster("m1")
	wanted.Object["spec"].(map[string]any)["region"] = "eu"
	_, err := admin.Apply(t.Context(), "m1", wanted, metav1.ApplyOptions{FieldManager: "ada"})
	require.NoError(t, err)
	wanted.Object["spec"].(map[string]any)["region"] = "us"
	_, err = admin.Apply(t.Context(), "m1", wanted, metav1.ApplyOptions{FieldManager: "bob"})
	require.ErrorContains(t, err, `conflict with "ada": .spec.region`)
	after, err := admin.Apply(t.Context(), "m1", wanted, metav1.ApplyOptions{FieldManager: "bob", Force: true})
	require.NoError(t, err)
	require.Equal(t, "us", at(t, after, ".spec.region"))
}

func TestServerSideApplyMergesContainersByName(t *testing.T) {
	d := serve(t)
	d.create(deployments, deployment("web"))
	sidecar := deployment("web")
	sidecar.Object["spec"] = map[string]any{"template": map[string]any{"spec": map[string]any{
		"containers": []any{map[string]any{"name": "sidecar", "image": "two", "ports": []any{map[string]any{"containerPort": int64(80)}}}},
	}}}
	after, err := d.in(deployments, kubeapi.Admin()).Apply(t.Context(), "web", sidecar, metav1.ApplyOptions{FieldManager: "ada"})
	require.NoError(t, err)
	require.Equal(t, "main sidecar", at(t, after, ".spec.template.spec.containers[*].name"))
}

func TestReplicasAreScaledAlone(t *testing.T) {
	d := serve(t)
	d.create(deployments, deployment("web"))
	admin := d.in(deployments, kubeapi.Admin())
	is, err := admin.Get(t.Context(), "web", metav1.GetOptions{}, "scale")
	require.NoError(t, err)
	require.Equal(t, "1", at(t, is, ".spec.replicas"))
	after, err := admin.Patch(t.Context(), "web", types.MergePatchType, []byte(`{"spec":{"replicas":5}}`), metav1.PatchOptions{}, "scale")
	require.NoError(t, err)
	require.Equal(t, "autoscaling/v1 Scale 5", after.GetAPIVersion()+" "+after.GetKind()+" "+at(t, after, ".spec.replicas"))
	require.Equal(t, "5", at(t, d.get(deployments, "web"), ".spec.replicas"))
	_, err = admin.Patch(t.Context(), "web", types.MergePatchType, []byte(`{"spec":{"replicas":-1}}`), metav1.PatchOptions{}, "scale")
	require.ErrorContains(t, err, "spec.replicas: must be 0 or more")
}

func TestEventsAreThoseOfBothGroups(t *testing.T) {
	d := serve(t)
	styled := object("events.k8s.io/v1", "Event", "default", "e", nil)
	styled.Object["regarding"] = map[string]any{"kind": "Cluster", "name": "m1"}
	styled.Object["note"], styled.Object["reason"] = "gone", "Evicted"
	d.create(newEvents, styled)
	require.Equal(t, "m1 gone", at(t, d.get(oldEvents, "e"), ".involvedObject.name")+" "+at(t, d.get(oldEvents, "e"), ".message"))
	require.Equal(t, "m1", at(t, d.get(newEvents, "e"), ".regarding.name"))
	for selector, found := range map[string]int{"involvedObject.name=m1": 1, "reason=Evicted": 1, "reason=Other": 0} {
		list, err := d.in(oldEvents, kubeapi.Admin()).List(t.Context(), metav1.ListOptions{FieldSelector: selector})
		require.NoError(t, err)
		require.Len(t, list.Items, found, selector)
	}
	_, err := d.in(oldEvents, kubeapi.Admin()).List(t.Context(), metav1.ListOptions{FieldSelector: "message=gone"})
	require.ErrorContains(t, err, `"message" is not a field that events can be selected by`)
}

func TestAWatchTellsWhatIsAndWhatChanges(t *testing.T) {
	d := serve(t)
	d.create(clusters, cluster("m1"))
	w, err := d.in(clusters, kubeapi.Admin()).Watch(t.Context(), metav1.ListOptions{LabelSelector: "tier!=gone"})
	require.NoError(t, err)
	defer w.Stop()
	next := func(kind watch.EventType, name string) {
		t.Helper()
		e := <-w.ResultChan()
		require.Equal(t, kind, e.Type)
		require.Equal(t, name, e.Object.(metav1.Object).GetName())
	}
	next(watch.Added, "m1")
	d.create(clusters, cluster("m2"))
	next(watch.Added, "m2")
	gone := `{"metadata":{"labels":{"tier":"gone"}}}`
	_, err = d.in(clusters, kubeapi.Admin()).Patch(t.Context(), "m1", types.MergePatchType, []byte(gone), metav1.PatchOptions{})
	require.NoError(t, err)
	next(watch.Deleted, "m1")
}

func TestBindingsAreListedInPages(t *testing.T) {
	d := serve(t)
	for _, name := range []string{"a", "b", "c"} {
		d.create(bindings, object(api.WorkGroupVersion, "ResourceBinding", "default", name, map[string]any{
			"resource": map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": name},
		}))
	}
	var names []string
	options := metav1.ListOptions{Limit: 2}
	for {
		page, err := d.in(bindings, kubeapi.Admin()).List(t.Context(), options)
		require.NoError(t, err)
		for i := range page.Items {
			names = append(names, page.Items[i].GetName())
		}
		if options.Continue = page.GetContinue(); options.Continue == "" {
			break
		}
		require.Equal(t, int64(1), *page.GetRemainingItemCount())
	}
	require.Equal(t, []string{"a", "b", "c"}, names)
}
