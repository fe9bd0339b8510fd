package conformance

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/scenario"
)

// oneInput is how long one input takes the maker of a recording: inputs of one instant follow one
// another, and what the first brings about begins before the second.
const oneInput = 10 * time.Millisecond

func (c *conversion) timeline(events []Event) error {
	for i := range events {
		e := &events[i]
		action, err := c.action(e)
		if err != nil {
			return fmt.Errorf("%s: event %d at %gs: %w", c.file, i, e.AtSeconds, err)
		}
		at := rounded(e.AtSeconds)
		if n := len(c.scenario.Timeline); n > 0 {
			at = max(at, c.scenario.Timeline[n-1].At+oneInput)
		}
		c.scenario.Timeline = append(c.scenario.Timeline, scenario.Step{At: at, Action: action, File: c.file, Line: 1})
	}
	return nil
}

func (c *conversion) action(e *Event) (scenario.Action, error) {
	clusters := []messages.ClusterName{messages.ClusterName(e.Cluster)}
	switch e.Action {
	case "condition":
		return &scenario.Condition{Target: scenario.Target{Clusters: clusters}, Type: e.ConditionType, Status: e.ConditionStatus}, nil
	case "taint", "untaint":
		return e.taint(clusters)
	case "labels":
		return c.label(e, clusters), nil
	case "health":
		return &scenario.Health{Clusters: clusters, Health: e.Health}, nil
	case "scale":
		return c.scale(e)
	case "createClusterTaintPolicy", "updateClusterTaintPolicy":
		return c.apply(e, e.ClusterTaintPolicy)
	case "deleteClusterTaintPolicy":
		return &scenario.Delete{Object: api.Key{APIVersion: api.PolicyGroupVersion, Kind: "ClusterTaintPolicy", Name: e.Name}}, nil
	case "createPropagationPolicy", "updatePropagationPolicy":
		return c.apply(e, e.PropagationPolicy)
	case "createDeployment":
		return c.apply(e, e.Deployment)
	default:
		return nil, fmt.Errorf("unknown action %q", e.Action)
	}
}

func (e *Event) taint(clusters []messages.ClusterName) (scenario.Action, error) {
	if e.Taint == nil {
		return nil, fmt.Errorf("%s: the taint is missing", e.Action)
	}
	changes := taint.Changes{Add: []corev1.Taint{*e.Taint}}
	if e.Action == "untaint" {
		changes = taint.Changes{Remove: changes.Add}
	}
	return &scenario.Taint{Target: scenario.Target{Clusters: clusters}, Changes: changes}, nil
}

// label removes the labels that the event does not name.
func (c *conversion) label(e *Event, clusters []messages.ClusterName) scenario.Action {
	edits := map[string]*string{}
	for key := range c.labels[e.Cluster] {
		edits[key] = nil
	}
	for key, value := range e.Labels {
		edits[key] = &value
	}
	c.labels[e.Cluster] = e.Labels
	return &scenario.Label{Target: scenario.Target{Clusters: clusters}, Labels: edits}
}

func (c *conversion) scale(e *Event) (scenario.Action, error) {
	i := slices.IndexFunc(c.workloads, func(k api.Key) bool { return k.Name == e.Workload })
	if i < 0 {
		return nil, fmt.Errorf("scale %s: there is no such workload", e.Workload)
	}
	return &scenario.Scale{Workload: c.workloads[i], Replicas: e.Replicas}, nil
}

// apply may fail: the refusal is part of what came of it.
func (c *conversion) apply(e *Event, raw json.RawMessage) (scenario.Action, error) {
	if raw == nil {
		return nil, fmt.Errorf("%s: the object is missing", e.Action)
	}
	docs, err := c.documents(raw)
	if err != nil {
		return nil, err
	}
	return &scenario.Apply{Documents: docs, MayFail: true}, nil
}
