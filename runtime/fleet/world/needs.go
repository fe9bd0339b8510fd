package world

import (
	"maps"
	"slices"

	"leeward/messages/api"
)

// needs are what replicas of workloads need, by how it reads: most need what those of many others do, and it is held once.
type needs map[string]*api.ReplicaRequirements

// mostNeeds bounds what is remembered.
const mostNeeds = 4096

// shared returns the needs of a workload, or the equal ones of another.
func (n needs) shared(each *api.ReplicaRequirements) *api.ReplicaRequirements {
	if each == nil || each.NodeClaim != nil {
		return each
	}
	text := []byte(each.Namespace + "/" + each.PriorityClassName)
	for _, name := range slices.Sorted(maps.Keys(each.ResourceRequest)) {
		quantity := each.ResourceRequest[name]
		text = append(append(append(append(text, ' '), name...), '='), quantity.String()...)
	}
	if known := n[string(text)]; known != nil {
		return known
	}
	if len(n) == mostNeeds {
		clear(n)
	}
	n[string(text)] = each
	return each
}
