package kubeapi_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"leeward/messages/api"
	"leeward/runtime/daemon/kubeapi"
	"leeward/runtime/fleet/catalog"
)

// What keeps a user who may write one object from reaching those of another namespace through a field.
const (
	refused   = "must be the object's own namespace" // TestATeamDoesNotReachOutOfItsNamespace tries
	forbidden = "may not be set"
	fleetWide = "the kind is cluster-scoped: only those who may write in every namespace write it"
	idle      = "selects nothing in other namespaces"
	reported  = "tells what was seen, and nothing follows from it"
	atMember  = "is about the pods of the member, and names no object that is read or written"
	ownPath   = "must be that of the path: Kubernetes' API server wants it"
)

// namingFields are all fields of the kinds that are served that name a namespace, or an object of one, by the type or kind
// that has them.
var namingFields = map[string]string{
	"BindingSpec.components[].replicaRequirements.namespace":           refused,
	"BindingSpec.replicaRequirements.namespace":                        refused,
	"BindingSpec.requiredBy[].namespace":                               refused,
	"BindingSpec.resource.namespace":                                   refused,
	"Cluster.spec.impersonatorSecretRef.namespace":                     fleetWide,
	"Cluster.spec.secretRef.namespace":                                 fleetWide,
	"ClusterEvictionBudget.spec.workloads.namespaces[]":                fleetWide,
	"ClusterOverridePolicy.spec.resourceSelectors[].namespace":         fleetWide,
	"ClusterPropagationPolicy.spec.resourceSelectors[].namespace":      fleetWide,
	"ClusterRoleBinding.subjects[].namespace":                          fleetWide,
	"CronJob.status.active[].namespace":                                reported,
	"Event.involvedObject.namespace":                                   refused,
	"Event.related.namespace":                                          refused,
	"EvictionBudget.spec.workloads.namespaces[]":                       forbidden,
	"FailoverPreview.spec.objects[]":                                   fleetWide,
	"FailoverPreview.status.evictions[].namespace":                     reported,
	"FailoverPreview.status.unschedulableBindings[].namespace":         reported,
	"Governor.status.quarantined[].namespace":                          reported,
	"IngressClass.spec.parameters.namespace":                           fleetWide,
	"NetworkPolicy.spec.egress[].to[].namespaceSelector":               atMember,
	"NetworkPolicy.spec.ingress[].from[].namespaceSelector":            atMember,
	"ObjectMeta.namespace":                                             ownPath,
	"ObjectMeta.ownerReferences[]":                                     refused,
	"OverridePolicy.spec.resourceSelectors[].namespace":                idle,
	"PersistentVolumeClaimSpec.dataSourceRef.namespace":                refused,
	"PodSpec.shareProcessNamespace":                                    atMember,
	"PodSpec.volumes[].storageos.volumeNamespace":                      atMember,
	"PropagationPolicy.spec.resourceSelectors[].namespace":             refused,
	"RoleBinding.subjects[].namespace":                                 "is given a role in the namespace of the RoleBinding, within the member",
	"ServiceAccount.secrets[].namespace":                               refused,
	"Work.spec.workload.manifests[]":                                   "Works are read by the agent of the cluster that the namespace is for; a Work elsewhere is no copy",
	"Work.status.manifestStatuses[].identifier.namespace":              reported,
	"WorkloadRebalancer.spec.workloads[].namespace":                    fleetWide,
	"WorkloadRebalancer.status.observedWorkloads[].workload.namespace": reported,
}

func init() {
	for _, field := range []string{
		"azureFile.secretNamespace", "cephfs.secretRef.namespace", "cinder.secretRef.namespace", "claimRef.namespace",
		"csi.controllerExpandSecretRef.namespace", "csi.controllerPublishSecretRef.namespace", "csi.nodeExpandSecretRef.namespace",
		"csi.nodePublishSecretRef.namespace", "csi.nodeStageSecretRef.namespace", "flexVolume.secretRef.namespace", "glusterfs.endpointsNamespace",
		"iscsi.secretRef.namespace", "rbd.secretRef.namespace", "scaleIO.secretRef.namespace", "storageos.secretRef.namespace", "storageos.volumeNamespace",
	} {
		namingFields["PersistentVolume.spec."+field] = fleetWide
	}
	for _, kind := range []string{"podAffinity", "podAntiAffinity"} {
		for _, term := range []string{"requiredDuringSchedulingIgnoredDuringExecution[]", "preferredDuringSchedulingIgnoredDuringExecution[].podAffinityTerm"} {
			namingFields["PodSpec.affinity."+kind+"."+term+".namespaces[]"] = atMember
			namingFields["PodSpec.affinity."+kind+"."+term+".namespaceSelector"] = atMember
		}
	}
}

// parts are types that many kinds have in them: their fields are named once, by the type.
var parts = []reflect.Type{
	reflect.TypeFor[metav1.ObjectMeta](), reflect.TypeFor[corev1.PodSpec](), reflect.TypeFor[corev1.PersistentVolumeClaimSpec](), reflect.TypeFor[api.BindingSpec](),
}

// naming visits the fields below a type that name a namespace, an owner or whole objects.
func naming(t reflect.Type, path string, found map[string]bool) {
	switch t.Kind() {
	case reflect.Pointer:
		naming(t.Elem(), path, found)
		return
	case reflect.Slice, reflect.Map:
		if t.Elem().Kind() != reflect.Uint8 {
			naming(t.Elem(), path+"[]", found)
		}
		return
	case reflect.Struct:
	default:
		return
	}
	if slices.Contains(parts, t) && path != t.Name() {
		if !found["seen "+t.Name()] {
			found["seen "+t.Name()] = true
			naming(t, t.Name(), found)
		}
		return
	}
	if (t == reflect.TypeFor[api.Manifest]() || t.Name() == "RawExtension") && strings.Contains(path, "spec") || t == reflect.TypeFor[metav1.OwnerReference]() {
		found[path] = true
		return
	}
	if t.PkgPath() == "time" || t == reflect.TypeFor[metav1.LabelSelector]() {
		return
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		below := path
		if name != "" {
			below += "." + name
		}
		if strings.Contains(strings.ToLower(name), "namespace") {
			if f.Type.Kind() == reflect.Slice {
				below += "[]"
			}
			found[below] = true
			continue
		}
		if f.IsExported() {
			naming(f.Type, below, found)
		}
	}
}

func TestEveryFieldThatNamesANamespaceIsAccountedFor(t *testing.T) {
	found := map[string]bool{}
	for i := range catalog.All {
		naming(reflect.TypeOf(catalog.All[i].New()), catalog.All[i].Kind.Kind, found)
	}
	naming(reflect.TypeFor[api.FailoverPreview](), "FailoverPreview", found)
	maps.DeleteFunc(found, func(name string, _ bool) bool { return strings.HasPrefix(name, "seen ") })
	require.Equal(t, slices.Sorted(maps.Keys(namingFields)), slices.Sorted(maps.Keys(found)))
}

// shopEditor may write in the namespace shop, and nowhere else.
var shopEditor = kubeapi.User{Name: "sam", Groups: []string{kubeapi.EditorGroup + ":shop"}}

// parse reads an object from YAML.
func parse(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(text), &o.Object))
	return o
}

// resourceOf is where objects of a kind are served.
func resourceOf(t *testing.T, o *unstructured.Unstructured) schema.GroupVersionResource {
	t.Helper()
	r := catalog.Of(api.Key{APIVersion: o.GetAPIVersion(), Kind: o.GetKind()})
	require.NotNil(t, r, "%s %s", o.GetAPIVersion(), o.GetKind())
	return r.Kind.GroupVersion().WithResource(r.Plural)
}

// twoTeams serves the namespaces shop and bank; bank has a secret and a workload.
func twoTeams(t *testing.T) *daemon {
	t.Helper()
	d := serve(t)
	admin := d.client(kubeapi.Admin())
	for _, name := range []string{"shop", "bank", "karmada-es-m1", "karmada-es-m2"} {
		d.create(namespaces, object("v1", "Namespace", "", name, nil))
	}
	secret := object("v1", "Secret", "bank", "key", nil)
	secret.Object["stringData"] = map[string]any{"key": "the-key-of-the-bank"}
	web := deployment("web")
	web.SetNamespace("bank")
	for r, o := range map[schema.GroupVersionResource]*unstructured.Unstructured{secrets: secret, deployments: web} {
		_, err := admin.Resource(r).Namespace("bank").Create(t.Context(), o, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	return d
}

func TestATeamDoesNotReachOutOfItsNamespace(t *testing.T) {
	t.Parallel()
	const (
		binding = "apiVersion: work.karmada.io/v1alpha2\nkind: ResourceBinding\nspec: "
		pod     = "{metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}], restartPolicy: %s, volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: {dataSourceRef: {kind: S, name: s, namespace: bank}}}}}]}}"
		source  = "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.dataSourceRef.namespace"
	)
	workload := func(apiVersion, kind, spec, restart string) string {
		return "apiVersion: " + apiVersion + "\nkind: " + kind + "\nspec: " + strings.ReplaceAll(spec, "POD", strings.ReplaceAll(pod, "%s", restart)) + "\n"
	}
	apps := func(kind string) string {
		return workload("apps/v1", kind, "{selector: {matchLabels: {a: b}}, template: POD}", "Always")
	}
	d := twoTeams(t)
	bank := d.contents(t, "bank")
	web, err := d.client(kubeapi.Admin()).Resource(deployments).Namespace("bank").Get(t.Context(), "web", metav1.GetOptions{})
	require.NoError(t, err)
	for name, c := range map[string]struct{ text, field string }{
		"a secret is shipped": {
			binding + "{resource: {apiVersion: v1, kind: Secret, name: key, namespace: bank}, clusters: [{name: m1}]}", "spec.resource.namespace"},
		"a workload is scaled": {
			binding + "{resource: {apiVersion: apps/v1, kind: Deployment, name: web, namespace: bank}, replicas: 0}", "spec.resource.namespace"},
		"a namespace is shipped": {
			binding + "{resource: {apiVersion: v1, kind: Namespace, name: bank}}", "spec.resource.kind"},
		"a role of the fleet is shipped": {
			binding + "{resource: {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, name: r, namespace: shop}}", "spec.resource.kind"},
		"another binding is followed": {
			binding + "{resource: {apiVersion: v1, kind: ConfigMap, name: c}, requiredBy: [{namespace: bank, name: web-deployment}]}", "spec.requiredBy[0].namespace"},
		"a binding of the fleet is followed": {
			binding + "{resource: {apiVersion: v1, kind: ConfigMap, name: c}, requiredBy: [{name: role}]}", "spec.requiredBy[0].namespace"},
		"a quota is charged": {
			binding + "{resource: {apiVersion: v1, kind: ConfigMap, name: c}, replicaRequirements: {namespace: bank}}", "spec.replicaRequirements.namespace"},
		"a quota is charged for a component": {
			binding + "{resource: {apiVersion: v1, kind: ConfigMap, name: c}, components: [{name: a, replicas: 1, replicaRequirements: {namespace: bank}}]}",
			"spec.components[0].replicaRequirements.namespace"},
		"a policy claims": {
			"apiVersion: work.karmada.io/v1alpha2\nkind: ResourceBinding\nmetadata: {annotations: {propagationpolicy.karmada.io/namespace: bank, propagationpolicy.karmada.io/name: p}}\n" +
				"spec: {resource: {apiVersion: v1, kind: ConfigMap, name: c}}", "metadata.annotations[propagationpolicy.karmada.io/namespace]"},
		"a policy selects": {
			"apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nspec: {resourceSelectors: [{apiVersion: v1, kind: Secret, namespace: bank}]}", "spec.resourceSelectors[0].namespace"},
		"an override writes into it": {
			"apiVersion: policy.karmada.io/v1alpha1\nkind: OverridePolicy\nspec: {overrideRules: [{overriders: {plaintext: [{path: /metadata/namespace, operator: replace, value: bank}]}}]}",
			"spec.overrideRules[0].overriders.plaintext[0].path"},
		"an override makes another kind": {
			"apiVersion: policy.karmada.io/v1alpha1\nkind: OverridePolicy\nspec: {overriders: {fieldOverrider: [{fieldPath: /kind}]}}", "spec.overriders.fieldOverrider[0].fieldPath"},
		"a budget holds": {
			"apiVersion: leeward.dev/v1alpha1\nkind: EvictionBudget\nspec: {minAvailable: 1, workloads: {namespaces: [bank]}}", "spec.workloads.namespaces"},
		"an event tells of it": {
			"apiVersion: v1\nkind: Event\ninvolvedObject: {kind: Deployment, namespace: bank, name: web}", "involvedObject.namespace"},
		"an event tells of the fleet": {
			"apiVersion: v1\nkind: Event\ninvolvedObject: {kind: Cluster, name: m1}", "involvedObject.namespace"},
		"an event relates to it": {
			"apiVersion: v1\nkind: Event\ninvolvedObject: {kind: Pod, namespace: shop, name: p}\nrelated: {kind: Secret, namespace: bank, name: key}", "related.namespace"},
		"a service account has its secret": {
			"apiVersion: v1\nkind: ServiceAccount\nsecrets: [{namespace: bank, name: key}]", "secrets[0].namespace"},
		"a claim has its data": {
			"apiVersion: v1\nkind: PersistentVolumeClaim\nspec: {dataSourceRef: {kind: PersistentVolumeClaim, name: c, namespace: bank}}", "spec.dataSourceRef.namespace"},
		"a stateful set has its data": {
			"apiVersion: apps/v1\nkind: StatefulSet\nspec: {serviceName: s, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}, " +
				"volumeClaimTemplates: [{metadata: {name: v}, spec: {dataSourceRef: {kind: S, name: s, namespace: bank}}}]}", "spec.volumeClaimTemplates[0].spec.dataSourceRef.namespace"},
		"the pods of a Deployment have":  {apps("Deployment"), "spec.template." + source},
		"the pods of a StatefulSet have": {apps("StatefulSet"), "spec.template." + source},
		"the pods of a ReplicaSet have":  {apps("ReplicaSet"), "spec.template." + source},
		"the pods of a DaemonSet have":   {apps("DaemonSet"), "spec.template." + source},
		"the pods of a Job have":         {workload("batch/v1", "Job", "{template: POD}", "Never"), "spec.template." + source},
		"the pods of a CronJob have": {
			workload("batch/v1", "CronJob", "{schedule: '0 * * * *', jobTemplate: {spec: {template: POD}}}", "Never"), "spec.jobTemplate.spec.template." + source},
		"a namespace cannot be deleted": {
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {finalizers: [shop/stay], ownerReferences: [{apiVersion: v1, kind: Namespace, name: bank, uid: u, blockOwnerDeletion: true}]}", "metadata.ownerReferences"},
		"it says that it is there": {
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: bank}", "namespace of the provided object does not match"},
	} {
		t.Run(name, func(t *testing.T) {
			o := parse(t, c.text)
			o.SetName("escape")
			sam := d.client(shopEditor).Resource(resourceOf(t, o)).Namespace("shop")
			_, err := sam.Create(t.Context(), o, metav1.CreateOptions{})
			require.ErrorContains(t, err, c.field)
			require.Contains(t, []metav1.StatusReason{metav1.StatusReasonInvalid, metav1.StatusReasonForbidden, metav1.StatusReasonBadRequest}, apierrors.ReasonForError(err))
		})
	}
	t.Run("an edit is as good as none", func(t *testing.T) {
		sam := d.client(shopEditor).Resource(bindings).Namespace("shop")
		_, err := sam.Create(t.Context(), object(api.WorkGroupVersion, "ResourceBinding", "shop", "own", map[string]any{
			"resource": map[string]any{"apiVersion": "v1", "kind": "Secret", "name": "key"}}), metav1.CreateOptions{})
		require.NoError(t, err)
		for _, kind := range []types.PatchType{types.MergePatchType, types.ApplyPatchType} {
			force := kind == types.ApplyPatchType
			options := metav1.PatchOptions{FieldManager: "sam"}
			if force {
				options.Force = &force
			}
			patch := `{"apiVersion":"work.karmada.io/v1alpha2","kind":"ResourceBinding","metadata":{"name":"own"},"spec":{"resource":{"apiVersion":"v1","kind":"Secret","name":"key","namespace":"bank"}}}`
			_, err = sam.Patch(t.Context(), "own", kind, []byte(patch), options)
			require.ErrorContains(t, err, "spec.resource.namespace")
		}
	})
	t.Run("an object that claims to be owned does not keep its owner", func(t *testing.T) {
		yes := true
		leech := object("v1", "ConfigMap", "shop", "leech", nil)
		leech.SetFinalizers([]string{"shop/stay"})
		leech.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", UID: web.GetUID(), BlockOwnerDeletion: &yes}})
		_, err := d.client(shopEditor).Resource(configMaps).Namespace("shop").Create(t.Context(), leech, metav1.CreateOptions{})
		require.NoError(t, err)
		require.Equal(t, bank, d.contents(t, "bank"), "nothing of the bank has changed")
		foreground := metav1.DeletePropagationForeground
		w, err := d.client(kubeapi.Admin()).Resource(deployments).Namespace("bank").Watch(t.Context(), metav1.ListOptions{ResourceVersion: web.GetResourceVersion(), TimeoutSeconds: ptr.To[int64](30)})
		require.NoError(t, err)
		defer w.Stop()
		require.NoError(t, d.client(kubeapi.Admin()).Resource(deployments).Namespace("bank").Delete(t.Context(), "web", metav1.DeleteOptions{PropagationPolicy: &foreground}))
		for e := range w.ResultChan() {
			if e.Type == "DELETED" {
				return
			}
		}
		t.Fatal("the watch ended before the owner was deleted")
	})
}

// contents are the versions of all that is in a namespace, by kind and name.
func (d *daemon) contents(t *testing.T, namespace string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for i := range catalog.All {
		r := &catalog.All[i]
		for key, o := range d.engine.Table(r.Name()).Snapshot().Under("", "") {
			if o.GetNamespace() == namespace {
				all[key] = string(o.GetUID()) + " " + o.GetLabels()["edited"]
			}
		}
	}
	require.NotEmpty(t, all)
	return all
}

// TestNoGroupDoesWhatItMayNot sends what each group may not do, by each kind and verb, and sees it forbidden.
func TestNoGroupDoesWhatItMayNot(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one thing at a time: the race detector has nothing to find")
	}
	d := twoTeams(t)
	for name, c := range map[string]struct {
		user kubeapi.User
		// may says what is allowed.
		may func(r *catalog.Resource, verb, namespace string) bool
	}{
		"viewers": {viewer, func(r *catalog.Resource, verb, _ string) bool { return reads(verb) && !holdsSecrets(r.Plural) }},
		"viewers of shop": {kubeapi.User{Name: "vic", Groups: []string{kubeapi.ViewerGroup + ":shop"}}, func(r *catalog.Resource, verb, namespace string) bool {
			return namespace == "shop" && reads(verb) && !holdsSecrets(r.Plural)
		}},
		"editors of shop": {shopEditor, func(_ *catalog.Resource, _, namespace string) bool { return namespace == "shop" }},
		"agents": {kubeapi.Agent("m1"), func(r *catalog.Resource, verb, namespace string) bool {
			switch r.Plural {
			case "works":
				return namespace == "karmada-es-m1" && (reads(verb) || verb == "update" || verb == "patch")
			case "resourceinterpretercustomizations":
				return reads(verb)
			case "secrets", "configmaps":
				return namespace == "karmada-es-m1" && reads(verb)
			case "events":
				return namespace == "karmada-es-m1" && (verb == "create" || verb == "patch")
			}
			return false
		}},
		"Karmada's agents": {kubeapi.KarmadaAgent("m1"), func(r *catalog.Resource, verb, namespace string) bool {
			switch r.Plural {
			case "works":
				return namespace == "karmada-es-m1" && (reads(verb) || verb == "update" || verb == "delete")
			case "resourceinterpretercustomizations":
				return reads(verb)
			case "clusters", "services": // a Cluster of another name it may not create
				return verb == "list" || verb == "watch"
			case "events":
				return namespace == "karmada-es-m1" && (verb == "create" || verb == "patch" || verb == "update")
			}
			return false
		}},
		"strangers": {stranger, func(*catalog.Resource, string, string) bool { return false }},
	} {
		t.Run(name, func(t *testing.T) {
			client := d.client(c.user)
			for i := range catalog.All {
				r := &catalog.All[i]
				where := []string{"shop", "bank", "karmada-es-m1", "karmada-es-m2"}
				if r.ClusterScoped {
					where = []string{""}
				}
				for _, namespace := range where {
					var at dynamic.ResourceInterface = client.Resource(r.Kind.GroupVersion().WithResource(r.Plural))
					if namespace != "" {
						at = client.Resource(r.Kind.GroupVersion().WithResource(r.Plural)).Namespace(namespace)
					}
					for verb, err := range attempts(t, at, r, namespace) {
						require.Equal(t, c.may(r, verb, namespace), !apierrors.IsForbidden(err), "%s %s in %q: %v", verb, r.Plural, namespace, err)
					}
				}
			}
		})
	}
}

// holdsSecrets reports whether objects of a resource hold what is secret.
func holdsSecrets(resource string) bool {
	plural, _, _ := strings.Cut(resource, "/")
	return plural == "secrets" || plural == "works"
}

// attempts sends a request with each verb, and yields what became of it. What is written is not kept.
func attempts(t *testing.T, at dynamic.ResourceInterface, r *catalog.Resource, namespace string) map[string]error {
	t.Helper()
	o := object(r.Kind.GroupVersion().String(), r.Kind.Kind, namespace, "attempt", nil)
	dry := []string{metav1.DryRunAll}
	did := map[string]error{}
	_, did["get"] = at.Get(t.Context(), "attempt", metav1.GetOptions{})
	_, did["list"] = at.List(t.Context(), metav1.ListOptions{})
	w, err := at.Watch(t.Context(), metav1.ListOptions{})
	if err == nil {
		w.Stop()
	}
	did["watch"] = err
	_, did["create"] = at.Create(t.Context(), o, metav1.CreateOptions{DryRun: dry})
	_, did["update"] = at.Update(t.Context(), o, metav1.UpdateOptions{DryRun: dry})
	_, did["patch"] = at.Patch(t.Context(), "attempt", types.MergePatchType, []byte("{}"), metav1.PatchOptions{DryRun: dry})
	did["delete"] = at.Delete(t.Context(), "attempt", metav1.DeleteOptions{DryRun: dry})
	did["deletecollection"] = at.DeleteCollection(t.Context(), metav1.DeleteOptions{DryRun: dry}, metav1.ListOptions{LabelSelector: "none=selected"})
	return did
}

func TestOnlyAnAdministratorActsAsAnotherUser(t *testing.T) {
	d := serve(t)
	for name, c := range map[string]struct {
		user kubeapi.User
		may  bool
	}{
		"administrators": {kubeapi.Admin(), true}, "editors": {editor, false}, "viewers": {viewer, false},
		"editors of shop": {shopEditor, false}, "agents": {kubeapi.Agent("m1"), false}, "strangers": {stranger, false},
	} {
		as := d.as(c.user)
		as.Impersonate.UserName, as.Impersonate.Groups = "leeward:admin", []string{kubeapi.AdminGroup}
		client, err := dynamic.NewForConfig(as)
		require.NoError(t, err)
		_, err = client.Resource(clusters).List(t.Context(), metav1.ListOptions{})
		require.Equal(t, c.may, err == nil, "%s: %v", name, err)
		if err != nil {
			require.True(t, apierrors.IsForbidden(err), name)
		}
	}
}
