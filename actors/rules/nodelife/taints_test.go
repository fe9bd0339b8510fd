package nodelife_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"leeward/actors/rules/nodelife"
	"leeward/actors/rules/taint"
)

func conditions(pairs ...string) (list []corev1.NodeCondition) {
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, corev1.NodeCondition{Type: corev1.NodeConditionType(pairs[i]), Status: corev1.ConditionStatus(pairs[i+1])})
	}
	return list
}

func parsed(t *testing.T, specs ...string) []corev1.Taint {
	t.Helper()
	if len(specs) == 0 {
		return nil
	}
	c, err := taint.Parse(specs)
	require.NoError(t, err)
	return c.Add
}

func written(taints []corev1.Taint) (specs []string) {
	for i := range taints {
		specs = append(specs, taint.String(&taints[i]))
	}
	return specs
}

func TestConditionsAskForNoScheduleTaints(t *testing.T) {
	const k = "node.kubernetes.io/"
	for name, c := range map[string]struct {
		taints, conditions   []string
		unschedulable        bool
		add, remove, because []string
	}{
		"a ready node asks for nothing": {conditions: []string{"Ready", "True", "MemoryPressure", "False"}},
		"no condition at all":           {},
		"not ready": {
			conditions: []string{"Ready", "False"}, add: []string{k + "not-ready:NoSchedule"}, because: []string{"Ready=False"},
		},
		"silent": {
			conditions: []string{"Ready", "Unknown"}, add: []string{k + "unreachable:NoSchedule"}, because: []string{"Ready=Unknown"},
		},
		"unknown pressure asks for nothing": {conditions: []string{"MemoryPressure", "Unknown", "DiskPressure", "Unknown", "PIDPressure", "Unknown", "NetworkUnavailable", "Unknown"}},
		"every pressure, in the same order whatever the order of the conditions": {
			conditions: []string{"PIDPressure", "True", "NetworkUnavailable", "True", "DiskPressure", "True", "MemoryPressure", "True"},
			add:        []string{k + "memory-pressure:NoSchedule", k + "disk-pressure:NoSchedule", k + "network-unavailable:NoSchedule", k + "pid-pressure:NoSchedule"},
			because:    []string{"MemoryPressure=True", "DiskPressure=True", "NetworkUnavailable=True", "PIDPressure=True"},
		},
		"not ready, and without a network": {
			conditions: []string{"NetworkUnavailable", "True", "Ready", "False"}, taints: []string{"mine=yes:NoSchedule"},
			add: []string{k + "not-ready:NoSchedule", k + "network-unavailable:NoSchedule"}, because: []string{"Ready=False", "NetworkUnavailable=True"},
		},
		"cordoned": {
			conditions: []string{"Ready", "True"}, unschedulable: true,
			add: []string{k + "unschedulable:NoSchedule"}, because: []string{"spec.unschedulable"},
		},
		"uncordoned": {
			taints: []string{k + "unschedulable:NoSchedule"},
			remove: []string{k + "unschedulable:NoSchedule"}, because: []string{"spec.unschedulable"},
		},
		"what is there stays": {
			taints: []string{k + "not-ready:NoSchedule"}, conditions: []string{"Ready", "False"},
		},
		"what is there stays, with the value that a user gave it": {
			taints: []string{k + "not-ready=mine:NoSchedule"}, conditions: []string{"Ready", "False"},
		},
		"the same key with another effect is not enough": {
			taints: []string{k + "not-ready:NoExecute"}, conditions: []string{"Ready", "False"}, add: []string{k + "not-ready:NoSchedule"}, because: []string{"Ready=False"},
		},
		"from False to Unknown": {
			taints: []string{k + "not-ready:NoSchedule"}, conditions: []string{"Ready", "Unknown"},
			add: []string{k + "unreachable:NoSchedule"}, because: []string{"Ready=Unknown", "Ready=Unknown"}, remove: []string{k + "not-ready:NoSchedule"},
		},
		"written by hand, with a value": {
			taints: []string{k + "disk-pressure=mine:NoSchedule", "mine:NoSchedule"}, conditions: []string{"Ready", "True"},
			remove: []string{k + "disk-pressure:NoSchedule"}, because: []string{"no condition DiskPressure"},
		},
		"the same keys with other effects are not touched": {
			taints: []string{k + "memory-pressure:NoExecute", k + "memory-pressure:PreferNoSchedule", k + "not-ready:NoExecute"}, conditions: []string{"Ready", "True"},
		},
		"out-of-disk is an ordinary key": {
			taints: []string{k + "out-of-disk:NoSchedule"}, conditions: []string{"OutOfDisk", "False", "Ready", "True"},
		},
		"the taint of a new node goes while it has no Ready condition": {
			taints: []string{k + "not-ready:NoSchedule"},
			remove: []string{k + "not-ready:NoSchedule"}, because: []string{"no condition Ready"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := nodelife.NoSchedule(parsed(t, c.taints...), conditions(c.conditions...), c.unschedulable)
			require.Equal(t, c.add, written(got.Add))
			require.Equal(t, c.remove, written(got.Remove))
			require.Equal(t, c.because, got.Because)
		})
	}
}

func TestReadyAsksForANoExecuteTaint(t *testing.T) {
	const notReady, unreachable = "node.kubernetes.io/not-ready:NoExecute", "node.kubernetes.io/unreachable:NoExecute"
	for name, c := range map[string]struct {
		taints []string
		ready  corev1.ConditionStatus
		step   nodelife.Step
		add    string
	}{
		"a ready node":                        {nil, "True", nodelife.Clear, ""},
		"a recovered node":                    {[]string{unreachable}, "True", nodelife.Clear, ""},
		"a node that failed":                  {nil, "False", nodelife.Queue, "node.kubernetes.io/not-ready"},
		"a node that fell silent":             {nil, "Unknown", nodelife.Queue, "node.kubernetes.io/unreachable"},
		"silent after it failed":              {[]string{notReady}, "Unknown", nodelife.Exchange, "node.kubernetes.io/unreachable"},
		"heard of again, and not ready":       {[]string{unreachable}, "False", nodelife.Exchange, "node.kubernetes.io/not-ready"},
		"both, for a moment":                  {[]string{unreachable, notReady}, "False", nodelife.Exchange, "node.kubernetes.io/not-ready"},
		"tainted already":                     {[]string{notReady}, "False", nodelife.Stay, "node.kubernetes.io/not-ready"},
		"no Ready condition":                  {[]string{notReady}, "", nodelife.Stay, ""},
		"a NoSchedule taint is no NoExecute":  {[]string{"node.kubernetes.io/unreachable:NoSchedule"}, "Unknown", nodelife.Queue, "node.kubernetes.io/unreachable"},
		"a status that is none of the three":  {nil, "Perhaps", nodelife.Stay, ""},
		"taints of users change nothing":      {[]string{"maintenance:NoExecute"}, "False", nodelife.Queue, "node.kubernetes.io/not-ready"},
		"nor is a taint of a user in the way": {[]string{"maintenance:NoExecute"}, "True", nodelife.Clear, ""},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.step, nodelife.StepOf(parsed(t, c.taints...), c.ready))
			require.Equal(t, c.add, nodelife.NoExecute(c.ready).Add)
		})
	}
	require.Equal(t, corev1.ConditionUnknown, nodelife.Ready(conditions("DiskPressure", "True", "Ready", "Unknown")))
	require.Empty(t, nodelife.Ready(nil))
}
