package viewer

import (
	"cmp"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/failover"
	"leeward/runtime/report/timeline"
	"leeward/runtime/scenario/replay"
)

// location is where a cluster is, and what it can run.
type location struct {
	region, provider string
	zones            []string
	summary          *api.ResourceSummary
}

// located returns where clusters are: as they are in the end, or as a fact last told.
func located(r *replay.Run) map[messages.ClusterName]location {
	all := map[messages.ClusterName]location{}
	for i := range r.Events {
		if f, is := r.Events[i].Fact.(*messages.ClusterSpecChanged); is {
			all[f.Cluster] = location{region: f.Region, provider: f.Provider, zones: f.Zones}
		}
	}
	for _, o := range r.Objects {
		if c, is := o.(*api.Cluster); is {
			all[messages.ClusterName(c.Name)] = location{c.Spec.Region, c.Spec.Provider, c.Spec.Zones, c.Status.ResourceSummary}
		}
	}
	return all
}

// amount is CPU in thousandths and memory in bytes.
type amount struct{ cpu, memory int64 }

func amountOf(lists ...corev1.ResourceList) (a amount) {
	for _, l := range lists {
		a.cpu += api.Units(corev1.ResourceCPU, l[corev1.ResourceCPU])
		a.memory += api.Units(corev1.ResourceMemory, l[corev1.ResourceMemory])
	}
	return a
}

// copies is what a workload has: target clusters and handovers by failovers, and figures by cluster.
type copies struct {
	failovers           failover.Binding
	available, evicting map[string]int
	missing             int
	request             amount
}

// member is a cluster as it is at the moment.
type member struct {
	region   *area
	ready    bool
	placed   int
	used     amount
	capacity amount
	base     amount
}

// area is a region.
type area struct {
	name     string
	members  []*member
	rows     rows
	touched  bool
	clusters int
}

// rows are figures at the end of instants, each row an instant and its figures.
type rows [][]int

// following follows the replicas of a run.
type following struct {
	start     time.Time
	workloads map[messages.BindingName]*copies
	members   map[string]*member
	areas     map[string]*area
	// sum is placed, available, evicting, unschedulable.
	sum   [4]int
	total rows
}

// follow follows all facts of a run.
func follow(r *replay.Run, clusters map[string]int) *following {
	f := &following{start: r.Start, workloads: map[messages.BindingName]*copies{}, members: map[string]*member{}, areas: map[string]*area{}}
	where := located(r)
	for _, name := range slices.Sorted(maps.Keys(clusters)) {
		f.join(name, where[messages.ClusterName(name)])
	}
	for i := range r.Events {
		f.take(r.Events[i].At, r.Events[i].Fact)
		if i == len(r.Events)-1 || r.Events[i+1].At.After(r.Events[i].At) {
			f.instant(int(r.Events[i].At.Sub(r.Start).Milliseconds()))
		}
	}
	return f
}

// join adds a cluster to its region.
func (f *following) join(name string, at location) {
	a := f.areas[at.region]
	if a == nil {
		a = &area{name: at.region, touched: true}
		f.areas[at.region] = a
	}
	m := &member{region: a, ready: true}
	m.has(at.summary)
	a.members, a.clusters = append(a.members, m), a.clusters+1
	f.members[name] = m
}

func (m *member) has(s *api.ResourceSummary) {
	m.capacity, m.base = amount{}, amount{}
	if s != nil {
		m.capacity, m.base = amountOf(s.Allocatable), amountOf(s.Allocated)
	}
	m.region.touched = true
}

// take takes in a fact.
func (f *following) take(at time.Time, fact messages.Fact) {
	switch fact := fact.(type) {
	case *messages.ConditionChanged:
		if m := f.members[string(fact.Cluster)]; m != nil && fact.Type == api.ConditionReady {
			m.ready, m.region.touched = fact.Status == metav1.ConditionTrue, true
		}
	case *messages.CapacityChanged:
		if m := f.members[string(fact.Cluster)]; m != nil {
			m.has(fact.Summary)
		}
	case messages.AboutBinding:
		f.binding(at, fact.AboutBinding(), fact.(messages.Fact))
	}
}

// binding takes in a fact about a binding: its figures before are taken off the sums, and those after are added.
func (f *following) binding(at time.Time, name messages.BindingName, fact messages.Fact) {
	c := f.workloads[name]
	if c == nil {
		c = &copies{available: map[string]int{}, evicting: map[string]int{}}
		f.workloads[name] = c
	}
	f.count(c, -1)
	c.take(at, fact)
	f.count(c, +1)
}

func (c *copies) take(at time.Time, fact messages.Fact) {
	before := slices.Clone(c.failovers.Clusters)
	switch fact := fact.(type) {
	case *messages.BindingCreated:
		c.asks(fact.Spec)
	case *messages.BindingUpdated:
		c.asks(fact.Spec)
	case *messages.AvailabilityChanged:
		c.available[string(fact.Cluster)] = int(fact.Available)
	case *messages.ScheduleFailed:
		c.missing = int(fact.Missing)
	case *messages.Scheduled:
		c.missing = 0
	case *messages.BindingDeleted:
		*c = copies{available: map[string]int{}, evicting: map[string]int{}}
		return
	}
	c.failovers.Take(at, fact, func(_ time.Time, s failover.Step, o *failover.Failover) {
		switch s {
		case failover.Evicted:
			c.evicting[string(o.Cluster)] = evicted(before, o)
		case failover.Released, failover.Cancelled:
			delete(c.evicting, string(o.Cluster))
		}
	})
}

// evicted is how many replicas a cluster had that is evicted from.
func evicted(before []api.TargetCluster, o *failover.Failover) int {
	if i := api.FindTarget(before, string(o.Cluster)); i >= 0 {
		return int(before[i].Pods())
	}
	if n := o.Eviction.Task.Replicas; n != nil {
		return int(*n)
	}
	return 0
}

func (c *copies) asks(s *api.BindingSpec) {
	if s == nil || s.ReplicaRequirements == nil {
		return
	}
	c.request = amountOf(s.ReplicaRequirements.ResourceRequest)
}

// count adds a workload's figures to the sums, or takes them off.
func (f *following) count(c *copies, sign int) {
	for _, t := range c.failovers.Clusters {
		n := sign * int(t.Pods())
		f.sum[0] += n
		if m := f.members[t.Name]; m != nil && n != 0 {
			m.placed += n
			m.used.cpu += int64(n) * c.request.cpu
			m.used.memory += int64(n) * c.request.memory
			m.region.touched = true
		}
	}
	for _, n := range c.available { // order-free: a sum
		f.sum[1] += sign * n
	}
	for _, n := range c.evicting { // order-free: a sum
		f.sum[2] += sign * n
	}
	f.sum[3] += sign * c.missing
}

// instant ends an instant.
func (f *following) instant(at int) {
	f.total.add(at, f.sum[:])
	for _, a := range f.areas { // order-free: each has its own rows
		if a.touched {
			a.rows.add(at, a.figures())
			a.touched = false
		}
	}
}

// add adds figures that differ from those before.
func (r *rows) add(at int, figures []int) {
	if n := len(*r); n > 0 && slices.Equal((*r)[n-1][1:], figures) {
		return
	}
	*r = append(*r, append([]int{at}, figures...))
}

const mebibyte = 1 << 20

// figures are a region's: clusters that are Ready, placed replicas, CPU and its capacity, memory and its capacity.
func (a *area) figures() []int {
	var ready, placed int
	var used, capacity amount
	for _, m := range a.members {
		placed += m.placed
		used.cpu += m.used.cpu + m.base.cpu
		used.memory += m.used.memory + m.base.memory
		if m.ready {
			ready++
			capacity.cpu += m.capacity.cpu
			capacity.memory += m.capacity.memory
		}
	}
	return []int{ready, placed, int(used.cpu), int(capacity.cpu), int(used.memory / mebibyte), int(capacity.memory / mebibyte)}
}

// within returns at most so many rows: where there are more, the worst of each of many intervals of the same number of rows, which is
// the least of some columns and the most of the others.
func (r rows) within(limit int, least ...int) rows {
	if len(r) <= limit {
		return r
	}
	size := (len(r) + limit - 1) / limit
	var few rows
	for chunk := range slices.Chunk(r, size) {
		worst := slices.Clone(chunk[0])
		for _, row := range chunk[1:] {
			for i := 1; i < len(row); i++ {
				if slices.Contains(least, i) {
					worst[i] = min(worst[i], row[i])
				} else {
					worst[i] = max(worst[i], row[i])
				}
			}
		}
		few = append(few, worst)
	}
	return few
}

// column is one figure of all rows; of no rows it is empty, and not null in JSON.
func (r rows) column(i int) []int {
	column := make([]int, len(r))
	for j, row := range r {
		column[j] = row[i]
	}
	return column
}

func (f *following) replicas(limit int) Replicas {
	r := f.total.within(limit, 1, 2)
	return Replicas{At: r.column(0), Placed: r.column(1), Available: r.column(2), Evicting: r.column(3), Unschedulable: r.column(4)}
}

// regions are in the order of their names.
func (f *following) regions(limit int) []Region {
	list := []Region{}
	for _, a := range slices.SortedFunc(maps.Values(f.areas), func(a, b *area) int { return cmp.Compare(a.name, b.name) }) {
		r := a.rows.within(limit, 1, 4, 6)
		list = append(list, Region{
			Name: a.name, Clusters: a.clusters, At: r.column(0), Ready: r.column(1), Placed: r.column(2),
			CPU: r.column(3), CPUCapacity: r.column(4), Memory: r.column(5), MemoryCapacity: r.column(6),
		})
	}
	return list
}

// podStates counts pods over time by the bars of their lanes, all of them.
func (w *writing) podStates(lanes []*timeline.Lane) PodStates {
	if len(lanes) == 0 {
		return PodStates{}
	}
	columns := map[timeline.Kind]int{timeline.Running: 0, timeline.Healthy: 1, timeline.Pending: 2, timeline.Terminating: 3}
	changes := map[int]*[4]int{}
	change := func(at time.Time, column, by int) {
		c := changes[w.at(at)]
		if c == nil {
			c = &[4]int{}
			changes[w.at(at)] = c
		}
		c[column] += by
	}
	for _, l := range lanes {
		for _, t := range l.Tracks {
			for _, b := range t.Bars {
				column, counts := columns[b.Kind]
				if !counts {
					continue
				}
				if change(b.From, column, 1); !b.To.IsZero() {
					change(b.To, column, -1)
				}
			}
		}
	}
	var sum [4]int
	var all rows
	for _, at := range slices.Sorted(maps.Keys(changes)) {
		for i, by := range changes[at] {
			sum[i] += by
		}
		all.add(at, sum[:])
	}
	r := all.within(w.limits.instants, 1, 2)
	return PodStates{At: r.column(0), Running: r.column(1), Ready: r.column(2), Pending: r.column(3), Terminating: r.column(4)}
}
