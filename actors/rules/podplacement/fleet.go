package podplacement

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/draw"
)

// Node is what the scheduler looks at in a node.
type Node struct {
	Name          string
	Labels        map[string]string
	Taints        []corev1.Taint
	Unschedulable bool
	Allocatable   corev1.ResourceList
}

// node is a node in the Fleet, or the name of one that is gone and still has pods.
type node struct {
	name          string
	object        corev1.Node // name and labels alone, for node affinity
	taints        []corev1.Taint
	present       bool
	unschedulable bool

	more, moreUsed []int64 // extended resources, by column
}

// load is what a node offers and what of it is in use, apart from the rest of the node: decisions read the loads of hundreds of nodes.
type load struct {
	hash              uint64 // of the node's name
	version           uint32 // of everything but what runs there
	podsAllowed, pods int64
	allocatable, used [basic]int64
	estimated         [2]int64
}

// class are the pods of one namespace with the same labels.
type class struct {
	namespace string
	labels    map[string]string
	on        places // those that are not terminating
}

// places are how many pods run on each of some nodes, in the order of slots: a decision walks through them, and few change at a time.
type places []place

type place struct {
	slot int32
	pods int64
}

// add counts more pods on a node, or fewer. A node with none left is forgotten.
func (p *places) add(slot int32, pods int64) {
	i, there := slices.BinarySearchFunc(*p, slot, func(at place, slot int32) int { return cmp.Compare(at.slot, slot) })
	if !there {
		*p = slices.Insert(*p, i, place{slot: slot})
	}
	if (*p)[i].pods += pods; (*p)[i].pods == 0 {
		*p = slices.Delete(*p, i, i+1)
	}
}

// Fleet holds the nodes of a cluster and what runs on them.
type Fleet struct {
	slots      map[string]int32
	nodes      []node
	loads      []load // by slot, as nodes
	free       []int32
	order      []int32 // the slots of present nodes, by name
	columns    map[corev1.ResourceName]int
	names      []corev1.ResourceName // of columns
	classes    map[string]*class
	inside     map[string][]*class // classes by namespace
	versions   uint32              // the last version given to a node
	topologies map[string]*topology
	// freed counts what may help a pod that found no node: nodes that came or changed, and pods that went.
	freed uint64
	// changes counts everything.
	changes uint64
	// cache are the fits by what shapes ask of nodes, recent its keys, oldest first; daemon are those of a shape for named nodes.
	cache  map[string][]fit
	recent []string
	daemon []fit
}

// NewFleet returns a fleet without nodes.
func NewFleet() *Fleet {
	return &Fleet{
		slots: map[string]int32{}, columns: map[corev1.ResourceName]int{}, classes: map[string]*class{},
		inside: map[string][]*class{}, topologies: map[string]*topology{}, cache: map[string][]fit{}, freed: 1, changes: 1,
	}
}

// Len is how many nodes there are.
func (f *Fleet) Len() int { return len(f.order) }

// Has reports whether there is a node of that name.
func (f *Fleet) Has(name string) bool {
	slot, known := f.slots[name]
	return known && f.nodes[slot].present
}

// Put adds a node, or takes over what changed in it. The caller changes nothing of it afterwards.
func (f *Fleet) Put(v *Node) {
	slot := f.slot(v.Name)
	n := &f.nodes[slot]
	if !n.present {
		i, _ := f.find(v.Name)
		f.order = slices.Insert(f.order, i, slot)
		f.topologies = map[string]*topology{}
	} else if !maps.Equal(n.object.Labels, v.Labels) {
		f.topologies = map[string]*topology{}
	}
	n.present = true
	n.object = corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: v.Name, Labels: v.Labels}}
	n.taints, n.unschedulable = v.Taints, v.Unschedulable
	l := &f.loads[slot]
	l.podsAllowed = amountOf(corev1.ResourcePods, v.Allocatable)
	for i, name := range basicNames {
		l.allocatable[i] = amountOf(name, v.Allocatable)
	}
	clear(n.more)
	for name := range v.Allocatable { // order-free: each has a column of its own; their numbers reach no decision
		if name != corev1.ResourcePods && !slices.Contains(basicNames[:], name) {
			c := f.column(name)
			n.more = wide(n.more, c)
			n.more[c] = amountOf(name, v.Allocatable)
		}
	}
	f.versions++
	l.version = f.versions
	f.freed++
	f.changes++
}

// Drop removes a node. What runs there stays known until it is removed.
func (f *Fleet) Drop(name string) {
	slot, known := f.slots[name]
	if !known || !f.nodes[slot].present {
		return
	}
	i, _ := f.find(name)
	f.order = slices.Delete(f.order, i, i+1)
	f.nodes[slot].present = false
	f.topologies = map[string]*topology{}
	f.release(slot)
	f.freed++ // fewer domains may allow a smaller skew
	f.changes++
}

// Bind counts a pod on a node, also on one that is not there.
func (f *Fleet) Bind(name string, s *Shape) {
	slot := f.slot(name)
	f.count(slot, s, 1)
	s.class.on.add(slot, 1)
}

// Terminate has a pod on a node no longer count where pods are spread; it keeps what it uses.
func (f *Fleet) Terminate(name string, s *Shape) {
	if slot, known := f.slots[name]; known {
		s.class.on.add(slot, -1)
		f.freed++
		f.changes++
	}
}

// Remove takes a pod off a node; terminating: Terminate was called for it.
func (f *Fleet) Remove(name string, s *Shape, terminating bool) {
	slot, known := f.slots[name]
	if !known {
		return
	}
	f.count(slot, s, -1)
	if !terminating {
		s.class.on.add(slot, -1)
	}
	f.freed++
	f.release(slot)
}

// count adds what a pod requests to a node, or takes it away.
func (f *Fleet) count(slot int32, s *Shape, sign int64) {
	l := &f.loads[slot]
	l.pods += sign
	for i := range s.requests {
		l.used[i] += sign * s.requests[i]
	}
	for i := range s.estimated {
		l.estimated[i] += sign * s.estimated[i]
	}
	for _, r := range s.extended {
		n := &f.nodes[slot]
		n.moreUsed = wide(n.moreUsed, r.column)
		n.moreUsed[r.column] += sign * r.amount
	}
	f.changes++
}

// find returns where a node is in the order of names, or would be.
func (f *Fleet) find(name string) (int, bool) {
	return slices.BinarySearchFunc(f.order, name, func(slot int32, name string) int {
		return strings.Compare(f.nodes[slot].name, name)
	})
}

// slot returns that of a name, a new one for a new name.
func (f *Fleet) slot(name string) int32 {
	if slot, known := f.slots[name]; known {
		return slot
	}
	f.versions++
	fresh, idle := node{name: name}, load{hash: draw.Hash(0, name), version: f.versions}
	var slot int32
	if last := len(f.free) - 1; last >= 0 {
		slot, f.free = f.free[last], f.free[:last]
		f.nodes[slot], f.loads[slot] = fresh, idle
	} else {
		slot = int32(len(f.nodes))
		f.nodes, f.loads = append(f.nodes, fresh), append(f.loads, idle)
	}
	f.slots[name] = slot
	return slot
}

// release forgets the name of a node that is gone and has no pods.
func (f *Fleet) release(slot int32) {
	if n := &f.nodes[slot]; !n.present && f.loads[slot].pods == 0 {
		delete(f.slots, n.name)
		f.free = append(f.free, slot)
	}
}

func (f *Fleet) column(name corev1.ResourceName) int {
	c, known := f.columns[name]
	if !known {
		c = len(f.names)
		f.columns[name] = c
		f.names = append(f.names, name)
	}
	return c
}

func (f *Fleet) class(namespace string, set map[string]string) *class {
	key := Like(namespace, set)
	c := f.classes[key]
	if c == nil {
		c = &class{namespace: namespace, labels: set}
		f.classes[key] = c
		f.inside[namespace] = append(f.inside[namespace], c)
	}
	return c
}

// wide returns the columns with at least so many.
func wide(columns []int64, column int) []int64 {
	for len(columns) <= column {
		columns = append(columns, 0)
	}
	return columns
}

func amountOf(name corev1.ResourceName, list corev1.ResourceList) int64 {
	q, has := list[name]
	switch {
	case !has:
		return 0
	case name == corev1.ResourceCPU:
		return q.MilliValue()
	default:
		return q.Value()
	}
}

func milli(amount int64) *resource.Quantity {
	return resource.NewMilliQuantity(amount, resource.DecimalSI)
}
func bytes(amount int64) *resource.Quantity { return resource.NewQuantity(amount, resource.BinarySI) }
