package placement

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"leeward/messages/api"
)

// capacity is what is free of each resource, in columns by slot. Units are those in which Karmada
// counts: thousandths for cpu, whole ones for everything else, rounded up.
type capacity struct {
	columns []column // the first counts pods
	index   map[corev1.ResourceName]int
	// grades are the nodes of the clusters that count them by grade, by slot; empty while none does.
	grades []*grades
	// away is what is reserved, by column, on clusters that are not there.
	away    map[string][]int64
	scratch []need
}

// column is one resource. What is free is what the cluster reports, less what is reserved.
type column struct {
	name           corev1.ResourceName
	left, reserved []int64
}

// absent is what a cluster has of a resource that it does not report: none, whatever is released.
const absent = math.MinInt64 / 2

func newCapacity() capacity {
	c := capacity{index: make(map[corev1.ResourceName]int), away: make(map[string][]int64)}
	c.column(corev1.ResourcePods)
	return c
}

// column returns the index of a resource's column.
func (c *capacity) column(name corev1.ResourceName) int {
	i, known := c.index[name]
	if known {
		return i
	}
	k := column{name: name}
	if len(c.columns) > 0 {
		clusters := len(c.columns[0].left)
		k.left, k.reserved = slices.Repeat([]int64{absent}, clusters), make([]int64, clusters)
	}
	c.columns = append(c.columns, k)
	c.index[name] = len(c.columns) - 1
	return len(c.columns) - 1
}

func (c *capacity) insert(slot int, name string) {
	for i := range c.columns {
		k := &c.columns[i]
		k.left, k.reserved = slices.Insert(k.left, slot, absent), slices.Insert(k.reserved, slot, 0)
	}
	if len(c.grades) > 0 {
		c.grades = slices.Insert(c.grades, slot, nil)
	}
	for i, amount := range c.away[name] {
		c.columns[i].reserved[slot] = amount
	}
	delete(c.away, name)
}

func (c *capacity) remove(slot int, name string) {
	amounts := make([]int64, len(c.columns))
	for i := range c.columns {
		k := &c.columns[i]
		amounts[i] = k.reserved[slot]
		k.left, k.reserved = slices.Delete(k.left, slot, slot+1), slices.Delete(k.reserved, slot, slot+1)
	}
	if len(c.grades) > 0 {
		c.grades = slices.Delete(c.grades, slot, slot+1)
	}
	c.keepAway(name, amounts)
}

// count takes in how a cluster counts its nodes by grade, if it does.
func (c *capacity) count(slot int, g *grades) {
	if len(c.grades) == 0 {
		if g == nil {
			return
		}
		c.grades = make([]*grades, len(c.columns[0].left))
	}
	c.grades[slot] = g
}

// keepAway remembers what is reserved on a cluster that is not there.
func (c *capacity) keepAway(name string, amounts []int64) {
	if slices.Max(amounts) == 0 && slices.Min(amounts) == 0 {
		delete(c.away, name)
		return
	}
	c.away[name] = amounts
}

// report takes in what a cluster says of its resources; nil says that it has none.
func (c *capacity) report(slot int, r *api.ResourceSummary) {
	if r == nil {
		r = &api.ResourceSummary{}
	}
	for name := range r.Allocatable { // order-free: columns are looked up by name
		c.column(name)
	}
	for i := range c.columns {
		k := &c.columns[i]
		k.left[slot] = free(r, k.name) - k.reserved[slot]
	}
}

func free(r *api.ResourceSummary, name corev1.ResourceName) int64 {
	q, known := r.Allocatable[name]
	if !known {
		return absent
	}
	q = q.DeepCopy() // a large quantity shares its digits with its copies
	q.Sub(r.Allocated[name])
	q.Sub(r.Allocating[name])
	return api.Units(name, q)
}

// reserve takes replicas times the requirements from what is free on a cluster.
func (c *capacity) reserve(slot int, replicas int64, r *api.ReplicaRequirements) {
	c.scratch = c.needs(r, c.scratch[:0])
	for _, n := range c.scratch {
		k := &c.columns[n.column]
		k.left[slot] -= replicas * n.amount
		k.reserved[slot] += replicas * n.amount
	}
}

func (c *capacity) reserveAway(name string, replicas int64, r *api.ReplicaRequirements) {
	c.scratch = c.needs(r, c.scratch[:0])
	amounts := make([]int64, len(c.columns))
	copy(amounts, c.away[name])
	for _, n := range c.scratch {
		amounts[n.column] += replicas * n.amount
	}
	c.keepAway(name, amounts)
}

// need is how much of a resource one replica takes.
type need struct {
	column int
	amount int64 // above zero
}

// needs appends what one replica with these requirements takes: one pod, and what it requests.
func (c *capacity) needs(r *api.ReplicaRequirements, needs []need) []need {
	needs = append(needs, need{0, 1})
	if r == nil {
		return needs
	}
	for name, q := range r.ResourceRequest { // order-free: the least capacity counts
		if amount := api.Units(name, q); amount > 0 {
			needs = append(needs, need{c.column(name), amount})
		}
	}
	return needs
}

// holds appends, for each slot, how many replicas with these needs the cluster can take: at least 0.
func (c *capacity) holds(slots []int32, needs []need, holds []int64) []int64 {
	holds = c.total(slots, needs, holds)
	c.holdsByGrades(slots, needs, holds)
	return holds
}

// total appends, for each slot, how often the cluster has these needs, by its totals.
func (c *capacity) total(slots []int32, needs []need, holds []int64) []int64 {
	for range slots {
		holds = append(holds, math.MaxInt64)
	}
	for _, n := range needs {
		left, most := c.columns[n.column].left, math.MaxInt64/n.amount
		for i, slot := range slots {
			// Most resources are not the scarcest. A product tells, and is cheaper than a quotient.
			if holds[i] > most || left[slot] < holds[i]*n.amount {
				holds[i] = max(0, left[slot]/n.amount)
			}
		}
	}
	return holds
}
