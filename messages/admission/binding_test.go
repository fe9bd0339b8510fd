package admission_test

import (
	"strings"
	"testing"
)

func TestBindingsAndRebalancers(t *testing.T) {
	binding := func(rest string) string {
		return "ResourceBinding\nspec: {resource: {apiVersion: apps/v1, kind: Deployment, name: d}, " + rest + "}\n"
	}
	const task = "spec.gracefulEvictionTasks[0]"
	for name, c := range map[string]struct{ text, want string }{
		"a binding is for a resource": {
			"ClusterResourceBinding\nspec: {resource: {}}\n",
			"spec.resource.apiVersion: Required value\nspec.resource.kind: Required value\nspec.resource.name: Required value",
		},
		"replicas are counted from 0": {binding("replicas: -1"), "spec.replicas: Invalid value: -1: must be 0 or more"},
		"a conflict is resolved": {
			binding("conflictResolution: Ask"),
			`spec.conflictResolution: Unsupported value: "Ask": supported values: "Abort", "Overwrite"`,
		},
		"one component needs no name": {binding("components: [{name: '', replicas: 1}]"), ""},
		"several components have names": {
			binding("components: [{name: a, replicas: 1}, {name: '', replicas: 1}]"),
			"spec.components[1].name: Required value: each of several components needs one",
		},
		"and each its own": {
			binding("components: [{name: a, replicas: 1}, {name: a, replicas: -1}]"),
			"spec.components[1].replicas: Invalid value: -1: must be 0 or more\nspec.components[1].name: Duplicate value: \"a\"",
		},
		"components request nothing negative": {
			binding("components: [{name: a, replicas: 1, replicaRequirements: {resourceRequest: {cpu: '-1'}}}]"),
			`spec.components[0].replicaRequirements.resourceRequest[cpu]: Invalid value: "-1": must be 0 or more`,
		},
		"components of a target have names of their own": {
			binding("clusters: [{name: m, components: [{name: a, replicas: 1}, {name: a, replicas: -1}, {name: '', replicas: 0}]}]"),
			"spec.clusters[0].components[1].replicas: Invalid value: -1: must be 0 or more\n" +
				"spec.clusters[0].components[1].name: Duplicate value: \"a\"\nspec.clusters[0].components[2].name: Required value",
		},
		"a target has a name": {
			binding("clusters: [{name: '', replicas: -1}]"),
			"spec.clusters[0].name: Required value\nspec.clusters[0].replicas: Invalid value: -1: must be 0 or more",
		},
		"a target comes once": {
			binding("clusters: [{name: a}, {name: a}]"),
			`spec.clusters[1].name: Duplicate value: "a"`,
		},
		"an eviction says where, who, why": {
			binding("gracefulEvictionTasks: [{fromCluster: '', reason: '', producer: ''}]"),
			task + ".fromCluster: Required value\n" + task + ".producer: Required value\n" + task + ".reason: Required value",
		},
		"an eviction's reason is one word": {
			binding("gracefulEvictionTasks: [{fromCluster: a, reason: because of it, producer: p}]"),
			task + `.reason: Invalid value: "because of it": must be one word, as TaintUntolerated`,
		},
		"a short word": {
			binding("gracefulEvictionTasks: [{fromCluster: a, reason: " + strings.Repeat("a", 33) + ", producer: p}]"),
			task + `.reason: Invalid value: "` + strings.Repeat("a", 33) + `": must be no more than 32 characters`,
		},
		"an eviction's message is bounded": {
			binding("gracefulEvictionTasks: [{fromCluster: a, reason: R, producer: p, message: " + strings.Repeat("a", 1025) + "}]"),
			task + `.message: Too long: may not be more than 1024 bytes`,
		},
		"an eviction purges in a known way": {
			binding("gracefulEvictionTasks: [{fromCluster: a, reason: R, producer: p, purgeMode: Now}]"),
			task + `.purgeMode: Unsupported value: "Now": supported values: "Directly", "Gracefully", "Never"`,
		},
		"a placement is a policy's": {
			binding("placement: {clusterAffinity: {}, clusterAffinities: [{affinityName: a}]}"),
			"spec.placement.clusterAffinities: Forbidden: clusterAffinity and clusterAffinities are mutually exclusive",
		},
		"a failover is a policy's": {
			binding("failover: {cluster: {purgeMode: Never}}"),
			`spec.failover.cluster.purgeMode: Unsupported value: "Never": supported values: "Directly", "Gracefully"`,
		},
		"suspended twice": {
			binding("suspension: {dispatching: true, dispatchingOnClusters: {clusterNames: [a]}}"),
			`spec.suspension: Invalid value: "dispatching: true": dispatching and dispatchingOnClusters are mutually exclusive`,
		},
		"a rebalancer has workloads": {
			"WorkloadRebalancer\nspec: {workloads: []}\n",
			"spec.workloads: Required value: at least one workload",
		},
		"a rebalancer's workload has a name": {
			"WorkloadRebalancer\nspec: {workloads: [{}], ttlSecondsAfterFinished: -1}\n",
			"spec.workloads[0].apiVersion: Required value\nspec.workloads[0].kind: Required value\nspec.workloads[0].name: Required value\nspec.ttlSecondsAfterFinished: Invalid value: -1: must be 0 or more",
		},
	} {
		t.Run(name, func(t *testing.T) { requireFindings(t, c.text, c.want, c.want) })
	}
}
