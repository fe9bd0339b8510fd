// Package budget holds the rules of EvictionBudgets: which workloads one is about, how many of their
// replicas have to serve, and whether an eviction may go.
//
// Source of the numbers: Kubernetes' PodDisruptionBudget, whose controller rounds percentages up.
package budget

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"leeward/messages"
	"leeward/messages/api"
)

// Workload is what selects a workload.
type Workload struct {
	// Namespace is empty for what is cluster-scoped.
	Namespace string
	Labels    map[string]string
	Priority  int32
}

// Selects reports whether a budget is about a workload. A label selector that cannot be read, which admission
// refuses, selects nothing.
func Selects(b *messages.Budget, w Workload) bool {
	s := &b.Spec.Workloads
	switch own := b.Name.Namespace(); {
	case own != "" && own != w.Namespace,
		len(s.Namespaces) > 0 && !slices.Contains(s.Namespaces, w.Namespace),
		s.MinPriority != nil && w.Priority < *s.MinPriority,
		s.MaxPriority != nil && w.Priority > *s.MaxPriority:
		return false
	}
	if s.LabelSelector == nil {
		return true
	}
	selector, err := metav1.LabelSelectorAsSelector(s.LabelSelector)
	return err == nil && selector.Matches(labels.Set(w.Labels))
}

// Desired is how many of so many expected replicas have to serve.
func Desired(b *api.EvictionBudgetSpec, expected int64) int64 {
	switch {
	case b.MinAvailable != nil:
		return of(b.MinAvailable, expected)
	case b.MaxUnavailable != nil:
		return max(0, expected-of(b.MaxUnavailable, expected))
	default:
		return 0
	}
}

// of is so many of all, percentages rounded up; what cannot be read, which admission refuses, is none.
func of(portion *intstr.IntOrString, all int64) int64 {
	n, err := intstr.GetScaledValueFromIntOrPercent(portion, int(all), true)
	if err != nil {
		return 0
	}
	return int64(n)
}

// Account is what a budget counts, of one workload or of all together.
type Account struct {
	// Expected replicas must exist, Healthy of them serve.
	Expected, Healthy int64
	// Moved were let go within the window, and Pending more that have not left yet.
	Moves   Window
	Pending int64
}

// Allowed is how many replicas that serve may stop serving.
func (a *Account) Allowed(b *api.EvictionBudgetSpec) int64 {
	allowed := max(0, a.Healthy-Desired(b, a.Expected))
	if b.MaxMoved != nil {
		allowed = min(allowed, max(0, of(&b.MaxMoved.Replicas, a.Expected)-a.Moves.Sum()-a.Pending))
	}
	return allowed
}

// Cost is what an eviction costs.
type Cost struct {
	// Takes is how many replicas stop serving by it, Moves how many are placed elsewhere.
	Takes, Moves int64
}

// Objection is what a budget has against an eviction.
type Objection struct {
	// Message says what; empty: nothing.
	Message string
	// Never is set where it would have that against it, too, if every replica served and none had moved.
	Never bool
	// Until is when enough moves have left the window; zero: time does not end it.
	Until time.Time
}

// Judge asks a budget about an eviction. What takes nothing away is never kept for minAvailable or
// maxUnavailable: not what does not serve, and not what serves until its replacement does.
func Judge(b *api.EvictionBudgetSpec, a *Account, e Cost) Objection {
	desired := Desired(b, a.Expected)
	if e.Takes > 0 && a.Healthy-e.Takes < desired {
		v := Objection{Message: fmt.Sprintf("%d of %d replicas available, %d required; the eviction takes %d immediately", a.Healthy, a.Expected, desired, e.Takes)}
		if v.Never = a.Expected-e.Takes < desired; v.Never {
			v.Message = fmt.Sprintf("the eviction takes %d of %d replicas immediately, and %d are required", e.Takes, a.Expected, desired)
		}
		return v
	}
	if b.MaxMoved == nil || e.Moves == 0 {
		return Objection{}
	}
	limit, window := of(&b.MaxMoved.Replicas, a.Expected), Span(b.MaxMoved)
	if e.Moves > limit {
		return Objection{Never: true, Message: fmt.Sprintf("the eviction moves %d replicas, and at most %d of %d may move within %s", e.Moves, limit, a.Expected, window)}
	}
	if moved := a.Moves.Sum() + a.Pending; moved+e.Moves > limit {
		return Objection{
			Message: fmt.Sprintf("%d replicas moved of at most %d within %s; the eviction moves %d", moved, limit, window, e.Moves),
			Until:   a.Moves.allowedAt(limit-a.Pending-e.Moves, window),
		}
	}
	return Objection{}
}

// Span is the window of a budget.
func Span(m *api.MaxMoved) time.Duration { return time.Duration(m.WindowSeconds) * time.Second }

// Move is how many replicas were let go at an instant.
type Move struct {
	At       time.Time
	Replicas int64
}

// Window are the moves of the latest span of time, oldest first, no two of one instant.
type Window []Move

// Sum is how many replicas moved.
func (w Window) Sum() (n int64) {
	for _, m := range w {
		n += m.Replicas
	}
	return n
}

// Add counts moves of now, which must not be before any other.
func (w *Window) Add(now time.Time, replicas int64) {
	if last := len(*w) - 1; last >= 0 && (*w)[last].At.Equal(now) {
		(*w)[last].Replicas += replicas
		return
	}
	*w = append(*w, Move{now, replicas})
}

// Forget drops what was a span or longer ago.
func (w *Window) Forget(now time.Time, span time.Duration) {
	for len(*w) > 0 && !(*w)[0].At.Add(span).After(now) {
		*w = (*w)[1:]
	}
}

// Ends is when the oldest move leaves the window; zero: there is none.
func (w Window) Ends(span time.Duration) time.Time {
	if len(w) == 0 {
		return time.Time{}
	}
	return w[0].At.Add(span)
}

// allowedAt is when no more than so many replicas remain in the window; zero: never.
func (w Window) allowedAt(most int64, span time.Duration) (at time.Time) {
	if most < 0 {
		return time.Time{}
	}
	for moved := w.Sum(); moved > most; w = w[1:] {
		moved, at = moved-w[0].Replicas, w.Ends(span)
	}
	return at
}
