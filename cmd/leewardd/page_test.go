package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

func TestTheLivePageExplainsInTheWordsOfTheCommand(t *testing.T) {
	r := start(t, "gracefulEvictionTimeout: 5m\n")
	r.doomed()
	code, page := r.read("/ui/")
	require.Equal(t, http.StatusOK, code)
	require.Contains(t, page, "<leeward-live>")
	explained := func(kind, name string) (code int, e explanation, body string) {
		code, body = r.read(fmt.Sprintf("/ui/data/explain?kind=%s&name=%s", kind, name))
		if code == http.StatusOK {
			require.NoError(t, json.Unmarshal([]byte(body), &e))
		}
		return code, e, body
	}
	code, e, body := explained("binding", "default/web-deployment")
	require.Equal(t, http.StatusOK, code, body)
	require.Contains(t, e.Lines, "what is under way")
	require.Regexp(t, `^explain: binding default/web-deployment at `, e.Lines[0])
	require.Empty(t, e.Alone)
	code, e, body = explained("cluster", "m1")
	require.Equal(t, http.StatusOK, code, body)
	require.Contains(t, e.Lines, "what is placed here, and when it would be evicted as things are")
	for what, wrong := range map[[2]string]string{{"secret", "s"}: "kind: want binding, cluster or policy", {"cluster", "m9"}: `there is no cluster \"m9\"`, {"binding", ""}: "binding"} {
		code, _, body := explained(what[0], what[1])
		require.Equal(t, http.StatusBadRequest, code, body)
		require.Contains(t, body, wrong)
	}
}

func TestTopPrintsTheFleetThatThePageShows(t *testing.T) {
	r := start(t, "gracefulEvictionTimeout: 5m\n")
	r.doomed()
	code, out, problems := r.leeward("top --once")
	require.Zero(t, code, problems)
	require.Regexp(t, `m1 +\d+ +1 +Ready=True +failed:NoExecute`, out)
	require.Regexp(t, `default/web-deployment  m1 +eviction scheduled +in \d+`, out)
	require.Regexp(t, `taint +failed:NoExecute`, out)
}

func TestOfALargeFleetAnExplanationTakesInWhatItIsAbout(t *testing.T) {
	of := func(name, policy string, clusters ...string) *store.Binding {
		b := &api.ResourceBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name + "-deployment"}}
		b.Annotations = map[string]string{"propagationpolicy.karmada.io/namespace": "shop", "propagationpolicy.karmada.io/name": policy}
		b.Spec.Resource = api.ObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: name}
		for _, c := range clusters {
			b.Spec.Clusters = append(b.Spec.Clusters, api.TargetCluster{Name: c})
		}
		return store.AsBinding(b)
	}
	evicted := of("b", "p", "m2")
	evicted.Status.Evictions = []api.Eviction{{Cluster: "m1"}}
	for _, name := range []string{"a", "shop/a", "deploy/a", "a-deployment", "shop/a-deployment"} {
		require.True(t, concerns(of("a", "p", "m1"), "binding", name), name)
		require.False(t, concerns(of("c", "p", "m1"), "binding", name), name)
	}
	require.True(t, concerns(of("a", "p", "m1"), "cluster", "m1"))
	require.True(t, concerns(evicted, "cluster", "m1"))
	require.False(t, concerns(of("a", "p", "m2"), "cluster", "m1"))
	require.True(t, concerns(of("a", "p"), "policy", "p"))
	require.True(t, concerns(of("a", "p"), "policy", "shop/p"))
	require.False(t, concerns(of("a", "p"), "policy", "q"))
}
