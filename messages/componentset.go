package messages

import "leeward/messages/api"

// ComponentSet is what a workload of several pod templates runs on every cluster that it goes to: all of its
// components or nothing. It is shared and must not change.
type ComponentSet struct {
	Components []api.Component
	// Targets are the components as a target cluster lists them.
	Targets *api.TargetComponents
}

// NewComponentSet returns the set of some components, nil for none.
func NewComponentSet(components []api.Component) *ComponentSet {
	if len(components) == 0 {
		return nil
	}
	targets := make(api.TargetComponents, len(components))
	for i := range components {
		targets[i] = api.TargetComponent{Name: components[i].Name, Replicas: components[i].Replicas}
	}
	return &ComponentSet{Components: components, Targets: &targets}
}
