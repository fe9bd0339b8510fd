package admission_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"

	"leeward/messages/admission"
)

// What says where a pod runs is refused as the API server does, in a pod and in a template.
func TestWhereAPodRunsIsValid(t *testing.T) {
	const affinity = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
	const spread = "spec.topologySpreadConstraints[0]."
	for name, c := range map[string]struct{ spec, want string }{
		"nothing": {"", ""},
		"all of it": {
			"nodeName: n1, nodeSelector: {pool: a}, affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: In, values: [b]}]}]}, " +
				"preferredDuringSchedulingIgnoredDuringExecution: [{weight: 100, preference: {matchExpressions: [{key: a, operator: Exists}]}}]}}, " +
				"topologySpreadConstraints: [{maxSkew: 1, minDomains: 2, topologyKey: z, whenUnsatisfiable: DoNotSchedule, nodeTaintsPolicy: Honor, labelSelector: {matchLabels: {a: b}}}]", "",
		},
		"a node name":     {"nodeName: 'Bad Name'", "spec.nodeName: "},
		"a node selector": {"nodeSelector: {'bad key!': x}", "spec.nodeSelector: "},
		"no term": {
			"affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}", affinity + ": Required value: must have at least one node selector term",
		},
		"an operator": {
			"affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Foo}]}]}}}",
			affinity + `[0].matchExpressions[0].operator: Unsupported value: "Foo"`,
		},
		"a weight": {
			"affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 101, preference: {matchExpressions: [{key: a, operator: Exists}]}}]}}",
			"spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 101: must be in the range 1-100",
		},
		"a skew":        {"topologySpreadConstraints: [{topologyKey: z, whenUnsatisfiable: DoNotSchedule}]", spread + "maxSkew: Invalid value: 0: must be greater than zero"},
		"no key":        {"topologySpreadConstraints: [{maxSkew: 1, whenUnsatisfiable: DoNotSchedule}]", spread + "topologyKey: Required value: can not be empty"},
		"an action":     {"topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: Perhaps}]", spread + `whenUnsatisfiable: Unsupported value: "Perhaps"`},
		"no domains":    {"topologySpreadConstraints: [{maxSkew: 1, minDomains: 0, topologyKey: z, whenUnsatisfiable: DoNotSchedule}]", spread + "minDomains: Invalid value: 0: must be greater than zero"},
		"soft domains":  {"topologySpreadConstraints: [{maxSkew: 1, minDomains: 1, topologyKey: z, whenUnsatisfiable: ScheduleAnyway}]", spread + "minDomains: Invalid value: 1: can only use minDomains if"},
		"a policy":      {"topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule, nodeAffinityPolicy: Foo}]", spread + `nodeAffinityPolicy: Unsupported value: "Foo"`},
		"twice":         {"topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule}, {maxSkew: 2, topologyKey: z, whenUnsatisfiable: DoNotSchedule}]", "spec.topologySpreadConstraints[1].{topologyKey, whenUnsatisfiable}: Duplicate value"},
		"a request":     {"containers: [{name: c, resources: {requests: {cpu: '-1'}}}]", "spec.containers[0].resources.requests[cpu]: "},
		"an init limit": {"containers: [], initContainers: [{name: c, resources: {requests: {cpu: 2}, limits: {cpu: 1}}}]", "spec.initContainers[0].resources.requests[cpu]: "},
	} {
		t.Run(name, func(t *testing.T) {
			p := pod(t, c.spec)
			if c.want == "" {
				require.Empty(t, findings(p, nil, karmada()))
				return
			}
			require.True(t, strings.HasPrefix(findings(p, nil, karmada()), c.want), findings(p, nil, karmada()))
			require.Empty(t, findings(p, p.DeepCopy(), karmada()), "what is there already is not judged again")
			d := read(t, "Deployment\nspec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: []}}}\n").(*appsv1.Deployment)
			d.Spec.Template.Spec = p.Spec
			require.Contains(t, findings(d, nil, karmada()), strings.Replace(c.want, "spec.", "spec.template.spec.", 1))
		})
	}
}

func TestANodeOffersNoNegativeAmounts(t *testing.T) {
	for _, list := range []string{"capacity", "allocatable"} {
		n := read(t, "Node\nstatus: {"+list+": {cpu: '-4', pods: 1}}\n").(*corev1.Node)
		require.Equal(t, "status."+list+`[cpu]: Invalid value: "-4": must be 0 or more`, admission.Validate(n, nil, karmada()).ToAggregate().Error())
	}
}

func TestALeaseLasts(t *testing.T) {
	lease := func(seconds, transitions int32) string {
		l := &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{LeaseDurationSeconds: &seconds, LeaseTransitions: &transitions}}
		l.Namespace, l.Name = "kube-node-lease", "n1"
		return findings(l, nil, karmada())
	}
	require.Empty(t, lease(40, 0))
	require.Equal(t, "spec.leaseDurationSeconds: Invalid value: -4: must be greater than 0", lease(-4, 0))
	require.Equal(t, "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0", lease(40, -1))
}
