package simulation

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	yaml "go.yaml.in/yaml/v3"
)

// DrawNodes returns the case of a seed that is about the nodes and pods of one cluster: nodes in zones, owners of pods, and what people and
// failures do to them.
func DrawNodes(seed uint64) *Case {
	d := newDice(seed ^ 0x70de5)
	c := &Case{Seed: seed, OfNodes: true, Profile: pick(d, "leeward", "leeward", "kubernetes")}
	c.Duration = time.Duration(d.between(10, 60)) * time.Minute
	c.drawNodeConfig(d)
	nodes := d.between(1, 2*most(seed))
	for i := range nodes {
		c.Fleet = append(c.Fleet, plain(d.node(nodeName(i))))
	}
	var manifests, timeline []mapping
	for i := range d.between(1, 4) {
		manifests = append(manifests, d.podOwner(i))
	}
	if d.chance(50) {
		manifests = append(manifests, d.podBudgets(len(manifests))...)
	}
	if d.chance(40) {
		manifests = append(manifests, d.barePod(nodeName(d.IntN(nodes)), 300))
		if d.chance(50) { // only its seconds may change
			edit := step(d.about(timeline), "apply", d.barePod(manifests[len(manifests)-1]["spec"].(mapping)["nodeName"].(string), pick(d, 0, 30, 900)))
			edit["mayFail"] = true
			timeline = append(timeline, edit)
		}
	}
	for range d.between(1, 8) {
		timeline = append(timeline, d.nodeFault(timeline, nodes)...)
	}
	if d.chance(30) {
		timeline = append(timeline, d.nodeComes(timeline)...)
	}
	timeline = slices.DeleteFunc(timeline, func(s mapping) bool { return s["at"].(time.Duration) > c.Duration })
	slices.SortStableFunc(timeline, func(a, b mapping) int { return cmp.Compare(a["at"].(time.Duration), b["at"].(time.Duration)) })
	for _, s := range timeline {
		s["at"] = text(s["at"].(time.Duration))
	}
	c.Manifests, c.Timeline = plainList(manifests), plainList(timeline)
	return c
}

func nodeName(i int) string { return fmt.Sprintf("n%d", i+1) }

// drawNodeConfig sets, now and then, what governs how fast nodes are tainted and pods evicted.
func (c *Case) drawNodeConfig(d dice) {
	for _, one := range []struct {
		field string
		value any
	}{
		{"nodeEvictionRate", pick(d, 0, 0.1, 1, 2, 100)},
		{"unhealthyZoneThreshold", pick(d, 0.3, 0.55, 1)},
		{"largeClusterSizeThreshold", pick(d, 2, 50)},
		{"nodeMonitorGracePeriod", pick(d, "20s", "50s", "2m")},
		{"kubeAPIQPS", pick(d, 1, 20)},
		{"avoidTimedTolerations", d.chance(50)},
		{"nodeTaintsSurviveRestart", d.chance(50)},
		{"podEvictionsHonourBudgets", true},
	} {
		if d.chance(25) {
			c.Config = append(c.Config, mapping{one.field: one.value})
		}
	}
}

func (d dice) node(name string) mapping {
	n := mapping{"name": name, "zone": pick(d, "a", "b", "c"), "labels": mapping{"pool": pick(d, "x", "y")}}
	if d.chance(50) {
		n["capacity"] = fmt.Sprintf("cpu=%d,memory=8Gi,pods=%d", d.between(1, 8), d.between(2, 20))
	}
	if d.chance(50) {
		n["leasePeriod"] = pick(d, "1s", "5s", "10s")
	}
	if d.chance(30) {
		n["startup"] = pick(d, "0s", "1s", "20s")
	}
	if d.chance(20) {
		n["taints"] = []string{pick(d, "ours:NoSchedule", "ours:NoExecute", "spot:PreferNoSchedule")}
	}
	if d.chance(10) {
		n["labels"].(mapping)["node.kubernetes.io/exclude-disruption"] = "yes"
	}
	return n
}

// podOwner keeps up pods. Each has a toleration of its own kind.
func (d dice) podOwner(i int) mapping {
	name := workload(i)
	kind := pick(d, "Deployment", "Deployment", "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet")
	container := mapping{"name": "c", "image": "i"}
	if d.chance(60) {
		container["resources"] = mapping{"requests": mapping{"cpu": pick(d, "100m", "500m", "1")}}
	}
	pod := mapping{"containers": []mapping{container}, "terminationGracePeriodSeconds": pick(d, 0, 1, 30)}
	if d.chance(60) {
		pod["tolerations"] = d.podTolerations()
	}
	if d.chance(20) {
		pod["nodeSelector"] = mapping{"pool": "x"}
	}
	labels := mapping{"app": name}
	spec := mapping{"selector": mapping{"matchLabels": labels}, "template": mapping{"metadata": mapping{"labels": labels}, "spec": pod}}
	if kind != "DaemonSet" {
		spec["replicas"] = d.between(1, 12)
	}
	if kind == "StatefulSet" {
		spec["serviceName"] = name
		if d.chance(50) {
			spec["podManagementPolicy"] = "Parallel"
		}
	}
	return object("apps/v1", kind, name, spec)
}

// unreachable and notReady are what failures taint nodes with.
const (
	unreachable = "node.kubernetes.io/unreachable"
	notReady    = "node.kubernetes.io/not-ready"
)

func (d dice) podTolerations() (list []mapping) {
	for range d.between(1, 3) {
		t := mapping{"operator": "Exists"}
		if key := pick(d, "ours", "theirs", unreachable, notReady, ""); key != "" {
			t["key"] = key
		}
		if d.chance(70) {
			t["effect"] = "NoExecute"
			if d.chance(70) {
				t["tolerationSeconds"] = pick(d, 0, 5, 30, 60, 300)
			}
		}
		list = append(list, t)
	}
	return list
}

// barePod is a pod without an owner, which is gone when it was evicted.
func (d dice) barePod(on string, seconds int) mapping {
	return object("v1", "Pod", "bare", mapping{
		"nodeName": on, "containers": []mapping{{"name": "c", "image": "i"}},
		"tolerations": []mapping{{"key": "ours", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds}},
	})
}

// someNodes picks one node, several, or all.
func (d dice) someNodes(nodes int) any {
	share := 40
	switch d.IntN(3) {
	case 0:
		return nodeName(d.IntN(nodes))
	case 1:
		share = 100
	}
	names := []string{}
	for i := range nodes {
		if d.chance(share) || i == nodes-1 && len(names) == 0 {
			names = append(names, nodeName(i))
		}
	}
	return names
}

// about is an instant near that of another step, or in the first minutes.
func (d dice) about(steps []mapping) time.Duration {
	if len(steps) == 0 || d.chance(40) {
		return d.seconds(0, 900)
	}
	return d.near(steps)
}

// nodeFault is one thing that happens to nodes, most with an end.
func (d dice) nodeFault(others []mapping, nodes int) []mapping {
	at, on := d.about(others), d.someNodes(nodes)
	ends := at + pick(d, 0, d.seconds(0, 10), d.seconds(0, 120), d.seconds(0, 1200))
	switch d.IntN(10) {
	case 0, 1, 2:
		return []mapping{step(at, "outage", mapping{"node": on, "kind": "kubelet", "for": text(max(time.Second, ends-at))})}
	case 3, 4:
		one := mapping{"node": on, "type": pick(d, "Ready", "Ready", "MemoryPressure", "DiskPressure"), "status": pick(d, "False", "True", "Unknown")}
		back := mapping{"node": on, "type": one["type"], "status": "True"}
		if one["type"] != "Ready" {
			back["status"] = "False"
		}
		return []mapping{step(at, "condition", one), step(ends, "condition", back)}
	case 5, 6:
		taint := pick(d, "ours:NoExecute", "theirs:NoExecute", "ours:NoSchedule", notReady+":NoExecute", unreachable+":NoExecute", notReady+":NoSchedule", "spot:PreferNoSchedule")
		steps := []mapping{step(at, "taint", mapping{"node": on, "taints": []string{taint}})}
		if d.chance(70) {
			steps = append(steps, step(ends, "untaint", mapping{"node": on, "taints": []string{taint}}))
		}
		return steps
	case 7:
		begins := step(at, "cordon", mapping{"node": on})
		if d.chance(60) {
			begins = step(at, "drain", d.drainOf(on))
		}
		return []mapping{begins, step(ends, "uncordon", mapping{"node": on})}
	case 8:
		return []mapping{step(at, "label", mapping{"node": on, "labels": mapping{pick(d, "topology.kubernetes.io/zone", "pool"): pick(d, "a", "x", "new")}})}
	default:
		if d.chance(50) {
			return []mapping{step(at, "crash", mapping{"for": text(max(time.Second, ends-at))})}
		}
		return []mapping{step(at, "restart", true)}
	}
}

// drainOf is a drain with some of the flags of kubectl.
func (d dice) drainOf(on any) mapping {
	m := mapping{"node": on, "force": d.chance(80), "ignoreDaemonsets": d.chance(80), "deleteEmptydirData": true, "disableEviction": d.chance(15)}
	if d.chance(50) {
		m["timeout"] = text(d.seconds(1, 600))
	}
	if d.chance(30) {
		m["gracePeriod"] = pick(d, "0s", "1s", "30s")
	}
	if d.chance(20) {
		m["skipWaitForDeleteTimeout"] = pick(d, "1s", "20s", "5m")
	}
	return m
}

// podBudgets protect some of the first owners of pods, one now and then twice.
func (d dice) podBudgets(owners int) (list []mapping) {
	for i := range owners {
		if !d.chance(60) {
			continue
		}
		spec := mapping{"selector": mapping{"matchLabels": mapping{"app": workload(i)}}}
		spec[pick(d, "minAvailable", "maxUnavailable")] = pick[any](d, 0, 1, 2, 5, "0%", "30%", "50%", "100%")
		if d.chance(40) {
			spec["unhealthyPodEvictionPolicy"] = pick(d, "AlwaysAllow", "IfHealthyBudget")
		}
		list = append(list, object("policy/v1", "PodDisruptionBudget", workload(i), spec))
	}
	if d.chance(10) {
		list = append(list, object("policy/v1", "PodDisruptionBudget", "everything", mapping{"selector": mapping{}, "maxUnavailable": 1}))
	}
	return list
}

// nodeComes has a node be created, and sometimes deleted and created again.
func (d dice) nodeComes(others []mapping) []mapping {
	at := d.about(others)
	apply := func(at time.Duration) mapping {
		return step(at, "apply", mapping{
			"apiVersion": "v1", "kind": "Node",
			"metadata": mapping{"name": "late", "labels": mapping{"topology.kubernetes.io/zone": pick(d, "a", "late")}},
		})
	}
	steps := []mapping{apply(at)}
	if d.chance(60) {
		at += d.seconds(0, 600)
		steps = append(steps, step(at, "delete", mapping{"kind": "Node", "name": "late"}))
		if d.chance(60) {
			steps = append(steps, apply(at+pick(d, 0, d.seconds(0, 300))))
		}
	}
	return steps
}

// node is what a parser makes of a value that was written as YAML, but for its place. Keys are in order.
func node(v any) *yaml.Node {
	n := new(yaml.Node)
	put(n, v)
	return n
}

// put makes a node that of a value.
func put(n *yaml.Node, v any) {
	switch v := v.(type) {
	case mapping:
		n.Kind, n.Tag = yaml.MappingNode, "!!map"
		keys := slices.Sorted(maps.Keys(v))
		within(n, 2*len(keys))
		for i, key := range keys {
			put(n.Content[2*i], key)
			put(n.Content[2*i+1], v[key])
		}
	case []any:
		n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
		within(n, len(v))
		for i := range v {
			put(n.Content[i], v[i])
		}
	default:
		n.Kind = yaml.ScalarNode
		scalar(n, v)
	}
}

// within gives a node others inside.
func within(n *yaml.Node, count int) {
	inside := make([]yaml.Node, count)
	n.Content = make([]*yaml.Node, count)
	for i := range inside {
		n.Content[i] = &inside[i]
	}
}

// scalar fills in the node of a text, which is quoted, so that it is one whatever it says, of a number, or of a truth value.
func scalar(n *yaml.Node, v any) {
	switch v := v.(type) {
	case string:
		n.Tag, n.Value, n.Style = "!!str", v, yaml.DoubleQuotedStyle
	case bool:
		n.Tag, n.Value = "!!bool", strconv.FormatBool(v)
	case int:
		n.Tag, n.Value = "!!int", strconv.Itoa(v)
	case uint64:
		n.Tag, n.Value = "!!int", strconv.FormatUint(v, 10)
	case float64:
		n.Tag, n.Value = "!!float", strconv.FormatFloat(v, 'g', -1, 64)
		if v == math.Trunc(v) {
			n.Tag = "!!int" // as 10 is not written with a point
		}
	default:
		panic(fmt.Sprintf("simulation: nothing that is drawn is a %T", v))
	}
}
