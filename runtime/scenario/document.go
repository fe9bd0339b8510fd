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
//	mode, what, action one of each group must be written, and no two
//	with=a+b           the field goes with one of these fields
//	True|False         the words that a text may be
//	any other word     the definition of what stands here

// document is a Scenario: what is played, and what is expected of it.
type document struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// What is played, and what is expected of it.
	Spec *spec `json:"spec" schema:"required"`
}

// DeepCopyObject makes the document an api.Object, and returns the document itself: it is only read.
func (d *document) DeepCopyObject() runtime.Object { return d }

type spec struct {
	// A sentence that says what the scenario shows.
	Description string `json:"description"`
	// The named set of settings that config changes. Default leeward.
	Profile string `json:"profile" schema:"profile"`
	// Decides whatever is left to chance: the order of messages, start-up times, generated uids. Default 1.
	Seed *uint64 `json:"seed"`
	// Virtual time that the run lasts. Default: until nothing more is due and every expectation is decided.
	Duration *duration `json:"duration"`
	// Settings that differ from the profile: Karmada's and Kubernetes' flags in camelCase, and Leeward's own.
	Config yaml.Node `json:"config" schema:"settings"`
	// Files with manifests, as paths or glob patterns relative to this file. The other documents of this file are included anyway.
	Include []string `json:"include"`
	// Clusters in short. Each entry stands for Cluster objects and their simulated members.
	Fleet []yaml.Node `json:"fleet" schema:"fleetEntry"`
	// What happens, and when.
	Timeline []yaml.Node `json:"timeline" schema:"step"`
	// What must be seen, and when.
	Expect []yaml.Node `json:"expect" schema:"expectation"`
}

// fleetEntry is one or more clusters that are alike.
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
	// What the cluster can hold. Default cpu 1000, memory 4000Gi, pods 10000.
	Capacity corev1.ResourceList `json:"capacity"`
	// What of the capacity is in use by others from the start.
	Allocated corev1.ResourceList `json:"allocated"`
	// How long a new copy takes to become healthy; from min to max by the seed. Default 0s.
	Startup *startup `json:"startup"`
	// What the member reports of every copy once started. Default Healthy.
	Health string `json:"health" schema:"Healthy|Unhealthy|Unknown"`
	// Conditions at the start, beside or instead of Ready and CompleteAPIEnablements, both True; an empty status removes one.
	Conditions conditions `json:"conditions"`
	// Who moves the resources: the control plane (Push) or an agent (Pull). Default Push.
	SyncMode string `json:"syncMode" schema:"Push|Pull"`
}

// step is one action, at an instant or again and again.
type step struct {
	// When, as an offset from the start.
	At *duration `json:"at" schema:"mode"`
	// Again and again, at this distance, the first time at from.
	Every *duration `json:"every" schema:"mode"`
	// With every: the first instant. Default 0s.
	From *duration `json:"from" schema:"with=every"`
	// With every: the last instant at most. Default: the scenario's duration.
	Until *duration `json:"until" schema:"with=every"`
	// With apply: a manifest that is rejected does not end the run; the rejection is recorded.
	MayFail bool `json:"mayFail" schema:"with=apply"`

	// Sets a condition of a cluster, as its agent would report it.
	Condition *conditionStep `json:"condition" schema:"action"`
	// Adds taints, and removes those whose spec ends in "-", as kubectl taint does.
	Taint *taintStep `json:"taint" schema:"action"`
	// Removes taints.
	Untaint *taintStep `json:"untaint" schema:"action"`
	// Keeps new workloads off clusters.
	Cordon *cordonStep `json:"cordon" schema:"action"`
	// Empties clusters: they take nothing new, and what runs there leaves, as a NoExecute taint makes it leave.
	Drain *drainStep `json:"drain" schema:"action"`
	// Ends a cordon, and a drain.
	Uncordon *cordonStep `json:"uncordon" schema:"action"`
	// Sets labels of a cluster, and removes those that are null.
	Label *labelStep `json:"label" schema:"action"`
	// Lets something fail that clusters need: their power, their network or their API server.
	Outage *outageStep `json:"outage" schema:"action"`
	// Sets what a cluster reports of its copies.
	Health *healthStep `json:"health" schema:"action"`
	// Sets what a copy says of itself.
	Status *statusStep `json:"status" schema:"action"`
	// Sets for how many replicas of a copy a cluster has room; those beyond cannot start.
	Room *roomStep `json:"room" schema:"action"`
	// Sets what a cluster can hold.
	Capacity *capacityStep `json:"capacity" schema:"action"`
	// Sets what a cluster says that it serves.
	Serves *servesStep `json:"serves" schema:"action"`
	// Sets the replicas of a workload.
	Scale *scaleStep `json:"scale" schema:"action"`
	// Applies manifests: one inline, {file: path}, or a list of these.
	Apply *yaml.Node `json:"apply" schema:"action,applied"`
	// Deletes an object.
	Delete *deleteStep `json:"delete" schema:"action"`
	// Changes settings, as spec.config sets them.
	Config *yaml.Node `json:"config" schema:"action,settings"`
	// Has all evictions wait, as spec.pause of the Governor does.
	Pause *pauseStep `json:"pause" schema:"action"`
	// Ends a pause.
	Resume *yes `json:"resume" schema:"action"`
	// Has the evictions of a binding wait, or those from clusters, as annotations of these do.
	Hold *holdStep `json:"hold" schema:"action"`
	// Ends a hold, and a release; with now, has the evictions of a binding wait for nothing.
	Release *releaseStep `json:"release" schema:"action"`
	// The engine loses its memory and recovers from its objects; deadlines do not move.
	Restart *yes `json:"restart" schema:"action"`
	// The engine's process dies in the middle of its work, or fails to write what it decides, and is back later.
	Crash *crashStep `json:"crash" schema:"action"`
	// Sets the engine's clock ahead or back.
	Clock *clockStep `json:"clock" schema:"action"`
	// Lets reports of clusters be lost, late, repeated or out of order on their way to the engine.
	Reports *reportsStep `json:"reports" schema:"action"`
	// Starts the machines of clusters anew: their copies serve again when their start-up time is over.
	Reboot *cordonStep `json:"reboot" schema:"action"`
}

type conditionStep struct {
	// Which clusters.
	Cluster clusterRef `json:"cluster" schema:"required"`
	// Type of the condition, such as Ready.
	Type string `json:"type" schema:"required"`
	// Status to set; an empty one removes the condition.
	Status *string `json:"status" schema:"True|False|Unknown|"`
	// Reason of the condition, in one word.
	Reason string `json:"reason"`
	// Message of the condition.
	Message string `json:"message"`
	// Instead of a status: False if the condition is True, else True.
	Toggle bool `json:"toggle"`
	// What a probe of Ready found, which counts when it has lasted for clusterFailureThreshold or clusterSuccessThreshold. Default: it counts at once.
	Observed bool `json:"observed"`
}

type taintStep struct {
	// Which clusters.
	Cluster clusterRef `json:"cluster" schema:"required"`
	// Taints in kubectl's grammar: key=value:Effect, key:Effect; with "-" behind it, or just key-, to remove.
	Taints []string `json:"taints" schema:"required"`
}

type cordonStep struct {
	// Which clusters.
	Cluster clusterRef `json:"cluster" schema:"required"`
}

type drainStep struct {
	// Which clusters.
	Cluster clusterRef `json:"cluster" schema:"required"`
	// How long it may take; who is late is told. Default: any time.
	Deadline *duration `json:"deadline"`
}

type labelStep struct {
	// Which clusters.
	Cluster clusterRef `json:"cluster" schema:"required"`
	// Labels to set; null removes one.
	Labels labelEdits `json:"labels" schema:"required"`
}

type outageStep struct {
	// Which clusters.
	Cluster clusterRef `json:"cluster" schema:"required"`
	// What fails. power: copies die, and start up again when it is over. network: copies serve on, unseen. apiserver: copies serve on, and the cluster reports Ready=False.
	Kind string `json:"kind" schema:"required,power|network|apiserver"`
	// How long it lasts. Default: until the run ends.
	For *duration `json:"for"`
}

type healthStep struct {
	// Which clusters.
	Cluster clusterRef `json:"cluster" schema:"required"`
	// What is reported from now on.
	Status string `json:"status" schema:"required,Healthy|Unhealthy|Unknown"`
	// Of which binding's copy. Default: of every copy there, now and later.
	Binding string `json:"binding"`
}

type statusStep struct {
	// Which clusters.
	Cluster clusterRef `json:"cluster" schema:"required"`
	// Of which binding's copy.
	Binding string `json:"binding" schema:"required"`
	// What the copy says of itself from now on, beside its replicas.
	Status map[string]any `json:"status" schema:"required"`
}

type roomStep struct {
	// Which clusters.
	Cluster clusterRef `json:"cluster" schema:"required"`
	// Of which binding's copy.
	Binding string `json:"binding" schema:"required"`
	// For how many replicas. Default: any number.
	Replicas *int32 `json:"replicas"`
}

type capacityStep struct {
	// Which clusters.
	Cluster clusterRef `json:"cluster" schema:"required"`
	// What the cluster can hold; a resource that is not named stays as it is.
	Capacity corev1.ResourceList `json:"capacity"`
	// What of it is in use by others; likewise.
	Allocated corev1.ResourceList `json:"allocated"`
}

type servesStep struct {
	// Which clusters.
	Cluster clusterRef `json:"cluster" schema:"required"`
	// The kinds, by group and version: {apps/v1: [Deployment]}. None: the cluster does not say, and everything is assumed.
	Kinds map[string][]string `json:"kinds"`
}

type scaleStep struct {
	// Which workload, as kubectl names it: deployment/nginx, deploy/nginx -n shop; also nginx, shop/nginx, StatefulSet/shop/db.
	Workload string `json:"workload" schema:"required"`
	// How many.
	Replicas *int32 `json:"replicas" schema:"required"`
}

type pauseStep struct {
	// Why, for whoever asks later.
	Reason string `json:"reason" schema:"required"`
	// When it ends by itself, as an offset from the start. Default: when it is ended.
	Until *duration `json:"until"`
	// How long it lasts, instead of until.
	For *duration `json:"for"`
}

type holdStep struct {
	// The evictions from which clusters.
	Cluster *clusterRef `json:"cluster"`
	// The evictions of which binding, instead of cluster.
	Binding string `json:"binding"`
	// Why, for whoever asks later.
	Reason string `json:"reason" schema:"required"`
	// When it ends by itself, as an offset from the start. Default: when it is ended.
	Until *duration `json:"until"`
	// How long it lasts, instead of until.
	For *duration `json:"for"`
}

type releaseStep struct {
	// Which clusters are held no longer.
	Cluster *clusterRef `json:"cluster"`
	// Which binding is held no longer, instead of cluster.
	Binding string `json:"binding"`
	// Evictions of the binding go at once, whatever the limits, storms and holds, until it is released without now.
	Now bool `json:"now"`
	// With now: why, for whoever asks later.
	Reason string `json:"reason"`
}

type crashStep struct {
	// How many messages the machines still handle in the instant. Default: all.
	After *int32 `json:"after"`
	// How long until the engine is back. Default 0s.
	For *duration `json:"for"`
}

type clockStep struct {
	// How far it is set ahead: what would be due meanwhile is due at once.
	Ahead *duration `json:"ahead"`
	// How far it is set back: the engine's time stands still for so long.
	Back *duration `json:"back"`
}

type reportsStep struct {
	// Which clusters.
	Cluster clusterRef `json:"cluster" schema:"required"`
	// What becomes of their reports.
	Are string `json:"are" schema:"required,lost|delayed|repeated|shuffled"`
	// For how long.
	For *duration `json:"for" schema:"required"`
	// How much later they arrive; shuffled ones at the most. Not for lost ones.
	By *duration `json:"by"`
}

type deleteStep struct {
	// Kind of the object.
	Kind string `json:"kind" schema:"required"`
	// Name of the object.
	Name string `json:"name" schema:"required"`
	// Namespace of the object. Default: default, for kinds that have namespaces.
	Namespace string `json:"namespace"`
	// Version of the object's API, where its kind alone does not say which object is meant.
	APIVersion string `json:"apiVersion"`
}

// expectation is one mode with one subject.
type expectation struct {
	// At this instant, when all that happens at it is done.
	At *duration `json:"at" schema:"mode"`
	// At some instant of a stretch.
	Within *within `json:"within" schema:"mode"`
	// At every instant.
	Always *yes `json:"always" schema:"mode"`
	// At no instant.
	Never *yes `json:"never" schema:"mode"`
	// So many events in all.
	Total *total `json:"total" schema:"mode,what"`
	// With always, never and total: not before this instant. Default 0s.
	From *duration `json:"from" schema:"with=always+never+total"`
	// With always, never and total: not after this instant. Default: the end of the run.
	Until *duration `json:"until" schema:"with=always+never+total"`

	// A taint of a cluster.
	Taint *taintExpectation `json:"taint" schema:"what"`
	// Where a workload runs, and how.
	Binding *bindingExpectation `json:"binding" schema:"what"`
	// Something that happens: the kind of a fact, and any of the fields of its JSON.
	Event map[string]any `json:"event" schema:"what,event"`
	// Fields that an object has, as kubectl shows them; other fields do not matter.
	Object map[string]any `json:"object" schema:"what,object"`
	// One of several outcomes, each of the same object, where more than one is right.
	AnyOf []outcome `json:"anyOf" schema:"what"`
}

// outcome is how an object may be.
type outcome struct {
	// A taint of a cluster.
	Taint *taintExpectation `json:"taint" schema:"what"`
	// Where a workload runs, and how.
	Binding *bindingExpectation `json:"binding" schema:"what"`
	// Fields that an object has.
	Object map[string]any `json:"object" schema:"what,object"`
}

type within struct {
	// Beginning of the stretch. Default 0s.
	After duration `json:"after"`
	// Length of the stretch; both ends belong to it.
	For *duration `json:"for" schema:"required"`
}

type total struct {
	// Which events: the kind of a fact, and any of the fields of its JSON.
	Event map[string]any `json:"event" schema:"required,event"`
	// At least so many. Default 0.
	Min *int `json:"min"`
	// At most so many. Default: any number.
	Max *int `json:"max"`
	// Exactly so many.
	Exact *int `json:"exact"`
}

type taintExpectation struct {
	// Which cluster.
	Cluster string `json:"cluster" schema:"required"`
	// Key of the taint.
	Key string `json:"key" schema:"required"`
	// Value of the taint. Default: any.
	Value string `json:"value"`
	// Effect of the taint. Default: any.
	Effect string `json:"effect" schema:"NoSchedule|PreferNoSchedule|NoExecute"`
	// False: the cluster must not have it. Default true.
	Present *bool `json:"present"`
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
	// Exactly these graceful eviction tasks: the clusters they leave, or fields of the tasks.
	Tasks *tasks `json:"tasks"`
	// Whether every cluster, of one at least, runs a healthy copy.
	Healthy *bool `json:"healthy"`
	// Replicas that serve users, whatever is known of them, wherever they run; a copy that is being evicted counts until it is gone.
	Available *bounds `json:"available"`
	// Ready replicas that clusters last reported, likewise.
	Reported *bounds `json:"reported"`
	// Conditions of the binding.
	Conditions conditions `json:"conditions"`
	// Reason of the condition Scheduled.
	Scheduled string `json:"scheduled"`
	// Affinity group in use.
	Affinity string `json:"affinity"`
}
