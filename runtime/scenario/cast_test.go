package scenario

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages/api"
)

func typed(apiVersion, kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: apiVersion, Kind: kind}
}

func meta(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}

// theCast has a Deployment default/web, a Node n1, a ResourceBinding shop/own and, from one minute on, a
// Deployment shop/late and a cluster late.
func theCast() *cast {
	c := newCast()
	c.join(&appsv1.Deployment{TypeMeta: typed("apps/v1", "Deployment"), ObjectMeta: meta("default", "web")}, 0)
	c.join(&corev1.Node{TypeMeta: typed("v1", "Node"), ObjectMeta: meta("", "n1")}, 0)
	c.join(&api.ResourceBinding{TypeMeta: typed(api.WorkGroupVersion, "ResourceBinding"), ObjectMeta: meta("shop", "own")}, 0)
	c.join(&api.ClusterTaintPolicy{TypeMeta: typed(api.PolicyGroupVersion, "ClusterTaintPolicy"), ObjectMeta: meta("", "p")}, 0)
	c.join(&appsv1.Deployment{TypeMeta: typed("apps/v1", "Deployment"), ObjectMeta: meta("shop", "late")}, time.Minute)
	c.join(&api.Cluster{TypeMeta: typed(api.ClusterGroupVersion, "Cluster"), ObjectMeta: meta("", "late")}, time.Minute)
	return &c
}

func TestBindingsAreNamedInManyWays(t *testing.T) {
	for name, want := range map[string]string{
		"default/web-deployment": "default/web-deployment",
		"web-deployment":         "default/web-deployment",
		"web":                    "default/web-deployment",
		"default/web":            "default/web-deployment",
		"Deployment/default/web": "default/web-deployment",
		"shop/own":               "shop/own",
		"n1-node":                "n1-node",
		"Node//n1":               "n1-node",
		"shop/late":              "shop/late-deployment",
		"deployment/web":         "default/web-deployment",
		"deploy/late -n shop":    "shop/late-deployment",
		"-n shop late":           "shop/late-deployment",
		"deployments.apps/web":   "default/web-deployment",
		"node/n1":                "n1-node",
		"rb/own -n shop":         "shop/own",
	} {
		got, err := theCast().binding(name, time.Minute)
		require.NoError(t, err, name)
		require.Equal(t, want, string(got), name)
	}
}

func TestBindingsThatAreNotThere(t *testing.T) {
	const known = "default/web-deployment, n1-node, shop/late-deployment, shop/own"
	for name, want := range map[string]string{
		"shop/late":       `binding "shop/late" is applied later`,
		"shop/web":        `there is no binding "shop/web"; there is ` + known,
		"StatefulSet/a/b": `there is no binding "StatefulSet/a/b"; there is ` + known,
		"p":               `there is no binding "p"; there is ` + known,
		"":                `there is no binding ""; there is ` + known,
		"deploy/own":      `there is no binding "deploy/own"; there is ` + known,
		"a b":             `want a workload, such as nginx, shop/nginx, deploy/nginx -n shop or StatefulSet/shop/db, not "a b"`,
	} {
		_, err := theCast().binding(name, 0)
		require.EqualError(t, err, want)
	}
	empty := newCast()
	_, err := empty.binding("web", 0)
	require.EqualError(t, err, `there is no binding "web"; there is none at all`)
}

func TestObjectsAreFoundByKindAndName(t *testing.T) {
	for _, c := range []struct {
		about      string
		id         named
		apiVersion string
		at         time.Duration
		want       string
	}{
		{"in the default namespace", named{"Deployment", "", "web"}, "", 0, "Deployment default/web"},
		{"in a namespace", named{"Deployment", "shop", "late"}, "", time.Minute, "Deployment shop/late"},
		{"in none", named{"Node", "", "n1"}, "v1", 0, "Node n1"},
		{"of another version", named{"Node", "", "n1"}, "v2", 0, "there is no Node n1"},
		{"in another namespace", named{"Deployment", "shop", "web"}, "", 0, "there is no Deployment shop/web"},
		{"too early", named{"Deployment", "shop", "late"}, "", time.Second, "Deployment shop/late is applied later"},
	} {
		t.Run(c.about, func(t *testing.T) {
			key, err := theCast().object(c.id, c.apiVersion, c.at)
			if err != nil {
				require.EqualError(t, err, c.want)
				return
			}
			require.Equal(t, c.want, key.String())
		})
	}
}

func TestLateClustersJoinPatternsWhenTheyAreThere(t *testing.T) {
	c := theCast()
	all := &reference{names: []string{"*"}}
	_, err := c.resolve(&c.clusters, all, time.Second)
	require.EqualError(t, err, `no cluster matches "*"`)
	names, err := c.resolve(&c.clusters, all, time.Minute)
	require.NoError(t, err)
	require.Len(t, names, 1)
}

func TestAnIncompleteCastMissesNothing(t *testing.T) {
	c := theCast()
	c.incomplete = true
	_, err := c.binding("gone", 0)
	require.NoError(t, err)
	require.NoError(t, c.there(&c.clusters, "gone", 0))
	_, err = c.object(named{"Deployment", "", "gone"}, "", 0)
	require.NoError(t, err)
	_, err = c.resolve(&c.clusters, &reference{by: &selector{Region: "eu"}}, 0)
	require.NoError(t, err)
}

func TestManyNamesAreCutShort(t *testing.T) {
	c := newCast()
	err := c.unknown("cluster", "x", []string{"a", "b", "c", "d", "e", "f", "g"})
	require.EqualError(t, err, `there is no cluster "x"; there is a, b, c, d, e, ... (7 in all)`)
}

func TestSelectorsAskForAllThatIsSet(t *testing.T) {
	cluster := &api.Cluster{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"tier": "gold", "team": ""}},
		Spec:       api.ClusterSpec{Region: "eu", Provider: "p1", Zones: []string{"a", "b"}},
	}
	for about, c := range map[string]struct {
		selector
		want bool
	}{
		"the region":              {selector{Region: "eu"}, true},
		"another region":          {selector{Region: "us"}, false},
		"one of the zones":        {selector{Zone: "b"}, true},
		"another zone":            {selector{Zone: "c"}, false},
		"the provider":            {selector{Provider: "p1"}, true},
		"all of it":               {selector{Region: "eu", Zone: "a", Provider: "p1", Labels: map[string]string{"tier": "gold"}}, true},
		"all but one":             {selector{Region: "eu", Zone: "a", Provider: "p2"}, false},
		"a label":                 {selector{Labels: map[string]string{"tier": "gold"}}, true},
		"another value":           {selector{Labels: map[string]string{"tier": "iron"}}, false},
		"an empty value":          {selector{Labels: map[string]string{"team": ""}}, true},
		"a label that is not set": {selector{Labels: map[string]string{"owner": ""}}, false},
	} {
		require.Equal(t, c.want, c.selects(locatedCluster(cluster, 0)), about)
	}
}
