package admission_test

import (
	"strings"
	"testing"
)

// policy returns a PropagationPolicy with one good selector.
func policy(rest string) string {
	return "PropagationPolicy\nspec: {resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: d}], " + rest + "}\n"
}

func TestPolicies(t *testing.T) {
	const on = "spec.placement"
	for name, c := range map[string]struct{ text, want string }{
		"selectors are required": {
			"PropagationPolicy\nspec: {}\n",
			"spec.resourceSelectors: Required value: at least one selector",
		},
		"a selector has a kind": {
			"ClusterPropagationPolicy\nspec: {resourceSelectors: [{}]}\n",
			"spec.resourceSelectors[0].apiVersion: Required value\nspec.resourceSelectors[0].kind: Required value",
		},
		"a selector in the same place": {
			"PropagationPolicy\nspec: {resourceSelectors: [{apiVersion: v1, kind: K, namespace: default}]}\n",
			"",
		},
		"a selector in another place": {
			"PropagationPolicy\nspec: {resourceSelectors: [{apiVersion: v1, kind: K, namespace: b}]}\n",
			`spec.resourceSelectors[0].namespace: Invalid value: "b": must be the object's own namespace, default`,
		},
		"a cluster policy anywhere": {
			"ClusterPropagationPolicy\nspec: {resourceSelectors: [{apiVersion: v1, kind: K, namespace: b}]}\n",
			"",
		},
		"a malformed label selector": {
			"PropagationPolicy\nspec: {resourceSelectors: [{apiVersion: v1, kind: K, labelSelector: {matchExpressions: [{key: a, operator: In}]}}]}\n",
			"spec.resourceSelectors[0].labelSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
		},
		"preemption names its resources": {
			"PropagationPolicy\nspec: {preemption: Always, resourceSelectors: [{apiVersion: v1, kind: K}]}\n",
			"spec.resourceSelectors[0].name: Required value: every selector must name its resource when preemption is Always",
		},
		"preemption is one of two": {
			policy("preemption: Sometimes"),
			`spec.preemption: Unsupported value: "Sometimes": supported values: "Always", "Never"`,
		},
		"a conflict is resolved": {
			policy("conflictResolution: Ask"),
			`spec.conflictResolution: Unsupported value: "Ask": supported values: "Abort", "Overwrite"`,
		},
		"activation is lazy or not": {
			policy("activationPreference: Eager"),
			`spec.activationPreference: Unsupported value: "Eager": supported values: "Lazy"`,
		},
		"a priority has a source": {
			policy("schedulePriority: {priorityClassName: high}"),
			`spec.schedulePriority.priorityClassSource: Required value`,
		},
		"a priority has a class": {
			policy("schedulePriority: {priorityClassSource: KubePriorityClass}"),
			`spec.schedulePriority.priorityClassName: Required value`,
		},
		"suspended twice": {
			policy("suspension: {dispatching: true, dispatchingOnClusters: {clusterNames: [a]}}"),
			`spec.suspension: Invalid value: "dispatching: true": dispatching and dispatchingOnClusters are mutually exclusive`,
		},
		"suspended on some clusters": {policy("suspension: {dispatching: false, dispatchingOnClusters: {clusterNames: [a]}}"), ""},

		"affinity and affinities": {
			policy("placement: {clusterAffinity: {}, clusterAffinities: [{affinityName: a}]}"),
			on + ".clusterAffinities: Forbidden: clusterAffinity and clusterAffinities are mutually exclusive",
		},
		"a field selector's key": {
			policy("placement: {clusterAffinity: {fieldSelector: {matchExpressions: [{key: city, operator: In, values: [a]}]}}}"),
			on + `.clusterAffinity.fieldSelector.matchExpressions[0].key: Unsupported value: "city": supported values: "provider", "region", "zone"`,
		},
		"a field selector's operator": {
			policy("placement: {clusterAffinity: {fieldSelector: {matchExpressions: [{key: zone, operator: Exists}]}}}"),
			on + `.clusterAffinity.fieldSelector.matchExpressions[0].operator: Unsupported value: "Exists": supported values: "In", "NotIn"`,
		},
		"a cluster selector's label": {
			policy("placement: {clusterAffinity: {labelSelector: {matchLabels: {a: b c}}}}"),
			on + `.clusterAffinity.labelSelector.matchLabels: Invalid value: "b c": ` + labelValueRule,
		},
		"a group has a name": {
			policy("placement: {clusterAffinities: [{affinityName: ''}]}"),
			on + ".clusterAffinities[0].affinityName: Required value",
		},
		"a group has a short name": {
			policy("placement: {clusterAffinities: [{affinityName: " + strings.Repeat("a", 33) + "}]}"),
			on + `.clusterAffinities[0].affinityName: Invalid value: "` + strings.Repeat("a", 33) + `": must be no more than 32 characters`,
		},
		"a group has a label's name": {
			policy("placement: {clusterAffinities: [{affinityName: a b}]}"),
			on + `.clusterAffinities[0].affinityName: Invalid value: "a b": ` + labelKeyRule,
		},
		"a group has a name of its own": {
			policy("placement: {clusterAffinities: [{affinityName: a}, {affinityName: a}]}"),
			on + `.clusterAffinities[1].affinityName: Duplicate value: "a"`,
		},
		"a group's own selector": {
			policy("placement: {clusterAffinities: [{affinityName: a, fieldSelector: {matchExpressions: [{key: zone, operator: Gt}]}}]}"),
			on + `.clusterAffinities[0].fieldSelector.matchExpressions[0].operator: Unsupported value: "Gt": supported values: "In", "NotIn"`,
		},
		"overflow of divided replicas": {
			policy("placement: {replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Aggregated}, clusterAffinities: [{affinityName: a, clusterNames: [x], overflowAffinities: [{affinityName: b, clusterNames: [w]}]}]}"),
			"",
		},
		"overflow by dynamic weight": {
			policy("placement: {replicaScheduling: {weightPreference: {dynamicWeight: AvailableReplicas}}, clusterAffinities: [{affinityName: a, clusterNames: [x], overflowAffinities: [{affinityName: b, exclude: [w]}]}]}"),
			"",
		},
		"overflow of duplicates": {
			policy("placement: {clusterAffinities: [{affinityName: a, clusterNames: [x], overflowAffinities: [{affinityName: b, clusterNames: [w]}]}]}"),
			on + ".clusterAffinities[0].overflowAffinities: Forbidden: replicas must be Divided, and Aggregated or weighted by AvailableReplicas",
		},
		"overflow by static weight": {
			policy("placement: {replicaScheduling: {}, clusterAffinities: [{affinityName: a, clusterNames: [x], overflowAffinities: [{affinityName: b, clusterNames: [w]}]}]}"),
			on + ".clusterAffinities[0].overflowAffinities: Forbidden: replicas must be Divided, and Aggregated or weighted by AvailableReplicas",
		},
		"overflow of a group of any cluster": {
			policy("placement: {replicaScheduling: {replicaDivisionPreference: Aggregated}, clusterAffinities: [{affinityName: a, overflowAffinities: [{affinityName: b}]}]}"),
			on + ".clusterAffinities[0]: Required value: a group with overflow must select clusters",
		},
		"overflow under the same name": {
			policy("placement: {replicaScheduling: {replicaDivisionPreference: Aggregated}, clusterAffinities: [{affinityName: a, clusterNames: [x], overflowAffinities: [{affinityName: a, clusterNames: [w]}]}]}"),
			on + `.clusterAffinities[0].overflowAffinities[0].affinityName: Duplicate value: "a"`,
		},
		"overflow twice under the same name": {
			policy("placement: {replicaScheduling: {replicaDivisionPreference: Aggregated}, clusterAffinities: [{affinityName: a, clusterNames: [x], overflowAffinities: [{affinityName: b, clusterNames: [w]}, {affinityName: b, clusterNames: [z]}]}]}"),
			on + `.clusterAffinities[0].overflowAffinities[1].affinityName: Duplicate value: "b"`,
		},
		"spread by field and label": {
			policy("placement: {spreadConstraints: [{spreadByField: cluster, spreadByLabel: a}]}"),
			on + `.spreadConstraints[0].spreadByLabel: Invalid value: "a": spreadByField and spreadByLabel are mutually exclusive`,
		},
		"spread by label alone": {policy("placement: {spreadConstraints: [{spreadByLabel: a}]}"), ""},
		"spread by an unknown field": {
			policy("placement: {spreadConstraints: [{}, {spreadByField: rack}]}"),
			on + `.spreadConstraints[1].spreadByField: Unsupported value: "rack": supported values: "cluster", "region", "zone", "provider"`,
		},
		"spread over fewer than nothing": {
			policy("placement: {spreadConstraints: [{minGroups: -1, maxGroups: -2}]}"),
			on + ".spreadConstraints[0].minGroups: Invalid value: -1: must be 0 or more\n" + on + ".spreadConstraints[0].maxGroups: Invalid value: -2: must be 0 or more",
		},
		"spread over too few": {
			policy("placement: {spreadConstraints: [{minGroups: 3, maxGroups: 2}]}"),
			on + ".spreadConstraints[0].maxGroups: Invalid value: 2: must not be less than minGroups; 0 sets no limit",
		},
		"spread without a limit": {policy("placement: {spreadConstraints: [{minGroups: 3}]}"), ""},
		"spread twice by the same field": {
			policy("placement: {spreadConstraints: [{}, {spreadByField: cluster}]}"),
			on + `.spreadConstraints[1].spreadByField: Duplicate value: "cluster"`,
		},
		"spread by region alone": {
			policy("placement: {spreadConstraints: [{spreadByField: region}]}"),
			on + `.spreadConstraints: Invalid value: ["region"]: who spreads by field must also spread by cluster`,
		},
		"spread by region and cluster": {policy("placement: {spreadConstraints: [{spreadByField: region}, {}]}"), ""},
		"an unknown scheduling type": {
			policy("placement: {replicaScheduling: {replicaSchedulingType: Split}}"),
			on + `.replicaScheduling.replicaSchedulingType: Unsupported value: "Split": supported values: "Duplicated", "Divided"`,
		},
		"an unknown division": {
			policy("placement: {replicaScheduling: {replicaDivisionPreference: Fair}}"),
			on + `.replicaScheduling.replicaDivisionPreference: Unsupported value: "Fair": supported values: "Aggregated", "Weighted"`,
		},
		"an unknown weight": {
			policy("placement: {replicaScheduling: {weightPreference: {dynamicWeight: Load}}}"),
			on + `.replicaScheduling.weightPreference.dynamicWeight: Unsupported value: "Load": supported values: "AvailableReplicas"`,
		},
		"a weight of nothing": {
			policy("placement: {replicaScheduling: {weightPreference: {staticWeightList: [{targetCluster: {}, weight: 0}]}}}"),
			on + `.replicaScheduling.weightPreference.staticWeightList[0].weight: Invalid value: 0: must be 1 or more`,
		},
		"a weight's own selector": {
			policy("placement: {replicaScheduling: {weightPreference: {staticWeightList: [{targetCluster: {fieldSelector: {matchExpressions: [{key: '', operator: ''}]}}, weight: 1}]}}}"),
			on + ".replicaScheduling.weightPreference.staticWeightList[0].targetCluster.fieldSelector.matchExpressions[0].key: Required value\n" + on + ".replicaScheduling.weightPreference.staticWeightList[0].targetCluster.fieldSelector.matchExpressions[0].operator: Required value",
		},
		"workloads together and apart": {
			policy("placement: {workloadAffinity: {affinity: {groupByLabelKey: a}, antiAffinity: {groupByLabelKey: b}}}"),
			"",
		},
		"workloads together by a bad key": {
			policy("placement: {workloadAffinity: {affinity: {groupByLabelKey: a b}}}"),
			on + `.workloadAffinity.affinity.groupByLabelKey: Invalid value: "a b": ` + labelKeyRule,
		},
		"workloads apart by a bad key": {
			policy("placement: {workloadAffinity: {antiAffinity: {groupByLabelKey: a b}}}"),
			on + `.workloadAffinity.antiAffinity.groupByLabelKey: Invalid value: "a b": ` + labelKeyRule,
		},
		"workloads both together and apart": {
			policy("placement: {workloadAffinity: {affinity: {groupByLabelKey: a}, antiAffinity: {groupByLabelKey: a}}}"),
			on + `.workloadAffinity.antiAffinity.groupByLabelKey: Invalid value: "a": must differ from that of affinity`,
		},
		"failover takes dependencies along": {
			policy("failover: {application: {decisionConditions: {}}}"),
			"spec.propagateDeps: Invalid value: false: must be true when failover.application is set",
		},
		"failover with defaults": {
			policy("propagateDeps: true, failover: {application: {decisionConditions: {}}, cluster: {}}"),
			"",
		},
		"failover after less than nothing": {
			policy("propagateDeps: true, failover: {application: {decisionConditions: {tolerationSeconds: -1}}}"),
			"spec.failover.application.decisionConditions.tolerationSeconds: Invalid value: -1: must be 0 or more",
		},
		"a start-up that takes less than nothing": {
			policy("propagateDeps: true, failover: {application: {decisionConditions: {startupSeconds: -1}}}"),
			"spec.failover.application.decisionConditions.startupSeconds: Invalid value: -1: must be 0 or more",
		},
		"a pace of less than nothing": {
			policy("propagateDeps: true, failover: {application: {decisionConditions: {}, pace: {maxFailovers: -1}}}"),
			"spec.failover.application.pace.maxFailovers: Invalid value: -1: must be 0 or more",
		},
		"a pace that no history covers": {
			policy("propagateDeps: true, failover: {application: {decisionConditions: {}, pace: {maxFailovers: 17, windowSeconds: 60}}}"),
			"spec.failover.application.pace.maxFailovers: Invalid value: 17: must be 16 or less",
		},
		"a return in an unknown way": {
			policy("failover: {cluster: {failback: {mode: Sometimes}}}"),
			`spec.failover.cluster.failback.mode: Unsupported value: "Sometimes": supported values: "Never", "Automatic"`,
		},
		"a return before it is possible": {
			policy("failover: {cluster: {failback: {mode: Automatic, stabilizationSeconds: -1}}}"),
			"spec.failover.cluster.failback.stabilizationSeconds: Invalid value: -1: must be 0 or more",
		},
		"an unknown reconnect strategy": {
			policy("failover: {cluster: {reconnect: KeepBoth}}"),
			`spec.failover.cluster.reconnect: Unsupported value: "KeepBoth": supported values: "KeepReplacement", "KeepOriginal", "KeepHealthiest"`,
		},
		"a reconnect strategy": {policy("failover: {cluster: {reconnect: KeepOriginal}}"), ""},
		"a return by itself":   {policy("failover: {cluster: {failback: {mode: Automatic}}}"), ""},
		"failover in an unknown way": {
			policy("propagateDeps: true, failover: {application: {decisionConditions: {}, purgeMode: Immediately}}"),
			`spec.failover.application.purgeMode: Unsupported value: "Immediately": supported values: "Directly", "Gracefully", "Never"`,
		},
		"failover that never purges": {
			policy("propagateDeps: true, failover: {application: {decisionConditions: {}, purgeMode: Never}}"),
			"",
		},
		"grace without a graceful purge": {
			policy("propagateDeps: true, failover: {application: {decisionConditions: {}, purgeMode: Directly, gracePeriodSeconds: 5}}"),
			"spec.failover.application.gracePeriodSeconds: Invalid value: 5: only with purgeMode Gracefully",
		},
		"grace of nothing": {
			policy("propagateDeps: true, failover: {application: {decisionConditions: {}, gracePeriodSeconds: 0}}"),
			"spec.failover.application.gracePeriodSeconds: Invalid value: 0: must be more than 0",
		},
		"grace for a failed cluster": {policy("failover: {cluster: {gracePeriodSeconds: 30}}"), ""},
		"grace for a failed cluster without a graceful purge": {
			policy("failover: {cluster: {purgeMode: Directly, gracePeriodSeconds: 30}}"),
			"spec.failover.cluster.gracePeriodSeconds: Invalid value: 30: only with purgeMode Gracefully",
		},
		"grace of nothing for a failed cluster": {
			policy("failover: {cluster: {gracePeriodSeconds: 0}}"),
			"spec.failover.cluster.gracePeriodSeconds: Invalid value: 0: must be more than 0",
		},
		"a gradual handover":                 {policy("failover: {cluster: {handover: Gradual}}"), ""},
		"a handover as a whole, immediately": {policy("failover: {cluster: {purgeMode: Directly, handover: Whole}}"), ""},
		"a handover in an unknown way": {
			policy("failover: {cluster: {handover: Slowly}}"),
			`spec.failover.cluster.handover: Unsupported value: "Slowly": supported values: "Whole", "Gradual"`,
		},
		"a gradual handover of what is purged immediately": {
			policy("failover: {cluster: {purgeMode: Directly, handover: Gradual}}"),
			`spec.failover.cluster.handover: Invalid value: "Gradual": only with purgeMode Gracefully`,
		},
		"a gradual handover of what is never purged": {
			policy("propagateDeps: true, failover: {application: {decisionConditions: {}, purgeMode: Never, handover: Gradual}}"),
			`spec.failover.application.handover: Invalid value: "Gradual": only with purgeMode Gracefully`,
		},
		"a failed cluster is always purged": {
			policy("failover: {cluster: {purgeMode: Never}}"),
			`spec.failover.cluster.purgeMode: Unsupported value: "Never": supported values: "Directly", "Gracefully"`,
		},
		"preserved state has a label": {
			policy("failover: {cluster: {statePreservation: {rules: [{aliasLabelName: a b, jsonPath: .x}]}}}"),
			`spec.failover.cluster.statePreservation.rules[0].aliasLabelName: Invalid value: "a b": ` + labelKeyRule,
		},
		"preserved state has a path": {
			policy("propagateDeps: true, failover: {application: {decisionConditions: {}, statePreservation: {rules: [{aliasLabelName: a, jsonPath: ''}]}}}"),
			`spec.failover.application.statePreservation.rules[0].jsonPath: Required value`,
		},
		"everything wrong is found in one go": {
			policy("preemption: Now, conflictResolution: Later"),
			"spec.preemption: Unsupported value: \"Now\": supported values: \"Always\", \"Never\"\nspec.conflictResolution: Unsupported value: \"Later\": supported values: \"Abort\", \"Overwrite\"",
		},
	} {
		t.Run(name, func(t *testing.T) { requireFindings(t, c.text, c.want, c.want) })
	}
}
