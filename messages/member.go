package messages

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/messages/api"
)

// ToMember is what a member, the agent of one cluster, understands.
type ToMember interface{ toMember() }

// MemberBehaviour is how a simulated member behaves.
type MemberBehaviour struct {
	// StartupMin and StartupMax bound how long a new copy takes to become healthy; which value it is
	// follows from the seed, the binding and the cluster.
	StartupMin time.Duration
	StartupMax time.Duration
	// Health is what the member reports of every copy once started.
	Health api.ResourceHealth
	// ByPods is set where pods on nodes run the copies: how many are ready PodsCounted says, and how long they start up is theirs.
	ByPods bool
}

// MemberNodes are the nodes of a simulated member cluster, on which pods run its copies, and how their kubelets behave; those that are not
// named have the zero value.
type MemberNodes struct {
	Nodes    []*corev1.Node
	Kubelets map[NodeName]KubeletBehaviour
}

// PodsCounted says how many pods of a copy are ready, and how many no node can take. From: ingress, of a cluster that has nodes.
// To: member.
type PodsCounted struct {
	Binding              BindingName
	Ready, Unschedulable int32
}

// MemberConfigured sets a simulated member's behaviour. From: ingress. To: member.
type MemberConfigured struct{ Behaviour MemberBehaviour }

// RunCopy asks for a copy with so many replicas, new or scaled. From: binding. To: member.
type RunCopy struct {
	Binding  BindingName
	Replicas int32
	// Revision is the version of the pod template to run; zero: there was only one.
	Revision int32
	// Placement numbers what the binding told this member; reports say which one they are about.
	Placement int64
	// Adopt says that the copy runs already: a member that does not know it yet need not start it up. Found is then how
	// the copy was last reported.
	Adopt bool
	Found CopyFound
	// AsIs lets a copy that the member knows be what it is, and asks for a report only: dispatching is suspended.
	AsIs bool
	// Labels carry the state of the copy that a new one takes the place of.
	Labels map[string]string
}

// CopyFound is how a copy was reported that ran before the engine did; without a Health it is well.
type CopyFound struct {
	Health api.ResourceHealth
	// Ready counts the replicas that serve of a healthy copy, the others are starting; zero: it was not counted.
	Ready int32
	// Starting is set where the copy has never served.
	Starting bool
}

// RemoveCopy ends a copy. From: binding. To: member.
type RemoveCopy struct {
	Binding BindingName
	// Preserve lets what runs run on: the member only ceases to look after it.
	Preserve bool
	// Ask is set where a member that hears this only after a silence is to report the copy and let it run
	// until it is told again.
	Ask bool
}

// HealthForced changes what the member reports of one binding's copy; with no binding, of every
// copy there, now and later. From: ingress. To: member.
type HealthForced struct {
	Binding BindingName
	Health  api.ResourceHealth
}

// StatusForced sets the status, a JSON object, that the member reports of one binding's copy beside its
// replicas. From: ingress. To: member.
type StatusForced struct {
	Binding BindingName
	Status  string
	// Health is what a script makes of it; empty: no script says, and the health stays as it is.
	Health api.ResourceHealth
}

// SchedulableReplicasSet sets for how many replicas of one binding's copy the member has capacity; those beyond cannot
// start. Negative: any number. From: ingress. To: member.
type SchedulableReplicasSet struct {
	Binding  BindingName
	Replicas int32
}

// OutageKind is what fails in an outage of a cluster.
type OutageKind string

// The kinds of outages.
const (
	// OutagePower: the copies die, and the agent is silent. Copies start up again when power returns.
	OutagePower OutageKind = "power"
	// OutageNetwork: the copies serve on, and the agent is silent.
	OutageNetwork OutageKind = "network"
	// OutageAPIServer: the copies serve on, and the agent reports Ready=False: it neither sees nor changes copies.
	OutageAPIServer OutageKind = "apiserver"
	// OutageAgent: no node is ready that could run the agent, which is silent. The copies are what their pods are.
	OutageAgent OutageKind = "agent"
)

// Outages are the outages that a cluster has at one time.
type Outages struct{ Power, Network, APIServer, Agent bool }

// Silent reports whether the agent of a cluster with these outages neither hears nor reports anything.
func (o Outages) Silent() bool { return o.Power || o.Network || o.Agent }

// Unseen reports whether nothing is heard of the copies of a cluster with these outages, and nothing gets through to them.
func (o Outages) Unseen() bool { return o.Silent() || o.APIServer }

// OutagesSet says which outages a cluster has from now on. What a member is told while its copies are unseen it does
// afterwards. From: ingress. To: member.
type OutagesSet struct {
	Outages
	// RenewedAt is when a silent agent renewed its lease for the last time; zero: as agents do, at fixed intervals.
	RenewedAt time.Time
}

// ClusterDismissed says that the member's cluster is gone. No binding manages its copies any more, though some
// may still run on a cluster that is cut off. From: ingress. To: member.
type ClusterDismissed struct{}

// ReportFault is what becomes of a member's reports on their way.
type ReportFault uint8

// The faults.
const (
	// ReportsLost: none arrives. When that is over the last of each kind is said again.
	ReportsLost ReportFault = iota + 1
	// ReportsDelayed: each arrives later.
	ReportsDelayed
	// ReportsDuplicated: each arrives immediately, and once more later.
	ReportsDuplicated
	// ReportsReordered: each arrives later by its own time, so that later ones overtake earlier ones.
	ReportsReordered
)

// ReportsDisturbed lets something become of what the member reports: of copies, and of its cluster. A report
// that a newer one about the same overtook is void, as an API server refuses what rests on an older version.
// From: ingress. To: member.
type ReportsDisturbed struct {
	Fault ReportFault
	// Until is when it ends. By is how much later reports arrive, of shuffled ones at the most.
	Until time.Time
	By    time.Duration
}

// ClusterSays has a member report of its cluster what is in it. From: ingress. To: a member whose reports are,
// or were, disturbed.
type ClusterSays struct{ Report ToCluster }

// Rebooted says that the machines of the cluster start again: each copy serves again when its start-up time
// is over. From: ingress. To: member.
type Rebooted struct{}

// EngineRestarted says that the engine lost its memory: a silent member says again that it is silent, and since when,
// and one that is back that it is. From: ingress, after a restart. To: member.
type EngineRestarted struct {
	// Gone is since when the engine did not hear what members said.
	Gone time.Time
}

func (*PodsCounted) toMember()            {}
func (*ClusterDismissed) toMember()       {}
func (*EngineRestarted) toMember()        {}
func (*ReportsDisturbed) toMember()       {}
func (*ClusterSays) toMember()            {}
func (*Rebooted) toMember()               {}
func (*MemberConfigured) toMember()       {}
func (*RunCopy) toMember()                {}
func (*RemoveCopy) toMember()             {}
func (*HealthForced) toMember()           {}
func (*StatusForced) toMember()           {}
func (*SchedulableReplicasSet) toMember() {}
func (*OutagesSet) toMember()             {}
func (*SettingsChanged) toMember()        {}
func (*Woken) toMember()                  {}
