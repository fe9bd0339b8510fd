package nodeinvariant

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"leeward/messages"
)

// confirmed is how long the Eviction API waits for the deletion of a pod that status.disruptedPods names.
const confirmed = 2 * time.Minute

// counted follows, fact by fact, which pods are ready and which are being deleted.
func (m *Monitor) counted(now time.Time, f messages.Fact) {
	switch f := f.(type) {
	case *messages.PodPhaseChanged:
		if p := m.census.pods[f.Pod]; p != nil {
			p.ready = f.Ready
		}
	case *messages.PodDeletionRequested:
		if p := m.census.pods[f.Pod]; p != nil {
			if f.Eviction && p.ready && !p.terminating {
				m.budgetKept(now, p)
			}
			p.terminating = true
		}
	case *messages.PodDeleted:
		if p := m.census.pods[f.Pod]; p != nil {
			p.gone = true
		}
	case *messages.PodEvictionBlocked:
		if p := m.census.pods[f.Pod]; p != nil && f.By == "taint" {
			delete(m.due.overdue, p)
			m.due.waiting[p] = true
		}
	}
}

// seen takes over how a pod is when the instant is over.
func (p *pod) seen() {
	if p.object != nil {
		p.ready, p.terminating, p.gone = isReady(p.object), p.object.DeletionTimestamp != nil, false
	}
}

func isReady(o *corev1.Pod) bool {
	return slices.ContainsFunc(o.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// budgetKept asks whether each budget of a ready pod can spare it.
func (m *Monitor) budgetKept(now time.Time, p *pod) {
	budgets := m.budgetsOf(p)
	m.check(now, BudgetKept, len(budgets) < 2, ofPod(p.name), "%d budgets select it", len(budgets))
	for _, b := range budgets {
		healthy, desired, known := m.balance(now, b)
		m.check(now, BudgetKept, known && healthy > desired, ofPod(p.name), "budget %s has %d healthy pods and must have %d", b.Name, healthy, desired)
	}
}

// withheld reports whether budgets keep a pod from being evicted for a taint: one does a pod that is ready, and several any.
func (m *Monitor) withheld(now time.Time, p *pod) bool {
	if !m.settings.PodEvictionsHonourBudgets || p.object == nil || p.object.Status.Phase != corev1.PodRunning {
		return false
	}
	budgets := m.budgetsOf(p)
	if len(budgets) > 1 || !isReady(p.object) {
		return len(budgets) > 1
	}
	for _, b := range budgets {
		if healthy, desired, known := m.balance(now, b); !known || healthy <= desired {
			return true
		}
	}
	return false
}

// budgetsOf are the budgets that select a pod.
func (m *Monitor) budgetsOf(p *pod) (of []*policyv1.PodDisruptionBudget) {
	for _, name := range m.objects.Budgets() {
		if b := m.objects.Budget(name); b != nil && m.selects(b, p) {
			of = append(of, b)
		}
	}
	return of
}

func (m *Monitor) selects(b *policyv1.PodDisruptionBudget, p *pod) bool {
	o := p.object
	if o == nil {
		o = m.objects.Pod(p.name)
	}
	if o == nil || o.Namespace != b.Namespace || b.Spec.Selector == nil {
		return false
	}
	s, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	return err == nil && s.Matches(labels.Set(o.Labels))
}

// balance counts how many pods of a budget are healthy, and how many must be; false: that cannot be known.
func (m *Monitor) balance(now time.Time, b *policyv1.PodDisruptionBudget) (healthy, desired int, known bool) {
	owners := map[messages.OwnerName]bool{}
	expected, scaled := 0, true
	for _, p := range m.census.pods { // order-free: they are counted
		if p.gone || !m.selects(b, p) {
			continue
		}
		_, own := p.name.Split()
		if at, listed := b.Status.DisruptedPods[own]; p.ready && !p.terminating && (!listed || now.Sub(at.Time) >= confirmed) {
			healthy++
		}
		if p.owner == "" && (p.object == nil || metav1.GetControllerOf(p.object) == nil) || owners[p.owner] {
			continue
		}
		owners[p.owner] = true
		n, has := m.objects.Replicas(p.owner)
		expected += n
		scaled = scaled && has
	}
	switch minimum, maximum := b.Spec.MinAvailable, b.Spec.MaxUnavailable; {
	case maximum != nil:
		return healthy, max(0, expected-portionOf(maximum, expected)), scaled
	case minimum == nil:
		return healthy, 0, false
	case minimum.Type == intstr.Int:
		return healthy, int(minimum.IntVal), true
	default:
		return healthy, portionOf(minimum, expected), scaled
	}
}

// portionOf is a number, or that share of all, rounded up.
func portionOf(p *intstr.IntOrString, all int) int {
	if p.Type == intstr.Int {
		return int(p.IntVal)
	}
	percent := 0
	for _, digit := range p.StrVal[:len(p.StrVal)-1] {
		percent = 10*percent + int(digit-'0')
	}
	return (all*percent + 99) / 100
}

// awaited looks at the pods that waited for a budget: one that may be evicted now is late.
func (m *Monitor) awaited(now time.Time) {
	waiting := map[messages.PodName]*pod{}
	for p := range m.due.waiting { // order-free: they are sorted
		waiting[p.name] = p
	}
	clear(m.due.waiting)
	for _, name := range slices.Sorted(maps.Keys(waiting)) {
		m.late(now, waiting[name])
	}
}
