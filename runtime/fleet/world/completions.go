package world

import (
	"cmp"
	"slices"

	batchv1 "k8s.io/api/batch/v1"

	"leeward/actors/rules/division"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

// Completions is a cluster's part of the completions of a Job whose replicas are divided: in proportion to these, by
// the method that divides them. It is nil where a copy has those of its template: the Job has none, its replicas are
// not divided, or the cluster is no target. Source: Karmada's binding controller.
func (w *World) Completions(template api.Object, b *store.Binding, c messages.ClusterName) *int32 {
	job, ok := template.(*batchv1.Job)
	if !ok || job.Spec.Completions == nil || b.Spec.Placement == nil || !b.Spec.Placement.ReplicaScheduling.Divides() {
		return nil
	}
	targets := slices.SortedFunc(slices.Values(b.Spec.Clusters), func(x, y api.TargetCluster) int { return cmp.Compare(x.Name, y.Name) })
	shares := make([]division.Candidate, len(targets))
	for i, t := range targets {
		shares[i] = division.Candidate{Rank: int32(i), Weight: int64(t.Replicas)}
	}
	at := api.FindTarget(targets, string(c))
	if at < 0 {
		return nil
	}
	divider := division.Divider{Method: w.settings.DivisionMethod, Seed: w.config.Seed}
	divider.Static(division.Demand{Replicas: *job.Spec.Completions, UID: string(job.UID)}, shares)
	return &shares[at].Seats
}
