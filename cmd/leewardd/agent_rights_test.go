package main

import (
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
	"sigs.k8s.io/yaml"

	"leeward/messages/api"
	"leeward/runtime/client/agent"
	"leeward/runtime/fleet/catalog"
)

// need is one request, as an authorizer sees it. Path is that of a request about no resource.
type need struct{ verb, group, resource, subresource, path string }

// asked notes what an agent asks of its member, as an authorizer sees it.
type asked struct {
	http.RoundTripper
	mu  sync.Mutex
	all map[need]bool
}

func (a *asked) RoundTrip(r *http.Request) (*http.Response, error) {
	parser := request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}
	info, err := parser.NewRequestInfo(r)
	if err != nil {
		return nil, err
	}
	verbs := []string{info.Verb}
	if r.Header.Get("Content-Type") == "application/apply-patch+yaml" {
		verbs = append(verbs, "create") // applying what does not exist creates it
	}
	a.mu.Lock()
	for _, verb := range verbs {
		n := need{verb: verb, group: info.APIGroup, resource: info.Resource, subresource: info.Subresource}
		if !info.IsResourceRequest {
			n.path = info.Path
		}
		a.all[n] = true
	}
	a.mu.Unlock()
	return a.RoundTripper.RoundTrip(r)
}

// rulesOfAgent are those that the manifest of the agent grants, by kind of role.
func rulesOfAgent(t *testing.T) (everywhere, own []rbacv1.PolicyRule) {
	t.Helper()
	text, err := os.ReadFile("../../docs/examples/agent.yaml")
	require.NoError(t, err)
	for part := range strings.SplitSeq(string(text), "\n---\n") {
		var role struct {
			metav1.TypeMeta
			Rules []rbacv1.PolicyRule
		}
		require.NoError(t, yaml.Unmarshal([]byte(part), &role))
		switch role.Kind {
		case "ClusterRole":
			everywhere = role.Rules
		case "Role":
			own = role.Rules
		}
	}
	require.NotEmpty(t, everywhere)
	require.NotEmpty(t, own)
	return everywhere, own
}

func allows(rules []rbacv1.PolicyRule, n need) bool {
	return slices.ContainsFunc(rules, func(rule rbacv1.PolicyRule) bool {
		if !slices.Contains(rule.Verbs, n.verb) {
			return false
		}
		if n.path != "" {
			return slices.ContainsFunc(rule.NonResourceURLs, func(u string) bool {
				prefix, open := strings.CutSuffix(u, "*")
				return u == n.path || open && strings.HasPrefix(n.path, prefix)
			})
		}
		return slices.Contains(rule.APIGroups, n.group) && slices.Contains(rule.Resources, n.resource) && n.subresource == ""
	})
}

// The agent asks its member for nothing that the manifest does not grant, and the manifest grants no verb that it does not ask for.
func TestThePermissionsOfTheAgentsManifestAreThoseThatItUses(t *testing.T) {
	t.Parallel()
	seen := &asked{all: map[need]bool{}}
	p := newPair(t, func(c *agent.Config) {
		c.Identity = "a"
		c.Member.Wrap(func(next http.RoundTripper) http.RoundTripper {
			seen.mu.Lock()
			defer seen.mu.Unlock()
			seen.RoundTripper = next
			return seen
		})
	})
	p.work("web", webOf(1), settingsOf("settings", "1"))
	p.work("kept", settingsOf("kept", "1"))
	p.awaitApplied("web")
	p.awaitApplied("kept")
	p.hub.patch(catalog.Works, agentWorks, "kept", `{"spec":{"preserveResourcesOnDeletion":true}}`)
	for _, name := range []string{"web", "kept"} {
		p.hub.delete(catalog.Works, agentWorks, name)
		awaitAt(p.hub, catalog.Works, agentWorks, name, isAbsent[*api.Work])
	}
	awaitAt(p.hub, catalog.Clusters, "", agentCluster, func(c *api.Cluster) bool { return c.Status.ResourceSummary != nil })
	require.NoError(t, p.end())

	everywhere, own := rulesOfAgent(t)
	used := map[string]bool{}
	for n := range seen.all { // order-free: any that is not granted
		rules := everywhere
		if n.resource == "leases" {
			rules = own
		}
		require.True(t, allows(rules, n), "the manifest does not grant %+v", n)
		if n.resource == "configmaps" {
			used[n.verb] = true
		}
	}
	used["list"] = true // of servers that stream no lists
	for _, verb := range everywhere[0].Verbs {
		require.True(t, used[verb], "the manifest grants %s, which nothing needs", verb)
	}
}
