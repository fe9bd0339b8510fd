package simulation

// budget is one EvictionBudget for all workloads.
func (d dice) budget() mapping {
	spec := mapping{}
	switch d.IntN(3) {
	case 0:
		spec["minAvailable"] = pick[any](d, 1, 2, "30%", "60%", "100%")
	case 1:
		spec["maxUnavailable"] = pick[any](d, 0, 1, 3, "10%", "50%")
	case 2:
		spec["maxMoved"] = mapping{"replicas": pick[any](d, 1, 3, "20%", "50%"), "windowSeconds": pick(d, 1, 60, 600)}
	}
	if d.chance(40) {
		spec["perWorkload"] = true
	}
	return object("leeward.dev/v1alpha1", "EvictionBudget", "all", spec)
}
