package propagation

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"leeward/messages/api"
)

// flinkDeployment has two kinds of processes, which share a pod template for all but what they request.
type flinkDeployment struct {
	JobManager  flinkProcess           `json:"jobManager"`
	TaskManager flinkProcess           `json:"taskManager"`
	PodTemplate corev1.PodTemplateSpec `json:"podTemplate"`
	Job         struct {
		Parallelism *int32 `json:"parallelism"`
	} `json:"job"`
	Configuration map[string]any `json:"flinkConfiguration"`
}

type flinkProcess struct {
	Replicas *int32 `json:"replicas"`
	Resource struct {
		CPU    amount `json:"cpu"`
		Memory amount `json:"memory"`
	} `json:"resource"`
}

// amount is a text or a number, as it is written.
type amount string

// UnmarshalJSON takes both.
func (a *amount) UnmarshalJSON(text []byte) error {
	var s string
	if json.Unmarshal(text, &s) != nil {
		s = string(text)
	}
	*a = amount(s)
	return nil
}

// slotsPerTask names how many parts of a job one task manager takes.
const slotsPerTask = "taskmanager.numberOfTaskSlots"

func flink(f *flinkDeployment, exact bool) ([]api.Component, error) {
	if f.TaskManager.Replicas == nil {
		f.TaskManager.Replicas = new(f.taskManagers())
	}
	job, err := f.component("jobManager", &f.JobManager, exact)
	if err != nil {
		return nil, err
	}
	tasks, err := f.component("taskManager", &f.TaskManager, exact)
	if err != nil {
		return nil, err
	}
	return []api.Component{job, tasks}, nil
}

// taskManagers is how many the job's parallelism asks for; one where that is not said.
func (f *flinkDeployment) taskManagers() int32 {
	slots, known := f.Configuration[slotsPerTask].(float64)
	if text, isText := f.Configuration[slotsPerTask].(string); isText {
		n, err := strconv.ParseFloat(text, 64)
		slots, known = n, err == nil
	}
	if !known || slots < 1 || f.Job.Parallelism == nil {
		return 1
	}
	return int32(math.Ceil(float64(*f.Job.Parallelism) / slots))
}

func (f *flinkDeployment) component(at string, p *flinkProcess, exact bool) (api.Component, error) {
	path := field.NewPath("spec", at, "resource")
	requests := corev1.ResourceList{}
	if text := string(p.Resource.CPU); text != "" {
		cores, err := resource.ParseQuantity(text)
		if err != nil {
			return api.Component{}, field.Invalid(path.Child("cpu"), text, "want a number of cores")
		}
		requests[corev1.ResourceCPU] = cores
	}
	if text := string(p.Resource.Memory); text != "" {
		size, ok := memorySize(text, exact)
		if !ok {
			return api.Component{}, field.Invalid(path.Child("memory"), text, "want a size, as 2048m or 2Gi")
		}
		requests[corev1.ResourceMemory] = size
	}
	pod := f.PodTemplate.Spec
	pod.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: requests}}}
	pod.InitContainers = nil
	return api.Component{Name: strings.ToLower(at), Replicas: ptr.Deref(p.Replicas, 1), ReplicaRequirements: ofPod(&pod)}, nil
}

// memorySize reads "2048m", which is 2048 MiB to Flink, and two bytes to Karmada, as to Kubernetes.
func memorySize(text string, exact bool) (resource.Quantity, bool) {
	if digits, unit, ok := flinkSize(text); ok && exact {
		return *resource.NewQuantity(digits*unit, resource.BinarySI), true
	}
	q, err := resource.ParseQuantity(text)
	return q, err == nil
}

// flinkSize splits a size in Flink's notation into its number and its unit in bytes.
func flinkSize(text string) (n, unit int64, ok bool) {
	digits := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyz ")
	unit, known := flinkUnits[strings.TrimSpace(text[len(digits):])]
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, unit, known && err == nil && n >= 0 && n <= math.MaxInt64/unit
}

// flinkUnits are the units of sizes in bytes. Source: Flink's MemorySize.
var flinkUnits = map[string]int64{
	"b": 1, "bytes": 1,
	"k": 1 << 10, "kb": 1 << 10, "kibibytes": 1 << 10,
	"m": 1 << 20, "mb": 1 << 20, "mebibytes": 1 << 20,
	"g": 1 << 30, "gb": 1 << 30, "gibibytes": 1 << 30,
	"t": 1 << 40, "tb": 1 << 40, "tebibytes": 1 << 40,
}
