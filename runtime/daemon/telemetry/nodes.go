package telemetry

import (
	"cmp"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"

	"leeward/actors/rules/nodelife"
	"leeward/messages"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
)

var (
	nodesReady   = define(gauge, "nodes", "Nodes by zone (region/zone) and the status of their condition Ready, with --nodes.", "zone", "ready")
	zoneState    = define(gauge, "zone_state", "1 for the present state of each zone that has nodes: Normal, PartialDisruption or FullDisruption.", "zone", "state")
	podsEvicted  = define(counter, "pod_evictions_total", "Pods that were evicted for a taint of their node, by its zone.", "zone")
	podsWaiting  = define(gauge, "pod_evictions_scheduled", "Pods that remain on a tainted node until a toleration ends, by its zone.", "zone")
	podsLateness = defineHistogram("pod_eviction_lateness_seconds", "Time from the deadline of the eviction of a pod to the eviction: the cost of limits, budgets and restarts.", latencies)
)

// mostZones is how many zones have metrics of their own: kubelets label their nodes as they like, and Prometheus keeps every value. The nodes and pods
// of all others are counted under otherZone.
const (
	mostZones = 1000
	otherZone = "other"
)

// nodeFacts are what the facts of nodes and pods tell.
type nodeFacts struct {
	evicted  *prometheus.CounterVec
	lateness prometheus.Observer

	mu sync.Mutex
	// zones are those that have metrics of their own, and states those that were last heard of.
	zones  map[string]bool
	states map[string]string
	// waiting is the zone of each pod whose eviction is scheduled.
	waiting map[messages.PodName]string
}

func newNodeFacts(r prometheus.Registerer) *nodeFacts {
	n := &nodeFacts{evicted: podsEvicted.counter(r), lateness: podsLateness.histogram(r).WithLabelValues()}
	n.forget()
	n.zones = map[string]bool{}
	return n
}

// forget forgets the present state: machines are made again, or another daemon leads.
func (n *nodeFacts) forget() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.states, n.waiting = map[string]string{}, map[messages.PodName]string{}
}

// zone is the label of a zone. Its caller holds mu.
func (n *nodeFacts) zone(name string) string {
	if !n.zones[name] {
		if len(n.zones) >= mostZones {
			return otherZone
		}
		n.zones[name] = true
	}
	return name
}

// ForgetNodes forgets what HearNodes was told of the present state: machines of nodes are made again, or another daemon's decide.
func (m *Metrics) ForgetNodes() { m.nodes.forget() }

// HearNodes counts a fact of nodes and pods. It belongs to the goroutine of their controller.
func (m *Metrics) HearNodes(at time.Time, f messages.Fact) {
	m.facts.total.WithLabelValues(f.Kind()).Inc()
	m.nodes.hear(at, f, m.zoneOf)
}

// zoneOf is the zone of a node as it is stored; empty where there is no such node.
func (m *Metrics) zoneOf(name messages.NodeName) string {
	if w := m.watched.Load(); w != nil {
		if o, _ := w.engine.Table(catalog.Nodes.Name()).Get(engine.Key(catalog.Nodes.Name(), "", string(name))); o != nil {
			return nodelife.ZoneOf(o.GetLabels()).String()
		}
	}
	return ""
}

func (n *nodeFacts) hear(at time.Time, f messages.Fact, zoneOf func(messages.NodeName) string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch f := f.(type) {
	case *messages.ZoneStateChanged:
		n.states[n.zone(string(f.Zone))] = f.State
	case *messages.PodEvictionScheduled:
		n.waiting[f.Pod] = n.zone(zoneOf(f.Node))
	case *messages.PodEvictionCancelled:
		delete(n.waiting, f.Pod)
	case *messages.PodDeleted:
		delete(n.waiting, f.Pod)
	case *messages.PodEvicted:
		delete(n.waiting, f.Pod)
		n.evicted.WithLabelValues(n.zone(zoneOf(f.Node))).Inc()
		n.lateness.Observe(max(0, at.Sub(f.Deadline)).Seconds())
	}
}

// nodes tells how many nodes are ready, and what is scheduled, by zone.
func (o output) nodes(e *engine.Engine, n *nodeFacts) {
	table := e.Table(catalog.Nodes.Name())
	if table == nil {
		return
	}
	type standing struct{ zone, ready string }
	count, present := map[standing]float64{}, map[string]bool{}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, object := range table.Snapshot().Under("", "") {
		node := object.(*corev1.Node)
		ready := cmp.Or(nodelife.Ready(node.Status.Conditions), corev1.ConditionUnknown)
		zone := n.zone(nodelife.ZoneOf(node.Labels).String())
		count[standing{zone, string(ready)}]++
		present[zone] = true
	}
	for s, number := range count { // order-free: a set
		o.put(nodesReady, number, s.zone, s.ready)
	}
	for zone, state := range n.states { // order-free: a set
		if !present[zone] {
			continue
		}
		for _, one := range []nodelife.State{nodelife.Normal, nodelife.PartialDisruption, nodelife.FullDisruption} {
			value := 0.0
			if one.String() == state {
				value = 1
			}
			o.put(zoneState, value, zone, one.String())
		}
	}
	waiting := map[string]float64{}
	for zone := range present { // order-free: a set
		waiting[zone] = 0
	}
	for _, zone := range n.waiting { // order-free: a count
		waiting[zone]++
	}
	o.putAll(podsWaiting, waiting)
}
