package kubeapi

import (
	"reflect"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
)

// kind is one kind of objects that the server keeps.
type kind struct {
	*catalog.Resource
	look
}

// look is how a kind appears to people.
type look struct {
	// list is an empty list of its objects.
	list runtime.Object
	// short are the names that people may write instead of the plural.
	short   []string
	columns []column
	// lives is how long an object stays; zero: until it is deleted.
	lives time.Duration
}

// looks are those of all kinds, by kind.
var looks = map[string]look{
	"Cluster":                          {list: &api.List[api.Cluster]{}, columns: clusterColumns},
	"ClusterTaintPolicy":               {list: &api.List[api.ClusterTaintPolicy]{}, short: []string{"ctp"}, columns: taintPolicyColumns},
	"PropagationPolicy":                {list: &api.List[api.PropagationPolicy]{}, short: []string{"pp"}, columns: policyColumns},
	"ClusterPropagationPolicy":         {list: &api.List[api.ClusterPropagationPolicy]{}, short: []string{"cpp"}, columns: policyColumns},
	"OverridePolicy":                   {list: &api.List[api.OverridePolicy]{}, short: []string{"op"}, columns: onlyAge},
	"ClusterOverridePolicy":            {list: &api.List[api.ClusterOverridePolicy]{}, short: []string{"cop"}, columns: onlyAge},
	"FederatedResourceQuota":           {list: &api.List[api.FederatedResourceQuota]{}, short: []string{"frq"}, columns: quotaColumns},
	"ResourceBinding":                  {list: &api.List[api.ResourceBinding]{}, short: []string{"rb"}, columns: bindingColumns},
	"ClusterResourceBinding":           {list: &api.List[api.ClusterResourceBinding]{}, short: []string{"crb"}, columns: bindingColumns},
	"Work":                             {list: &api.List[api.Work]{}, short: []string{"wk"}, columns: workColumns},
	"WorkloadRebalancer":               {list: &api.List[api.WorkloadRebalancer]{}, columns: onlyAge},
	"EvictionBudget":                   {list: &api.List[api.EvictionBudget]{}, short: []string{"eb"}, columns: budgetColumns},
	"ClusterEvictionBudget":            {list: &api.List[api.ClusterEvictionBudget]{}, short: []string{"ceb"}, columns: budgetColumns},
	"ResourceInterpreterCustomization": {list: &api.List[api.ResourceInterpreterCustomization]{}, short: []string{"ric"}, columns: customizationColumns},
	"Governor":                         {list: &api.List[api.Governor]{}, columns: governorColumns},

	"PriorityClass":           {list: &schedulingv1.PriorityClassList{}, short: []string{"pc"}, columns: priorityColumns},
	"Namespace":               {list: &corev1.NamespaceList{}, short: []string{"ns"}, columns: namespaceColumns},
	"ConfigMap":               {list: &corev1.ConfigMapList{}, short: []string{"cm"}, columns: configMapColumns},
	"Secret":                  {list: &corev1.SecretList{}, columns: secretColumns},
	"Service":                 {list: &corev1.ServiceList{}, short: []string{"svc"}, columns: serviceColumns},
	"ServiceAccount":          {list: &corev1.ServiceAccountList{}, short: []string{"sa"}, columns: onlyAge},
	"PersistentVolumeClaim":   {list: &corev1.PersistentVolumeClaimList{}, short: []string{"pvc"}, columns: claimColumns},
	"Event":                   {list: &corev1.EventList{}, short: []string{"ev"}, columns: eventColumns, lives: catalog.EventLife},
	"Deployment":              {list: &appsv1.DeploymentList{}, short: []string{"deploy"}, columns: deploymentColumns},
	"StatefulSet":             {list: &appsv1.StatefulSetList{}, short: []string{"sts"}, columns: statefulSetColumns},
	"ReplicaSet":              {list: &appsv1.ReplicaSetList{}, short: []string{"rs"}, columns: replicaSetColumns},
	"DaemonSet":               {list: &appsv1.DaemonSetList{}, short: []string{"ds"}, columns: daemonSetColumns},
	"Job":                     {list: &batchv1.JobList{}, columns: jobColumns},
	"CronJob":                 {list: &batchv1.CronJobList{}, short: []string{"cj"}, columns: cronJobColumns},
	"Node":                    {list: &corev1.NodeList{}, short: []string{"no"}, columns: nodeColumns},
	"Pod":                     {list: &corev1.PodList{}, short: []string{"po"}, columns: podColumns},
	"PodDisruptionBudget":     {list: &policyv1.PodDisruptionBudgetList{}, short: []string{"pdb"}, columns: podBudgetColumns},
	"Ingress":                 {list: &networkingv1.IngressList{}, short: []string{"ing"}, columns: ingressColumns},
	"IngressClass":            {list: &networkingv1.IngressClassList{}, columns: ingressClassColumns},
	"NetworkPolicy":           {list: &networkingv1.NetworkPolicyList{}, short: []string{"netpol"}, columns: networkPolicyColumns},
	"Role":                    {list: &rbacv1.RoleList{}, columns: onlyCreated},
	"RoleBinding":             {list: &rbacv1.RoleBindingList{}, columns: roleBindingColumns},
	"ClusterRole":             {list: &rbacv1.ClusterRoleList{}, columns: onlyCreated},
	"ClusterRoleBinding":      {list: &rbacv1.ClusterRoleBindingList{}, columns: clusterRoleBindingColumns},
	"ResourceQuota":           {list: &corev1.ResourceQuotaList{}, short: []string{"quota"}, columns: resourceQuotaColumns},
	"LimitRange":              {list: &corev1.LimitRangeList{}, short: []string{"limits"}, columns: onlyCreated},
	"StorageClass":            {list: &storagev1.StorageClassList{}, short: []string{"sc"}, columns: storageClassColumns},
	"PersistentVolume":        {list: &corev1.PersistentVolumeList{}, short: []string{"pv"}, columns: volumeColumns},
	"HorizontalPodAutoscaler": {list: &autoscalingv2.HorizontalPodAutoscalerList{}, short: []string{"hpa"}, columns: autoscalerColumns},
	"Lease":                   {list: &coordinationv1.LeaseList{}, columns: leaseColumns},
}

// kinds are those of the catalog, which every server keeps that looks after a fleet.
var kinds = func() []*kind {
	all := make([]*kind, len(catalog.All))
	for i := range catalog.All {
		all[i] = &kind{&catalog.All[i], looks[catalog.All[i].Kind.Kind]}
	}
	return all
}()

// further are kinds that are served otherwise than in a table of objects that clients write.
var further = []*kind{webhookConfigurations, certificateRequests}

// kindsIn are those that a server keeps in an engine: what that has tables of.
func kindsIn(e *engine.Engine) []*kind {
	kept := slices.Clone(kinds)
	for _, r := range catalog.OfNodes {
		kept = append(kept, &kind{r, looks[r.Kind.Kind]})
	}
	return slices.DeleteFunc(kept, func(k *kind) bool { return e.Table(k.Name()) == nil })
}

func (k *kind) version() schema.GroupVersion { return k.Kind.GroupVersion() }

func (k *kind) singular() schema.GroupResource {
	return schema.GroupResource{Group: k.Kind.Group, Resource: strings.ToLower(k.Kind.Kind)}
}

func (k *kind) newObject() runtime.Object { return k.New() }
func (k *kind) newList() runtime.Object   { return fresh(k.list) }

// has reports whether objects of the kind have a field "Spec" or "Status".
func (k *kind) has(field string) bool {
	_, has := reflect.TypeOf(k.New()).Elem().FieldByName(field)
	return has
}

// fresh returns an empty object of the type of another.
func fresh[T any](o T) T { return reflect.New(reflect.TypeOf(o).Elem()).Interface().(T) }
