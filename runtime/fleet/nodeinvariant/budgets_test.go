package nodeinvariant_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"leeward/messages"
	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/nodeinvariant"
)

// budgetOf is budget d/b of all pods, with minAvailable, or maxUnavailable where that is negative.
func budgetOf(available string) *policyv1.PodDisruptionBudget {
	p := intstr.Parse(available)
	b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: "b"}, Spec: policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{}, MinAvailable: &p}}
	return b
}

func unavailable(n string) *policyv1.PodDisruptionBudget {
	b := budgetOf(n)
	b.Spec.MinAvailable, b.Spec.MaxUnavailable = nil, b.Spec.MinAvailable
	return b
}

func isReady(p *corev1.Pod) {
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
}

// two are ready pods d/p and d/q of deployment web, under a budget.
func two(b *policyv1.PodDisruptionBudget, options ...func(*corev1.Pod)) step {
	options = append(options, isReady)
	return step{become: []metav1.Object{node("n1"), pod("p", "n1", options...), pod("q", "n1", options...), b}, facts: append(registered("n1"), created("d/p", web), created("d/q", web))}
}

// apiEvicts has the Eviction API delete a pod.
func apiEvicts(at int, name string) step {
	return step{at: seconds(at), become: []metav1.Object{pod(name, "n1", isReady, terminating)}, facts: []messages.Fact{
		&messages.PodDeletionRequested{Pod: messages.NamePod("d", name), Node: "n1", Eviction: true}, created(messages.PodName("d/new-"+name), web),
	}}
}

func TestBudgetsAreCountedByFactsAlone(t *testing.T) {
	unreadyThen := func(name string) step {
		return step{at: seconds(1), become: []metav1.Object{pod(name, "n1")}, facts: []messages.Fact{&messages.PodPhaseChanged{Pod: messages.NamePod("d", name), Phase: corev1.PodRunning}}}
	}
	both := apiEvicts(1, "p")
	other := apiEvicts(1, "q")
	both.become, both.facts = append(both.become, other.become...), append(both.facts, other.facts...)
	for name, c := range map[string]struct {
		history []step
		broken  bool
	}{
		"the budget can spare one":                     {history: []step{two(budgetOf("1")), apiEvicts(1, "p")}},
		"it cannot spare a second one":                 {history: []step{two(budgetOf("1")), apiEvicts(1, "p"), apiEvicts(2, "q")}, broken: true},
		"nor in the same instant":                      {history: []step{two(budgetOf("1")), both}, broken: true},
		"it can spare none":                            {history: []step{two(budgetOf("2")), apiEvicts(1, "p")}, broken: true},
		"a share of what the owner must have":          {history: []step{two(budgetOf("50%")), apiEvicts(1, "p")}},
		"a share is rounded up":                        {history: []step{two(budgetOf("51%")), apiEvicts(1, "p")}, broken: true},
		"one may be unavailable":                       {history: []step{two(unavailable("1")), apiEvicts(1, "p")}},
		"one may be, and is":                           {history: []step{two(unavailable("1")), unreadyThen("q"), apiEvicts(2, "p")}, broken: true},
		"a pod that is not ready costs nothing":        {history: []step{two(budgetOf("2")), unreadyThen("q"), func() step { s := apiEvicts(2, "q"); s.become = []metav1.Object{pod("q", "n1", terminating)}; return s }()}},
		"a pod that another deletes is no eviction":    {history: []step{two(budgetOf("2")), {at: seconds(1), become: []metav1.Object{pod("p", "n1", isReady, terminating)}, facts: []messages.Fact{&messages.PodDeletionRequested{Pod: "d/p", Cause: "by a user"}, created("d/r", web)}}}},
		"a budget without a bound can spare none":      {history: []step{two(func() *policyv1.PodDisruptionBudget { b := budgetOf("1"); b.Spec.MinAvailable = nil; return b }()), apiEvicts(1, "p")}, broken: true},
		"a budget without a selector is about nothing": {history: []step{two(func() *policyv1.PodDisruptionBudget { b := budgetOf("2"); b.Spec.Selector = nil; return b }()), apiEvicts(1, "p")}},
	} {
		t.Run(name, func(t *testing.T) {
			settings, err := config.Profile("leeward")
			require.NoError(t, err)
			got := broken(t, &settings, map[messages.OwnerName]int{web: 2}, c.history)
			if c.broken {
				require.Contains(t, got, nodeinvariant.BudgetKept)
			} else {
				require.NotContains(t, got, nodeinvariant.BudgetKept)
			}
		})
	}
}

func TestAPodIsNotLateWhileItsBudgetCannotSpareIt(t *testing.T) {
	settings, err := config.Profile("leeward")
	require.NoError(t, err)
	tainted := step{at: time.Second, become: []metav1.Object{node("n1", tainted("k", noExecute, time.Second))}, facts: []messages.Fact{taints("n1", "k", noExecute, time.Second, "by a user")}}
	freed := step{at: 2 * time.Second, become: []metav1.Object{budgetOf("0")}, facts: []messages.Fact{&messages.PodBudgetChanged{Budget: "d/b"}}}
	late := func() []nodeinvariant.Name {
		return broken(t, &settings, map[messages.OwnerName]int{web: 2}, []step{two(budgetOf("2")), tainted})
	}
	require.Contains(t, late(), nodeinvariant.NeverLate, "without the setting")
	settings.PodEvictionsHonourBudgets = true
	require.NotContains(t, late(), nodeinvariant.NeverLate)
	require.Contains(t, broken(t, &settings, map[messages.OwnerName]int{web: 2}, []step{two(budgetOf("2")), tainted, freed}), nodeinvariant.NeverLate, "the budget can spare both")
}
