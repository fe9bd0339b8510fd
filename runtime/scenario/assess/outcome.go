package assess

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/span"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/forecast"
)

// Assessment is what the loss of each part of a fleet would do, the worst first.
type Assessment struct {
	// Prediction is true: nothing of this has happened.
	Prediction bool                `json:"prediction"`
	Profile    string              `json:"profile"`
	Seed       uint64              `json:"seed"`
	Outage     messages.OutageKind `json:"outage"`
	// Startup is how long a copy is taken to need on clusters of which the fleet does not say it.
	Startup span.Seconds `json:"startupSeconds"`
	// By is what groups the workloads: namespace, or the key of a label.
	By            string     `json:"by"`
	Fleet         Shape      `json:"fleet"`
	Contingencies []*Outcome `json:"contingencies"`
	// Advice is what to change, the most affected workloads first.
	Advice []Advice `json:"advice"`
}

// Shape is how large a fleet is.
type Shape struct {
	Clusters  int `json:"clusters"`
	Regions   int `json:"regions"`
	Workloads int `json:"workloads"`
	Replicas  int `json:"replicas"`
	Groups    int `json:"groups"`
	// Unschedulable counts the workloads that have too few replicas even before anything fails.
	Unschedulable int `json:"unschedulable"`
	// Moving counts those that are evicted even before anything fails: what is predicted of them depends on the moment.
	Moving int `json:"moving"`
}

// Count is how many workloads something happens to, and to how many of their replicas.
type Count struct {
	Workloads int `json:"workloads"`
	Replicas  int `json:"replicas"`
}

func (c *Count) add(replicas int32) {
	c.Workloads++
	c.Replicas += int(replicas)
}

// Outcome is what the loss of some clusters would do.
type Outcome struct {
	Contingency
	// SameAs is another contingency that fails the same clusters; empty: there is none before it.
	SameAs string `json:"sameAs,omitempty"`
	// Lost are the workloads that had copies on the clusters.
	Lost Count `json:"lost"`
	// Evicted counts replicas as often as they are evicted.
	Evicted     Count `json:"evicted"`
	Rescheduled Count `json:"rescheduled"`
	// Unschedulable are those that no cluster can take; Unavailable those that do not have all their replicas available at the end.
	Unschedulable Count `json:"unschedulable"`
	Unavailable   Count `json:"unavailable"`
	// Down are the workloads that at some time had no available replica at all.
	Down int `json:"down"`
	// Lowest is the smallest share of all replicas of the fleet that is available on the way; LowestWorkloads that of the workloads
	// that had copies on the clusters.
	Lowest          float64 `json:"lowestAvailability"`
	LowestWorkloads float64 `json:"lowestAvailabilityOfLost"`
	// Unavailability is how many replicas of those that were available before are not, times the seconds for which, within Horizon.
	Unavailability float64 `json:"unavailableReplicaSeconds"`
	// AvailableAfter is how long after the loss all are available again; nil: not within Horizon.
	AvailableAfter *span.Seconds `json:"availableAfterSeconds"`
	// Troubles name the workloads that are unavailable or unschedulable at the end, with the reason.
	Troubles []Trouble `json:"troubles,omitempty"`
	// Unnamed is how many more there are than Troubles names.
	Unnamed int `json:"unnamed,omitempty"`
	// Overflows are the surviving clusters of which more is requested than they have, and was not before.
	Overflows []Overflow `json:"overflows,omitempty"`
	// Breakers say which breakers or other states of the governor slow evictions down or stop them.
	Breakers []string `json:"breakers,omitempty"`
	// Groups are those of which a workload had copies on the clusters, in order.
	Groups []Share `json:"groups,omitempty"`
	// Lacking counts the replicas that are unavailable or unschedulable at the end, each once.
	Lacking int `json:"-"`
	// downOf are the workloads that Down counts.
	downOf []down
	// lacking is how much more the surviving clusters would need, per resource; fullest are those that are full, of the
	// resources that are tight.
	lacking forecast.UsageOf
	fullest []string
	tight   []corev1.ResourceName
}

// Trouble is a workload that is not whole again.
type Trouble struct {
	Workload messages.BindingName `json:"workload"`
	// Missing replicas are not available at the end.
	Missing int32 `json:"missing"`
	// Kind is unschedulable, blocked, stays or tolerates.
	Kind   string `json:"kind"`
	Reason string `json:"reason"`
}

// The kinds of troubles.
const (
	// Unschedulable: no cluster can take replicas.
	Unschedulable = "unschedulable"
	// Blocked: the eviction waits.
	Blocked = "blocked"
	// Stays: nothing evicts from the cluster.
	Stays = "stays"
	// Tolerates: the workload tolerates the taints of the cluster.
	Tolerates = "tolerates"
	// Starting: the copies that take over are not available.
	Starting = "starting"
)

// Overflow is a cluster of which more is requested than it has.
type Overflow struct {
	Cluster   string `json:"cluster"`
	Resource  string `json:"resource"`
	Requested string `json:"requested"`
	Has       string `json:"allocatable"`
}

// Share is what a contingency does to one group of workloads.
type Share struct {
	Group string `json:"group"`
	// Workloads had copies on the clusters that fail, of which so many are not whole at the end.
	Workloads   int `json:"workloads"`
	Unavailable int `json:"unavailable"`
	// Lowest is the smallest share of its replicas that is available on the way.
	Lowest float64 `json:"lowestAvailability"`
}

// down is a workload, by its index, that has nothing available for a while.
type down struct {
	workload int
	downtime
}

// Why is the kind and the reason, which may say the kind itself.
func (t *Trouble) Why() string {
	if strings.HasPrefix(t.Reason, t.Kind) {
		return t.Reason
	}
	return t.Kind + ": " + t.Reason
}

// Hurts reports whether workloads are not whole again at the end.
func (o *Outcome) Hurts() bool { return o.Unavailable.Workloads+o.Unschedulable.Workloads > 0 }

// Changes reports whether anything happens to workloads.
func (o *Outcome) Changes() bool { return o.Lost.Workloads+o.Evicted.Workloads > 0 }

// mostTroubles and mostPairTroubles bound how many workloads an outcome names, the most affected first.
const (
	mostTroubles     = 1000
	mostPairTroubles = 20
)

// cut drops the names beyond the bound.
func (o *Outcome) cut() {
	most := mostTroubles
	if o.Pair() {
		most = mostPairTroubles
	}
	if more := len(o.Troubles) - most; more > 0 {
		o.Troubles, o.Unnamed = slices.Clip(o.Troubles[:most]), more
	}
}

// rank puts the worst first: by what is unschedulable or unavailable at the end, then by what is down on the way, by how little is
// available and for how long.
func (a *Assessment) rank() {
	after := func(o *Outcome) time.Duration {
		if o.AvailableAfter == nil {
			return Horizon
		}
		return time.Duration(*o.AvailableAfter)
	}
	slices.SortStableFunc(a.Contingencies, func(x, y *Outcome) int {
		return cmp.Or(
			cmp.Compare(len(x.Of), len(y.Of)),
			cmp.Compare(y.Unavailable.Replicas+y.Unschedulable.Replicas, x.Unavailable.Replicas+x.Unschedulable.Replicas),
			cmp.Compare(len(y.Overflows), len(x.Overflows)),
			cmp.Compare(y.Down, x.Down),
			cmp.Compare(x.Lowest, y.Lowest),
			cmp.Compare(after(y), after(x)),
			cmp.Compare(y.Evicted.Replicas, x.Evicted.Replicas),
		)
	})
}

// Contingency is clusters that fail together.
type Contingency struct {
	// Name says what fails: "cluster eu-1", "region eu", "clusters eu-1 and us-1".
	Name string `json:"name"`
	// Kind is cluster, region, zone or provider.
	Kind string `json:"kind"`
	// Of are the names of what fails: one, or two of a pair.
	Of []string `json:"of"`
	// Clusters are those that fail, in order.
	Clusters []string `json:"clusters"`
}

// Pair reports whether two fail together.
func (c *Contingency) Pair() bool { return len(c.Of) > 1 }

// key is the same for contingencies that fail the same clusters.
func (c *Contingency) key() string { return strings.Join(c.Clusters, "\n") }

// contingencies are all that a fleet is assessed for: each cluster, then each region, zone and provider, then each two of a kind.
// What every cluster has is none: nothing would remain to fail over to.
func contingencies(clusters []*api.Cluster, pairs bool) (all []Contingency) {
	for _, kind := range []string{forecast.KindCluster, forecast.KindRegion, forecast.KindZone, forecast.KindProvider} {
		of := map[string][]string{}
		for _, c := range clusters {
			for _, name := range forecast.PartsOf(c, kind) {
				of[name] = append(of[name], c.Name)
			}
		}
		var single []Contingency
		for name, members := range of { // sorted below
			if len(members) < len(clusters) || len(clusters) == 1 && kind == forecast.KindCluster {
				single = append(single, Contingency{kind + " " + name, kind, []string{name}, members})
			}
		}
		slices.SortFunc(single, func(a, b Contingency) int { return cmp.Compare(a.Of[0], b.Of[0]) })
		all = append(all, single...)
		if pairs {
			all = append(all, paired(single, kind, len(clusters))...)
		}
	}
	slices.SortStableFunc(all, func(a, b Contingency) int { return cmp.Compare(len(a.Of), len(b.Of)) })
	return all
}

// paired are every two of a kind that leave a cluster.
func paired(single []Contingency, kind string, clusters int) (all []Contingency) {
	for i := range single {
		for j := i + 1; j < len(single); j++ {
			a, b := &single[i], &single[j]
			both := slices.Concat(a.Clusters, b.Clusters)
			slices.Sort(both)
			if both = slices.Compact(both); len(both) == clusters {
				continue
			}
			names := []string{a.Of[0], b.Of[0]}
			all = append(all, Contingency{kind + "s " + strings.Join(names, " and "), kind, names, both})
		}
	}
	return all
}

// Losing is the fleet as a scenario in which clusters fail together, with what an assessment takes for granted: a whole replay of it
// ends as the contingency does. Zero as lasts: the outage has no end.
func (c *Config) Losing(failed []messages.ClusterName, lasts time.Duration) (*scenario.Scenario, error) {
	ready, err := forecast.Prepare(c.Fleet, c.Profile, c.Set, c.Startup)
	if err != nil {
		return nil, err
	}
	s := *c.Fleet
	s.Profile, s.Config, s.Objects, s.Members = ready.Profile, ready.Config, ready.Objects, ready.Members
	s.Expect, s.Duration = nil, forecast.Lead+Horizon
	of := scenario.Outage{Target: scenario.Target{Clusters: failed}, Kind: c.Outage, For: lasts}
	s.Timeline = []scenario.Step{{At: forecast.Lead, Action: &of}}
	if lasts > 0 {
		s.Timeline = append(s.Timeline, scenario.Step{At: forecast.Lead + lasts, Action: &scenario.Outage{Target: of.Target, Kind: of.Kind, Over: true}})
	}
	return &s, nil
}
