package scenario

import (
	yaml "go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"leeward/messages/api"
	"leeward/messages/manifest"
)

// Group, version and kind of the document.
const (
	APIVersion = "leeward.dev/v1alpha1"
	Kind       = "Scenario"
)

// kinds are those of a fleet and Scenario.
func kinds() manifest.Kinds {
	all := manifest.FleetKinds()
	all[metav1.TypeMeta{APIVersion: APIVersion, Kind: Kind}] = func() api.Object { return &document{} }
	return all
}

// The types below are the language as it is written, and docs/scenario.schema.json is made of them:
// the comment of a field is what an editor shows, the tag schema says what the Go type does not:
//
//	required           the field must be written, and decode sees to it
//	mode, what, action, target one of each group must be written, and no two
//	with=a+b           the field goes with one of these fields
//	True|False         the words that a text may be
//	any other word     the definition of what is written here

// document is a Scenario: what happens, and what is expected.
type document struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// What happens, and what is expected.
	Spec *spec `json:"spec" schema:"required"`
}

// DeepCopyObject makes the document an api.Object, and returns the document itself: it is only read.
func (d *document) DeepCopyObject() runtime.Object { return d }

type spec struct {
	// What the scenario shows, in a sentence.
	Description string `json:"description"`
	// The named set of settings that config changes. Default leeward.
	Profile string `json:"profile" schema:"profile"`
	// Seed of everything random: the order of messages, start-up times, generated uids. Default 1.
	Seed *uint64 `json:"seed"`
	// Virtual duration of the run. Default: until nothing more is due and every expectation is decided.
	Duration *duration `json:"duration"`
	// Settings that differ from the profile: Karmada's and Kubernetes' flags in camelCase, and Leeward's own.
	Config yaml.Node `json:"config" schema:"settings"`
	// Files with manifests, as paths or glob patterns relative to this file. The other documents of this file are included anyway.
	Include []string `json:"include"`
	// Clusters, in short form: each entry is Cluster objects with their simulated members.
	Fleet []yaml.Node `json:"fleet" schema:"fleetEntry"`
	// Nodes, in short form: each entry is Node objects with their simulated kubelets. A scenario has clusters or nodes, not both.
	Nodes []yaml.Node `json:"nodes" schema:"nodeEntry"`
	// What happens, and when.
	Timeline []yaml.Node `json:"timeline" schema:"step"`
	// What must be true, and when.
	Expect []yaml.Node `json:"expect" schema:"expectation"`
}

// fleetEntry is one or more equal clusters.
type fleetEntry struct {
	// Name of the cluster, or a pattern: member{1..5}, m{01..20}, {eu,us}-{1..3}.
	Name string `json:"name" schema:"required"`
	// Region of the cluster.
	Region string `json:"region"`
	// Zones of the cluster.
	Zones []string `json:"zones"`
	// Provider of the cluster.
	Provider string `json:"provider"`
	// Labels of the Cluster object.
	Labels map[string]string `json:"labels"`
	// Taints, in kubectl's grammar or as objects.
	Taints []taintSpec `json:"taints"`
	// Capacity of the cluster. Default cpu 1000, memory 4000Gi, pods 10000.
	Capacity corev1.ResourceList `json:"capacity"`
	// The part of the capacity that is in use from the start.
	Allocated corev1.ResourceList `json:"allocated"`
	// How long a new copy takes to become healthy; from min to max by the seed. Default 0s.
	Startup *startup `json:"startup"`
	// The health that the member reports of every started copy. Default Healthy.
	Health string `json:"health" schema:"Healthy|Unhealthy|Unknown"`
	// Conditions at the start, in addition to or in place of Ready and CompleteAPIEnablements, both True; an empty status removes one.
	Conditions conditions `json:"conditions"`
	// Nodes of the cluster, on which pods run its copies: steps and expectations name them "cluster/node". They say what the cluster offers. Default: it has no nodes, and runs whatever it has capacity for.
	Nodes []nodeEntry `json:"nodes"`
	// Push: the control plane applies resources. Pull: an agent does. Default Push.
	SyncMode string `json:"syncMode" schema:"Push|Pull"`
}

// nodeEntry is one or more equal nodes of one Kubernetes cluster.
type nodeEntry struct {
	// Name of the node, or a pattern: node-{1..5}, {a,b}-{01..20}.
	Name string `json:"name" schema:"required"`
	// Region of the node: its label topology.kubernetes.io/region.
	Region string `json:"region"`
	// Zone of the node: its label topology.kubernetes.io/zone.
	Zone string `json:"zone"`
	// Labels of the Node object.
	Labels map[string]string `json:"labels"`
	// Taints, in kubectl's grammar or as objects.
	Taints []taintSpec `json:"taints"`
	// Capacity of the node, in one line or as a mapping: cpu=4,memory=8Gi,pods=110. Default cpu 32, memory 128Gi, pods 110.
	Capacity resources `json:"capacity"`
	// How long a pod takes to be ready once it has a node; from min to max by the seed. Default 200ms.
	Startup *startup `json:"startup"`
	// Time between two renewals of the node's Lease, its heartbeat. Default 10s.
	LeasePeriod *duration `json:"leasePeriod"`
	// Conditions at the start, in addition to or in place of those of a node that works; an empty status removes one.
	Conditions conditions `json:"conditions"`
}

// step is one action, at an instant or repeated.
type step struct {
	// Time of the action, as an offset from the start.
	At *duration `json:"at" schema:"mode"`
	// Repeats the action at this interval, the first time at from.
	Every *duration `json:"every" schema:"mode"`
	// With every: the first instant. Default 0s.
	From *duration `json:"from" schema:"with=every"`
	// With every: the last instant at most. Default: the scenario's duration.
	Until *duration `json:"until" schema:"with=every"`
	// With apply: a rejected manifest does not end the run; the rejection is recorded.
	MayFail bool `json:"mayFail" schema:"with=apply"`

	// Sets a condition of a cluster, as its agent would report it.
	Condition *conditionStep `json:"condition" schema:"action"`
	// Adds taints, and removes those whose spec ends in "-", as kubectl taint does.
	Taint *taintStep `json:"taint" schema:"action"`
	// Removes taints.
	Untaint *taintStep `json:"untaint" schema:"action"`
	// Keeps new workloads off clusters.
	Cordon *cordonStep `json:"cordon" schema:"action"`
	// Evicts all workloads from clusters, as a NoExecute taint does, and keeps new ones off. Of nodes: does what kubectl drain does.
	Drain *drainStep `json:"drain" schema:"action"`
	// Ends a cordon and a drain.
	Uncordon *cordonStep `json:"uncordon" schema:"action"`
	// Sets labels of a cluster; null removes one.
	Label *labelStep `json:"label" schema:"action"`
	// Fails the power, the network or the API server of clusters.
	Outage *outageStep `json:"outage" schema:"action"`
	// Sets the health that a cluster reports of its copies.
	Health *healthStep `json:"health" schema:"action"`
	// Sets the status that a copy reports.
	Status *statusStep `json:"status" schema:"action"`
	// Limits how many replicas of a copy the nodes of a cluster can take; further ones cannot start.
	SchedulableReplicas *schedulableReplicasStep `json:"schedulableReplicas" schema:"action"`
	// Sets the capacity of a cluster.
	Capacity *capacityStep `json:"capacity" schema:"action"`
	// Sets the kinds that a cluster reports as served.
	APIEnablements *apiEnablementsStep `json:"apiEnablements" schema:"action"`
	// Sets the replicas of a workload.
	Scale *scaleStep `json:"scale" schema:"action"`
	// Applies manifests: one inline, {file: path}, or a list of these.
	Apply *yaml.Node `json:"apply" schema:"action,applied"`
	// Deletes an object.
	Delete *deleteStep `json:"delete" schema:"action"`
	// Changes settings, like spec.config.
	Config *yaml.Node `json:"config" schema:"action,settings"`
	// Blocks all evictions, as spec.pause of the Governor does.
	Pause *pauseStep `json:"pause" schema:"action"`
	// Ends a pause.
	Resume *yes `json:"resume" schema:"action"`
	// Blocks the evictions of a binding, or those from clusters, as their annotations do.
	Hold *holdStep `json:"hold" schema:"action"`
	// Ends a hold or an earlier release; with now, lets the evictions of a binding pass all limits.
	Release *releaseStep `json:"release" schema:"action"`
	// The engine loses its memory and recovers from the stored objects; deadlines do not move.
	Restart *yes `json:"restart" schema:"action"`
	// The engine's process dies during its work, or fails to write its decisions, and is back later.
	Crash *crashStep `json:"crash" schema:"action"`
	// Sets the engine's clock ahead or back.
	Clock *clockStep `json:"clock" schema:"action"`
	// Makes reports of clusters to the engine lost, delayed, duplicated or reordered.
	Reports *reportsStep `json:"reports" schema:"action"`
	// Has the API server of a scenario of nodes refuse requests that evict pods.
	Refuse *refuseStep `json:"refuse" schema:"action"`
	// Reboots the nodes of clusters: their copies are available again after their start-up time.
	RebootNodes *rebootStep `json:"rebootNodes" schema:"action"`
}

type conditionStep struct {
	// Which clusters.
	Cluster *clusterRef `json:"cluster" schema:"target"`
	// Which nodes, in place of cluster.
	Node *nodeRef `json:"node" schema:"target"`
	// Type of the condition, such as Ready.
	Type string `json:"type" schema:"required"`
	// Status to set; an empty one removes the condition.
	Status *string `json:"status" schema:"True|False|Unknown|"`
	// Reason of the condition, in one word.
	Reason string `json:"reason"`
	// Message of the condition.
	Message string `json:"message"`
	// In place of a status: False if the condition is True, else True.
	Toggle bool `json:"toggle"`
	// The status is the result of one probe of Ready, which counts when it has lasted for clusterFailureThreshold or clusterSuccessThreshold. Default: it counts immediately.
	Observed bool `json:"observed"`
}

type taintStep struct {
	// Which clusters.
	Cluster *clusterRef `json:"cluster" schema:"target"`
	// Which nodes, in place of cluster.
	Node *nodeRef `json:"node" schema:"target"`
	// Taints in kubectl's grammar: key=value:Effect, key:Effect; with "-" at the end, or just key-, to remove.
	Taints []string `json:"taints" schema:"required"`
}

type cordonStep struct {
	// Which clusters.
	Cluster *clusterRef `json:"cluster" schema:"target"`
	// Which nodes, in place of cluster.
	Node *nodeRef `json:"node" schema:"target"`
}

type rebootStep struct {
	// Which clusters.
	Cluster clusterRef `json:"cluster" schema:"required"`
}

type drainStep struct {
	// Which clusters.
	Cluster *clusterRef `json:"cluster" schema:"target"`
	// Which nodes, in place of cluster.
	Node *nodeRef `json:"node" schema:"target"`
	// Of clusters: deadline, as a duration; late bindings are reported. Default: none.
	Deadline *duration `json:"deadline"`
	// Of nodes: leaves the pods of DaemonSets alone; without it they are an error.
	IgnoreDaemonSets bool `json:"ignoreDaemonsets"`
	// Of nodes: evicts pods with emptyDir volumes, too; without it they are an error.
	DeleteEmptyDirData bool `json:"deleteEmptydirData"`
	// Of nodes: evicts pods without an owner, too; without it they are an error.
	Force bool `json:"force"`
	// Of nodes: deletes pods whatever their PodDisruptionBudgets say.
	DisableEviction bool `json:"disableEviction"`
	// Of nodes: grace period of each pod, in whole seconds. Default: its own.
	GracePeriod *duration `json:"gracePeriod"`
	// Of nodes: how long the drain tries. Default: until it is done.
	Timeout *duration `json:"timeout"`
	// Of nodes: how long ago the deletionTimestamp of a pod may be for the drain to wait for it, in whole seconds. Default: any time.
	SkipWaitForDeleteTimeout *duration `json:"skipWaitForDeleteTimeout"`
	// Of nodes: evicts only pods with these labels.
	PodSelector string `json:"podSelector"`
}

type labelStep struct {
	// Which clusters.
	Cluster *clusterRef `json:"cluster" schema:"target"`
	// Which nodes, in place of cluster.
	Node *nodeRef `json:"node" schema:"target"`
	// Labels to set; null removes one.
	Labels labelEdits `json:"labels" schema:"required"`
}

type outageStep struct {
	// Which clusters.
	Cluster *clusterRef `json:"cluster" schema:"target"`
	// Which nodes, in place of cluster.
	Node *nodeRef `json:"node" schema:"target"`
	// What fails. power: copies die, and start again when it is over. network: copies remain available, unseen. apiserver: copies remain available, and the cluster reports Ready=False. Of nodes kubelet: no heartbeat, and no pod starts or ends.
	Kind string `json:"kind" schema:"required,power|network|apiserver|kubelet"`
	// How long it lasts. Default: until the run ends.
	For *duration `json:"for"`
}

type refuseStep struct {
	// Which request of an eviction is refused: the one that reads the pod, marks it as disrupted, or deletes it; with podEvictionsHonourBudgets, evicts it.
	Request string `json:"request" schema:"required,get|patch|delete|evict"`
	// What the API server says.
	Error string `json:"error" schema:"required"`
	// How long it does. Default: until the run ends.
	For *duration `json:"for"`
}

type healthStep struct {
	// Which clusters.
	Cluster clusterRef `json:"cluster" schema:"required"`
	// Health to report from now on.
	Status string `json:"status" schema:"required,Healthy|Unhealthy|Unknown"`
	// The binding whose copy it is about. Default: every copy there, now and later.
	Binding string `json:"binding"`
}

type statusStep struct {
	// Which clusters.
	Cluster clusterRef `json:"cluster" schema:"required"`
	// The binding whose copy it is about.
	Binding string `json:"binding" schema:"required"`
	// Status that the copy reports from now on, in addition to its replicas.
	Status map[string]any `json:"status" schema:"required"`
}

type schedulableReplicasStep struct {
	// Which clusters.
	Cluster clusterRef `json:"cluster" schema:"required"`
	// The binding whose copy it is about.
	Binding string `json:"binding" schema:"required"`
	// How many replicas. Default: any number.
	Replicas *int32 `json:"replicas"`
}

type capacityStep struct {
	// Which clusters.
	Cluster clusterRef `json:"cluster" schema:"required"`
	// Capacity of the cluster; a resource that is not named does not change.
	Capacity corev1.ResourceList `json:"capacity"`
	// The part of it that is in use; a resource that is not named does not change.
	Allocated corev1.ResourceList `json:"allocated"`
}

type apiEnablementsStep struct {
	// Which clusters.
	Cluster clusterRef `json:"cluster" schema:"required"`
	// The kinds, by group and version: {apps/v1: [Deployment]}. None: the cluster does not report them, and every kind counts as served.
	Kinds map[string][]string `json:"kinds"`
}

type scaleStep struct {
	// Which workload, as kubectl names it: deployment/nginx, deploy/nginx -n shop; also nginx, shop/nginx, StatefulSet/shop/db.
	Workload string `json:"workload" schema:"required"`
	// How many.
	Replicas *int32 `json:"replicas" schema:"required"`
}

type pauseStep struct {
	// Reason, which is stored and shown.
	Reason string `json:"reason" schema:"required"`
	// When it ends by itself, as an offset from the start. Default: never.
	Until *duration `json:"until"`
	// How long it lasts, in place of until.
	For *duration `json:"for"`
}

type holdStep struct {
	// Clusters whose evictions are held.
	Cluster *clusterRef `json:"cluster"`
	// Binding whose evictions are held, in place of cluster.
	Binding string `json:"binding"`
	// Reason, which is stored and shown.
	Reason string `json:"reason" schema:"required"`
	// When it ends by itself, as an offset from the start. Default: never.
	Until *duration `json:"until"`
	// How long it lasts, in place of until.
	For *duration `json:"for"`
}

type releaseStep struct {
	// Clusters whose hold ends.
	Cluster *clusterRef `json:"cluster"`
	// Binding whose hold ends, in place of cluster.
	Binding string `json:"binding"`
	// Evictions of the binding start immediately, whatever the limits, storms and holds, until it is released without now.
	Now bool `json:"now"`
	// With now: reason, which is stored and shown.
	Reason string `json:"reason"`
}

type crashStep struct {
	// How many messages the machines still handle in the instant. Default: all.
	After *int32 `json:"after"`
	// How long until the engine is back. Default 0s.
	For *duration `json:"for"`
}

type clockStep struct {
	// How far it is set ahead: everything due meanwhile is due immediately.
	Ahead *duration `json:"ahead"`
	// How far it is set back: the engine's time pauses for that long.
	Back *duration `json:"back"`
}

type reportsStep struct {
	// Which clusters.
	Cluster clusterRef `json:"cluster" schema:"required"`
	// The fault of their reports.
	Fault string `json:"fault" schema:"required,lost|delayed|duplicated|reordered"`
	// For how long.
	For *duration `json:"for" schema:"required"`
	// How much later they arrive; reordered ones up to this much. Not for lost ones.
	By *duration `json:"by"`
}

type deleteStep struct {
	// Kind of the object.
	Kind string `json:"kind" schema:"required"`
	// Name of the object.
	Name string `json:"name" schema:"required"`
	// Namespace of the object. Default: default, for kinds that have namespaces.
	Namespace string `json:"namespace"`
	// Version of the object's API, if the kind alone is ambiguous.
	APIVersion string `json:"apiVersion"`
}

// expectation is one mode with one subject.
type expectation struct {
	// At this instant, after everything that happens at it.
	At *duration `json:"at" schema:"mode"`
	// At some instant of an interval.
	Within *within `json:"within" schema:"mode"`
	// At every instant.
	Always *yes `json:"always" schema:"mode"`
	// At no instant.
	Never *yes `json:"never" schema:"mode"`
	// How many events in all.
	Total *total `json:"total" schema:"mode,what"`
	// With always, never and total: not before this instant. Default 0s.
	From *duration `json:"from" schema:"with=always+never+total"`
	// With always, never and total: not after this instant. Default: the end of the run.
	Until *duration `json:"until" schema:"with=always+never+total"`

	// A taint of a cluster or a node.
	Taint *taintExpectation `json:"taint" schema:"what"`
	// State of a workload: its clusters, replicas, health and tasks.
	Binding *bindingExpectation `json:"binding" schema:"what"`
	// State of a pod: its phase, its node, whether it is evicted.
	Pod *podExpectation `json:"pod" schema:"what"`
	// Numbers of pods: of an owner, a namespace, or on some nodes.
	Pods *podsExpectation `json:"pods" schema:"what"`
	// Something that happens: the kind of a fact, and any of the fields of its JSON.
	Event map[string]any `json:"event" schema:"what,event"`
	// Fields of an object, as kubectl shows them; other fields do not matter.
	Object map[string]any `json:"object" schema:"what,object"`
	// One of several correct outcomes, each of the same object.
	AnyOf []alternative `json:"anyOf" schema:"what"`
}

// alternative is a possible state of an object.
type alternative struct {
	// A taint of a cluster or a node.
	Taint *taintExpectation `json:"taint" schema:"what"`
	// State of a workload: its clusters, replicas, health and tasks.
	Binding *bindingExpectation `json:"binding" schema:"what"`
	// State of a pod: its phase, its node, whether it is evicted.
	Pod *podExpectation `json:"pod" schema:"what"`
	// Numbers of pods: of an owner, a namespace, or on some nodes.
	Pods *podsExpectation `json:"pods" schema:"what"`
	// Fields of an object.
	Object map[string]any `json:"object" schema:"what,object"`
}

type within struct {
	// Beginning of the interval. Default 0s.
	After duration `json:"after"`
	// Length of the interval; both ends belong to it.
	For *duration `json:"for" schema:"required"`
}

type total struct {
	// Which events: the kind of a fact, and any of the fields of its JSON.
	Event map[string]any `json:"event" schema:"required,event"`
	// Minimum. Default 0.
	Min *int `json:"min"`
	// Maximum. Default: none.
	Max *int `json:"max"`
	// Exact number.
	Exact *int `json:"exact"`
}

type taintExpectation struct {
	// Which cluster.
	Cluster string `json:"cluster" schema:"target"`
	// Which node, in place of cluster.
	Node string `json:"node" schema:"target"`
	// Key of the taint.
	Key string `json:"key" schema:"required"`
	// Value of the taint. Default: any.
	Value string `json:"value"`
	// Effect of the taint. Default: any.
	Effect string `json:"effect" schema:"NoSchedule|PreferNoSchedule|NoExecute"`
	// False: the cluster or node must not have it. Default true.
	Present *bool `json:"present"`
}

type podExpectation struct {
	// Which pod: web, shop/web. Of the pods that an owner makes, the names of those of a StatefulSet are known: db-0.
	Name string `json:"name" schema:"required"`
	// False: there must be no such pod. Default true.
	Present *bool `json:"present"`
	// Phase of the pod.
	Phase string `json:"phase" schema:"Pending|Running|Succeeded|Failed|Unknown"`
	// Node that it is bound to; an empty one: it is bound to none.
	Node *string `json:"node"`
	// Whether its condition Ready is True.
	Ready *bool `json:"ready"`
	// Whether it has the condition DisruptionTarget: it was evicted, and still exists.
	Evicted *bool `json:"evicted"`
	// Whether it was deleted, and still exists.
	Terminating *bool `json:"terminating"`
	// Part of what the scheduler says of a pod that no node can take: untolerated taint.
	Unschedulable string `json:"unschedulable"`
}

type podsExpectation struct {
	// The workload that keeps them up, as kubectl names it: web, ds/agent -n shop. Default: any pods.
	Of string `json:"of"`
	// Namespace of the pods. Default: any.
	Namespace string `json:"namespace"`
	// Nodes that they are bound to. Default: any or none.
	Node *nodeRef `json:"node"`
	// How many there are.
	All *bounds `json:"all"`
	// How many are Running, and not deleted.
	Running *bounds `json:"running"`
	// How many are ready, and not deleted.
	Ready *bounds `json:"ready"`
	// How many are Pending, and not deleted.
	Pending *bounds `json:"pending"`
	// How many are Pending because no node can take them.
	Unschedulable *bounds `json:"unschedulable"`
	// How many have the condition DisruptionTarget.
	Evicted *bounds `json:"evicted"`
	// How many were deleted, and still exist.
	Terminating *bounds `json:"terminating"`
}

type bindingExpectation struct {
	// Which binding: default/nginx-deployment, or the workload it is for: nginx, deploy/nginx -n shop, StatefulSet/shop/db.
	Name string `json:"name" schema:"required"`
	// Exactly these clusters, with their replicas as a mapping, or with any as a list.
	Clusters *shares `json:"clusters"`
	// Number of clusters.
	ClusterCount *bounds `json:"clusterCount"`
	// Sum of the replicas of all clusters.
	Replicas *bounds `json:"replicas"`
	// Exactly these graceful eviction tasks: the clusters evicted from, or fields of the tasks.
	Tasks *tasks `json:"tasks"`
	// Whether there is at least one cluster, and each runs a healthy copy.
	Healthy *bool `json:"healthy"`
	// Replicas that serve users, on all clusters, whatever is reported; a copy that is being evicted counts until it is removed.
	Available *bounds `json:"available"`
	// Ready replicas by the last reports of the clusters.
	Reported *bounds `json:"reported"`
	// Conditions of the binding.
	Conditions conditions `json:"conditions"`
	// Reason of the condition Scheduled.
	Scheduled string `json:"scheduled"`
	// Affinity group in use.
	Affinity string `json:"affinity"`
}
