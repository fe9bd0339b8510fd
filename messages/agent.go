package messages

import (
	"time"

	"leeward/messages/api"
)

// ToAgent is what the machine that represents the agent of a real cluster understands. It lives where a
// rehearsal has a simulated member, and hears from the engine what that hears.
type ToAgent interface{ toAgent() }

// WorkObserved tells the state of the Work of one copy: after a start, when it was written, and whenever the
// cluster's agent said something of it. From: ingress. To: agent.
type WorkObserved struct {
	Binding BindingName
	// Generation is that of the Work's spec.
	Generation int64
	// Leaving is set once the Work is being deleted.
	Leaving bool
	// Edited is set where another writer has just changed what the Work asks for.
	Edited bool
	// Report is what the cluster's agent says; nil: nothing so far.
	Report *WorkReport
}

// WorkReport is what a cluster's agent says of a copy in the status of its Work.
type WorkReport struct {
	// Generation is that of the spec which the agent had applied; zero: it does not say, and means the newest.
	Generation int64
	Health     api.ResourceHealth
	// Ready counts the replicas that serve, Unschedulable those for which the cluster has no capacity.
	Ready, Unschedulable int32
	// Status is a JSON object that the copy says of itself; empty: nothing.
	Status string
	// Refused says why the cluster does not have what the Work asks for; empty: it has.
	Refused string
}

// WorkWritten says which generation of its Work carries a wish; the same as before where the wish was
// nothing new. From: ingress, in answer to CopyWanted. To: agent.
type WorkWritten struct {
	Binding    BindingName
	Placement  int64
	Generation int64
}

// WorkGone says that there is no Work for a copy any more, so no copy either. From: ingress. To: agent.
type WorkGone struct{ Binding BindingName }

// LeaseRenewed is a sign of life of a cluster's agent. From: ingress. To: agent.
type LeaseRenewed struct{ At time.Time }

func (*WorkObserved) toAgent()     {}
func (*WorkWritten) toAgent()      {}
func (*WorkGone) toAgent()         {}
func (*LeaseRenewed) toAgent()     {}
func (*RunCopy) toAgent()          {}
func (*RemoveCopy) toAgent()       {}
func (*ClusterDismissed) toAgent() {}
func (*EngineRestarted) toAgent()  {}
func (*SettingsChanged) toAgent()  {}
func (*Woken) toAgent()            {}
