package placement

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
)

// Fleet is the clusters that workloads may be placed on, as last seen, with their free capacity.
// Clusters are kept in the order of their names; a cluster's position is its slot. All lists are by
// slot.
type Fleet struct {
	names   []string // ascending
	views   []*messages.ClusterView
	marks   []mark
	regions []int32 // index in regionNames
	capacity

	regionNames []string
	regionIDs   map[string]int32
	// era counts how often clusters came or went, so that slots changed their meaning.
	era uint64
	// edits are the slots whose labels, fields or APIs changed in this era, oldest first.
	edits []int32
}

// mark is what of a cluster's state a placement must look at more closely.
type mark uint8

const (
	deleting mark = 1 << iota
	tainted       // by NoSchedule or NoExecute
	unready       // says so itself
	avoided       // by PreferNoSchedule
)

// NewFleet returns a fleet without clusters.
func NewFleet() *Fleet {
	return &Fleet{capacity: newCapacity(), regionIDs: make(map[string]int32), era: 1}
}

// Len returns the number of clusters, those being deleted included.
func (f *Fleet) Len() int { return len(f.names) }

// Put takes in a cluster, or what it now looks like. Reservations stay as they are.
func (f *Fleet) Put(v *messages.ClusterView) {
	slot, known := slices.BinarySearch(f.names, string(v.Name))
	switch {
	case !known:
		f.insert(slot, string(v.Name))
	case !sameShape(f.views[slot], v):
		f.edits = append(f.edits, int32(slot))
	}
	if len(f.edits) > 4*len(f.names) {
		f.newEra()
	}
	if old := f.views[slot]; old == nil || old.Resources != v.Resources {
		f.report(slot, v.Resources)
	}
	f.capacity.count(slot, gradesOf(v))
	f.views[slot] = v
	f.marks[slot] = marksOf(v)
	f.regions[slot] = f.regionID(v.Region)
}

// Drop takes a cluster out. Reservations stay, should it come back.
func (f *Fleet) Drop(name messages.ClusterName) {
	slot, known := slices.BinarySearch(f.names, string(name))
	if !known {
		return
	}
	f.names = slices.Delete(f.names, slot, slot+1)
	f.views = slices.Delete(f.views, slot, slot+1)
	f.marks = slices.Delete(f.marks, slot, slot+1)
	f.regions = slices.Delete(f.regions, slot, slot+1)
	f.capacity.remove(slot, string(name))
	f.newEra()
}

// Reserve counts replicas against a cluster's free capacity until as many are released by a negative
// number. It may come before the cluster does, and outlasts its absence: a caller that releases what it
// reserved leaves nothing behind.
func (f *Fleet) Reserve(cluster messages.ClusterName, replicas int32, r *api.ReplicaRequirements) {
	if slot, known := slices.BinarySearch(f.names, string(cluster)); known {
		f.capacity.reserve(slot, int64(replicas), r)
	} else {
		f.capacity.reserveAway(string(cluster), int64(replicas), r)
	}
}

// ReserveSet counts so many sets as Reserve does their pods.
func (f *Fleet) ReserveSet(cluster messages.ClusterName, sets int32, s *messages.ComponentSet) {
	for i := range s.Components {
		f.Reserve(cluster, sets*s.Components[i].Replicas, s.Components[i].ReplicaRequirements)
	}
}

// Has reports whether a cluster is part of the fleet.
func (f *Fleet) Has(name messages.ClusterName) bool { return f.slot(string(name), -1) >= 0 }

// slot returns the slot of a cluster, -1 if it is not there. A caller that asks for clusters in order of
// their names gives the slot found last as a hint, and is answered immediately.
func (f *Fleet) slot(name string, hint int32) int32 {
	if next := int(hint) + 1; next < len(f.names) && f.names[next] == name {
		return int32(next)
	}
	slot, known := slices.BinarySearch(f.names, name)
	if !known {
		return -1
	}
	return int32(slot)
}

func (f *Fleet) insert(slot int, name string) {
	if len(f.names) == maxClusters {
		panic(fmt.Sprintf("placement: more than %d clusters", maxClusters))
	}
	f.names = slices.Insert(f.names, slot, name)
	f.views = slices.Insert(f.views, slot, nil)
	f.marks = slices.Insert(f.marks, slot, 0)
	f.regions = slices.Insert(f.regions, slot, 0)
	f.capacity.insert(slot, name)
	f.newEra()
}

func (f *Fleet) newEra() {
	f.era++
	f.edits = f.edits[:0]
}

func (f *Fleet) regionID(name string) int32 {
	id, known := f.regionIDs[name]
	if !known {
		id = int32(len(f.regionNames))
		f.regionNames = append(f.regionNames, name)
		f.regionIDs[name] = id
	}
	return id
}

func marksOf(v *messages.ClusterView) (m mark) {
	if v.Deleting {
		m |= deleting
	}
	if c := v.Condition(api.ConditionReady); c != nil && c.Status != metav1.ConditionTrue {
		m |= unready
	}
	for i := range v.Taints {
		switch v.Taints[i].Effect {
		case corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute:
			m |= tainted
		case corev1.TaintEffectPreferNoSchedule:
			m |= avoided
		}
	}
	return m
}

// sameShape reports whether two views of a cluster look alike to an affinity, to a spread constraint
// and to callers that ask for an API.
func sameShape(a, b *messages.ClusterView) bool {
	return a.Region == b.Region && a.Provider == b.Provider && slices.Equal(a.Zones, b.Zones) &&
		maps.Equal(a.Labels, b.Labels) && sameAPIs(a.APIs, b.APIs)
}

func sameAPIs(a, b []api.APIEnablement) bool {
	same := len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
	return same || reflect.DeepEqual(a, b)
}

// version is the part of a fleet's history that something derived from it has seen.
type version struct {
	era   uint64
	edits int
}

// catchUp calls judge for every slot whose shape changed since the version.
func (f *Fleet) catchUp(seen *version, judge func(slot int32)) {
	if seen.era != f.era {
		for slot := range int32(len(f.names)) {
			judge(slot)
		}
	} else {
		for _, slot := range f.edits[seen.edits:] {
			judge(slot)
		}
	}
	*seen = version{f.era, len(f.edits)}
}
