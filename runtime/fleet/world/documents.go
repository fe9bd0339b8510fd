package world

import (
	"cmp"
	"errors"
	"slices"

	"leeward/messages/api"
	"leeward/messages/manifest"
)

// ApplyAll applies manifests in an order in which each finds what it needs: clusters, policies,
// resources, bindings. The documents stay as they are. The error is an *Invalid that names every one that was refused.
func (w *World) ApplyAll(documents []manifest.Document) error {
	ordered := slices.Clone(documents)
	slices.SortStableFunc(ordered, func(a, b manifest.Document) int {
		return cmp.Compare(admissionRank(api.KeyOf(a.Object)), admissionRank(api.KeyOf(b.Object)))
	})
	var problems []error
	for _, d := range ordered {
		if err := w.applyDocument(d); err != nil {
			problems = append(problems, err)
		}
	}
	if len(problems) > 0 {
		return &Invalid{Problems: problems}
	}
	return nil
}

// applyDocument applies one manifest. A rejection names its file, line and field.
func (w *World) applyDocument(d manifest.Document) error {
	err := w.Apply(api.Copy(d.Object))
	if rejected, is := errors.AsType[*Rejected](err); is {
		return d.Invalid(rejected.Problems)
	}
	return err
}

func admissionRank(k api.Key) int {
	switch k.Kind {
	case "Cluster", "Node", "ResourceInterpreterCustomization":
		return 0
	case "ClusterTaintPolicy":
		return 1
	case "PropagationPolicy", "ClusterPropagationPolicy", "FederatedResourceQuota", "EvictionBudget", "ClusterEvictionBudget":
		return 2
	case "ResourceBinding", "ClusterResourceBinding":
		return 4
	case "WorkloadRebalancer":
		return 5
	default:
		return 3
	}
}

// Invalid says what is wrong with manifests or a scenario that could not be taken as written.
type Invalid struct{ Problems []error }

// Error lists all problems, one a line.
func (e *Invalid) Error() string { return errors.Join(e.Problems...).Error() }

// Unwrap returns the problems.
func (e *Invalid) Unwrap() []error { return e.Problems }
