package propagation_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/propagation"
	"leeward/messages/api"
)

var (
	nginx  = api.Key{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "default", Name: "nginx"}
	role   = api.Key{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole", Name: "viewer"}
	labels = map[string]string{"app": "nginx", "tier": "gold"}
)

// selector returns one that means every Deployment, narrowed down.
func selector(narrow ...func(*api.ResourceSelector)) api.ResourceSelector {
	s := api.ResourceSelector{APIVersion: "apps/v1", Kind: "Deployment"}
	for _, n := range narrow {
		n(&s)
	}
	return s
}

func named(name string) func(*api.ResourceSelector) {
	return func(s *api.ResourceSelector) { s.Name = name }
}

func in(namespace string) func(*api.ResourceSelector) {
	return func(s *api.ResourceSelector) { s.Namespace = namespace }
}

func labelled(key, operator string, values ...string) func(*api.ResourceSelector) {
	return func(s *api.ResourceSelector) {
		s.LabelSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: key, Operator: metav1.LabelSelectorOperator(operator), Values: values}}}
	}
}

func bearing(key, value string) func(*api.ResourceSelector) {
	return func(s *api.ResourceSelector) {
		s.LabelSelector = &metav1.LabelSelector{MatchLabels: map[string]string{key: value}}
	}
}

func everyLabel(s *api.ResourceSelector) { s.LabelSelector = &metav1.LabelSelector{} }

func TestNoSelectorMeansWhatIsTheControlPlanesOwn(t *testing.T) {
	secrets := propagation.Compile([]api.ResourceSelector{{APIVersion: "v1", Kind: "Secret"}, {APIVersion: "v1", Kind: "Secret", Namespace: "karmada-cluster", Name: "eu-1"}})
	secret := func(namespace string) api.Key {
		return api.Key{APIVersion: "v1", Kind: "Secret", Namespace: namespace, Name: "eu-1"}
	}
	require.Equal(t, propagation.MatchKind, secrets.Closest("", secret("karmada"), nil))
	for _, own := range []string{"karmada-cluster", "karmada-system", "karmada-es-eu-1"} {
		require.Equal(t, propagation.NoMatch, secrets.Closest("", secret(own), nil), own)
		require.Equal(t, propagation.NoMatch, secrets.Closest(own, secret(own), nil), own)
		require.False(t, secrets.MayMean("", secret(own)), own)
	}
}

func TestHowCloselyASelectorMeansAResource(t *testing.T) {
	for _, c := range []struct {
		name      string
		selector  api.ResourceSelector
		namespace string
		resource  api.Key
		want      propagation.Rank
	}{
		{"the kind alone", selector(), "default", nginx, propagation.MatchKind},
		{"the name", selector(named("nginx")), "default", nginx, propagation.MatchName},
		{"another name", selector(named("redis")), "default", nginx, propagation.NoMatch},
		{"a label", selector(labelled("app", "In", "nginx")), "default", nginx, propagation.MatchLabel},
		{"another label", selector(labelled("app", "NotIn", "nginx")), "default", nginx, propagation.NoMatch},
		{"a label to match", selector(bearing("app", "nginx")), "default", nginx, propagation.MatchLabel},
		{"another label to match", selector(bearing("app", "redis")), "default", nginx, propagation.NoMatch},
		{"a label to match that is not there", selector(bearing("tier", "")), "default", nginx, propagation.NoMatch},
		{"any label", selector(everyLabel), "default", nginx, propagation.MatchLabel},
		{"a name makes labels void", selector(named("nginx"), labelled("app", "In", "redis")), "default", nginx, propagation.MatchName},
		{"another name makes labels void too", selector(named("redis"), everyLabel), "default", nginx, propagation.NoMatch},
		{"a label selector that cannot be read", selector(labelled("app", "Bogus")), "default", nginx, propagation.NoMatch},
		{"another version", api.ResourceSelector{APIVersion: "apps/v1beta1", Kind: "Deployment"}, "default", nginx, propagation.NoMatch},
		{"another kind", api.ResourceSelector{APIVersion: "apps/v1", Kind: "StatefulSet"}, "default", nginx, propagation.NoMatch},
		{"a PropagationPolicy of another namespace", selector(), "shop", nginx, propagation.NoMatch},
		{"a PropagationPolicy that reaches out of its namespace", selector(in("default")), "shop", nginx, propagation.NoMatch},
		{"the namespace, said twice", selector(in("default")), "default", nginx, propagation.MatchKind},
		{"a ClusterPropagationPolicy for one namespace", selector(in("default")), "", nginx, propagation.MatchKind},
		{"a ClusterPropagationPolicy for another namespace", selector(in("shop")), "", nginx, propagation.NoMatch},
		{"a ClusterPropagationPolicy for any namespace", selector(), "", nginx, propagation.MatchKind},
		{"a cluster-scoped resource", api.ResourceSelector{APIVersion: role.APIVersion, Kind: role.Kind}, "", role, propagation.MatchKind},
		{"a PropagationPolicy for a cluster-scoped resource", api.ResourceSelector{APIVersion: role.APIVersion, Kind: role.Kind}, "default", role, propagation.NoMatch},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, propagation.Compile([]api.ResourceSelector{c.selector}).Closest(c.namespace, c.resource, labels))
		})
	}
}

func TestASelectorMayMeanWhatComesToHaveItsLabels(t *testing.T) {
	labelless := propagation.Compile([]api.ResourceSelector{selector(named("redis")), selector(bearing("app", "redis"))})
	require.Equal(t, propagation.NoMatch, labelless.Closest("default", nginx, labels))
	require.True(t, labelless.MayMean("default", nginx))
	require.False(t, labelless.MayMean("shop", nginx))
	require.False(t, propagation.Compile([]api.ResourceSelector{selector(named("redis"))}).MayMean("default", nginx))
}

func TestTheClosestSelectorCounts(t *testing.T) {
	kind, label, name := selector(), selector(everyLabel), selector(named("nginx"))
	for _, c := range []struct {
		name      string
		selectors []api.ResourceSelector
		want      propagation.Rank
	}{
		{"none", nil, propagation.NoMatch},
		{"none that matches", []api.ResourceSelector{selector(named("redis"))}, propagation.NoMatch},
		{"kind and label", []api.ResourceSelector{kind, label}, propagation.MatchLabel},
		{"name, label and kind", []api.ResourceSelector{name, label, kind}, propagation.MatchName},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, propagation.Compile(c.selectors).Closest("default", nginx, labels))
		})
	}
}

func TestBetter(t *testing.T) {
	base := propagation.Claim{Priority: 1, Rank: propagation.MatchLabel, Name: "m"}
	with := func(change func(*propagation.Claim)) propagation.Claim {
		c := base
		change(&c)
		return c
	}
	for _, c := range []struct {
		name  string
		claim propagation.Claim
		goes  bool // before the base
	}{
		{"a higher priority", with(func(c *propagation.Claim) { c.Priority, c.Rank, c.Name = 2, propagation.MatchKind, "z" }), true},
		{"a lower priority", with(func(c *propagation.Claim) { c.Priority, c.Rank, c.Name = 0, propagation.MatchName, "a" }), false},
		{"a name over a label", with(func(c *propagation.Claim) { c.Rank, c.Name = propagation.MatchName, "z" }), true},
		{"a kind under a label", with(func(c *propagation.Claim) { c.Rank, c.Name = propagation.MatchKind, "a" }), false},
		{"a name that is first in the alphabet", with(func(c *propagation.Claim) { c.Name = "a" }), true},
		{"a name that is last in the alphabet", with(func(c *propagation.Claim) { c.Name = "z" }), false},
		{"a ClusterPropagationPolicy of any priority", with(func(c *propagation.Claim) {
			c.ClusterScoped, c.Priority, c.Rank, c.Name = true, 100, propagation.MatchName, "a"
		}), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.goes, propagation.Better(c.claim, base))
			require.Equal(t, !c.goes, propagation.Better(base, c.claim))
		})
	}
	require.False(t, propagation.Better(base, base), "the order is strict")
}

// TestTheWinnerDoesNotDependOnTheOrderOfClaims checks the order to be total: however claims are
// listed, sorting them gives one list.
func TestTheWinnerDoesNotDependOnTheOrderOfClaims(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	compare := func(a, b propagation.Claim) int {
		if propagation.Better(a, b) {
			return -1
		}
		if propagation.Better(b, a) {
			return 1
		}
		return 0
	}
	for range 2_000 {
		var claims []propagation.Claim
		for range 6 {
			claims = append(claims, propagation.Claim{ClusterScoped: r.IntN(2) == 0, Priority: r.Int32N(2),
				Rank: propagation.Rank(1 + r.IntN(3)), Name: string(rune('a' + r.IntN(3)))})
		}
		sorted := slices.SortedFunc(slices.Values(claims), compare)
		r.Shuffle(len(claims), func(i, j int) { claims[i], claims[j] = claims[j], claims[i] })
		require.Equal(t, sorted, slices.SortedFunc(slices.Values(claims), compare))
		require.Equal(t, sorted[0], slices.MinFunc(claims, compare))
		for _, a := range claims {
			for _, b := range claims {
				require.Equal(t, a == b, compare(a, b) == 0)
			}
		}
	}
}
