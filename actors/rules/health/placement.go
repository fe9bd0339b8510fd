// Package health holds the rules of health: whether a placement is healthy, judged by what its clusters
// report, and whether one object is healthy, judged by its status. Pure functions of values.
//
// Sources: Karmada's "Failover Analysis", its graceful eviction controller and the health rules of its
// default resource interpreter.
package health

import (
	"fmt"

	"leeward/messages"
	"leeward/messages/api"
)

// Target is one cluster of a placement.
type Target struct {
	Cluster messages.ClusterName
	// Replicas that are to run there; zero for what has none.
	Replicas int32
	// Revision is the version of the pod template that they are to run.
	Revision int32
	// Placement numbers what the cluster was last told to run.
	Placement int64
}

// Report is the latest that a cluster said of its copy.
type Report struct {
	Cluster       messages.ClusterName
	Health        api.ResourceHealth
	ReadyReplicas int32
	// Revision is the version of the pod template that they run.
	Revision int32
	// ForPlacement is the Target.Placement that the cluster was running when it said so.
	ForPlacement int64
}

// Summary is the health of a placement.
type Summary struct {
	// Healthy: every target is, which is so too where there is none.
	Healthy bool
	// Replicas counts those ready on the targets, on each no more than it is to run, of the version of the
	// pod template that it is to run.
	Replicas int64

	// The first target that is not healthy, and what it reports.
	target Target
	report Report
	lack   lack
}

// lack is what a target is short of.
type lack uint8

const (
	nothing lack = iota
	aReport
	aHealthyReport
	thisRevision
	aReportOfThisPlacement
	readyReplicas
)

// Of judges a placement by the reports of its clusters; reports of other clusters do not matter. With
// messages.HealthReported a target is healthy if its report says Healthy. With
// messages.HealthOfPlacement the report must moreover be about the present placement and the present
// version of the pod template, and as many replicas ready as are to run: the old health of a cluster says
// nothing about its new share, nor about what has been edited since.
func Of(reports []Report, targets []Target, mode string) Summary {
	v := Summary{Healthy: true}
	for _, t := range targets {
		r := find(reports, t.Cluster)
		if r.Revision == t.Revision {
			v.Replicas += int64(min(r.ReadyReplicas, t.Replicas))
		}
		if l := lacks(r, t, mode); l != nothing && v.Healthy {
			v.Healthy, v.target, v.report, v.lack = false, t, r, l
		}
	}
	return v
}

// find returns the report of a cluster; without one, a report without health.
func find(reports []Report, c messages.ClusterName) Report {
	for _, r := range reports {
		if r.Cluster == c {
			return r
		}
	}
	return Report{Cluster: c}
}

func lacks(r Report, t Target, mode string) lack {
	switch {
	case r.Health == "":
		return aReport
	case r.Health != api.Healthy:
		return aHealthyReport
	case mode != messages.HealthOfPlacement:
		return nothing
	case r.Revision != t.Revision:
		return thisRevision
	case r.ForPlacement != t.Placement:
		return aReportOfThisPlacement
	case r.ReadyReplicas < t.Replicas:
		return readyReplicas
	default:
		return nothing
	}
}

// Reason says which target is not healthy yet and why, the first in the order of the placement; it is
// empty where all are.
func (v Summary) Reason() string {
	switch v.lack {
	case aReport:
		return fmt.Sprintf("%s reports nothing", v.target.Cluster)
	case aHealthyReport:
		return fmt.Sprintf("%s reports %s", v.target.Cluster, v.report.Health)
	case thisRevision:
		return fmt.Sprintf("%s runs revision %d, not %d", v.target.Cluster, max(1, v.report.Revision), v.target.Revision)
	case aReportOfThisPlacement:
		return fmt.Sprintf("%s reports an earlier placement", v.target.Cluster)
	case readyReplicas:
		return fmt.Sprintf("%s has %d of %d replicas ready", v.target.Cluster, v.report.ReadyReplicas, v.target.Replicas)
	default:
		return ""
	}
}
