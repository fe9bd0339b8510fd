package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/scenario/incident"
)

// Format is the only format there is.
const Format = "karmada-observation/1"

// Recording is what was done to a fleet and what came of it.
type Recording struct {
	Format         string      `json:"format"`
	ObservedSystem string      `json:"observedSystem"`
	Script         Script      `json:"scenario"`
	Observed       Observation `json:"observed"`
}

// Script is what was done: the objects that were there at first, and the events after they had
// settled. Instants are seconds after that.
type Script struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	// ControlPlaneFlags has the command line of each component, or "defaults".
	ControlPlaneFlags    map[string]string `json:"controlPlaneFlags,omitempty"`
	Clusters             []Cluster         `json:"clusters"`
	ClusterTaintPolicies []json.RawMessage `json:"clusterTaintPolicies,omitempty"`
	PropagationPolicies  []json.RawMessage `json:"propagationPolicies,omitempty"`
	Deployments          []json.RawMessage `json:"deployments,omitempty"`
	Events               []Event           `json:"events"`
	EndSeconds           float64           `json:"endSeconds"`
}

// Cluster is a cluster as it was at first. What it leaves out has its default: 1000 CPUs of which none
// is used, memory and pods in plenty, Ready, and every copy healthy.
type Cluster struct {
	Name           string             `json:"name"`
	Labels         map[string]string  `json:"labels,omitempty"`
	Region         string             `json:"region,omitempty"`
	Zone           string             `json:"zone,omitempty"`
	Provider       string             `json:"provider,omitempty"`
	Taints         []corev1.Taint     `json:"taints,omitempty"`
	AllocatableCPU string             `json:"allocatableCPU,omitempty"`
	AllocatedCPU   string             `json:"allocatedCPU,omitempty"`
	Conditions     []metav1.Condition `json:"conditions,omitempty"`
	WorkloadHealth api.ResourceHealth `json:"workloadHealth,omitempty"`
}

// Event is one thing that was done. Which fields it has depends on the action.
type Event struct {
	AtSeconds       float64                `json:"atSeconds"`
	Action          string                 `json:"action"`
	Cluster         string                 `json:"cluster,omitempty"`
	Taint           *corev1.Taint          `json:"taint,omitempty"`
	ConditionType   string                 `json:"conditionType,omitempty"`
	ConditionStatus metav1.ConditionStatus `json:"conditionStatus,omitempty"`
	// Labels are all that the cluster has from then on.
	Labels   map[string]string  `json:"labels,omitempty"`
	Health   api.ResourceHealth `json:"health,omitempty"`
	Workload string             `json:"workload,omitempty"`
	Replicas int32              `json:"replicas,omitempty"`
	// Name is that of the policy to delete.
	Name               string          `json:"name,omitempty"`
	ClusterTaintPolicy json.RawMessage `json:"clusterTaintPolicy,omitempty"`
	PropagationPolicy  json.RawMessage `json:"propagationPolicy,omitempty"`
	Deployment         json.RawMessage `json:"deployment,omitempty"`
}

// Observation is what came of it.
type Observation struct {
	InitialBindings []Binding  `json:"initialBindings,omitempty"`
	Timeline        []Sighting `json:"timeline,omitempty"`
	FinalBindings   []Binding  `json:"finalBindings,omitempty"`
	// FinalTaints has the taints of each cluster that has any, as "key=value:Effect", with "@timeAdded"
	// where that is set.
	FinalTaints map[string][]string `json:"finalTaints,omitempty"`
	// FinalWorks has, for each binding, the clusters that hold a copy.
	FinalWorks map[string][]string `json:"finalWorksPerBinding,omitempty"`
	Rejections []Rejection         `json:"rejections,omitempty"`
}

// Sighting is one state as it was seen when it was new. Kinds other than Cluster and ResourceBinding
// say what was done and what was reported of it; nothing is read from them.
type Sighting struct {
	Seconds float64 `json:"t"`
	Kind    string  `json:"kind"`
	Name    string  `json:"name,omitempty"`
	// Taints are those of a Cluster.
	Taints []string `json:"taints,omitempty"`
	// Binding is that of a ResourceBinding.
	Binding *Binding `json:"binding,omitempty"`
}

// Placements are those that bindings went through, by their names, from the initial ones on.
func (o *Observation) Placements() map[messages.BindingName][]incident.PlacementAt {
	all := map[messages.BindingName][]incident.PlacementAt{}
	note := func(at time.Duration, b *Binding) {
		name := messages.NameBinding(metav1.NamespaceDefault, b.Name)
		all[name] = append(all[name], incident.PlacementAt{At: at, Clusters: b.Clusters, Tasks: b.Tasks})
	}
	for i := range o.InitialBindings {
		note(0, &o.InitialBindings[i])
	}
	for _, s := range o.Timeline {
		if s.Binding != nil {
			note(rounded(s.Seconds), s.Binding)
		}
	}
	return all
}

// Binding is a binding as it was at one instant.
type Binding struct {
	Name        string                     `json:"name"`
	ResourceUID types.UID                  `json:"resourceUID,omitempty"`
	Clusters    []api.TargetCluster        `json:"clusters,omitempty"`
	Tasks       []api.GracefulEvictionTask `json:"gracefulEvictionTasks,omitempty"`
	Scheduled   *Scheduled                 `json:"scheduled,omitempty"`
	Affinity    string                     `json:"observedAffinityName,omitempty"`
}

// Scheduled is a binding's condition of that name.
type Scheduled struct {
	Status metav1.ConditionStatus `json:"status"`
	Reason string                 `json:"reason"`
}

// Rejection is one event that was refused: "t=2.000 updateClusterTaintPolicy" because of
// "spec.taints[0] Forbidden".
type Rejection struct {
	Input    string `json:"input"`
	Rejected string `json:"rejected"`
}

// Decode reads one recording. What was done must be understood to the last field; what came of it may
// have more fields than are read.
func Decode(data []byte) (*Recording, error) {
	var whole struct {
		Recording
		Script json.RawMessage `json:"scenario"`
	}
	if err := json.Unmarshal(data, &whole); err != nil {
		return nil, fmt.Errorf("decode recording: %w", err)
	}
	r := &whole.Recording
	if r.Format != Format {
		return nil, fmt.Errorf("decode recording: the format is %q, not %q", r.Format, Format)
	}
	if whole.Script == nil {
		return nil, errors.New("decode recording: the scenario is missing")
	}
	strict := json.NewDecoder(bytes.NewReader(whole.Script))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&r.Script); err != nil {
		return nil, fmt.Errorf("decode the scenario of recording %s: %w", r.Script.ID, err)
	}
	return r, nil
}
