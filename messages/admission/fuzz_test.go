package admission_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"leeward/messages/admission"
	"leeward/messages/api"
	"leeward/messages/manifest"
)

// FuzzAdmission: whatever is decoded can be completed and judged, twice the same; and what passes is
// what the machines rely on.
func FuzzAdmission(f *testing.F) {
	for _, seed := range []string{
		"apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: a}\nspec: {zone: z, taints: [{key: k, effect: NoExecute}, {key: k, effect: NoSchedule}]}\n",
		"apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: a}\nspec: {resourceModels: [{grade: 0, ranges: [{name: cpu, min: 0, max: 9223372036854775807}]}]}\n",
		"apiVersion: policy.karmada.io/v1alpha1\nkind: ClusterTaintPolicy\nmetadata: {name: a}\nspec: {taints: [{key: k, effect: NoSchedule}], addOnConditions: [{conditionType: c, operator: In, statusValues: ['True']}]}\n",
		"apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: a}\nspec: {propagateDeps: true, resourceSelectors: [{apiVersion: v1, kind: K}], failover: {application: {decisionConditions: {}}}, placement: {clusterTolerations: [{key: k, operator: Lt, value: '5'}], spreadConstraints: [{}], replicaScheduling: {weightPreference: {staticWeightList: [{targetCluster: {}, weight: 1}]}}, clusterAffinities: [{affinityName: a, overflowAffinities: [{affinityName: b}]}]}}\n",
		"apiVersion: work.karmada.io/v1alpha2\nkind: ResourceBinding\nmetadata: {name: a}\nspec: {resource: {apiVersion: v1, kind: K, name: o}, clusters: [{name: a, replicas: 1}], gracefulEvictionTasks: [{fromCluster: a, reason: R, producer: p}]}\n",
		"apiVersion: policy.karmada.io/v1alpha1\nkind: FederatedResourceQuota\nmetadata: {name: a}\nspec: {overall: {cpu: 1e3, pods: 1500m}, staticAssignments: [{clusterName: a, hard: {cpu: 2k}}]}\n",
		"apiVersion: policy.karmada.io/v1alpha1\nkind: OverridePolicy\nmetadata: {name: a}\nspec: {overrideRules: [{overriders: {imageOverrider: [{predicate: {path: /x}, component: Tag, operator: add}], fieldOverrider: [{fieldPath: /y, json: [{subPath: /z, operator: add, value: 1}]}]}}]}\n",
		"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replicas: 2, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}}}\n",
		"apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec: {}\n",
		"apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: a}\nspec: {minAvailable: 50%, unhealthyPodEvictionPolicy: AlwaysAllow, selector: {matchExpressions: [{key: a, operator: Exists}]}}\n",
		"apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: a}\nspec: {maxUnavailable: 1, selector: {}}\nstatus: {disruptedPods: {p: '2026-01-01T00:00:00Z'}}\n",
		"apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: a}\nspec: {egress: [{ports: [{port: 1, endPort: 2}], to: [{ipBlock: {cidr: '::/0', except: ['::/1']}}]}]}\n",
		"apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: a}\nspec: {rules: [{host: '*.a', http: {paths: [{path: /, backend: {service: {name: s, port: {name: p}}}}]}}], tls: [{hosts: [a], secretName: s}]}\n",
		"apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: a}\nspec: {maxReplicas: 3, metrics: [{type: Pods, pods: {target: {averageValue: 1}}}]}\n",
		"apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: 'a:b'}\nroleRef: {kind: ClusterRole, name: r}\nsubjects: [{kind: ServiceAccount, name: s, namespace: n}]\n",
		"apiVersion: v1\nkind: LimitRange\nmetadata: {name: a}\nspec: {limits: [{type: Pod, max: {cpu: 1}, min: {cpu: 1}}]}\n",
		"apiVersion: v1\nkind: Node\nmetadata: {name: a}\nspec: {taints: [{key: k, effect: NoExecute}, {key: k, value: v, effect: PreferNoSchedule}]}\n",
		"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [], tolerations: [{key: k, operator: Lt, value: '5', effect: NoExecute, tolerationSeconds: -1}, {operator: Exists}]}\n",
	} {
		f.Add([]byte(seed), true, true)
	}
	f.Fuzz(func(t *testing.T, data []byte, strict, numeric bool) {
		s := karmada()
		s.ValidateTolerations, s.NumericTolerations = strict, numeric
		documents, _ := manifest.Decode("f.yaml", data)
		for _, d := range documents {
			first := findings(d.Object, nil, s)
			if numeric || !comparesNumbers(d.Object) {
				require.Equal(t, first, findings(d.Object, d.Object, s))
			}
			require.Len(t, d.Invalid(admission.Validate(d.Object, nil, s)), len(admission.Validate(d.Object, nil, s)))
			if first == "" {
				requireSound(t, d.Object)
			}
		}
	})
}

// comparesNumbers reports whether a pod has a toleration with Lt or Gt, which an update may keep where a new pod may not have it.
func comparesNumbers(o api.Object) bool {
	pod, is := o.(*corev1.Pod)
	return is && slices.ContainsFunc(pod.Spec.Tolerations, func(t corev1.Toleration) bool {
		return t.Operator == corev1.TolerationOpLt || t.Operator == corev1.TolerationOpGt
	})
}

func requireSound(t *testing.T, o api.Object) {
	t.Helper()
	require.Equal(t, admission.Namespaced(o), o.GetNamespace() != "")
	switch o := o.(type) {
	case *api.Cluster:
		requireSoundTaints(t, o.Spec.Taints)
	case *api.ClusterTaintPolicy:
		for _, taint := range o.Spec.Taints {
			require.NotEqual(t, corev1.TaintEffectNoExecute, taint.Effect)
		}
	case *api.PropagationPolicy:
		for _, r := range o.Spec.ResourceSelectors {
			require.Equal(t, o.Namespace, r.Namespace)
		}
		requireSoundPlacement(t, &o.Spec.Placement)
	case *api.ClusterPropagationPolicy:
		requireSoundPlacement(t, &o.Spec.Placement)
	}
}

func requireSoundTaints(t *testing.T, taints []corev1.Taint) {
	t.Helper()
	for i, taint := range taints {
		require.Contains(t, []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute}, taint.Effect)
		require.False(t, taint.Effect == corev1.TaintEffectNoExecute && taint.TimeAdded == nil)
		require.False(t, slices.ContainsFunc(taints[:i], func(other corev1.Taint) bool { return other.MatchTaint(&taint) }))
	}
}

func requireSoundPlacement(t *testing.T, p *api.Placement) {
	t.Helper()
	require.False(t, p.ClusterAffinity != nil && len(p.ClusterAffinities) > 0)
	for _, c := range p.SpreadConstraints {
		require.GreaterOrEqual(t, c.MinGroups, 1)
		require.True(t, c.MaxGroups == 0 || c.MaxGroups >= c.MinGroups)
		require.NotEqual(t, c.SpreadByField == "", c.SpreadByLabel == "")
	}
	if r := p.ReplicaScheduling; r != nil {
		require.Contains(t, []api.ReplicaSchedulingType{api.Duplicated, api.Divided}, r.ReplicaSchedulingType)
		require.False(t, r.ReplicaSchedulingType == api.Divided && r.ReplicaDivisionPreference == "")
	}
}
