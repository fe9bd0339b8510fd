package simulation

import "time"

// beside draws what some fleets have beside workloads and their policies, with the settings that it needs:
// priorities, a quota, what pods refer to, overrides that policies wait for, a workload of several components.
func (d dice) beside(values map[string]any) (manifests []mapping) {
	manifests = []mapping{priorityClass("urgent", 1000), priorityClass("normal", 10), configMap()}
	if d.chance(70) {
		manifests = append(manifests, override())
	}
	if d.chance(20) {
		values["federatedQuotaEnforcement"] = true
		quota := object("policy.karmada.io/v1alpha1", "FederatedResourceQuota", "team", mapping{"overall": mapping{"cpu": d.between(1, 30)}})
		manifests = append(manifests, quota)
	}
	if d.chance(15) {
		values["multiplePodTemplatesScheduling"] = true
		manifests = append(manifests, d.rayCluster(), d.rayPolicy())
	}
	return manifests
}

func configMap() mapping {
	return mapping{"apiVersion": "v1", "kind": "ConfigMap", "metadata": mapping{"name": "settings"}}
}

func override() mapping {
	return object("policy.karmada.io/v1alpha1", "OverridePolicy", "images", mapping{})
}

func priorityClass(name string, value int) mapping {
	return mapping{"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": mapping{"name": name}, "value": value}
}

// rayCluster has a head and workers, which go together.
func (d dice) rayCluster() mapping {
	pod := func(name string) mapping {
		requests := mapping{"cpu": pick(d, "500m", "1", "2")}
		return mapping{"spec": mapping{"containers": []mapping{{"name": name, "image": name, "resources": mapping{"requests": requests}}}}}
	}
	return object("ray.io/v1", "RayCluster", "ray", mapping{
		"headGroupSpec":    mapping{"template": pod("head")},
		"workerGroupSpecs": []mapping{{"groupName": "workers", "replicas": d.between(1, 4), "template": pod("worker")}},
	})
}

// rayPolicy has one cluster at a time run it, now and then once an override is there.
func (d dice) rayPolicy() mapping {
	spec := mapping{
		"resourceSelectors": []mapping{{"apiVersion": "ray.io/v1", "kind": "RayCluster"}},
		"placement": mapping{
			"clusterTolerations": d.tolerations(),
			"spreadConstraints":  []mapping{{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}},
		},
		"failover": d.failover(), "propagateDeps": true,
	}
	if d.chance(50) {
		spec["dependentOverrides"] = []string{"images"}
	}
	return object("policy.karmada.io/v1alpha1", "PropagationPolicy", "ray", spec)
}

// refine adds to a policy what few have.
func (d dice) refine(policy mapping) {
	if d.chance(20) {
		policy["schedulePriority"] = mapping{"priorityClassSource": "KubePriorityClass", "priorityClassName": pick(d, "urgent", "normal", "gone")}
	}
	if d.chance(20) {
		policy["propagateDeps"] = true
	}
}

// rebalance asks for fresh placements.
func (d dice) rebalance(workloads int) mapping {
	return mapping{
		"apiVersion": "apps.karmada.io/v1alpha1", "kind": "WorkloadRebalancer", "metadata": mapping{"name": pick(d, "again", "anew")},
		"spec": mapping{"workloads": []mapping{{"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "default", "name": workload(d.IntN(workloads))}}},
	}
}

// userSteps are those who change what they have of one workload, now and then several of them in one instant, and who
// make what policies wait for or ask for fresh placements.
func (d dice) userSteps(at time.Duration, workloads, clusters int) (steps []mapping) {
	i, writers := d.IntN(workloads), 1
	if d.chance(30) {
		writers = d.between(2, 4)
	}
	for range writers {
		switch d.IntN(6) {
		case 0, 1:
			steps = append(steps, step(at, "scale", mapping{"workload": "default/" + workload(i), "replicas": d.between(0, 12)}))
			continue
		case 2:
			steps = append(steps, step(at, "apply", d.rebalance(workloads)))
		case 3:
			steps = append(steps, step(at, "apply", override()))
		case 4:
			steps = append(steps, step(at, "apply", d.deployment(i)))
		default:
			steps = append(steps, step(at, "apply", d.policy(i, clusters)))
		}
		steps[len(steps)-1]["mayFail"] = true
	}
	return steps
}
