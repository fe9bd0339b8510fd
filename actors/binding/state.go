package binding

import (
	"slices"
	"time"

	"leeward/actors/rules/state"
	"leeward/messages"
	"leeward/messages/api"
)

// preservation are the values that an eviction for some reason takes along.
func (d *declared) preservation(reason string) []api.StatePreservationRule {
	f := d.spec.Failover
	if f == nil || !d.settings.StatefulFailoverInjection {
		return nil
	}
	var s *api.StatePreservation
	if reason == api.EvictionReasonApplicationFailure && f.Application != nil {
		s = f.Application.StatePreservation
	} else if reason == api.EvictionReasonTaintUntolerated && f.Cluster != nil {
		s = f.Cluster.StatePreservation
	}
	if s == nil {
		return nil
	}
	return s.Rules
}

// preserved is the state that a copy leaves behind, as labels, by what it reported last.
func (v *view) preserved(cluster messages.ClusterName, reason string) (map[string]string, error) {
	rules := v.preservation(reason)
	if len(rules) == 0 {
		return nil, nil
	}
	c := v.copy(cluster)
	if c == nil {
		c = &copyState{}
	}
	s, err := state.Of(c.status, v.hasReplicas(), c.ready, c.replicas)
	if err != nil {
		return nil, err
	}
	labels, err := state.Extract(s, rules)
	if err != nil || v.ways().WaitsForState() {
		return labels, err // Karmada does not ask whether they are of use
	}
	if err := state.Usable(labels); err != nil {
		return nil, err
	}
	return labels, nil
}

// stateless blocks an eviction whose state cannot be read, where it may not start without.
func (v *view) stateless(t *target, reason string) blocked {
	if !v.ways().WaitsForState() {
		return blocked{}
	}
	if _, err := v.preserved(t.cluster, reason); err != nil {
		return blocked{reason: "StateNotPreserved", message: err.Error()}
	}
	return blocked{}
}

// placedBefore are the clusters of the result as it was before the application failovers of this instant, in its
// order. Source: Karmada, which takes the list down before it writes the tasks of all clusters that have failed.
func (v *view) placedBefore(now time.Time) []string {
	var clusters []string
	for _, h := range v.past.failovers() {
		if k := v.handover.task(h.from); k != nil && h.at.Equal(now) {
			clusters = slices.Clone(k.ClustersBeforeFailover)
		}
	}
	for i := range v.targets {
		if c := string(v.targets[i].cluster); !slices.Contains(clusters, c) {
			clusters = append(clusters, c)
		}
	}
	return clusters
}

// inherited is the state that a copy takes over: that of the latest task, where the binding runs on this
// one cluster alone and did not run on it before. Source: Karmada's binding controller.
func (v *view) inherited(cluster messages.ClusterName) map[string]string {
	if !v.settings.StatefulFailoverInjection || len(v.targets) != 1 || len(v.handover.tasks) == 0 {
		return nil
	}
	k := &v.handover.tasks[len(v.handover.tasks)-1]
	if !v.ways().PreservesState(k.PurgeMode) || slices.Contains(k.ClustersBeforeFailover, string(cluster)) {
		return nil
	}
	return k.PreservedLabelState
}
