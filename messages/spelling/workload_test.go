package spelling

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWorkloadsAreNamedAsKubectlHasIt(t *testing.T) {
	deployment := func(namespace, name string) []Workload { return []Workload{{"Deployment", namespace, name}} }
	for text, want := range map[string][]Workload{
		"nginx":                             deployment("", "nginx"),
		"deployments.apps/nginx":            {{"Deployment", "", "nginx"}, {"Deployment", "deployments.apps", "nginx"}},
		"deployment/nginx -n shop":          deployment("shop", "nginx"),
		"deploy/nginx --namespace=shop":     deployment("shop", "nginx"),
		"-nshop deploy nginx":               deployment("shop", "nginx"),
		"nginx -n shop":                     deployment("shop", "nginx"),
		"shop/nginx -n shop":                deployment("shop", "nginx"),
		"shop/nginx":                        deployment("shop", "nginx"),
		"Deployment/nginx":                  deployment("", "nginx"),
		"deploy/nginx":                      {{"Deployment", "", "nginx"}, {"Deployment", "deploy", "nginx"}},
		"StatefulSet/shop/db":               {{"StatefulSet", "shop", "db"}},
		"sts/shop/db":                       {{"StatefulSet", "shop", "db"}},
		"statefulset db -n shop":            {{"StatefulSet", "shop", "db"}},
		"ClusterRole/viewer":                {{"ClusterRole", "", "viewer"}},
		"Node//n1":                          {{"Node", "", "n1"}},
		"flinkdeployments/words -n streams": {{"FlinkDeployment", "streams", "words"}},
		"Mystery/words":                     {{"Mystery", "", "words"}},
	} {
		got, err := Workloads(text, []string{"FlinkDeployment"})
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
}

func TestWhatNamesNoWorkloadIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                        `want a workload, such as nginx, shop/nginx, deploy/nginx -n shop or StatefulSet/shop/db, not ""`,
		"/nginx":                  `want a workload, such as nginx, shop/nginx, deploy/nginx -n shop or StatefulSet/shop/db, not "/nginx"`,
		"shop/":                   `want a workload, such as nginx, shop/nginx, deploy/nginx -n shop or StatefulSet/shop/db, not "shop/"`,
		"/shop/nginx":             `want a workload, such as nginx, shop/nginx, deploy/nginx -n shop or StatefulSet/shop/db, not "/shop/nginx"`,
		"a/b/c/d":                 `want a workload, such as nginx, shop/nginx, deploy/nginx -n shop or StatefulSet/shop/db, not "a/b/c/d"`,
		"shop/nginx -n web":       `want a workload, such as nginx, shop/nginx, deploy/nginx -n shop or StatefulSet/shop/db, not "shop/nginx -n web"`,
		"a b c":                   `want a workload, such as nginx, shop/nginx, deploy/nginx -n shop or StatefulSet/shop/db, not "a b c"`,
		"a b":                     `want a workload, such as nginx, shop/nginx, deploy/nginx -n shop or StatefulSet/shop/db, not "a b"`,
		"deploy/nginx deploy/web": `want a workload, such as nginx, shop/nginx, deploy/nginx -n shop or StatefulSet/shop/db, not "deploy/nginx deploy/web"`,
		"deploy shop/nginx":       `want a workload, such as nginx, shop/nginx, deploy/nginx -n shop or StatefulSet/shop/db, not "deploy shop/nginx"`,
		"nginx -l app=nginx":      `read the workload "nginx -l app=nginx": unknown shorthand flag: 'l' in -l`,
		"nginx -n":                `read the workload "nginx -n": flag needs an argument: 'n' in -n`,
	} {
		_, err := Workloads(text, nil)
		require.EqualError(t, err, want, text)
	}
}
