package kubeapi_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"leeward/messages/api"
	"leeward/runtime/daemon/kubeapi"
)

// served is one resource with a verb that it has, as discovery lists them.
type served struct {
	group, resource, verb string
	namespaced            bool
}

func everything(t *testing.T, client kubernetes.Interface) (all []served) {
	t.Helper()
	_, lists, err := client.Discovery().ServerGroupsAndResources()
	require.NoError(t, err)
	for _, list := range lists {
		for _, r := range list.APIResources {
			group, _, found := strings.Cut(list.GroupVersion, "/")
			if !found {
				group = ""
			}
			for _, verb := range r.Verbs {
				all = append(all, served{group, r.Name, verb, r.Namespaced})
			}
		}
	}
	return all
}

// reads reports whether a verb changes nothing.
func reads(verb string) bool { return slices.Contains([]string{"get", "list", "watch"}, verb) }

// onlyAsks reports whether a user asks about himself, or which kinds there are.
func onlyAsks(s served) bool {
	return strings.HasPrefix(s.resource, "selfsubject") || s.resource == definitions.Resource && s.verb == "list"
}

// TestEveryRoleMayWhatItsNameSays asks of every resource and verb that is served, in two namespaces, whether users may,
// and whether what "kubectl auth can-i --list" tells them is that.
func TestEveryRoleMayWhatItsNameSays(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one thing at a time: the race detector has nothing to find")
	}
	d := serve(t, func(c *kubeapi.Config) {
		c.Answer = func(context.Context, *api.FailoverPreview) error { return nil } // so that previews are served
	})
	d.define(topicDefinition())
	admin, err := kubernetes.NewForConfig(d.as(kubeapi.Admin()))
	require.NoError(t, err)
	require.Eventually(t, func() bool { return strings.Contains(d.answer("/apis", "application/json"), "example.com") }, time.Minute, time.Millisecond)
	all := everything(t, admin)
	require.Greater(t, len(all), 200)
	require.Contains(t, all, served{"example.com", "topics/status", "patch", true})
	for name, c := range map[string]struct {
		groups []string
		may    func(s served, namespace string) bool
	}{
		"an administrator": {[]string{kubeapi.AdminGroup}, func(served, string) bool { return true }},
		"an editor":        {[]string{kubeapi.EditorGroup}, func(served, string) bool { return true }},
		"a viewer": {[]string{kubeapi.ViewerGroup}, func(s served, _ string) bool {
			return reads(s.verb) && !holdsSecrets(s.resource) || s.resource == "failoverpreviews"
		}},
		"an editor of shop": {[]string{kubeapi.EditorGroup + ":shop"}, func(s served, namespace string) bool {
			return s.namespaced && namespace == "shop" && s.resource != "localsubjectaccessreviews"
		}},
		"a viewer of shop": {[]string{kubeapi.ViewerGroup + ":shop"}, func(s served, namespace string) bool {
			return s.namespaced && namespace == "shop" && reads(s.verb) && !holdsSecrets(s.resource)
		}},
		"an editor of nothing": {[]string{kubeapi.EditorGroup + ":"}, func(served, string) bool { return false }},
		"a stranger":           {nil, func(served, string) bool { return false }},
	} {
		t.Run(name, func(t *testing.T) {
			user, err := kubernetes.NewForConfig(d.as(kubeapi.User{Name: "u", Groups: c.groups}))
			require.NoError(t, err)
			for _, namespace := range []string{"shop", "default"} {
				rules, err := user.AuthorizationV1().SelfSubjectRulesReviews().Create(t.Context(), &authorizationv1.SelfSubjectRulesReview{
					Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: namespace}}, metav1.CreateOptions{})
				require.NoError(t, err)
				for _, s := range all {
					in := namespace
					if !s.namespaced {
						in = ""
					}
					want := onlyAsks(s) || c.may(s, in)
					asked := of(s.verb, s.group, s.resource, in, "")
					asked.Resource, asked.Subresource, _ = strings.Cut(s.resource, "/")
					got, err := user.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), &authorizationv1.SelfSubjectAccessReview{
						Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &asked}}, metav1.CreateOptions{})
					require.NoError(t, err)
					require.Equal(t, want, got.Status.Allowed, "%+v in %q", s, in)
					if s.namespaced || namespace == "default" { // kubectl lists what may be done in one namespace
						require.Equal(t, want, listed(rules.Status.ResourceRules, s), "%+v is listed in %q", s, namespace)
					}
				}
			}
		})
	}
}

// listed reports whether rules allow something.
func listed(rules []authorizationv1.ResourceRule, s served) bool {
	has := func(words []string, word string) bool {
		return slices.Contains(words, "*") || slices.Contains(words, word)
	}
	return slices.ContainsFunc(rules, func(r authorizationv1.ResourceRule) bool {
		return has(r.APIGroups, s.group) && has(r.Resources, s.resource) && has(r.Verbs, s.verb) && len(r.ResourceNames) == 0
	})
}

func TestAnAgentTouchesNothingOfAnother(t *testing.T) {
	d := serve(t)
	d.create(clusters, cluster("m1"))
	d.create(clusters, cluster("m2"))
	for _, name := range []string{"karmada-es-m1", "karmada-es-m2"} {
		d.create(namespaces, object("v1", "Namespace", "", name, nil))
		_, err := d.client(kubeapi.Admin()).Resource(works).Namespace(name).Create(t.Context(), object("work.karmada.io/v1alpha1", "Work", name, "w", nil), metav1.CreateOptions{})
		require.NoError(t, err)
	}
	for _, name := range []string{"m1", "m2"} {
		_, err := d.client(kubeapi.Admin()).Resource(leases).Namespace("karmada-cluster").Create(t.Context(), lease("karmada-cluster", name), metav1.CreateOptions{})
		require.NoError(t, err)
	}
	agent := d.client(kubeapi.Agent("m1"))
	patch := []byte(`{"metadata":{"labels":{"a":"b"}}}`)
	for what, attempt := range map[string]func(name string) error{
		"the status of a cluster": func(name string) error {
			_, err := agent.Resource(clusters).Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
			return err
		},
		"a lease": func(name string) error {
			_, err := agent.Resource(leases).Namespace("karmada-cluster").Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{})
			return err
		},
		"the status of a work": func(name string) error {
			_, err := agent.Resource(works).Namespace("karmada-es-"+name).Patch(t.Context(), "w", types.MergePatchType, patch, metav1.PatchOptions{}, "status")
			return err
		},
		"the works": func(name string) error {
			_, err := agent.Resource(works).Namespace("karmada-es-"+name).List(t.Context(), metav1.ListOptions{})
			return err
		},
		"the secrets of works": func(name string) error {
			_, err := agent.Resource(secrets).Namespace("karmada-es-"+name).List(t.Context(), metav1.ListOptions{})
			return err
		},
		"a cluster, to follow it": func(name string) error {
			w, err := agent.Resource(clusters).Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + name})
			if err == nil {
				w.Stop()
			}
			return err
		},
	} {
		t.Run(what, func(t *testing.T) {
			require.NoError(t, attempt("m1"))
			require.True(t, apierrors.IsForbidden(attempt("m2")))
		})
	}
}
