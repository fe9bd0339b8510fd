package storm

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/world"
)

// OfNodes is a storm that breaks upon the nodes of one Kubernetes cluster: their kubelets stop. It runs once, on a virtual clock.
type OfNodes struct {
	config   Config
	settings messages.Settings
	report   *Report
	pods     podRecorder
	clocks
	virtual
	struck atomic.Bool
}

// brakesOfNodes are the settings that limit evictions of pods, with the values that do not.
var brakesOfNodes = []config.Override{
	{Field: "nodeEvictionRate", Value: 1e6}, {Field: "secondaryNodeEvictionRate", Value: 1e6}, {Field: "kubeAPIQPS", Value: 0}, {Field: "kubeAPIBurst", Value: 0},
}

// settled is how long a cluster has to become as it was meant before the storm.
const settled = 10 * time.Minute

// NewOfNodes prepares a storm of nodes. The caller must Close it. The error is an *Invalid.
func NewOfNodes(c Config) (*OfNodes, error) {
	var own []config.Override
	if !c.Paced {
		for _, o := range brakesOfNodes {
			o.Source = "storm"
			own = append(own, o)
		}
	}
	settings, problems := config.Resolve(c.profile(), append(own, c.Set...))
	err := errors.Join(errors.Join(problems...), c.Nodes.Validate())
	if need := c.Nodes.need(); err == nil && c.Memory.Bytes > 0 && need > c.Memory.Bytes {
		err = &TooLarge{Need: need, There: c.Memory}
	}
	if err != nil {
		return nil, &Invalid{err}
	}
	s := &OfNodes{config: c, settings: settings, report: &Report{Profile: c.profile(), Seed: c.Seed, Lanes: 1}, clocks: clocks{wall: c.Clock}}
	s.pods = newPodRecorder(&s.clocks)
	s.virtual = virtual{&s.clocks, world.New(world.Config{
		Settings: settings, Seed: c.Seed, Nodes: true, Kubelets: c.Nodes.kubelets(), Clock: c.Clock,
		Hear: func(at time.Time, f messages.Fact) { s.pods.hear(at, f) },
	})}
	return s, nil
}

// Close ends the storm's actors.
func (s *OfNodes) Close() { s.world.Close() }

// Run builds the cluster, fails what is to fail, and reports. Where the context ends, the report is of what was done until then.
// The error is an *Invalid where the outage is at fault.
func (s *OfNodes) Run(ctx context.Context) (*Report, error) {
	defer context.AfterFunc(ctx, s.world.Interrupt)()
	defer CollectRarely(s.config.Memory)()
	victims, err := s.build(ctx)
	if err == nil {
		err = s.strike(ctx, victims)
	}
	return s.report.ended(err, func() { s.conclude(victims) })
}

// build makes the cluster, lets it settle and says who fails.
func (s *OfNodes) build(ctx context.Context) ([]string, error) {
	began, before := s.wall(), liveBytes()
	places := s.config.Nodes.places()
	victims, err := s.config.Kill.victims(places, "node", s.config.Seed)
	if err != nil {
		return nil, &Invalid{err}
	}
	n := &s.config.Nodes
	s.report.Fleet = Shape{Nodes: n.Nodes, Zones: n.Zones, Pods: n.Pods, Deployments: n.deployments()}
	s.report.Outage = Outage{Pattern: s.config.Pattern, Kill: s.config.Kill.String(), Failed: len(victims)}
	s.start = world.Start.Add(settled)
	if err := n.build(s.world); err != nil {
		return nil, err
	}
	if err := s.settle(world.Start); err != nil {
		return nil, err
	}
	if err := s.world.EachDue(ctx, s.start.Add(-1), s.settle); err != nil {
		return nil, err
	}
	s.report.Setup = Seconds(s.wall() - began)
	if after := liveBytes(); after > before {
		s.report.Costs.BytesPerBinding = float64(after-before) / float64(n.Pods)
	}
	for zone, pods := range s.podsByZone() { // order-free: sorted
		s.report.Load = append(s.report.Load, ClusterLoad{Cluster: zone, Before: pods})
	}
	slices.SortFunc(s.report.Load, func(a, b ClusterLoad) int { return cmp.Compare(a.Cluster, b.Cluster) })
	return victims, nil
}

// strike stops kubelets, and lets all come to its end that follows from that.
func (s *OfNodes) strike(ctx context.Context, victims []string) error {
	s.pods.reset()
	before := measure(s.world.Counters(), s.world.Spent())
	s.struck.Store(true)
	s.begin()
	err := s.play(ctx, script(s.config.Pattern, victims), func(name string, ready bool) error {
		turn := s.world.Nodes().Stop
		if ready {
			turn = s.world.Nodes().Start
		}
		return turn(messages.NodeName(name))
	})
	s.report.Elapsed = Seconds(s.wall() - s.origin.wall)
	s.report.charge(before, measure(s.world.Counters(), s.world.Spent()), float64(s.pods.counters[healthy].Load()))
	return err
}

// conclude completes the report.
func (s *OfNodes) conclude(victims []string) {
	r, t := s.report, &s.pods.timing
	r.FleetTime = Seconds(s.pods.last)
	r.Rates.Withdrawn, r.Rates.Held = s.pods.withdrawn, s.pods.refused
	r.timed(t, healthy)
	pods := s.podsByZone()
	failed := map[string]int{}
	for _, name := range victims {
		failed[s.zoneOf(messages.NodeName(name))]++
	}
	sizes := map[string]int{}
	for _, p := range s.config.Nodes.places() {
		sizes[p.zone]++
	}
	for i := range r.Load {
		l := &r.Load[i]
		l.After, l.Failed = pods[l.Cluster], failed[l.Cluster] == sizes[l.Cluster]
	}
	r.Measured = &measuredOfNodes
	if !r.Interrupted {
		r.Checks = s.checks(victims)
	}
}

// measuredOfNodes is what the controller of Kubernetes did. Source: 1,000 pods of one node that do not tolerate its taint, with the default
// limits of its client, on a machine of two cores; docs/nodes.md.
var measuredOfNodes = Measured{System: "kube-controller-manager 1.37.1, 1,000 pods of one node", First: Seconds(98700 * time.Millisecond), Last: Seconds(148700 * time.Millisecond), PerSecond: 6.7}

func (s *OfNodes) zoneOf(node messages.NodeName) string {
	return s.world.Nodes().Node(node).Labels[corev1.LabelTopologyZone]
}

// podsByZone counts the pods that are to run, by the zone of their nodes; those without a node are at the empty one.
func (s *OfNodes) podsByZone() map[string]int {
	counts := map[string]int{}
	for p := range s.world.Nodes().EachPod {
		switch {
		case p.DeletionTimestamp != nil:
		case p.Spec.NodeName == "":
			counts[""]++
		default:
			counts[s.zoneOf(messages.NodeName(p.Spec.NodeName))]++
		}
	}
	return counts
}

// checks ask what may have been lost, of the objects alone: that no machine takes part makes them worth asking.
func (s *OfNodes) checks(victims []string) []Check {
	down := map[string]bool{}
	if s.config.Pattern != Flapping { // whose last word is that all are back
		for _, name := range victims {
			down[name] = true
		}
	}
	running := map[messages.OwnerName]int{}
	var pending, overdue []string
	for p, owner := range s.world.Nodes().EachPod {
		name := p.Namespace + "/" + p.Name
		switch {
		case p.DeletionTimestamp != nil:
			continue
		case p.Spec.NodeName == "":
			pending = append(pending, name)
			continue
		case down[p.Spec.NodeName] && !s.remains(p):
			overdue = append(overdue, name)
		}
		running[owner]++
	}
	var short []string
	for owner, n := range running { // order-free: none sorts them
		if want, known := s.world.Nodes().Replicas(owner); known && n < want {
			short = append(short, string(owner))
		}
	}
	return []Check{
		none("every pod has a node", pending),
		none("every Deployment has all its pods", short),
		none("no pod is where its tolerations do not let it be", overdue),
		accounted(s.world.Counters()),
	}
}

// remains reports whether a pod tolerates for ever that its node is unreachable.
func (s *OfNodes) remains(p *corev1.Pod) bool {
	gone := []corev1.Taint{{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoExecute}}
	return taint.Deadline(gone, p.Spec.Tolerations, taint.Rule{Match: s.settings.PodTolerationMatch}).Outcome == taint.Forever
}

// Progress may be asked from any goroutine.
func (s *OfNodes) Progress() Progress {
	c := &s.pods.counters
	return Progress{
		Struck: s.struck.Load(), Evicted: c[evicted].Load(), Placed: c[placed].Load(), Healthy: c[healthy].Load(), Released: c[healthy].Load(),
		Workloads: int64(s.config.Nodes.Pods), Backlog: s.world.Backlog(),
	}
}
