package kubeapi_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"leeward/runtime/daemon/engine"
	"leeward/runtime/daemon/kubeapi"
)

// ownedBy makes a ConfigMap that names its owners, each of which waits for it when it is deleted in the foreground.
func (d *daemon) ownedBy(name string, owners ...*unstructured.Unstructured) *unstructured.Unstructured {
	d.t.Helper()
	o := object("v1", "ConfigMap", "default", name, nil)
	var refs []metav1.OwnerReference
	for _, owner := range owners {
		refs = append(refs, metav1.OwnerReference{
			APIVersion: owner.GetAPIVersion(), Kind: owner.GetKind(), Name: owner.GetName(), UID: owner.GetUID(), BlockOwnerDeletion: ptr.To(true),
		})
	}
	o.SetOwnerReferences(refs)
	return d.create(configMaps, o)
}

func (d *daemon) delete(name string, policy metav1.DeletionPropagation) {
	d.t.Helper()
	require.NoError(d.t, d.in(configMaps, kubeapi.Admin()).Delete(d.t.Context(), name, metav1.DeleteOptions{PropagationPolicy: &policy}))
}

// names are the ConfigMaps that there are.
func (d *daemon) names() []string {
	d.t.Helper()
	list, err := d.in(configMaps, kubeapi.Admin()).List(d.t.Context(), metav1.ListOptions{})
	require.NoError(d.t, err)
	names := []string{}
	for _, o := range list.Items {
		names = append(names, o.GetName())
	}
	return names
}

// left waits until these ConfigMaps remain, and nothing must be collected any more.
func (d *daemon) left(names ...string) {
	d.t.Helper()
	require.Eventually(d.t, func() bool {
		return len(d.names()) <= len(names)
	}, time.Minute, 5*time.Millisecond, "left: %v", names)
	last := object("v1", "ConfigMap", "", "last", nil) // what goes immediately, after all that is due before it
	last.SetUID("none")
	d.ownedBy("zz", last)
	require.Eventually(d.t, func() bool {
		_, err := d.in(configMaps, kubeapi.Admin()).Get(d.t.Context(), "zz", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	}, time.Minute, 5*time.Millisecond)
	require.ElementsMatch(d.t, names, d.names())
}

func TestWhatIsOwnedGoesWithItsOwner(t *testing.T) {
	d := serve(t)
	owner, other := d.ownedBy("owner"), d.ownedBy("other")
	child := d.ownedBy("child", owner)
	d.ownedBy("grandchild", child)
	d.ownedBy("shared", owner, other)
	d.delete("owner", metav1.DeletePropagationBackground)
	d.left("other", "shared")
	require.Equal(t, "other", at(t, d.get(configMaps, "shared"), ".metadata.ownerReferences[*].name"))
}

func TestWhatIsOrphanedStays(t *testing.T) {
	d := serve(t)
	child := d.ownedBy("child", d.ownedBy("owner"))
	d.ownedBy("grandchild", child)
	d.delete("owner", metav1.DeletePropagationOrphan)
	d.left("child", "grandchild")
	require.Empty(t, d.get(configMaps, "child").GetOwnerReferences())
	require.Len(t, d.get(configMaps, "grandchild").GetOwnerReferences(), 1)
}

func TestAnOwnerThatIsDeletedInTheForegroundWaits(t *testing.T) {
	d := serve(t)
	child := d.ownedBy("child", d.ownedBy("owner"))
	grandchild := d.ownedBy("grandchild", child)
	grandchild.SetFinalizers([]string{"leeward.dev/held"})
	_, err := d.in(configMaps, kubeapi.Admin()).Update(t.Context(), grandchild, metav1.UpdateOptions{})
	require.NoError(t, err)
	d.delete("owner", metav1.DeletePropagationForeground)
	require.Eventually(t, func() bool { return d.get(configMaps, "grandchild").GetDeletionTimestamp() != nil }, time.Minute, 5*time.Millisecond)
	d.left("owner", "child", "grandchild")
	_, err = d.in(configMaps, kubeapi.Admin()).Patch(t.Context(), "grandchild", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	d.left()
}

func TestTwoThatOwnEachOtherDoNotWaitForEver(t *testing.T) {
	d := serve(t)
	a := d.ownedBy("a")
	b := d.ownedBy("b", a)
	a.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "b", UID: b.GetUID(), BlockOwnerDeletion: ptr.To(true)}})
	_, err := d.in(configMaps, kubeapi.Admin()).Update(t.Context(), a, metav1.UpdateOptions{})
	require.NoError(t, err)
	d.delete("a", metav1.DeletePropagationForeground)
	d.left()
}

func TestOnlyWhatIsKnownToHaveNoOwnerGoes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		apiVersion, kind, name string
		stays                  bool
	}{
		"an owner that is not there":              {"v1", "ConfigMap", "nobody", false},
		"another of the owner's name":             {"v1", "ConfigMap", "owner", false},
		"an owner of a kind that is not kept":     {"example.org/v1", "App", "shop", true},
		"an owner of a version that is not kept":  {"apps/v1beta1", "Deployment", "owner", true},
		"an owner outside of any namespace, gone": {"cluster.karmada.io/v1alpha1", "Cluster", "m1", false},
	} {
		t.Run(name, func(t *testing.T) {
			d := serve(t)
			d.ownedBy("owner")
			owner := object(c.apiVersion, c.kind, "", c.name, nil)
			owner.SetUID("another")
			d.ownedBy("child", owner)
			if c.stays {
				d.left("owner", "child")
			} else {
				d.left("owner")
			}
		})
	}
}

// ownedBy is an object that names an owner.
func ownedBy(name, owner string, uid types.UID) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: "1",
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner, UID: uid}}}}
}

// goingWith is an object that a client deleted and a finalizer keeps.
func goingWith(name, finalizer string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: "2",
		DeletionTimestamp: ptr.To(metav1.NewTime(time.Unix(0, 0))), Finalizers: []string{finalizer}}}
}

// leave writes objects as a daemon that was killed left them.
func leave(t *testing.T, e *engine.Engine, objects ...*corev1.ConfigMap) {
	t.Helper()
	for _, o := range objects {
		require.NoError(t, e.Commit(engine.Create(engine.Key(configMaps.GroupResource(), "default", o.Name), o)))
	}
}

func TestWhatAKilledDaemonHadToCollectIsCollectedAtTheNextStart(t *testing.T) {
	e := open(t)
	leave(t, e, ownedBy("orphan", "gone", "0"), goingWith("leaving", metav1.FinalizerDeleteDependents))
	start(t, e, t.TempDir(), "127.0.0.1:0").left()
}

// TestWhatIsOrphanedStaysWhicheverIsLookedAtFirst shows a daemon that was killed before it let the owner go: the child comes
// before it in any list.
func TestWhatIsOrphanedStaysWhicheverIsLookedAtFirst(t *testing.T) {
	e := open(t)
	leave(t, e, ownedBy("child", "owner", "2"), goingWith("owner", metav1.FinalizerOrphanDependents))
	d := start(t, e, t.TempDir(), "127.0.0.1:0")
	d.left("child")
	require.Empty(t, d.get(configMaps, "child").GetOwnerReferences())
}
