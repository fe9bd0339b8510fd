package placement

import (
	"leeward/actors/rules/division"
	"leeward/actors/rules/karmada"
	"leeward/messages"
	"leeward/messages/api"
)

// Planner decides on requests over one fleet. It keeps placements ready for use, and its scratch
// space; a decision holds on to neither. It is for one goroutine, as the fleet is.
type Planner struct {
	fleet   *Fleet
	ways    karmada.Placing
	divider division.Divider

	rules    rules
	services services

	// For the request at hand:
	cast

	slots      []int32 // those that fit
	misfits    []misfit
	blames     []int32 // by misfit: the place of its cause in a list
	needs      []need
	setNeeds   []need // of the whole set
	slot       [1]int32
	holds      []int64
	avoidable  bool // some of them should be avoided
	keys       []key
	rest       []key
	candidates []division.Candidate
	regions    []region
	places     []int32 // by region: its place in a list of regions
	search     search
	whole      []key // all that fit, where keys are those chosen
	spreader   spreader
}

// NewPlanner returns a planner over a fleet, which may change between decisions. Of the settings it
// takes the division method, how tolerations match, and how placement is stricter or more obliging than in
// Karmada. The seed decides ties where Karmada's outcome is random.
func NewPlanner(f *Fleet, s *messages.Settings, seed uint64) *Planner {
	return &Planner{
		fleet:    f,
		ways:     karmada.Of(s).Placing(),
		divider:  division.Divider{Method: s.DivisionMethod, Seed: seed},
		rules:    rules{fleet: f, exact: s.ExactSpread, ready: make(map[*api.Placement]*rule), limit: minReady},
		services: services{fleet: f, served: make(map[kind]*service)},
	}
}
