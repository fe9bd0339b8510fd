package simulation

// taintPolicy taints clusters that are not ready.
func (d dice) taintPolicy(i int) mapping {
	ready := func(operator string, statuses ...string) []mapping {
		m := mapping{"conditionType": "Ready", "operator": operator, "statusValues": statuses}
		if d.chance(20) {
			m["for"] = pick(d, "10s", "1m")
		}
		return []mapping{m}
	}
	spec := mapping{
		"addOnConditions":    ready("NotIn", "True"),
		"removeOnConditions": ready("In", "True"),
		"taints":             []mapping{{"key": pick(d, "down", "lost"), "effect": pick(d, "NoExecute", "NoExecute", "NoSchedule")}},
	}
	if d.chance(20) {
		spec["cleanup"] = pick(d, "Never", "OnDelete", "OnChange")
	}
	return object("policy.karmada.io/v1alpha1", "ClusterTaintPolicy", []string{"p1", "p2"}[i], spec)
}

func object(version, kind, name string, spec mapping) mapping {
	return mapping{"apiVersion": version, "kind": kind, "metadata": mapping{"name": name}, "spec": spec}
}

func (d dice) deployment(i int) mapping {
	name := workload(i)
	labels := mapping{"app": name}
	container := mapping{"name": name, "image": name}
	if d.chance(70) {
		container["resources"] = mapping{"requests": mapping{"cpu": pick(d, "100m", "500m", "1")}}
	}
	if d.chance(30) {
		container["envFrom"] = []mapping{{"configMapRef": mapping{"name": "settings"}}}
	}
	return object("apps/v1", "Deployment", name, mapping{
		"replicas": d.between(1, 9), "selector": mapping{"matchLabels": labels},
		"template": mapping{"metadata": mapping{"labels": labels}, "spec": mapping{"containers": []mapping{container}}},
	})
}

// policy propagates one workload.
func (d dice) policy(i, clusters int) mapping {
	spec := mapping{
		"resourceSelectors": []mapping{{"apiVersion": "apps/v1", "kind": "Deployment", "name": workload(i)}},
		"placement":         d.placement(clusters),
	}
	if d.chance(50) {
		spec["failover"] = d.failover()
		spec["propagateDeps"] = true // admission asks for it
	}
	d.refine(spec)
	return object("policy.karmada.io/v1alpha1", "PropagationPolicy", workload(i), spec)
}

func (d dice) placement(clusters int) mapping {
	p := mapping{}
	if how := d.division(clusters); how != nil {
		p["replicaScheduling"] = how
	}
	if d.chance(50) {
		p["clusterTolerations"] = d.tolerations()
	}
	switch d.IntN(6) {
	case 0:
		p["clusterAffinity"] = mapping{"clusterNames": []string{cluster(0), cluster(1)}}
	case 1:
		p["clusterAffinities"] = []mapping{
			{"affinityName": "first", "clusterNames": []string{cluster(0)}},
			{"affinityName": "second", "clusterNames": []string{cluster(1), cluster(2)}},
		}
	}
	switch d.IntN(6) {
	case 0:
		p["spreadConstraints"] = []mapping{{"spreadByField": "cluster", "minGroups": 1, "maxGroups": d.between(1, 3)}}
	case 1:
		p["spreadConstraints"] = []mapping{
			{"spreadByField": "region", "minGroups": 1, "maxGroups": d.between(1, 2)},
			{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 3},
		}
	}
	return p
}

// division says how replicas are divided; nil: every cluster runs all.
func (d dice) division(clusters int) mapping {
	how := mapping{"replicaSchedulingType": "Divided"}
	switch d.IntN(5) {
	case 0:
		return nil
	case 1:
		how["replicaDivisionPreference"] = "Aggregated"
	case 2:
		how["replicaDivisionPreference"] = "Weighted"
	case 3:
		how["replicaDivisionPreference"] = "Weighted"
		how["weightPreference"] = mapping{"dynamicWeight": "AvailableReplicas"}
	case 4:
		how["replicaDivisionPreference"] = "Weighted"
		var list []mapping
		for i := range clusters {
			list = append(list, mapping{"targetCluster": mapping{"clusterNames": []string{cluster(i)}}, "weight": d.between(1, 3)})
		}
		how["weightPreference"] = mapping{"staticWeightList": list}
	}
	return how
}

func (d dice) tolerations() []mapping {
	var list []mapping
	for range d.between(1, 2) {
		t := mapping{"operator": "Exists", "effect": "NoExecute"}
		if key := pick(d, "down", "lost", "spot", "ours", ""); key != "" {
			t["key"] = key
		}
		if d.chance(80) {
			t["tolerationSeconds"] = pick(d, 0, 10, 30, 60, 300)
		}
		list = append(list, t)
	}
	return list
}

func (d dice) failover() mapping {
	f := mapping{}
	if d.chance(60) {
		c := mapping{"purgeMode": pick(d, "Gracefully", "Gracefully", "Directly")}
		if c["purgeMode"] == "Gracefully" && d.chance(30) {
			c["gracePeriodSeconds"] = pick(d, 10, 60, 600)
		}
		if c["purgeMode"] == "Gracefully" && d.chance(30) {
			c["handover"] = "Gradual"
		}
		if d.chance(30) {
			c["failback"] = mapping{"mode": "Automatic", "stabilizationSeconds": pick(d, 0, 30, 300)}
		}
		if d.chance(30) {
			c["reconnect"] = pick(d, "KeepReplacement", "KeepOriginal", "KeepHealthiest")
		}
		f["cluster"] = c
	}
	if d.chance(40) {
		f["application"] = mapping{
			"decisionConditions": mapping{"tolerationSeconds": pick(d, 0, 5, 10, 60, 300)},
			"purgeMode":          pick(d, "Gracefully", "Directly", "Never"),
		}
	}
	return f
}

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
