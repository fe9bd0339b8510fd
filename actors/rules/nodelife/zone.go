package nodelife

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Zone is a failure zone of one cluster. Nodes without either label are in the zone that has no name.
type Zone struct{ Region, Name string }

// String returns "region/zone", "zone" where there is no region, and "region/" where there is no zone, so that no two zones read the same.
func (z Zone) String() string {
	if z.Region == "" {
		return z.Name
	}
	return z.Region + "/" + z.Name
}

// Compare orders zones by region, then by name.
func (z Zone) Compare(other Zone) int {
	return cmp.Or(cmp.Compare(z.Region, other.Region), cmp.Compare(z.Name, other.Name))
}

// ZoneOf returns the zone of a node by its labels. A label of the old kind wins, even if it is empty.
func ZoneOf(labels map[string]string) Zone {
	return Zone{
		Region: label(labels, corev1.LabelFailureDomainBetaRegion, corev1.LabelTopologyRegion),
		Name:   label(labels, corev1.LabelFailureDomainBetaZone, corev1.LabelTopologyZone),
	}
}

func label(labels map[string]string, old, key string) string {
	if v, ok := labels[old]; ok {
		return v
	}
	return labels[key]
}

// LabelExcludeDisruption takes a node out of the counts of its zone, whatever its value.
const LabelExcludeDisruption = "node.kubernetes.io/exclude-disruption"

// Counted reports whether a node counts for the state of its zone.
func Counted(labels map[string]string) bool {
	_, excluded := labels[LabelExcludeDisruption]
	return !excluded
}

// State is how disrupted a zone is.
type State uint8

// The states of a zone; the zero value is that of a new one.
const (
	Initial State = iota
	Normal
	PartialDisruption
	FullDisruption
)

var states = [...]string{Initial: "Initial", Normal: "Normal", PartialDisruption: "PartialDisruption", FullDisruption: "FullDisruption"}

// String returns the state as Kubernetes writes it.
func (s State) String() string { return states[s] }

// Count is how many of a zone's nodes are Ready and how many are not; a node without a Ready condition is not.
type Count struct{ Ready, NotReady int }

// Size is how many nodes count.
func (c Count) Size() int { return c.Ready + c.NotReady }

// partialFrom is how many nodes must at least not be Ready for a zone to be partially disrupted.
const partialFrom = 3

// StateOf returns the state of a zone by its count: full if no node is Ready and some are not, partial if three or more are not and they are at
// least the threshold's share of all. The share is compared as Kubernetes does, in 32 bits.
func StateOf(c Count, threshold float32) State {
	switch {
	case c.Ready == 0 && c.NotReady > 0:
		return FullDisruption
	case c.NotReady >= partialFrom && float32(c.NotReady)/float32(c.Size()) >= threshold:
		return PartialDisruption
	}
	return Normal
}

// Limits are the flags that govern how fast the nodes of a zone are tainted.
type Limits struct {
	// Rate and SecondaryRate are nodes a second: --node-eviction-rate and --secondary-node-eviction-rate.
	Rate, SecondaryRate float64
	// LargeCluster is the size up to which a partially disrupted zone stops: --large-cluster-size-threshold.
	LargeCluster int
	// Threshold is the share of nodes not Ready from which a zone is partially disrupted: --unhealthy-zone-threshold.
	Threshold float32
}

// RateOf returns how many nodes a second of a zone get their NoExecute taint. A fully disrupted zone goes at the normal rate as long as another
// zone is not.
func (l Limits) RateOf(s State, size int) float64 {
	if s != PartialDisruption {
		return l.Rate
	}
	if size > l.LargeCluster {
		return l.SecondaryRate
	}
	return 0
}

// Seen is one zone at a pass: its state before and the count of its nodes now.
type Seen struct {
	Zone   Zone
	Before State
	Count  Count
}

// ZoneState is the new state of one zone.
type ZoneState struct {
	Zone  Zone
	State State
	// Changed is set where the state is another one, Limited where Rate is the new rate of the zone's limiter.
	Changed, Limited bool
	Rate             float64
}

// Disruption is what a pass over all zones decides.
type Disruption struct {
	// Entered: every zone is now fully disrupted ("master disruption"). All failure taints are removed from all nodes and every limiter stops.
	Entered bool
	// Left: every zone was fully disrupted and one no longer is. Each node's probe time becomes now: a fresh grace period for those not yet Unknown.
	Left bool
	// Zones are in the order of zones.
	Zones []ZoneState
}

// Assess returns what follows from the counts of all zones. Zones without nodes are not among them.
func Assess(zones []Seen, l Limits) Disruption {
	var d Disruption
	all, were := true, true
	for _, z := range zones {
		v := ZoneState{Zone: z.Zone, State: StateOf(z.Count, l.Threshold)}
		v.Changed = v.State != z.Before
		all = all && v.State == FullDisruption
		were = were && z.Before == FullDisruption
		v.Rate = l.RateOf(v.State, z.Count.Size())
		d.Zones = append(d.Zones, v)
	}
	d.Entered, d.Left = all && !were, were && !all
	for i := range d.Zones {
		v := &d.Zones[i]
		if d.Entered {
			v.Rate = 0
		}
		v.Limited = d.Entered || d.Left || v.Changed
		if !v.Limited {
			v.Rate = 0
		}
	}
	slices.SortFunc(d.Zones, func(a, b ZoneState) int { return a.Zone.Compare(b.Zone) })
	return d
}
