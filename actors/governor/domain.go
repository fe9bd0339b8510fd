package governor

import (
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/storm"
	"leeward/messages"
	"leeward/messages/api"
)

// domain is the fleet, a region, a cluster, or the workloads of one priority: evictions in it share its limits, whatever
// their kind. Each part keeps its state of a domain in the field that is named after it, and writes no other.
type domain struct {
	tier tier
	name string
	// priority is that of a priority.
	priority int32
	// within is the region of a cluster, and the fleet of a region.
	within *domain
	// queue are the requests in the domain by kind, once there were any.
	queue [kinds]*node
	state state
	// bucket is the limiter's token bucket.
	bucket  storm.Bucket
	breaker breaker
	// noted is set while the permits have yet to record what a restart must know of the domain.
	noted bool
}

// tier is how wide a domain is.
type tier uint8

const (
	tierFleet tier = iota
	tierRegion
	tierCluster
	tierPriority
)

// String names the domain as users know it.
func (d *domain) String() string {
	switch d.tier {
	case tierRegion:
		return "region " + d.name
	case tierCluster:
		return "cluster " + d.name
	case tierPriority:
		return "priority " + d.name
	default:
		return "the fleet"
	}
}

// domains are all domains, each made when it is first asked for.
type domains struct {
	fleet      domain
	regions    map[string]*domain
	clusters   map[messages.ClusterName]*domain
	priorities map[int32]*domain
}

func newDomains() domains {
	return domains{
		fleet:    domain{state: newState()},
		regions:  map[string]*domain{},
		clusters: map[messages.ClusterName]*domain{}, priorities: map[int32]*domain{},
	}
}

// region returns a region; clusters without one are in the region without a name.
func (ds *domains) region(name string) *domain {
	d := ds.regions[name]
	if d == nil {
		d = &domain{tier: tierRegion, name: name, within: &ds.fleet, state: newState()}
		ds.regions[name] = d
	}
	return d
}

// cluster returns a cluster, which is in the region without a name until it is observed.
func (ds *domains) cluster(name messages.ClusterName) *domain {
	d := ds.clusters[name]
	if d == nil {
		d = &domain{tier: tierCluster, name: string(name), within: ds.region("")}
		ds.clusters[name] = d
	}
	return d
}

// priority returns the domain of the workloads of one priority.
func (ds *domains) priority(of int32) *domain {
	d := ds.priorities[of]
	if d == nil {
		d = &domain{tier: tierPriority, name: strconv.Itoa(int(of)), priority: of}
		ds.priorities[of] = d
	}
	return d
}

// of returns what a stored count is about.
func (ds *domains) of(c *api.PermitCount) *domain {
	switch {
	case c.Region != "":
		return ds.region(c.Region)
	case c.Cluster != "":
		return ds.cluster(messages.ClusterName(c.Cluster))
	case c.Priority != nil:
		return ds.priority(*c.Priority)
	default:
		return &ds.fleet
	}
}

// count is what a restart must know of a domain; restore takes it back.
func (d *domain) count(now time.Time) api.PermitCount {
	c := api.PermitCount{}
	switch d.tier {
	case tierRegion:
		c.Region = d.name
	case tierCluster:
		c.Cluster = d.name
	case tierPriority:
		c.Priority = &d.priority
	}
	if paid := d.bucket.Paid(); paid.After(now) {
		c.PaidUntil = &metav1.MicroTime{Time: paid}
	}
	for _, m := range d.breaker.Moved {
		c.Moved = append(c.Moved, api.MovedCount{From: metav1.MicroTime{Time: m.At}, Count: m.Count, Copies: m.Copies})
	}
	for _, e := range d.breaker.Trials {
		c.Trials = append(c.Trials, api.Trial{Binding: string(e.Binding), Cluster: string(e.Cluster), At: metav1.MicroTime{Time: e.At}})
	}
	return c
}

// restore takes over the count that was stored before a restart.
func (d *domain) restore(c *api.PermitCount) {
	if c.PaidUntil != nil {
		d.bucket = storm.PaidUntil(c.PaidUntil.Time)
	}
	d.breaker.Moved, d.breaker.Trials = nil, nil
	for _, m := range c.Moved {
		d.breaker.Moved = append(d.breaker.Moved, storm.Moves{At: m.From.Time, Count: m.Count, Copies: m.Copies})
	}
	for _, e := range c.Trials {
		d.breaker.Trials = append(d.breaker.Trials, storm.Trial{
			Binding: messages.BindingName(e.Binding), Cluster: messages.ClusterName(e.Cluster), At: e.At.Time,
		})
	}
}
