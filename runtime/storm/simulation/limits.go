package simulation

// drawLimits are settings that slow evictions down or stop them, for some of the cases: small enough to matter to a
// fleet of a few copies. They come from dice of their own, so that the rest of a case does not depend on them.
func drawLimits(seed uint64) map[string]any {
	d := newDice(^seed)
	values := map[string]any{}
	if d.chance(30) {
		values[pick(d, "fleetBreakerShare", "regionBreakerShare", "priorityBreakerShare")] = pick(d, 0.1, 0.25, 0.5)
		values["breakerMinimum"] = d.between(0, 3)
		values["breakerWindow"] = pick(d, "10s", "2m", "10m", "1h")
		values["breakerCooldown"] = pick(d, "5s", "1m", "5m")
		values["breakerTrials"] = d.between(0, 3)
	}
	if d.chance(20) {
		values[pick(d, "fleetEvictionRate", "regionEvictionRate", "clusterEvictionRate")] = pick(d, 0.01, 0.1, 3)
		values["evictionBurst"] = d.between(0, 3)
	}
	if d.chance(20) {
		values["maxStartingPerCluster"] = d.between(1, 2)
	}
	if d.chance(20) {
		values["startFailureLimit"] = d.between(0, 3)
		values["startFailureWindow"] = pick(d, "1m", "10m", "1h")
		values["startBackoff"] = pick(d, "10s", "2m", "20m")
	}
	return values
}
