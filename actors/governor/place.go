package governor

import (
	"leeward/actors/rules/storm"
	"leeward/messages"
)

// kind says of what kind a request is. Those of ResourceBindings and ClusterResourceBindings wait apart, each
// kind for workers of its own. Source: Karmada's queues binding-eviction and cluster-binding-eviction. Those
// that no limit is meant for wait where people hold them, and those that people released wait for nothing.
type kind uint8

const (
	namespaced kind = iota
	clusterScoped
	unlimited
	released
	kinds
)

func (g *Governor) kindOf(r *messages.RequestEviction) kind {
	switch {
	case g.releases[r.Binding] != "":
		return released
	case r.Unlimited:
		return unlimited
	case r.Binding.Namespace() == "":
		return clusterScoped
	default:
		return namespaced
	}
}

// place is a cluster, a region or the fleet: all that is left there, whatever its kind, shares its limits. A
// priority is one, too, as far as its breaker goes.
type place struct {
	tier   tier
	name   string
	within *place
	bucket storm.Bucket
	// breaker counts what goes, of so many copies, and says is why it is as it is. Clusters have none.
	breaker storm.Breaker
	copies  int
	says    string
	// booked is set while what is remembered of the place has yet to be recorded.
	booked bool
	// standing is that of a cluster; clusters and unhealthy count those of a wider place, which fares as the
	// verdict says.
	standing            standing
	clusters, unhealthy int
	verdict             storm.Verdict
	// nodes are the requests by kind, once there were any.
	nodes [kinds]*node
}

// tier is how wide a place is.
type tier uint8

const (
	tierFleet tier = iota
	tierRegion
	tierCluster
	tierPriority
)

// String names the place as people do.
func (p *place) String() string {
	switch p.tier {
	case tierRegion:
		return "region " + p.name
	case tierCluster:
		return "cluster " + p.name
	case tierPriority:
		return "priority " + p.name
	default:
		return "the fleet"
	}
}

// region returns a region; clusters without one are in one without a name.
func (g *Governor) region(name string) *place {
	p := g.regions[name]
	if p == nil {
		p = &place{tier: tierRegion, name: name, within: &g.fleet, verdict: storm.Verdict{State: storm.Normal}}
		g.regions[name] = p
	}
	return p
}

// cluster returns a cluster, which has no region until it says so.
func (g *Governor) cluster(name messages.ClusterName) *place {
	p := g.clusters[name]
	if p == nil {
		p = &place{tier: tierCluster, name: string(name), within: g.region("")}
		g.clusters[name] = p
	}
	return p
}

// node returns where the requests of a kind stand that are about a place. Those of the fleet are the desks.
func (p *place) node(k kind) *node {
	if p.nodes[k] == nil {
		p.nodes[k] = newNode(p.within.node(k), k, p)
	}
	return p.nodes[k]
}
