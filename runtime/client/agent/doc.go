// Package agent is the agent of one real cluster (docs/agents.md): it applies the manifests of the cluster's Works at the
// cluster's own API server, the member, and reports at the API server of the fleet, the hub.
//
// What decides is apart from what reads and writes: manifests (manifest.go), whose an object is (claim.go), fields that the
// member keeps (keep.go), pacing (pace.go), reports (report.go, health.go, readiness.go, capacity.go) are functions of
// values.
package agent
