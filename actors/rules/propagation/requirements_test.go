package propagation_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"leeward/actors/rules/propagation"
	"leeward/messages/api"
)

func TestBindingName(t *testing.T) {
	for _, c := range []struct{ kind, name, want string }{
		{"Deployment", "nginx", "nginx-deployment"},
		{"ConfigMap", "App.Config", "app.config-configmap"},
		{"ClusterRole", "system:Viewer:all", "system.viewer.all-clusterrole"},
	} {
		require.Equal(t, c.want, propagation.BindingName(c.kind, c.name))
	}
}

// needing returns a container that requests so much CPU.
func needing(cpu string) corev1.Container {
	return corev1.Container{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse(cpu)}}}
}

func TestReplicasOfEachKind(t *testing.T) {
	pods := corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{needing("1")}}}
	for _, c := range []struct {
		name     string
		object   api.Object
		replicas int32
		workload bool
	}{
		{"a Deployment", &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: new(int32(3)), Template: pods}}, 3, true},
		{"a Deployment of no replicas", &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: new(int32(0)), Template: pods}}, 0, true},
		{"a Deployment that does not say how many", &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Template: pods}}, 1, true},
		{"a StatefulSet", &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{Replicas: new(int32(2)), Template: pods}}, 2, true},
		{"a Job runs its parallelism", &batchv1.Job{Spec: batchv1.JobSpec{Parallelism: new(int32(5)), Completions: new(int32(9)), Template: pods}}, 5, true},
		{"a Job runs no more than it is to complete", &batchv1.Job{Spec: batchv1.JobSpec{Parallelism: new(int32(5)), Completions: new(int32(2)), Template: pods}}, 2, true},
		{"a Job that does not say how many", &batchv1.Job{Spec: batchv1.JobSpec{Template: pods}}, 1, true},
		{"a Pod", &corev1.Pod{Spec: pods.Spec}, 1, true},
		{"a DaemonSet goes whole", &appsv1.DaemonSet{Spec: appsv1.DaemonSetSpec{Template: pods}}, 0, false},
		{"a ReplicaSet goes whole", &appsv1.ReplicaSet{Spec: appsv1.ReplicaSetSpec{Replicas: new(int32(3)), Template: pods}}, 0, false},
		{"a ConfigMap", &corev1.ConfigMap{}, 0, false},
		{"a kind of somebody else's", &unstructured.Unstructured{}, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			replicas, each, workload := propagation.Requirements(c.object)
			require.Equal(t, c.replicas, replicas)
			require.Equal(t, c.workload, workload)
			require.Equal(t, c.workload, each != nil)
			if workload {
				require.Equal(t, "1", each.ResourceRequest.Cpu().String())
			}
		})
	}
}

func TestRequestsCountAsKubernetesCountsThem(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	sidecar := needing("250m")
	sidecar.RestartPolicy = &always
	for _, c := range []struct {
		name string
		spec corev1.PodSpec
		want string
	}{
		{"one container is the pod", corev1.PodSpec{Containers: []corev1.Container{needing("500m")}}, "500m"},
		{"what the pod as a whole asks for counts", corev1.PodSpec{Containers: []corev1.Container{needing("500m")}, Resources: &corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("2")}}}, "2"},
		{"containers add up", corev1.PodSpec{Containers: []corev1.Container{needing("500m"), needing("250m")}}, "750m"},
		{"an init container that needs less does not count", corev1.PodSpec{Containers: []corev1.Container{needing("500m")}, InitContainers: []corev1.Container{needing("100m")}}, "500m"},
		{"an init container that needs more counts alone", corev1.PodSpec{Containers: []corev1.Container{needing("500m")}, InitContainers: []corev1.Container{needing("2"), needing("1")}}, "2"},
		{"a sidecar adds up", corev1.PodSpec{Containers: []corev1.Container{needing("500m")}, InitContainers: []corev1.Container{sidecar}}, "750m"},
		{"overhead comes on top", corev1.PodSpec{Containers: []corev1.Container{needing("500m")}, Overhead: corev1.ResourceList{"cpu": resource.MustParse("50m")}}, "550m"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, each, _ := propagation.Requirements(&corev1.Pod{Spec: c.spec})
			require.Equal(t, c.want, each.ResourceRequest.Cpu().String())
		})
	}
}

func TestWhatAPodAsksOfItsNode(t *testing.T) {
	required := &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{}}}
	hard := &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: required}}
	tolerations := []corev1.Toleration{{Key: "gpu", Operator: "Exists"}}
	disk := map[string]string{"disk": "ssd"}
	for _, c := range []struct {
		name string
		spec corev1.PodSpec
		want *api.ReplicaRequirements
	}{
		{"nothing", corev1.PodSpec{Containers: []corev1.Container{{}}}, nil},
		{"soft affinity is nothing", corev1.PodSpec{Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}}}, nil},
		{"affinity to pods is nothing", corev1.PodSpec{Affinity: &corev1.Affinity{}}, nil},
		{"a node selector", corev1.PodSpec{NodeSelector: disk}, &api.ReplicaRequirements{NodeClaim: &api.NodeClaim{NodeSelector: disk}}},
		{"tolerations", corev1.PodSpec{Tolerations: tolerations}, &api.ReplicaRequirements{NodeClaim: &api.NodeClaim{Tolerations: tolerations}}},
		{"hard affinity", corev1.PodSpec{Affinity: hard}, &api.ReplicaRequirements{NodeClaim: &api.NodeClaim{HardNodeAffinity: required}}},
		{"a priority class", corev1.PodSpec{PriorityClassName: "gold"}, &api.ReplicaRequirements{PriorityClassName: "gold"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, each, workload := propagation.Requirements(&corev1.Pod{Spec: c.spec})
			require.True(t, workload)
			require.Equal(t, c.want, each)
		})
	}
}
