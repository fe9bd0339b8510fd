package propagation

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"leeward/messages/api"
)

// interpreter reads the components off the spec of a workload.
type interpreter func(spec []byte, exact bool) ([]api.Component, error)

// interpreters are those of the kinds that have several pod templates. Source: Karmada's bundled
// interpreters of third-party resources.
var interpreters = map[metav1.TypeMeta]interpreter{
	{APIVersion: "batch.volcano.sh/v1alpha1", Kind: "Job"}:            reading(volcano),
	{APIVersion: "flink.apache.org/v1beta1", Kind: "FlinkDeployment"}: reading(flink),
	{APIVersion: "ray.io/v1", Kind: "RayCluster"}:                     reading(ray),
	{APIVersion: "kubeflow.org/v1", Kind: "PyTorchJob"}:               reading(pyTorch),
	{APIVersion: "kubeflow.org/v1", Kind: "TFJob"}:                    reading(tensorFlow),
	{APIVersion: "kubeflow.org/v2beta1", Kind: "MPIJob"}:              reading(mpi),
}

// reading decodes of a spec what a kind's components depend on.
func reading[S any](components func(*S, bool) ([]api.Component, error)) interpreter {
	return func(spec []byte, exact bool) ([]api.Component, error) {
		s := new(S)
		if err := json.Unmarshal(spec, s); err != nil {
			return nil, err
		}
		return components(s, exact)
	}
}

// Components returns the pod templates of a workload of a kind that has several; none for any other. With
// exact, sizes and counts are what the workload's own operator makes of them; else what Karmada does. The
// problem, nil if there is none, names the field that cannot be read.
func Components(o api.Object, exact bool) ([]api.Component, *field.Error) {
	u, ok := o.(*unstructured.Unstructured)
	if !ok {
		return nil, nil
	}
	interpret := interpreters[metav1.TypeMeta{APIVersion: u.GetAPIVersion(), Kind: u.GetKind()}]
	if interpret == nil {
		return nil, nil
	}
	spec := field.NewPath("spec")
	text, err := json.Marshal(u.Object["spec"])
	if err != nil {
		return nil, field.InternalError(spec, err)
	}
	components, err := interpret(text, exact)
	if err != nil {
		return nil, unreadable(err, spec)
	}
	return components, nil
}

// unreadable names the field that holds something else than it should.
func unreadable(err error, spec *field.Path) *field.Error {
	var wrong *json.UnmarshalTypeError
	var known *field.Error
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &wrong) && wrong.Field != "":
		return field.Invalid(spec.Child(wrong.Field), wrong.Value, fmt.Sprintf("want %s", wrong.Type))
	default:
		return field.Invalid(spec, "pod templates", err.Error())
	}
}

// template is one pod template with the number of its pods, as far as it says. Volcano names it by name and
// counts by minAvailable, Ray names it by groupName.
type template struct {
	Name         string                 `json:"name"`
	GroupName    string                 `json:"groupName"`
	MinAvailable *int32                 `json:"minAvailable"`
	Replicas     *int32                 `json:"replicas"`
	Template     corev1.PodTemplateSpec `json:"template"`
}

type volcanoJob struct {
	Tasks []template `json:"tasks"`
}

// volcano: the pods of a task that must run for the job to start. Where a task does not say, Karmada takes
// one, and Volcano all.
func volcano(j *volcanoJob, exact bool) ([]api.Component, error) {
	components := make([]api.Component, len(j.Tasks))
	for i := range j.Tasks {
		task := &j.Tasks[i]
		count := task.MinAvailable
		if count == nil && exact {
			count = task.Replicas
		}
		components[i] = task.component(cmp.Or(task.Name, "task-"+strconv.Itoa(i)), ptr.Deref(count, 1))
	}
	return components, nil
}

type rayCluster struct {
	Head    *template  `json:"headGroupSpec"`
	Workers []template `json:"workerGroupSpecs"`
}

// ray: one head, and worker groups that are empty where they do not say.
func ray(r *rayCluster, _ bool) (components []api.Component, _ error) {
	if r.Head != nil {
		components = append(components, r.Head.component("ray-head", 1))
	}
	for i := range r.Workers {
		group := &r.Workers[i]
		if group.Replicas == nil {
			group.Replicas = new(int32)
		}
		components = append(components, group.component(cmp.Or(group.GroupName, "worker-"+strconv.Itoa(i+1)), *group.Replicas))
	}
	return components, nil
}

type pyTorchJob struct {
	Roles map[string]*template `json:"pytorchReplicaSpecs"`
}

type tfJob struct {
	Roles map[string]*template `json:"tfReplicaSpecs"`
}

type mpiJob struct {
	Roles map[string]*template `json:"mpiReplicaSpecs"`
}

// role is one of the parts that pods play in a training job.
type role struct{ key, name string }

func pyTorch(j *pyTorchJob, _ bool) ([]api.Component, error) {
	return playing(j.Roles, role{"Master", "master"}, role{"Worker", "worker"}), nil
}

func tensorFlow(j *tfJob, _ bool) ([]api.Component, error) {
	return playing(j.Roles, role{"PS", "ps"}, role{"Worker", "worker"}, role{"Chief", "chief"}, role{"Master", "master"}, role{"Evaluator", "evaluator"}), nil
}

// mpi: workers that do not say are none.
func mpi(j *mpiJob, _ bool) ([]api.Component, error) {
	if w := j.Roles["Worker"]; w != nil && w.Replicas == nil {
		w.Replicas = new(int32)
	}
	return playing(j.Roles, role{"Launcher", "Launcher"}, role{"Worker", "Worker"}), nil
}

// playing lists the roles that a job has, in order.
func playing(specs map[string]*template, roles ...role) (components []api.Component) {
	for _, r := range roles {
		if t := specs[r.key]; t != nil {
			components = append(components, t.component(r.name, ptr.Deref(t.Replicas, 1)))
		}
	}
	return components
}

func (t *template) component(name string, replicas int32) api.Component {
	pod := &t.Template.Spec
	for i := range pod.Containers {
		requestLimits(&pod.Containers[i].Resources)
	}
	for i := range pod.InitContainers {
		requestLimits(&pod.InitContainers[i].Resources)
	}
	return api.Component{Name: name, Replicas: replicas, ReplicaRequirements: ofPod(pod)}
}

// requestLimits requests what is limited and not requested, as Kubernetes does for pods.
func requestLimits(r *corev1.ResourceRequirements) {
	for name, limit := range r.Limits { // order-free: each resource by itself
		if _, requested := r.Requests[name]; requested {
			continue
		}
		if r.Requests == nil {
			r.Requests = corev1.ResourceList{}
		}
		r.Requests[name] = limit
	}
}
