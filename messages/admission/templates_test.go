package admission_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"leeward/messages/admission"
	"leeward/messages/api"
	"leeward/messages/manifest"
)

// TestTemplatesThatRunNothing: what is missing is for the member to be given, what is wrong is wrong in a scenario, too.
func TestTemplatesThatRunNothing(t *testing.T) {
	const net, rbac, core = "networking.k8s.io/v1\nkind: ", "rbac.authorization.k8s.io/v1\nkind: ", "v1\nkind: "
	ingress := func(path string) string {
		return net + "Ingress\nspec: {rules: [{http: {paths: [{" + path + "}]}}]}\n"
	}
	peer := func(text string) string {
		return net + "NetworkPolicy\nspec: {podSelector: {}, egress: [{to: [" + text + "]}]}\n"
	}
	scaler := func(text string) string {
		return "autoscaling/v2\nkind: HorizontalPodAutoscaler\nspec: {scaleTargetRef: {kind: Deployment, name: web}, " + text + "}\n"
	}
	bound := func(kind, rest string) string { return rbac + kind + "\nroleRef: {" + rest + "}\n" }
	volume := func(text string) string {
		return core + "PersistentVolume\nspec: {capacity: {storage: 1Gi}, hostPath: {path: /a}, " + text + "}\n"
	}
	const backend = "pathType: Prefix, path: /, backend: {service: {name: web, port: {number: 80}}}"
	for name, c := range map[string]struct{ text, wrong, missing string }{
		"an Ingress":                       {ingress(backend), "", ""},
		"an Ingress to nowhere":            {net + "Ingress\nspec: {}\n", "", "spec.rules"},
		"a backend without a port":         {ingress("pathType: Exact, path: /, backend: {service: {name: web}}"), "", "spec.rules[0].http.paths[0].backend.service.port"},
		"a path without a type":            {ingress("path: /, backend: {resource: {kind: B, name: b}}"), "", "spec.rules[0].http.paths[0].pathType"},
		"a path that is not absolute":      {ingress("pathType: Prefix, path: a, backend: {resource: {kind: B, name: b}}"), "spec.rules[0].http.paths[0].path", ""},
		"a type of paths that is no such":  {ingress("pathType: Some, path: /, backend: {resource: {kind: B, name: b}}"), "spec.rules[0].http.paths[0].pathType", ""},
		"two backends":                     {net + "Ingress\nspec: {defaultBackend: {resource: {kind: B, name: b}, service: {name: s, port: {name: http}}}}\n", "spec.defaultBackend.resource", ""},
		"a port that is none":              {net + "Ingress\nspec: {defaultBackend: {service: {name: s, port: {number: 70000}}}}\n", "spec.defaultBackend.service.port.number", ""},
		"a host that is an address":        {net + "Ingress\nspec: {defaultBackend: {resource: {kind: B, name: b}}, rules: [{host: 10.0.0.1}]}\n", "spec.rules[0].host", ""},
		"a host of TLS that is none":       {net + "Ingress\nspec: {defaultBackend: {resource: {kind: B, name: b}}, tls: [{hosts: ['*.a.example', 'a_b']}]}\n", "spec.tls[0].hosts[1]", ""},
		"a class of a controller":          {net + "IngressClass\nspec: {controller: example.com/nginx, parameters: {kind: P, name: p, scope: Cluster}}\n", "", ""},
		"a class of none":                  {net + "IngressClass\nspec: {}\n", "", "spec.controller"},
		"peers":                            {peer("{podSelector: {}, namespaceSelector: {}}, {ipBlock: {cidr: 10.0.0.0/8, except: [10.1.0.0/16]}}"), "", ""},
		"a peer that is none":              {peer("{}"), "spec.egress[0].to[0]", ""},
		"a peer of two kinds":              {peer("{podSelector: {}, ipBlock: {cidr: 10.0.0.0/8}}"), "spec.egress[0].to[0].ipBlock", ""},
		"a block that is none":             {peer("{ipBlock: {cidr: 10.0.0.0}}"), "spec.egress[0].to[0].ipBlock.cidr", ""},
		"a part of another block":          {peer("{ipBlock: {cidr: 10.0.0.0/8, except: [11.0.0.0/16]}}"), "spec.egress[0].to[0].ipBlock.except[0]", ""},
		"ports from high to low":           {net + "NetworkPolicy\nspec: {ingress: [{ports: [{port: 90, endPort: 80}]}]}\n", "spec.ingress[0].ports[0].endPort", ""},
		"a policy of a type that is none":  {net + "NetworkPolicy\nspec: {policyTypes: [Sideways]}\n", "spec.policyTypes[0]", ""},
		"an autoscaler":                    {scaler("maxReplicas: 3, metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]"), "", ""},
		"an autoscaler of nothing":         {"autoscaling/v2\nkind: HorizontalPodAutoscaler\nspec: {maxReplicas: 1}\n", "", "spec.scaleTargetRef.kind"},
		"one without a bound":              {scaler("minReplicas: 2"), "", "spec.maxReplicas"},
		"one of less than nothing":         {scaler("minReplicas: -2, maxReplicas: 1"), "spec.minReplicas", ""},
		"bounds that leave nothing":        {scaler("minReplicas: 4, maxReplicas: 3"), "spec.maxReplicas", ""},
		"a metric without its source":      {scaler("maxReplicas: 3, metrics: [{type: ContainerResource}]"), "spec.metrics[0].containerResource", ""},
		"a metric with another's":          {scaler("maxReplicas: 3, metrics: [{type: Pods, pods: {metric: {name: m}}, external: {metric: {name: m}}}]"), "spec.metrics[0].external", ""},
		"a role":                           {rbac + "Role\nrules: [{apiGroups: [''], resources: [pods], verbs: [get]}]\n", "", ""},
		"a rule without verbs":             {rbac + "Role\nrules: [{apiGroups: [''], resources: [pods]}]\n", "rules[0].verbs", ""},
		"a rule without groups":            {rbac + "ClusterRole\nrules: [{resources: [pods], verbs: [get]}]\n", "rules[0].apiGroups", ""},
		"a rule without resources":         {rbac + "ClusterRole\nrules: [{apiGroups: [''], verbs: [get]}]\n", "rules[0].resources", ""},
		"paths within a namespace":         {rbac + "Role\nrules: [{nonResourceURLs: [/x], verbs: [get]}]\n", "rules[0].nonResourceURLs", ""},
		"paths and resources":              {rbac + "ClusterRole\nrules: [{nonResourceURLs: [/x], resources: [pods], apiGroups: [''], verbs: [get]}]\n", "rules[0].nonResourceURLs", ""},
		"a role of no others":              {rbac + "ClusterRole\naggregationRule: {}\n", "aggregationRule.clusterRoleSelectors", ""},
		"a binding of a role":              {bound("RoleBinding", "kind: Role, name: 'system:reader'") + "subjects: [{kind: User, name: vera}, {kind: ServiceAccount, name: sa}]\n", "", ""},
		"a binding of nothing":             {rbac + "RoleBinding\n", "roleRef.kind", ""},
		"one of the cluster of a Role":     {bound("ClusterRoleBinding", "kind: Role, name: r"), "roleRef.kind", ""},
		"a ServiceAccount of no namespace": {bound("ClusterRoleBinding", "kind: ClusterRole, name: r") + "subjects: [{kind: ServiceAccount, name: sa}]\n", "subjects[0].namespace", ""},
		"a subject that is none":           {bound("RoleBinding", "kind: Role, name: r") + "subjects: [{kind: Robot, name: r2}]\n", "subjects[0].kind", ""},
		"a quota":                          {core + "ResourceQuota\nspec: {hard: {pods: 10, limits.cpu: 2}}\n", "", ""},
		"a quota of less than nothing":     {core + "ResourceQuota\nspec: {hard: {pods: -1}}\n", "spec.hard[pods]", ""},
		"limits":                           {core + "LimitRange\nspec: {limits: [{type: Container, min: {cpu: 1}, default: {cpu: 2}, defaultRequest: {cpu: 1}, max: {cpu: 3}}]}\n", "", ""},
		"a default above the most":         {core + "LimitRange\nspec: {limits: [{type: Container, default: {cpu: 2}, max: {cpu: 1}}]}\n", "spec.limits[0].default[cpu]", ""},
		"limits of a type twice":           {core + "LimitRange\nspec: {limits: [{type: Pod}, {type: Pod}]}\n", "spec.limits[1].type", ""},
		"a storage class":                  {"storage.k8s.io/v1\nkind: StorageClass\nprovisioner: example.com/disk\nreclaimPolicy: Retain\n", "", ""},
		"one without a provisioner":        {"storage.k8s.io/v1\nkind: StorageClass\nvolumeBindingMode: Immediate\n", "", "provisioner"},
		"a mode that is no such":           {"storage.k8s.io/v1\nkind: StorageClass\nprovisioner: a.b/c\nvolumeBindingMode: Later\n", "volumeBindingMode", ""},
		"a volume":                         {volume("accessModes: [ReadWriteOnce]"), "", ""},
		"a volume for no use":              {volume("accessModes: []"), "", "spec.accessModes"},
		"a volume of a mode that is none":  {volume("accessModes: [WriteNever]"), "spec.accessModes[0]", ""},
		"a volume of nothing":              {core + "PersistentVolume\nspec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteMany]}\n", "", "spec"},
	} {
		t.Run(name, func(t *testing.T) {
			o, s := template(t, c.text), leeward()
			admission.Default(o, s, now)
			requireFirst(t, c.wrong, admission.Validate(o, nil, s))
			requireFirst(t, c.missing, admission.ValidateForMember(o, nil))
			require.Empty(t, admission.ValidateForMember(o, o), "what was so before may remain")
		})
	}
}

// template decodes one manifest without its name.
func template(t *testing.T, text string) api.Object {
	t.Helper()
	documents, problems := manifest.Decode("f.yaml", []byte("apiVersion: "+text+"metadata: {name: 'system:o'}\n"))
	require.Empty(t, problems, text)
	o := documents[0].Object
	if !strings.HasPrefix(text, "rbac.") {
		o.SetName("o")
	}
	return o
}

// requireFirst wants the first finding to be about a field; "": wants none.
func requireFirst(t *testing.T, want string, found field.ErrorList) {
	t.Helper()
	if want == "" {
		require.Empty(t, found)
		return
	}
	require.NotEmpty(t, found)
	require.Equal(t, want, found[0].Field)
}

func TestWhatTemplatesMayNotChange(t *testing.T) {
	const binding = "rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nroleRef: {kind: ClusterRole, name: ROLE}\n"
	for field, text := range map[string]string{
		"roleRef":         binding,
		"spec.controller": "networking.k8s.io/v1\nkind: IngressClass\nspec: {controller: a.b/ROLE}\n",
		"provisioner":     "storage.k8s.io/v1\nkind: StorageClass\nprovisioner: a.b/ROLE\n",
	} {
		old, next := template(t, strings.ReplaceAll(text, "ROLE", "a")), template(t, strings.ReplaceAll(text, "ROLE", "b"))
		s := leeward()
		admission.Default(old, s, now)
		admission.Default(next, s, now)
		requireFirst(t, field, admission.Validate(next, old, s))
		requireFirst(t, "", admission.Validate(old, old, s))
	}
}
