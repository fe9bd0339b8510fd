package kubeapi_test

import "strings"

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

const overrideFile = `
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: slim}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, namespace: default}]
  overrideRules:
  - targetCluster: {clusterNames: [member1]}
    overriders: {plaintext: [{path: /spec/replicas, operator: replace, value: 1}]}
`

// memberFile has kinds that are for the members alone.
const memberFile = `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  maxReplicas: 5
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: web}
spec: {podSelector: {matchLabels: {app: web}}, ingress: [{from: [{ipBlock: {cidr: 10.0.0.0/8}}]}]}
---
apiVersion: v1
kind: LimitRange
metadata: {name: web}
spec: {limits: [{type: Container, default: {cpu: 1}}]}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}
provisioner: example.com/disk
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: disk}
spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /data}}
`

// inRegion returns the fleet of another region.
func inRegion(region string) string {
	return strings.Replace(fleetFile, "region: eu", "region: "+region, 1)
}

// sessions are what people do, each at a server of its own.
const previewFile = `
apiVersion: leeward.dev/v1alpha1
kind: FailoverPreview
metadata: {name: what-if}
spec: {clusters: [member1]}
`

var sessions = map[string][]step{
	"a viewer asks what would happen": {
		{args: "create -f - -o jsonpath={.status.evicted} --as vera --as-group leeward:viewers", shows: "12",
			stdin: previewFile},
		{args: "create -f - --as paul --as-group leeward:viewers:shop", shows: "forbidden", fails: true,
			stdin: previewFile},
	},
	"apply": {
		{args: "apply -f -", stdin: fleetFile, shows: "deployment.apps/nginx created"},
		{args: "apply -f -", stdin: fleetFile, shows: "cluster.cluster.karmada.io/member1 unchanged"},
		{args: "apply -f -", stdin: inRegion("us"), shows: "member1 configured"},
		{args: "apply --dry-run=server -f -", stdin: fleetFile, shows: "member1 configured (server dry run)"},
		{args: "apply --dry-run=client -f -", stdin: fleetFile, shows: "member1 configured (dry run)"},
		{args: "get cluster member1 -o jsonpath={.spec.region}", shows: "us"},
		{args: "apply --server-side --force-conflicts -f -", stdin: fleetFile, shows: "member1 serverside-applied"},
		{args: "apply --server-side --field-manager=bob -f -", stdin: inRegion("us"), shows: ".spec.region", fails: true},
		{args: "apply --server-side --field-manager=bob --force-conflicts -f -", stdin: inRegion("us"), shows: "member1 serverside-applied"},
		{args: "get cluster member1 --show-managed-fields -o jsonpath={.metadata.managedFields[*].manager}", shows: "bob"},
		{args: "diff -f -", stdin: inRegion("asia"), shows: "+  region: asia", fails: true},
		{args: "diff --server-side --force-conflicts --field-manager=bob -f -", stdin: inRegion("us")},
		{args: "apply -f -", stdin: strings.Replace(fleetFile, "region: eu", "regoin: eu", 1), shows: "regoin", fails: true},
		{args: "apply -f -", stdin: strings.Replace(fleetFile, "member1", "Member1", 1), shows: "metadata.name", fails: true},
		{args: "apply -f -", stdin: strings.ReplaceAll(fleetFile, "name: nginx, labels", "name: old, labels"), shows: "deployment.apps/old created"},
		{args: "apply -f - --prune -l app=nginx --prune-allowlist=apps/v1/Deployment", stdin: fleetFile, shows: "deployment.apps/old pruned"},
	},
	"create and replace": {
		{args: "create --dry-run=server -f -", stdin: fleetFile, shows: "member1 created (server dry run)"},
		{args: "create -f -", stdin: fleetFile, shows: "member1 created"},
		{args: "create -f -", stdin: fleetFile, shows: "already exists", fails: true},
		{args: "replace -f -", stdin: inRegion("us"), shows: "member1 replaced"},
		{args: "replace --force -f -", stdin: fleetFile, shows: "member1 replaced"},
		{args: "create deployment web --image=web --replicas=3 --dry-run=server -o jsonpath={.spec.replicas}", shows: "3"},
		{args: "create priorityclass gold --value=100", shows: "priorityclass.scheduling.k8s.io/gold created"},
		{args: "get pc", shows: "GLOBAL-DEFAULT"},
		{args: "create namespace team", shows: "namespace/team created"},
		{args: "create configmap c -n team --from-literal=a=b", shows: "configmap/c created"},
		{args: "create secret generic s -n team --from-literal=a=b", shows: "secret/s created"},
		{args: "patch secret s -n team -p {\"stringData\":{\"a\":\"c\"}}", shows: "patched"},
		{args: "get secret s -n team -o jsonpath={.data.a}/{.stringData}", shows: "Yw==/"},
		{args: "create job j -n team --image=busybox", shows: "job.batch/j created"},
		{args: "create cronjob cj -n team --image=busybox --schedule=@daily", shows: "cronjob.batch/cj created"},
		{args: "create serviceaccount sa -n team", shows: "serviceaccount/sa created"},
		{args: "expose deploy nginx --port=80", shows: "service/nginx exposed"},
		{args: "create configmap c -n nowhere", shows: "nowhere", fails: true},
		{args: "delete namespace team", shows: "deleted"},
		{args: "get configmaps,secrets,jobs -n team", shows: "No resources found"},
	},
	"for the members": {
		{args: "create ingress web --class=nginx --rule=shop.example/*=web:80", shows: "ingress.networking.k8s.io/web created"},
		{args: "get ing", shows: "shop.example"},
		{args: "create pdb web --selector=app=web --min-available=1", shows: "poddisruptionbudget.policy/web created"},
		{args: "get pdb,quota,limits,netpol,hpa,pv,sc,ingressclass -A", shows: "ALLOWED DISRUPTIONS"},
		{args: "create role reader --verb=get --resource=configmaps", shows: "role.rbac.authorization.k8s.io/reader created"},
		{args: "create rolebinding readers --role=reader --user=vera", shows: "rolebinding.rbac.authorization.k8s.io/readers created"},
		{args: "create clusterrole all --verb=* --resource=*", shows: "clusterrole.rbac.authorization.k8s.io/all created"},
		{args: "create clusterrolebinding all --clusterrole=all --user=vera --group=system:authenticated", shows: "clusterrolebinding.rbac.authorization.k8s.io/all created"},
		{args: "get clusters --as=vera", shows: "Forbidden", fails: true},
		{args: "create quota none --hard=configmaps=0,pods=0", shows: "resourcequota/none created"},
		{args: "create configmap c --from-literal=a=b", shows: "configmap/c created"},
		{args: "apply --server-side -f -", stdin: memberFile, shows: "persistentvolume/disk serverside-applied"},
		{args: "apply --server-side --field-manager=bob -f -", stdin: strings.Replace(memberFile, "maxReplicas: 5", "maxReplicas: 6", 1), shows: ".spec.maxReplicas", fails: true},
		{args: "get hpa web", shows: "cpu: <unknown>/80%"},
		{args: "get pv", shows: "RWO"},
		{args: "get sc", shows: "fast (default)"},
		{args: "patch netpol web -p {\"spec\":{\"policyTypes\":[\"Egress\"]}}", shows: "patched"},
		{args: "patch ing web --type=merge -p {\"spec\":{\"rules\":[{\"host\":\"10.0.0.1\"}]}}", shows: "spec.rules[0].host", fails: true},
		{args: "patch clusterrolebinding all --type=merge -p {\"roleRef\":{\"name\":\"other\"}}", shows: "immutable", fails: true},
		{args: "explain networkpolicy.spec.ingress.from.ipBlock", shows: "except"},
		{args: "describe ing web", shows: "shop.example"},
		{args: "delete clusterrole,clusterrolebinding,role,rolebinding --all", shows: "deleted"},
	},
	"look": {
		{args: "apply -f -", stdin: fleetFile, shows: "deployment.apps/nginx created"},
		{args: "get clusters -o wide", shows: "TAINTS"},
		{args: "get clusters", shows: "member1"},
		{args: "get cluster member1 -o yaml", shows: "region: eu"},
		{args: "get cluster member1 -o json", shows: `"region": "eu"`},
		{args: "get clusters -o jsonpath={.items[*].spec.region}", shows: "eu"},
		{args: "get clusters -o custom-columns=REGION:.spec.region", shows: "REGION"},
		{args: "get clusters -o go-template={{range.items}}{{.spec.region}}{{end}}", shows: "eu"},
		{args: "get deploy,cluster -o name", shows: "cluster.cluster.karmada.io/member1"},
		{args: "get all -A", shows: "deployment.apps/nginx"},
		{args: "get deploy -l app=nginx -o name", shows: "nginx"},
		{args: "get deploy -l app!=nginx", shows: "No resources found"},
		{args: "get deploy --show-labels", shows: "app=nginx"},
		{args: "get deploy -L app", shows: "APP"},
		{args: "get clusters --field-selector metadata.name=other", shows: "No resources found"},
		{args: "get clusters --field-selector spec.nonsense=other", shows: "is not a field that clusters can be selected by", fails: true},
		{args: "get ns --chunk-size=1 -o name", shows: "namespace/kube-system"},
		{args: "get rb -A --chunk-size=1", shows: "No resources found"},
		{args: "get clusters --sort-by=.metadata.name -o name", shows: "member1"},
		{args: "get cluster nobody", shows: `clusters.cluster.karmada.io "nobody" not found`, fails: true},
		{args: "describe cluster member1", shows: "Region:"},
		{args: "describe deploy nginx", shows: "app=nginx"},
		{args: "explain cluster.spec.taints", shows: "unique by key and effect"},
		{args: "explain resourcebinding --recursive", shows: "gracefulEvictionTasks"},
	},
	"the server": {
		{args: "api-resources", shows: "resourcebindings"},
		{args: "api-resources --api-group=work.karmada.io -o name", shows: "works.work.karmada.io"},
		{args: "api-resources --categories=karmada-io -o name", shows: "clusters.cluster.karmada.io"},
		{args: "api-versions", shows: "policy.karmada.io/v1alpha1"},
		{args: "version", shows: "+leeward"},
		{args: "cluster-info", shows: "is running at"},
		{args: "get --raw /readyz", shows: "ok"},
		{args: "get --raw /livez?verbose", shows: "[+]ping ok"},
		{args: "get nodes", shows: `doesn't have a resource type "nodes"`, fails: true},
		{args: "taint nodes n1 failed:NoExecute", shows: `doesn't have a resource type "nodes"`, fails: true},
	},
	"change": {
		{args: "apply -f -", stdin: fleetFile, shows: "deployment.apps/nginx created"},
		{args: "patch cluster member1 --type=merge -p {\"spec\":{\"taints\":[{\"key\":\"k\",\"effect\":\"NoExecute\"}]}}", shows: "12 bindings on member1 do not tolerate this taint"},
		{args: "patch cluster member1 --type=json -p [{\"op\":\"remove\",\"path\":\"/spec/taints\"}]", shows: "patched"},
		{args: "patch cluster member1 --type=json -p [{\"op\":\"remove\",\"path\":\"/spec/taints\"}]", shows: "invalid", fails: true},
		{args: "patch deploy nginx -p {\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"side\",\"image\":\"x\"}]}}}}", shows: "patched"},
		{args: "get deploy nginx -o jsonpath={.spec.template.spec.containers[*].name}", shows: "side nginx"},
		{args: "patch cluster member1 --subresource=status --type=merge -p {\"spec\":{\"region\":\"us\"},\"status\":{\"kubernetesVersion\":\"v1.30.0\"}}", shows: "patched"},
		{args: "get cluster member1 -o jsonpath={.spec.region}/{.status.kubernetesVersion}", shows: "eu/v1.30.0"},
		{args: "edit cluster member1", editor: "sed -i /region:/s/eu/asia/", shows: "member1 edited"},
		{args: "get cluster member1 -o jsonpath={.spec.region}", shows: "asia"},
		{args: "edit cluster member1", editor: "true", shows: "no changes made"},
		{args: "edit cluster member1", editor: "sed -i s/syncMode:.*/syncMode:0/", shows: "is invalid", fails: true},
		{args: "label cluster member1 tier=gold", shows: "labeled"},
		{args: "label cluster member1 tier=silver", shows: "--overwrite is false", fails: true},
		{args: "get clusters -l tier=gold -o name", shows: "member1"},
		{args: "label cluster member1 tier-", shows: "unlabeled"},
		{args: "annotate cluster member1 why=test", shows: "annotated"},
		{args: "set image deploy/nginx nginx=nginx:2", shows: "image updated"},
		{args: "set env deploy/nginx A=b", shows: "env updated"},
		{args: "set resources deploy/nginx --limits=cpu=1", shows: "resource requirements updated"},
	},
	"scale and roll out": {
		{args: "apply -f -", stdin: fleetFile, shows: "deployment.apps/nginx created"},
		{args: "scale deploy nginx --current-replicas=3 --replicas=5", shows: "Expected replicas to be 3", fails: true},
		{args: "scale deploy nginx --replicas=5", shows: "scaled"},
		{args: "get deploy nginx", shows: "0/5"},
		{args: "get deploy nginx --subresource=scale", shows: "DESIRED"},
		{args: "rollout restart deploy/nginx", shows: "restarted"},
		{args: "rollout pause deploy/nginx", shows: "paused"},
		{args: "rollout resume deploy/nginx", shows: "resumed"},
		{args: "rollout history deploy/nginx", shows: "deployment.apps/nginx"},
		{args: "rollout status deploy/nginx --watch=false", shows: "Waiting for deployment"},
		{args: "patch deploy nginx --subresource=status -p {\"status\":{\"observedGeneration\":9,\"replicas\":5,\"updatedReplicas\":5,\"availableReplicas\":5}}", shows: "patched"},
		{args: "rollout status deploy/nginx", shows: "successfully rolled out"},
	},
	"events": {
		{args: "apply -f -", stdin: fleetFile, shows: "deployment.apps/nginx created"},
		{args: "create -f -", stdin: eventFile, shows: "event/e1 created"},
		{args: "get events --field-selector involvedObject.name=nginx", shows: "member1 is down"},
		{args: "get events.events.k8s.io", shows: "member1 is down"},
		{args: "events --for deployment/nginx", shows: "member1 is down"},
		{args: "events --types=Normal", shows: "No events found"},
	},
	"who may do what": {
		{args: "apply -f -", stdin: fleetFile, shows: "deployment.apps/nginx created"},
		{args: "auth whoami", shows: "leeward:admins"},
		{args: "auth can-i delete clusters", shows: "yes"},
		{args: "auth can-i delete clusters --as=vera", shows: "no", fails: true},
		{args: "auth can-i --list", shows: "[*]"},
		{args: "auth can-i --list --as=leeward:agent:m1 --as-group=leeward:agents --as-group=system:authenticated", shows: "clusters.cluster.karmada.io/status"},
		{args: "auth can-i --list --as=vera --as-group=leeward:viewers --as-group=system:authenticated", shows: "[get list watch]"},
		{args: "get clusters --as=vera", shows: "Forbidden", fails: true},
		{args: "get clusters --as=vera --as-group=leeward:viewers -o name", shows: "member1"},
		{args: "label cluster member1 a=b --as=vera --as-group=leeward:viewers", shows: "Forbidden", fails: true},
	},
	"override": {
		{args: "apply -f -", stdin: overrideFile, shows: "overridepolicy.policy.karmada.io/slim created"},
		{args: "apply -f -", stdin: overrideFile, shows: "slim unchanged"},
		{args: "apply --server-side --force-conflicts -f -", stdin: strings.Replace(overrideFile, "value: 1", "value: {any: [1]}", 1), shows: "slim serverside-applied"},
		{args: "get op slim -o jsonpath={.spec.overrideRules[0].overriders.plaintext[0].value}", shows: `{"any":[1]}`},
		{args: "apply -f -", stdin: strings.Replace(overrideFile, "operator: replace", "operator: swap", 1), shows: "spec.overrideRules[0].overriders.plaintext[0].operator", fails: true},
		{args: "apply -f -", stdin: strings.Replace(overrideFile, "overriders:", "overrider:", 1), shows: "overrider", fails: true},
		{args: "explain overridepolicy.spec.overrideRules.overriders.plaintext", shows: "RFC 6902"},
		{args: "explain cop.spec", shows: "resourceSelectors"},
		{args: "get cop,op -A", shows: "slim"},
		{args: "delete op slim", shows: "deleted"},
	},
	"delete and wait": {
		{args: "apply -f -", stdin: fleetFile, shows: "deployment.apps/nginx created"},
		{args: "wait --for=jsonpath={.spec.region}=eu cluster/member1 --timeout=10s", shows: "condition met"},
		{args: "patch cluster member1 --subresource=status --type=merge -p {\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\",\"reason\":\"Up\",\"message\":\"\",\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}]}}", shows: "patched"},
		{args: "wait --for=condition=Ready cluster/member1 --timeout=10s", shows: "condition met"},
		{args: "delete cluster member1 --dry-run=server", shows: "deleted (server dry run)"},
		{args: "delete cluster member1 --wait=true", shows: "deleted"},
		{args: "wait --for=delete cluster/member1 --timeout=10s"},
		{args: "delete cluster member1 --ignore-not-found"},
		{args: "delete cluster member1", shows: "not found", fails: true},
		{args: "delete deploy -l app=other", shows: "No resources found"},
		{args: "delete deploy nginx --cascade=foreground --timeout=10s", shows: `"nginx" deleted`},
		{args: "apply -f -", stdin: fleetFile, shows: "deployment.apps/nginx created"},
		{args: "delete deploy nginx --cascade=orphan --timeout=10s", shows: `"nginx" deleted`},
		{args: "apply -f -", stdin: fleetFile, shows: "deployment.apps/nginx created"},
		{args: "delete deploy --all", shows: `"nginx" deleted`},
	},
}
