package disruption_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"leeward/actors/rules/disruption"
)

var now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// budget has minAvailable, or with "max " before it maxUnavailable, as in a manifest; empty: neither.
func budget(bound string) *policyv1.PodDisruptionBudget {
	b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: "b"}}
	var portion string
	switch {
	case bound == "":
		return b
	case len(bound) > 4 && bound[:4] == "max ":
		portion = bound[4:]
		p := intstr.Parse(portion)
		b.Spec.MaxUnavailable = &p
	default:
		p := intstr.Parse(bound)
		b.Spec.MinAvailable = &p
	}
	return b
}

// pods are the ready ones, and then those that are not, of an owner.
func pods(owner string, ready, unready int) (list []disruption.Pod) {
	for i := range ready + unready {
		list = append(list, disruption.Pod{Name: fmt.Sprintf("%s-%d", owner, i), Owner: owner, Ready: i < ready})
	}
	return list
}

func scales(of map[string]int32) func(string) (int32, bool) {
	return func(owner string) (int32, bool) { n, known := of[owner]; return n, known }
}

func TestPodsAreCountedAsTheDisruptionControllerDoes(t *testing.T) {
	web := map[string]int32{"web": 10}
	for name, c := range map[string]struct {
		bound string
		pods  []disruption.Pod
		scale map[string]int32
		want  disruption.Counts
	}{
		"a number of available pods counts the pods there are":         {"2", pods("web", 3, 0), web, disruption.Counts{Expected: 3, Healthy: 3, Desired: 2, Allowed: 1}},
		"fewer healthy pods than that allow nothing":                   {"2", pods("web", 1, 4), web, disruption.Counts{Expected: 5, Healthy: 1, Desired: 2}},
		"a percentage counts what owners must have, rounded up":        {"75%", pods("web", 9, 0), web, disruption.Counts{Expected: 10, Healthy: 9, Desired: 8, Allowed: 1}},
		"a number of unavailable pods counts what owners must have":    {"max 1", pods("web", 9, 1), web, disruption.Counts{Expected: 10, Healthy: 9, Desired: 9}},
		"a percentage of unavailable pods is rounded up, too":          {"max 25%", pods("web", 10, 0), web, disruption.Counts{Expected: 10, Healthy: 10, Desired: 7, Allowed: 3}},
		"more unavailable pods than there are need none":               {"max 20", pods("web", 4, 0), web, disruption.Counts{Expected: 10, Healthy: 4, Allowed: 4}},
		"several owners are added up, each once":                       {"max 1", append(pods("web", 2, 0), pods("db", 2, 0)...), map[string]int32{"web": 2, "db": 3}, disruption.Counts{Expected: 5, Healthy: 4, Desired: 4}},
		"a pod without an owner adds nothing to a percentage":          {"50%", pods("", 3, 0), web, disruption.Counts{Healthy: 3}},
		"a pod without an owner counts for a number":                   {"2", pods("", 3, 0), web, disruption.Counts{Expected: 3, Healthy: 3, Desired: 2, Allowed: 1}},
		"an owner without a scale is a problem for a percentage":       {"50%", pods("daemon", 3, 0), web, disruption.Counts{Healthy: 3, Problem: `found no controllers for pod "daemon-0"`}},
		"and none for a number":                                        {"1", pods("daemon", 3, 0), web, disruption.Counts{Expected: 3, Healthy: 3, Desired: 1, Allowed: 2}},
		"a budget without bounds expects nothing and allows nothing":   {"", pods("web", 3, 0), web, disruption.Counts{Healthy: 3}},
		"no pods allow nothing":                                        {"0", nil, web, disruption.Counts{}},
		"a pod that is being deleted is not healthy":                   {"0", []disruption.Pod{{Name: "p", Ready: true, Terminating: true}, {Name: "q", Ready: true}}, nil, disruption.Counts{Expected: 2, Healthy: 1, Allowed: 1}},
		"owners beyond the range of the API are bounded":               {"max 1", append(pods("web", 1, 0), pods("db", 1, 0)...), map[string]int32{"web": 1<<31 - 1, "db": 1<<31 - 1}, disruption.Counts{Expected: 1<<31 - 1, Healthy: 2, Desired: 1<<31 - 2}},
		"a percentage of the largest number of pods does not overflow": {"100%", pods("web", 1, 0), map[string]int32{"web": 1<<31 - 1}, disruption.Counts{Expected: 1<<31 - 1, Healthy: 1, Desired: 1<<31 - 1}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, disruption.Count(now, budget(c.bound), slices.Values(c.pods), scales(c.scale)))
			slices.Reverse(c.pods)
			require.Equal(t, c.want, disruption.Count(now, budget(c.bound), slices.Values(c.pods), scales(c.scale)), "in another order")
		})
	}
}

func TestADisruptedPodDoesNotCountForTwoMinutes(t *testing.T) {
	b := budget("1")
	b.Status.DisruptedPods = map[string]metav1.Time{"web-0": {Time: now}}
	healthy := func(after time.Duration) int32 {
		return disruption.Count(now.Add(after), b, slices.Values(pods("web", 2, 0)), scales(nil)).Healthy
	}
	require.EqualValues(t, 1, healthy(0))
	require.EqualValues(t, 1, healthy(2*time.Minute-1))
	require.EqualValues(t, 2, healthy(2*time.Minute))
	require.Equal(t, now.Add(2*time.Minute), disruption.Recheck(now, b))
	require.Zero(t, disruption.Recheck(now.Add(2*time.Minute), b))
}

func TestWhatABudgetSelects(t *testing.T) {
	for name, c := range map[string]struct {
		selector *metav1.LabelSelector
		want     bool
	}{
		"nothing without a selector":      {nil, false},
		"everything with an empty one":    {&metav1.LabelSelector{}, true},
		"pods with the labels":            {&metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, true},
		"no pods that have others":        {&metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}}, false},
		"pods that meet the requirements": {&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpExists}}}, true},
	} {
		s, err := disruption.Selector(&policyv1.PodDisruptionBudgetSpec{Selector: c.selector})
		require.NoError(t, err, name)
		require.Equal(t, c.want, s.Matches(labels.Set{"app": "web"}), name)
	}
}

// pod is running and ready, unless an option says otherwise.
func pod(options ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}}
	for _, o := range options {
		o(p)
	}
	return p
}

func unready(p *corev1.Pod)     { p.Status.Conditions[0].Status = corev1.ConditionFalse }
func terminating(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: now} }
func inPhase(phase corev1.PodPhase) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Status.Phase = phase }
}

func TestWhatTheEvictionAPIRefuses(t *testing.T) {
	const needs = "The disruption budget b needs %d healthy pods and has %d currently"
	always, ifHealthy := budget("2"), budget("2")
	always.Spec.UnhealthyPodEvictionPolicy = new(policyv1.AlwaysAllow)
	ifHealthy.Spec.UnhealthyPodEvictionPolicy = new(policyv1.IfHealthyBudget)
	of := func(b *policyv1.PodDisruptionBudget, c disruption.Counts) disruption.Budget {
		return disruption.Budget{Object: b, Counts: c}
	}
	spent := disruption.Counts{Expected: 3, Healthy: 2, Desired: 2}
	short := disruption.Counts{Expected: 3, Healthy: 1, Desired: 2}
	violates := func(desired, healthy int) *disruption.Refusal {
		return &disruption.Refusal{Error: disruption.Violates, Later: true, Budget: "b", Detail: fmt.Sprintf(needs, desired, healthy)}
	}
	for name, c := range map[string]struct {
		pod     *corev1.Pod
		budgets []disruption.Budget
		unready bool
		want    *disruption.Refusal
	}{
		"a pod without a budget goes":                         {pod: pod()},
		"a pod that the budget can spare goes":                {pod: pod(), budgets: []disruption.Budget{of(budget("2"), disruption.Counts{Expected: 3, Healthy: 3, Desired: 2, Allowed: 1})}},
		"a pod that it cannot spare stays":                    {pod: pod(), budgets: []disruption.Budget{of(budget("2"), spent)}, want: violates(2, 2)},
		"a pod with two budgets is an error":                  {pod: pod(), budgets: []disruption.Budget{of(budget("2"), spent), of(budget("2"), spent)}, want: &disruption.Refusal{Error: disruption.Several}},
		"a pending pod goes":                                  {pod: pod(inPhase(corev1.PodPending)), budgets: []disruption.Budget{of(budget("2"), spent)}},
		"a pod that has succeeded goes":                       {pod: pod(inPhase(corev1.PodSucceeded)), budgets: []disruption.Budget{of(budget("2"), spent)}},
		"a pod that has failed goes, two budgets or not":      {pod: pod(inPhase(corev1.PodFailed)), budgets: []disruption.Budget{of(budget("2"), spent), of(budget("2"), spent)}},
		"a pod that is being deleted may be deleted again":    {pod: pod(terminating), budgets: []disruption.Budget{of(budget("2"), spent)}},
		"an unready pod goes while the others suffice":        {pod: pod(unready), budgets: []disruption.Budget{of(budget("2"), spent)}},
		"an unready pod stays while the others do not":        {pod: pod(unready), budgets: []disruption.Budget{of(ifHealthy, short)}, want: violates(2, 1)},
		"an unready pod stays where none must be healthy":     {pod: pod(unready), budgets: []disruption.Budget{of(budget("0"), disruption.Counts{Expected: 1})}, want: violates(0, 0)},
		"an unready pod goes with AlwaysAllow":                {pod: pod(unready), budgets: []disruption.Budget{of(always, short)}},
		"a ready pod stays with AlwaysAllow":                  {pod: pod(), budgets: []disruption.Budget{of(always, short)}, want: violates(2, 1)},
		"an unready pod goes where the client says so":        {pod: pod(unready), budgets: []disruption.Budget{of(budget("2"), short)}, unready: true},
		"a ready pod stays all the same":                      {pod: pod(), budgets: []disruption.Budget{of(budget("2"), short)}, unready: true, want: violates(2, 1)},
		"a pod without the condition Ready counts as unready": {pod: &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning}}, budgets: []disruption.Budget{of(always, short)}},
		"a budget that cannot be computed allows nothing": {pod: pod(), budgets: []disruption.Budget{of(budget("2"), disruption.Counts{Problem: "no scale"})}, want: &disruption.Refusal{
			Error: disruption.Violates, Later: true, Budget: "b", Detail: "The disruption budget b does not allow evicting pods currently because it failed sync: no scale",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, disruption.Evict(c.pod, c.budgets, c.unready))
		})
	}
}
