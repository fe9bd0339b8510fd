package kubeapi_test

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const fleetFile = `
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: member1}
spec: {syncMode: Pull, region: eu}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: nginx, labels: {app: nginx}}
spec:
  replicas: 2
  selector: {matchLabels: {app: nginx}}
  template:
    metadata: {labels: {app: nginx}}
    spec: {containers: [{name: nginx, image: nginx}]}
`

const eventFile = `
apiVersion: v1
kind: Event
metadata: {name: e1, namespace: default}
involvedObject: {apiVersion: apps/v1, kind: Deployment, namespace: default, name: nginx}
reason: Evicted
message: member1 is down
type: Warning
`

// TestKubectl drives the server as people do, with the kubectl of $KUBECTL or of the path; without one there is
// nothing to test. What does not look the same in every version is not looked at.
func TestKubectl(t *testing.T) {
	name := os.Getenv("KUBECTL")
	if name == "" {
		name = "kubectl"
	}
	binary, err := exec.LookPath(name)
	if err != nil {
		t.Skip("no kubectl here: ", err)
	}
	d := serve(t, previewing)
	for _, step := range []struct {
		args  string
		stdin string
		shows string
		fails bool
	}{
		{args: "api-resources", shows: "resourcebindings"},
		{args: "apply -f -", stdin: fleetFile, shows: "deployment.apps/nginx created"},
		{args: "apply -f -", stdin: fleetFile, shows: "cluster.cluster.karmada.io/member1 unchanged"},
		{args: "apply -f -", stdin: strings.Replace(fleetFile, "region: eu", "region: us", 1), shows: "member1 configured"},
		{args: "apply --dry-run=server -f -", stdin: fleetFile, shows: "member1 configured (server dry run)"},
		{args: "apply --server-side --force-conflicts -f -", stdin: fleetFile, shows: "member1 serverside-applied"},
		{args: "apply --server-side --field-manager=bob -f -", stdin: strings.Replace(fleetFile, "region: eu", "region: us", 1), shows: ".spec.region", fails: true},
		{args: "diff -f -", stdin: strings.Replace(fleetFile, "region: eu", "region: asia", 1), shows: "+  region: asia", fails: true},
		{args: "apply -f -", stdin: strings.Replace(fleetFile, "region: eu", "regoin: eu", 1), shows: "regoin", fails: true},
		{args: "apply -f -", stdin: strings.Replace(fleetFile, "member1", "Member1", 1), shows: "metadata.name", fails: true},
		{args: "get clusters -o wide", shows: "TAINTS"},
		{args: "get clusters -o jsonpath={.items[*].spec.region}", shows: "eu"},
		{args: "get deploy,cluster -o name", shows: "cluster.cluster.karmada.io/member1"},
		{args: "get clusters --field-selector metadata.name=other", shows: "No resources found"},
		{args: "get rb -A --chunk-size=1", shows: "No resources found"},
		{args: "explain cluster.spec.taints", shows: "unique by key and effect"},
		{args: "describe deploy nginx", shows: "app=nginx"},
		{args: "patch cluster member1 --type=merge -p {\"spec\":{\"taints\":[{\"key\":\"k\",\"effect\":\"NoExecute\"}]}}", shows: "12 bindings on member1 do not tolerate this taint"},
		{args: "patch cluster member1 --type=json -p [{\"op\":\"remove\",\"path\":\"/spec/taints\"}]", shows: "patched"},
		{args: "patch deploy nginx -p {\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"side\",\"image\":\"x\"}]}}}}", shows: "patched"},
		{args: "get deploy nginx -o jsonpath={.spec.template.spec.containers[*].name}", shows: "side nginx"},
		{args: "scale deploy nginx --replicas=5", shows: "scaled"},
		{args: "get deploy nginx", shows: "0/5"},
		{args: "label cluster member1 tier=gold", shows: "labeled"},
		{args: "annotate cluster member1 why=test", shows: "annotated"},
		{args: "get clusters -l tier=gold -o name", shows: "member1"},
		{args: "create -f -", stdin: eventFile, shows: "event/e1 created"},
		{args: "get events --field-selector involvedObject.name=nginx", shows: "member1 is down"},
		{args: "create namespace team", shows: "namespace/team created"},
		{args: "create configmap c -n team --from-literal=a=b", shows: "configmap/c created"},
		{args: "create configmap c -n nowhere", shows: "nowhere", fails: true},
		{args: "delete namespace team", shows: "deleted"},
		{args: "get configmaps -n team", shows: "No resources found"},
		{args: "auth can-i delete clusters", shows: "yes"},
		{args: "auth can-i delete clusters --as=vera", shows: "no", fails: true},
		{args: "get clusters --as=vera", shows: "Forbidden", fails: true},
		{args: "get clusters --as=vera --as-group=leeward:viewers -o name", shows: "member1"},
		{args: "get --raw /readyz", shows: "ok"},
		{args: "delete cluster member1 --wait=true", shows: "deleted"},
		{args: "wait --for=delete cluster/member1 --timeout=10s"},
		{args: "delete deploy --all", shows: `"nginx" deleted`},
	} {
		c := exec.Command(binary, strings.Fields(step.args)...)
		c.Env = append(os.Environ(), "KUBECONFIG="+d.KubeconfigFile(), "HOME="+d.dir)
		c.Stdin = strings.NewReader(step.stdin)
		var out bytes.Buffer
		c.Stdout, c.Stderr = &out, &out
		err := c.Run()
		require.Equal(t, step.fails, err != nil, "kubectl %s: %v\n%s", step.args, err, &out)
		require.Contains(t, out.String(), step.shows, "kubectl %s", step.args)
	}
}
