// Package failback holds the rules of a workload's failback: where it runs once clusters that it was
// evicted from have their replicas back. Pure functions of values: no state and no clock.
//
// Karmada has none of this (its issues 7441, 1189, 3167): what moved stays where it is.
package failback

import (
	"cmp"
	"slices"

	"leeward/messages/api"
)

// Lacks returns how many replicas a cluster runs short of what it ran as a preferred cluster, and whether it lacks a copy,
// or a share of one, at all.
func Lacks(now []api.TargetCluster, home api.TargetCluster) (replicas int32, lacks bool) {
	i := api.FindTarget(now, home.Name)
	if i < 0 {
		return home.Replicas, true
	}
	replicas = max(0, home.Replicas-now[i].Replicas)
	return replicas, replicas > 0
}

// Return returns the placement in which some clusters have back what they ran before the eviction, in the order of names.
// Divided replicas come from the clusters that run more than before: first from those that ran none, the
// greatest share first; then, one by one, from whichever is furthest above what it ran. Names break ties. Whole copies come from as many clusters that ran none, the last
// by name, as are above the number before.
func Return(now, home []api.TargetCluster, back []string, divided bool) []api.TargetCluster {
	var next []api.TargetCluster
	if divided {
		next = returnShares(now, home, back)
	} else {
		next = returnCopies(now, home, back)
	}
	slices.SortFunc(next, func(a, b api.TargetCluster) int { return cmp.Compare(a.Name, b.Name) })
	return next
}

func returnShares(now, home []api.TargetCluster, back []string) []api.TargetCluster {
	next := slices.Clone(now)
	wanted := int32(0)
	for _, h := range home {
		lack, lacks := Lacks(now, h)
		if !lacks || !slices.Contains(back, h.Name) {
			continue
		}
		wanted += lack
		if i := api.FindTarget(next, h.Name); i >= 0 {
			next[i].Replicas += lack
		} else {
			next = append(next, h)
		}
	}
	give(next, home, wanted)
	return slices.DeleteFunc(next, func(c api.TargetCluster) bool { return c.Replicas == 0 })
}

// give takes so many replicas off the clusters that run more than before the eviction.
func give(next, home []api.TargetCluster, wanted int32) {
	donors := slices.Clone(next)
	slices.SortFunc(donors, func(a, b api.TargetCluster) int {
		return cmp.Or(-cmp.Compare(a.Replicas, b.Replicas), cmp.Compare(a.Name, b.Name))
	})
	for _, d := range donors {
		if !at(home, d.Name) {
			given := min(d.Replicas, wanted)
			next[api.FindTarget(next, d.Name)].Replicas -= given
			wanted -= given
		}
	}
	for ; wanted > 0; wanted-- {
		next[furthestAbove(next, home)].Replicas--
	}
}

// furthestAbove returns the index of the cluster that runs most above what it ran before the eviction.
func furthestAbove(now, home []api.TargetCluster) int {
	gain := func(c api.TargetCluster) int32 { return c.Replicas - api.ReplicasOn(home, c.Name) }
	most := 0
	for i, c := range now {
		if order := cmp.Compare(gain(c), gain(now[most])); order > 0 || order == 0 && c.Name < now[most].Name {
			most = i
		}
	}
	return most
}

func returnCopies(now, home []api.TargetCluster, back []string) []api.TargetCluster {
	next := slices.Clone(now)
	for _, h := range home {
		if slices.Contains(back, h.Name) && api.FindTarget(next, h.Name) < 0 {
			next = append(next, h)
		}
	}
	guests := slices.DeleteFunc(slices.Clone(now), func(c api.TargetCluster) bool { return at(home, c.Name) })
	slices.SortFunc(guests, func(a, b api.TargetCluster) int { return -cmp.Compare(a.Name, b.Name) })
	for _, g := range guests[:min(len(guests), max(0, len(next)-len(home)))] {
		next = slices.DeleteFunc(next, func(c api.TargetCluster) bool { return c.Name == g.Name })
	}
	return next
}

// at reports whether a cluster is one of home.
func at(home []api.TargetCluster, name string) bool { return api.FindTarget(home, name) >= 0 }
