package kubeapi

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) metav1.Time { return metav1.Time{Time: noon.Add(-d)} }

// kindOf returns the kind of an object.
func kindOf(t *testing.T, o engine.Object) *kind {
	t.Helper()
	for _, k := range kinds {
		if fmt.Sprintf("%T", k.New()) == fmt.Sprintf("%T", o) {
			return k
		}
	}
	t.Fatalf("no kind of %T", o)
	return nil
}

// printed returns the lines that kubectl would print of an object: the names of the columns, and what it has there.
func printed(t *testing.T, o engine.Object) (header, row string) {
	t.Helper()
	now := clock.NewMock()
	now.Set(noon)
	table, err := printer{kindOf(t, o), now}.ConvertToTable(t.Context(), o, nil)
	require.NoError(t, err)
	var names, cells []string
	for i, c := range table.ColumnDefinitions {
		names = append(names, strings.ToUpper(c.Name)+strings.Repeat("+", int(c.Priority)))
		cell := table.Rows[0].Cells[i]
		if p, ok := cell.(*int32); ok {
			cell = ptr.Deref(p, 0)
		}
		cells = append(cells, fmt.Sprint(cell))
	}
	return strings.Join(names, " "), strings.Join(cells, " ")
}

func named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, CreationTimestamp: ago(90 * time.Minute)}
}

func TestEachKindHasItsColumns(t *testing.T) {
	conditions := []metav1.Condition{{Type: api.ConditionReady, Status: metav1.ConditionFalse}, {Type: api.ConditionScheduled, Status: metav1.ConditionTrue}}
	for _, c := range []struct {
		object      engine.Object
		header, row string
	}{
		{&api.Cluster{ObjectMeta: named("m1"), Spec: api.ClusterSpec{
			SyncMode: api.Pull, Region: "eu", Zones: []string{"a", "b"}, Taints: []corev1.Taint{{Key: "k", Value: "v", Effect: "NoExecute"}},
		}, Status: api.ClusterStatus{KubernetesVersion: "v1.33.0", Conditions: conditions}},
			"NAME VERSION MODE READY AGE ZONES+ REGION+ PROVIDER+ API-ENDPOINT+ PROXY-URL+ TAINTS+",
			"m1 v1.33.0 Pull False 90m a,b eu <none> <none> <none> k=v:NoExecute"},
		{&api.ResourceBinding{ObjectMeta: named("web"), Spec: api.BindingSpec{
			Clusters: []api.TargetCluster{{Name: "m1", Replicas: 2}, {Name: "m2", Replicas: 1}},
		}, Status: api.BindingStatus{Conditions: conditions, Evictions: []api.Eviction{
			{Cluster: "m1", State: api.EvictionScheduled, Deadline: metav1.MicroTime{Time: time.Unix(60, 0)}},
			{Cluster: "m2", State: api.EvictionBlocked, Reason: "NoClusterFit"}, {Cluster: "m3", State: api.EvictionEvicting},
		}}},
			"NAME SCHEDULED FULLYAPPLIED AGE CLUSTERS+ EVICTIONS+",
			"web True  90m m1:2,m2:1 m1 Scheduled for 1970-01-01T00:01:00Z, m2 Blocked (NoClusterFit), m3 Evicting"},
		{&api.ClusterResourceBinding{ObjectMeta: named("crd")},
			"NAME SCHEDULED FULLYAPPLIED AGE CLUSTERS+ EVICTIONS+", "crd   90m <none> <none>"},
		{&api.PropagationPolicy{ObjectMeta: named("p"), Spec: api.PropagationSpec{ConflictResolution: "Abort", Priority: ptr.To[int32](3)}},
			"NAME CONFLICT-RESOLUTION PRIORITY AGE", "p Abort 3 90m"},
		{&api.ClusterTaintPolicy{ObjectMeta: named("t"), Status: api.ClusterTaintPolicyStatus{MatchedClusters: 4, TaintedClusters: 1}},
			"NAME MATCHED TAINTED REPORT-ONLY AGE", "t 4 1 false 90m"},
		{&api.Work{ObjectMeta: named("w"), Status: api.WorkStatus{
			Conditions:       []metav1.Condition{{Type: api.ConditionApplied, Status: metav1.ConditionTrue}},
			ManifestStatuses: []api.ManifestStatus{{Identifier: api.ResourceIdentifier{Kind: "Deployment", Name: "web"}}},
		}}, "NAME WORKLOAD-KIND WORKLOAD-NAME APPLIED AGE", "w Deployment web True 90m"},
		{&api.FederatedResourceQuota{ObjectMeta: named("q"), Spec: api.FederatedResourceQuotaSpec{
			Overall: corev1.ResourceList{"memory": resource.MustParse("4Gi"), "cpu": resource.MustParse("8")},
		}}, "NAME OVERALL OVERALL_USED AGE", "q cpu:8,memory:4Gi <none> 90m"},
		{&api.EvictionBudget{ObjectMeta: named("b"), Status: api.EvictionBudgetStatus{CurrentHealthy: 3, DesiredHealthy: 2, DisruptionsAllowed: 1}},
			"NAME HEALTHY DESIRED ALLOWED WAITING AGE", "b 3 2 1 0 90m"},
		{&api.Governor{ObjectMeta: named("fleet"), Status: api.GovernorStatus{Governance: api.Governance{State: "Normal"}}},
			"NAME STATE EVICTIONS/S AGE", "fleet Normal <none> 90m"},
		{&appsv1.Deployment{ObjectMeta: named("web"), Spec: appsv1.DeploymentSpec{Replicas: ptr.To[int32](3)},
			Status: appsv1.DeploymentStatus{ReadyReplicas: 2, UpdatedReplicas: 1, AvailableReplicas: 2}},
			"NAME READY UP-TO-DATE AVAILABLE AGE", "web 2/3 1 2 90m"},
		{&batchv1.Job{ObjectMeta: named("j"), Status: batchv1.JobStatus{Succeeded: 1, StartTime: ptr.To(ago(time.Minute))}},
			"NAME COMPLETIONS DURATION AGE", "j 1/1 60s 90m"},
		{&batchv1.Job{ObjectMeta: named("j"), Status: batchv1.JobStatus{StartTime: ptr.To(ago(time.Hour)), CompletionTime: ptr.To(ago(58 * time.Minute))}},
			"NAME COMPLETIONS DURATION AGE", "j 0/1 2m 90m"},
		{&corev1.Service{ObjectMeta: named("s"), Spec: corev1.ServiceSpec{Type: "ClusterIP", Ports: []corev1.ServicePort{{Port: 80, Protocol: "TCP"}}}},
			"NAME TYPE CLUSTER-IP PORT(S) AGE", "s ClusterIP <none> 80/TCP 90m"},
		{&corev1.Event{ObjectMeta: named("e"), Type: "Warning", Reason: "Evicted", Message: "gone\n",
			InvolvedObject: corev1.ObjectReference{Kind: "Cluster", Name: "m1"}, EventTime: metav1.MicroTime(ago(time.Minute))},
			"LAST SEEN TYPE REASON OBJECT MESSAGE NAME+", "60s Warning Evicted cluster/m1 gone e"},
		{&corev1.Event{LastTimestamp: ago(time.Hour), Series: &corev1.EventSeries{LastObservedTime: metav1.MicroTime(ago(time.Second))}},
			"LAST SEEN TYPE REASON OBJECT MESSAGE NAME+", "1s   /  "},
		{&corev1.ConfigMap{}, "NAME DATA AGE", " 0 <unknown>"},
		{&networkingv1.Ingress{ObjectMeta: named("i"), Spec: networkingv1.IngressSpec{
			IngressClassName: ptr.To("nginx"), TLS: make([]networkingv1.IngressTLS, 1), Rules: []networkingv1.IngressRule{{Host: "a"}, {Host: "b"}, {Host: "c"}, {Host: "d"}},
		}, Status: networkingv1.IngressStatus{LoadBalancer: networkingv1.IngressLoadBalancerStatus{
			Ingress: []networkingv1.IngressLoadBalancerIngress{{IP: "10.0.0.2", Hostname: "m2"}, {Hostname: "lb"}, {IP: "10.0.0.1"}},
		}}}, "NAME CLASS HOSTS ADDRESS PORTS AGE", "i nginx a,b,c + 1 more... 10.0.0.1,10.0.0.2,lb 80, 443 90m"},
		{&networkingv1.Ingress{ObjectMeta: named("i")}, "NAME CLASS HOSTS ADDRESS PORTS AGE", "i <none> *  80 90m"},
		{&networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{
			Name: "c", CreationTimestamp: ago(90 * time.Minute), Annotations: map[string]string{networkingv1.AnnotationIsDefaultIngressClass: "true"},
		}, Spec: networkingv1.IngressClassSpec{Controller: "a.b/c", Parameters: &networkingv1.IngressClassParametersReference{APIGroup: ptr.To("g"), Kind: "P", Name: "p"}}},
			"NAME CONTROLLER PARAMETERS AGE", "c (default) a.b/c P.g/p 90m"},
		{&networkingv1.NetworkPolicy{ObjectMeta: named("n"), Spec: networkingv1.NetworkPolicySpec{PodSelector: metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}},
			"NAME POD-SELECTOR AGE", "n app=web 90m"},
		{&autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: named("h"), Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{Kind: "Deployment", Name: "web"}, MinReplicas: ptr.To[int32](2), MaxReplicas: 9,
			Metrics: []autoscalingv2.MetricSpec{
				{Resource: &autoscalingv2.ResourceMetricSource{Name: "cpu", Target: autoscalingv2.MetricTarget{AverageUtilization: ptr.To[int32](80)}}},
				{External: &autoscalingv2.ExternalMetricSource{Target: autoscalingv2.MetricTarget{AverageValue: ptr.To(resource.MustParse("5"))}}}, {},
			},
		}, Status: autoscalingv2.HorizontalPodAutoscalerStatus{CurrentReplicas: 3, CurrentMetrics: []autoscalingv2.MetricStatus{
			{Resource: &autoscalingv2.ResourceMetricStatus{Current: autoscalingv2.MetricValueStatus{AverageUtilization: ptr.To[int32](40)}}},
		}}}, "NAME REFERENCE TARGETS MINPODS MAXPODS REPLICAS AGE", "h Deployment/web cpu: 40%/80%, <unknown>/5 (avg) + 1 more... 2 9 3 90m"},
		{&policyv1.PodDisruptionBudget{ObjectMeta: named("b"), Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: ptr.To(intstr.FromString("50%"))}},
			"NAME MIN AVAILABLE MAX UNAVAILABLE ALLOWED DISRUPTIONS AGE", "b 50% N/A 0 90m"},
		{&rbacv1.ClusterRole{ObjectMeta: named("r")}, "NAME CREATED AT", "r 2026-01-02T10:30:00Z"},
		{&rbacv1.RoleBinding{ObjectMeta: named("b"), RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: "view"}, Subjects: []rbacv1.Subject{
			{Kind: "User", Name: "vera"}, {Kind: "ServiceAccount", Namespace: "shop", Name: "sa"}, {Kind: "User", Name: "ed"},
		}}, "NAME ROLE AGE USERS+ GROUPS+ SERVICEACCOUNTS+", "b ClusterRole/view 90m vera, ed  shop/sa"},
		{&corev1.ResourceQuota{ObjectMeta: named("q"), Status: corev1.ResourceQuotaStatus{
			Hard: corev1.ResourceList{"pods": resource.MustParse("10"), "limits.cpu": resource.MustParse("4"), "cpu": resource.MustParse("2")},
			Used: corev1.ResourceList{"pods": resource.MustParse("3")},
		}}, "NAME REQUEST LIMIT AGE", "q cpu: 0/2, pods: 3/10 limits.cpu: 0/4 90m"},
		{&storagev1.StorageClass{ObjectMeta: named("s"), Provisioner: "a.b/c"},
			"NAME PROVISIONER RECLAIMPOLICY VOLUMEBINDINGMODE ALLOWVOLUMEEXPANSION AGE", "s a.b/c Delete Immediate false 90m"},
		{&corev1.PersistentVolume{ObjectMeta: named("v"), Spec: corev1.PersistentVolumeSpec{
			Capacity: corev1.ResourceList{"storage": resource.MustParse("5Gi")}, AccessModes: []corev1.PersistentVolumeAccessMode{"ReadWriteMany", "ReadWriteOnce"},
			ClaimRef: &corev1.ObjectReference{Namespace: "shop", Name: "data"}, StorageClassName: "fast", PersistentVolumeReclaimPolicy: "Retain",
		}, Status: corev1.PersistentVolumeStatus{Phase: "Bound"}},
			"NAME CAPACITY ACCESS MODES RECLAIM POLICY STATUS CLAIM STORAGECLASS VOLUMEATTRIBUTESCLASS REASON AGE VOLUMEMODE+",
			"v 5Gi RWO,RWX Retain Bound shop/data fast <unset>  90m <unset>"},
	} {
		header, row := printed(t, c.object)
		require.Equal(t, c.header, header)
		require.Equal(t, c.row, row)
	}
}

func TestEveryKindCanBeShown(t *testing.T) {
	for _, k := range kinds {
		require.NotNil(t, k.list, "%s has no list", k.Plural)
		require.NotEmpty(t, k.columns, k.Plural)
		header, _ := printed(t, k.New())
		require.Regexp(t, map[bool]string{true: "AGE|CREATED AT", false: "LAST SEEN"}[k.lives == 0], header, k.Plural)
	}
}
