package lint

import (
	"maps"
	"strings"
)

// notReadyForLong has a cluster that is not Ready for half an hour.
func notReadyForLong(u *unit) *witness {
	w := u.witness().clusters("m1").step("1m", "condition", fields{"cluster": "m1", "type": "Ready", "status": "False"})
	w.duration = "30m"
	return w.expects("never", true, "taint", fields{"cluster": "m1", "key": "cluster.karmada.io/not-ready", "effect": "NoExecute"})
}

// stateThatIsLost has an application fail over whose policy preserves its state.
func stateThatIsLost(u *unit) *witness {
	w := u.witness().set("gracefulEviction", true).clusters("m1", "m2").web(1)
	w.propagates(fields{
		"propagateDeps": true, "placement": fields{"spreadConstraints": []any{fields{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}}},
		"failover": fields{"application": fields{
			"decisionConditions": fields{"tolerationSeconds": 60}, "purgeMode": "Directly",
			"statePreservation": fields{"rules": []any{fields{"aliasLabelName": "example.com/job", "jsonPath": "{.job}"}}},
		}},
	})
	w.duration = "15m"
	w.step("1m", "status", fields{"cluster": "m*", "binding": "web", "status": fields{"job": "seven"}}).step("2m", "health", fields{"cluster": "m1", "status": "Unhealthy"})
	return w.expects("never", true, "event", fields{"kind": "CopyStarted", "labels": fields{"example.com/job": "seven"}})
}

// quotaThatIsIgnored places more than a quota has.
func quotaThatIsIgnored(u *unit) *witness {
	w := u.witness().clusters("m1").web(2).places(fields{})
	requests(w.objects[0], "1")
	w.objects = append(w.objects, fields{
		"apiVersion": "policy.karmada.io/v1alpha1", "kind": "FederatedResourceQuota", "metadata": fields{"name": "team"}, "spec": fields{"overall": fields{"cpu": "1"}},
	})
	return w.expects("at", "1m", "binding", fields{"name": "web", "clusters": fields{"m1": 2}})
}

// requests has the containers of a Deployment ask for processors.
func requests(deployment any, cpu string) {
	spec := deployment.(fields)["spec"].(fields)["template"].(fields)["spec"].(fields)
	spec["containers"].([]any)[0].(fields)["resources"] = fields{"requests": fields{"cpu": cpu}}
}

// componentsThatDoNotFit has a workload of several pod templates go where there is no capacity for it.
func componentsThatDoNotFit(u *unit) *witness {
	w := u.witness()
	w.fleet = []fields{{"name": "edge", "capacity": fields{"cpu": "1"}}, {"name": "north", "capacity": fields{"cpu": "100"}}}
	template := fields{"spec": fields{"containers": []any{fields{"name": "ray", "image": "ray", "resources": fields{"requests": fields{"cpu": "2"}}}}}}
	w.objects = append(w.objects,
		fields{"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": fields{"name": "lab"}, "spec": fields{
			"headGroupSpec": fields{"template": template}, "workerGroupSpecs": []any{fields{"groupName": "workers", "replicas": 3, "template": template}},
		}},
		fields{"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy", "metadata": fields{"name": "lab"}, "spec": fields{
			"resourceSelectors": []any{fields{"apiVersion": "ray.io/v1", "kind": "RayCluster"}},
			"placement":         fields{"spreadConstraints": []any{fields{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}}},
		}})
	return w.expects("at", "1m", "binding", fields{"name": "default/lab-raycluster", "clusters": []string{"edge"}})
}

// ofNodes is a witness of one cluster with nodes, and so many pods on them. Nodes are named by pattern, with their zone.
func (u *unit) ofNodes(pods int32, nodes ...string) *witness {
	w := u.witness().web(pods).places(fields{})
	var all []any
	for _, n := range nodes {
		name, zone, _ := strings.Cut(n, " ")
		all = append(all, fields{"name": name, "zone": zone})
	}
	w.fleet = []fields{{"name": "m1", "nodes": all}}
	w.duration = "20m"
	return w
}

// silent has nodes fall silent.
func (w *witness) silent(at, nodes string, more fields) *witness {
	outage := fields{"node": nodes, "kind": "kubelet"}
	maps.Copy(outage, more)
	return w.step(at, "outage", outage)
}

// podsWithoutTolerations has the pods of a node that fails evicted as soon as it is tainted.
func podsWithoutTolerations(u *unit) *witness {
	w := u.ofNodes(3, "n{1..3} a").silent("1m", "m1/n1", nil)
	return w.expects("within", fields{"after": "1m", "for": "3m"}, "event", fields{"kind": "PodEvicted"})
}

// evictedTogether has several pods evicted in one instant.
func evictedTogether(u *unit) *witness {
	w := u.ofNodes(8, "n{1..2} a").set("kubeAPIBurst", 1)
	w.step("1m", "taint", fields{"node": "m1/n1", "taints": []string{"example.com/failed:NoExecute"}})
	w.expect = append(w.expect, fields{"total": fields{"event": fields{"kind": "PodEvicted"}, "min": 4}, "until": "61s"})
	return w
}

// noExecuteOn is that a node has the taint of its silence.
func noExecuteOn(node string) fields {
	return fields{"node": node, "key": "node.kubernetes.io/unreachable", "effect": "NoExecute"}
}

// zoneThatStops has most nodes of a zone fall silent.
func zoneThatStops(u *unit) *witness {
	w := u.ofNodes(1, "a-{1..6} a", "b-{1..3} b").set("largeClusterSizeThreshold", 1).set("nodeEvictionRate", "0.1").silent("1m", "m1/a-{1..4}", nil)
	w.expect = append(w.expect, fields{"total": fields{"event": fields{"kind": "NodeTaintAdded", "taint": fields{"effect": "NoExecute"}}, "max": 1}})
	return w
}

// zoneThatRecovers has all zones fail, and one of them come back: the other one's nodes are tainted again.
func zoneThatRecovers(u *unit) *witness {
	w := u.ofNodes(1, "a-{1..2} a", "b-{1..2} b").set("zoneRateRecovers", false)
	w.silent("12s", "m1/a-*", nil).silent("2m", "m1/b-*", fields{"for": "5m"})
	return w.expects("at", "12m", "taint", noExecuteOn("m1/a-1"))
}
