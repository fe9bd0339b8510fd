package nodes

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// format is the only format of a recording that there is.
const format = "kubernetes-observation/1"

// recording is what was done to a control plane, and what was seen of it. Instants are seconds from the beginning of the script.
type recording struct {
	Format   string      `json:"format"`
	Script   script      `json:"scenario"`
	Observed observation `json:"observed"`
}

// script is what was done.
type script struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	// Flags are the command lines of the components.
	Flags   map[string][]string `json:"flags"`
	Kubelet fakeKubelet         `json:"fakeKubelet"`
	Nodes   []scriptNode        `json:"nodes"`
	// Objects are the manifests that were there at first.
	Objects    []json.RawMessage `json:"objects"`
	Events     []event           `json:"events"`
	EndSeconds float64           `json:"endSeconds"`
}

type fakeKubelet struct {
	LeaseRenewSeconds float64 `json:"leaseRenewSeconds"`
	PodStartSeconds   float64 `json:"podStartSeconds"`
}

// scriptNode is a node as it was at first, with ample capacity.
type scriptNode struct {
	Name     string            `json:"name"`
	Labels   map[string]string `json:"labels,omitempty"`
	Taints   []corev1.Taint    `json:"taints,omitempty"`
	Capacity map[string]string `json:"capacity,omitempty"`
	// Posts is "lease" or "status" where the kubelet does only one of the two, "silent" where it does neither.
	Posts string `json:"posts,omitempty"`
	// Ready is the status of the condition that it posts first. Empty: True.
	Ready string `json:"ready,omitempty"`
}

// event is one thing that was done. Which fields it has depends on the action.
type event struct {
	AtSeconds   float64             `json:"atSeconds"`
	Action      string              `json:"action"`
	Node        string              `json:"node,omitempty"`
	Nodes       []string            `json:"nodes,omitempty"`
	Taint       *corev1.Taint       `json:"taint,omitempty"`
	Taints      []corev1.Taint      `json:"taints,omitempty"`
	Condition   string              `json:"condition,omitempty"`
	Status      string              `json:"status,omitempty"`
	Pod         string              `json:"pod,omitempty"`
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`
	Grace       *int64              `json:"graceSeconds,omitempty"`
	Object      json.RawMessage     `json:"object,omitempty"`
	Kind        string              `json:"kind,omitempty"`
	Name        string              `json:"name,omitempty"`
	Replicas    int32               `json:"replicas,omitempty"`
	// Labels are set; those that are null are removed.
	Labels  map[string]*string `json:"labels,omitempty"`
	NewNode *scriptNode        `json:"newNode,omitempty"`
}

// observation is what was seen. States of pods are whole, those of nodes hold what changed.
type observation struct {
	InitialNodes map[string]nodeState `json:"initialNodes"`
	InitialPods  []sighting           `json:"initialPods"`
	Timeline     []sighting           `json:"timeline"`
	FinalPods    []sighting           `json:"finalPods"`
	FinalNodes   map[string]nodeState `json:"finalNodes"`
	Rejections   []rejection          `json:"rejections"`
}

type nodeState struct {
	Conditions    []string `json:"conditions,omitempty"`
	Taints        []string `json:"taints"`
	Unschedulable bool     `json:"unschedulable,omitempty"`
}

// sighting is an object, an input or an Event, as it was seen at an instant. Pods that have an owner are named after it and the order of
// their creation: web/0.
type sighting struct {
	Seconds          float64             `json:"t"`
	Kind             string              `json:"kind,omitempty"`
	Name             string              `json:"name,omitempty"`
	Change           string              `json:"change,omitempty"`
	Node             string              `json:"node,omitempty"`
	Phase            string              `json:"phase,omitempty"`
	Ready            bool                `json:"ready,omitempty"`
	Deleting         bool                `json:"deleting,omitempty"`
	DisruptionTarget string              `json:"disruptionTarget,omitempty"`
	Scheduled        string              `json:"scheduled,omitempty"`
	Taints           []string            `json:"taints,omitzero"`
	Conditions       []string            `json:"conditions,omitempty"`
	Tolerations      []corev1.Toleration `json:"tolerations,omitempty"`
	// TolerationsAs is another pod of the same list that has the same tolerations.
	TolerationsAs string `json:"tolerationsAs,omitempty"`
	Reason        string `json:"reason,omitempty"`
	Message       string `json:"message,omitempty"`
	Object        string `json:"object,omitempty"`
}

// rejection is an input that was refused.
type rejection struct {
	At    float64 `json:"at"`
	Error string  `json:"error"`
	Input string  `json:"input"`
}

// read reads a recording.
func read(t *testing.T, file string) *recording {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	r := &recording{}
	require.NoError(t, json.NewDecoder(bytes.NewReader(data)).Decode(r), file)
	require.Equal(t, format, r.Format, file)
	require.NotEmpty(t, r.Script.Nodes, file)
	return r
}
