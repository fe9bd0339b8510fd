package propagation_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	yaml "go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"leeward/actors/rules/propagation"
	"leeward/messages/api"
)

// read makes an object of a manifest without its metadata.
func read(t testing.TB, manifest string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(manifest), &u.Object))
	return u
}

// listed writes components as "name:replicas resource=amount", one a line.
func listed(components []api.Component) string {
	lines := make([]string, len(components))
	for i, c := range components {
		lines[i] = c.Name + ":" + resource.NewQuantity(int64(c.Replicas), resource.DecimalSI).String()
		for _, name := range []corev1.ResourceName{"cpu", "memory", "nvidia.com/gpu"} {
			if r := c.ReplicaRequirements; r != nil && !r.ResourceRequest.Name(name, resource.DecimalSI).IsZero() {
				lines[i] += " " + string(name) + "=" + r.ResourceRequest.Name(name, resource.DecimalSI).String()
			}
		}
	}
	return strings.Join(lines, "\n")
}

func TestComponentsOfEachKind(t *testing.T) {
	const (
		volcano = "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, spec: "
		flink   = "{apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment, spec: "
		ray     = "{apiVersion: ray.io/v1, kind: RayCluster, spec: "
		pyTorch = "{apiVersion: kubeflow.org/v1, kind: PyTorchJob, spec: "
		tf      = "{apiVersion: kubeflow.org/v1, kind: TFJob, spec: "
		mpi     = "{apiVersion: kubeflow.org/v2beta1, kind: MPIJob, spec: "
		one     = `template: {spec: {containers: [{resources: {requests: {cpu: "1"}}}]}}`
	)
	for _, c := range []struct{ name, manifest, karmada, exact string }{
		{
			"Volcano: what must run for the job to start, with a number for a name that is missing",
			volcano + "{tasks: [{name: ps, replicas: 5, minAvailable: 2, " + one + "}, {minAvailable: 3, " + one + "}]}}",
			"ps:2 cpu=1\ntask-1:3 cpu=1", "",
		},
		{
			"Volcano: without minAvailable one, or as many as there are",
			volcano + "{tasks: [{name: ps, replicas: 5}]}}",
			"ps:1", "ps:5",
		},
		{"Volcano: no tasks", volcano + "{}}", "", ""},
		{
			"Ray: one head, and groups of none where they do not say",
			ray + "{headGroupSpec: {" + one + "}, workerGroupSpecs: [{groupName: gpu, replicas: 2, " +
				"template: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 1, cpu: 4}, requests: {cpu: 2}}}]}}}, {" + one + "}]}}",
			"ray-head:1 cpu=1\ngpu:2 cpu=2 nvidia.com/gpu=1\nworker-2:0 cpu=1", "",
		},
		{
			"PyTorch: the master first, one pod where nothing is said",
			pyTorch + "{pytorchReplicaSpecs: {Worker: {replicas: 3}, Master: {" + one + "}}}}",
			"master:1 cpu=1\nworker:3", "",
		},
		{
			"TensorFlow: in the order of the roles",
			tf + "{tfReplicaSpecs: {Evaluator: {}, Master: {}, Chief: {}, Worker: {replicas: 4}, PS: {replicas: 2}}}}",
			"ps:2\nworker:4\nchief:1\nmaster:1\nevaluator:1", "",
		},
		{
			"MPI: no worker where nothing is said",
			mpi + "{mpiReplicaSpecs: {Worker: {" + one + "}, Launcher: {" + one + "}}}}",
			"Launcher:1 cpu=1\nWorker:0 cpu=1", "",
		},
		{
			"Flink: task managers for the job's parallelism, and memory in Flink's notation",
			flink + `{jobManager: {resource: {cpu: 0.5, memory: "2048m"}}, taskManager: {resource: {cpu: 1, memory: 2g}}, ` +
				`job: {parallelism: 5}, flinkConfiguration: {taskmanager.numberOfTaskSlots: "2"}}}`,
			"", "jobmanager:1 cpu=500m memory=2Gi\ntaskmanager:3 cpu=1 memory=2Gi",
		},
		{
			"Flink: a size of Kubernetes is one of Flink, too, and milliunits are what Karmada takes m for",
			flink + `{jobManager: {replicas: 2, resource: {memory: "1Gi"}}, taskManager: {replicas: 7, resource: {memory: "2048m"}}}}`,
			"jobmanager:2 memory=1Gi\ntaskmanager:7 memory=2048m", "jobmanager:2 memory=1Gi\ntaskmanager:7 memory=2Gi",
		},
		{
			"Flink: with one slot each, a task manager for every part of the job",
			flink + `{job: {parallelism: 5}, flinkConfiguration: {taskmanager.numberOfTaskSlots: 1}}}`, "jobmanager:1\ntaskmanager:5", "",
		},
		{
			"Flink: the least and the greatest size",
			flink + `{jobManager: {resource: {memory: 0g}}, taskManager: {resource: {memory: 9223372036854775807b}}}}`,
			"", "jobmanager:1\ntaskmanager:1 memory=9223372036854775807",
		},
		{
			"Flink: the template does not say what is requested",
			flink + `{jobManager: {resource: {cpu: 1}}, podTemplate: {spec: {initContainers: [{resources: {requests: {cpu: 8}}}], containers: [{resources: {requests: {cpu: 8}}}]}}}}`,
			"jobmanager:1 cpu=1\ntaskmanager:1", "",
		},
		{
			"an init container requests what it is limited to",
			pyTorch + "{pytorchReplicaSpecs: {Worker: {template: {spec: {initContainers: [{resources: {limits: {cpu: 3}}}], containers: [{resources: {requests: {cpu: 1}}}]}}}}}}",
			"worker:1 cpu=3", "",
		},
		{"Flink: nothing said", flink + "{flinkConfiguration: {taskmanager.numberOfTaskSlots: many}, job: {parallelism: 4}}}", "jobmanager:1\ntaskmanager:1", ""},
		{"any other kind has none", "{apiVersion: batch/v1, kind: Job, spec: {tasks: [{name: a}]}}", "", ""},
		{"nor has another version", "{apiVersion: kubeflow.org/v1, kind: MPIJob, spec: {mpiReplicaSpecs: {Worker: {}}}}", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for exact, want := range map[bool]string{false: c.karmada, true: c.exact} {
				if want == "" && c.karmada+c.exact != "" {
					continue // as the other
				}
				got, problem := propagation.Components(read(t, c.manifest), exact)
				require.Nil(t, problem)
				require.Equal(t, want, listed(got))
			}
		})
	}
}

func TestComponentsThatCannotBeRead(t *testing.T) {
	for _, c := range []struct{ name, manifest, want string }{
		{
			"a number that is none", "{apiVersion: ray.io/v1, kind: RayCluster, spec: {workerGroupSpecs: [{replicas: many}]}}",
			`spec.workerGroupSpecs.replicas: Invalid value: "string": want int32`,
		},
		{
			"a request that is none", "{apiVersion: kubeflow.org/v1, kind: TFJob, spec: {tfReplicaSpecs: {PS: {template: {spec: {containers: [{resources: {requests: {cpu: lots}}}]}}}}}}",
			"spec: Invalid value: \"pod templates\": quantities must match the regular expression",
		},
		{
			"a size that is none", "{apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment, spec: {jobManager: {resource: {memory: lots}}}}",
			`spec.jobManager.resource.memory: Invalid value: "lots": want a size, as 2048m or 2Gi`,
		},
		{
			"a size beyond all bounds", "{apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment, spec: {jobManager: {resource: {memory: 9007199254740992kb}}}}",
			`spec.jobManager.resource.memory: Invalid value: "9007199254740992kb": want a size, as 2048m or 2Gi`,
		},
		{
			"cores that are none", "{apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment, spec: {taskManager: {resource: {cpu: few}}}}",
			`spec.taskManager.resource.cpu: Invalid value: "few": want a number of cores`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, problem := propagation.Components(read(t, c.manifest), true)
			require.ErrorContains(t, problem, c.want)
		})
	}
}

func TestComponentsAskForTheirNodes(t *testing.T) {
	got, problem := propagation.Components(read(t, "{apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment, "+
		"spec: {podTemplate: {spec: {nodeSelector: {disk: fast}, priorityClassName: gold}}}}"), true)
	require.Nil(t, problem)
	for _, c := range got {
		require.Equal(t, &api.ReplicaRequirements{
			NodeClaim: &api.NodeClaim{NodeSelector: map[string]string{"disk": "fast"}}, PriorityClassName: "gold",
		}, c.ReplicaRequirements)
	}
}

// FuzzComponents: whatever a manifest says, its components are read or refused, and read alike twice.
func FuzzComponents(f *testing.F) {
	for _, spec := range []string{
		`{"tasks": [{"minAvailable": 2}]}`, `{"headGroupSpec": {}, "workerGroupSpecs": [{"replicas": -1}]}`,
		`{"jobManager": {"resource": {"cpu": 1e300, "memory": "9999999999999t"}}, "job": {"parallelism": 3}, "flinkConfiguration": {"taskmanager.numberOfTaskSlots": "1e-9"}}`,
		`{"pytorchReplicaSpecs": {"Master": null}}`, `[]`, `null`,
	} {
		f.Add(spec)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		for _, kind := range []string{"batch.volcano.sh/v1alpha1 Job", "flink.apache.org/v1beta1 FlinkDeployment", "ray.io/v1 RayCluster", "kubeflow.org/v2beta1 MPIJob"} {
			version, kind, _ := strings.Cut(kind, " ")
			u := &unstructured.Unstructured{}
			if u.UnmarshalJSON([]byte(`{"apiVersion": "`+version+`", "kind": "`+kind+`", "spec": `+spec+`}`)) != nil {
				return
			}
			first, problem := propagation.Components(u, true)
			again, _ := propagation.Components(u, true)
			require.Equal(t, first, again)
			require.True(t, problem == nil || first == nil)
		}
	})
}
