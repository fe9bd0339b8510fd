package budget_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"leeward/actors/rules/budget"
	"leeward/messages"
	"leeward/messages/api"
)

var now = time.Date(2026, time.January, 1, 12, 0, 0, 0, time.UTC)

func portion(text string) *intstr.IntOrString { return new(intstr.Parse(text)) }

func available(text string) api.EvictionBudgetSpec {
	return api.EvictionBudgetSpec{MinAvailable: portion(text)}
}

func unavailable(text string) api.EvictionBudgetSpec {
	return api.EvictionBudgetSpec{MaxUnavailable: portion(text)}
}

// moving lets so many replicas move in ten minutes.
func moving(text string) api.EvictionBudgetSpec {
	return api.EvictionBudgetSpec{MaxMoved: &api.MaxMoved{Replicas: intstr.Parse(text), WindowSeconds: 600}}
}

func TestSelects(t *testing.T) {
	gold := map[string]string{"tier": "gold"}
	ofGold := &metav1.LabelSelector{MatchLabels: gold}
	unreadable := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: "Maybe"}}}
	for _, c := range []struct {
		name     string
		budget   messages.BudgetName
		selector api.WorkloadSelector
		workload budget.Workload
		want     bool
	}{
		{"a budget is about all of its namespace", "shop/all", api.WorkloadSelector{}, budget.Workload{Namespace: "shop"}, true},
		{"and of no other", "shop/all", api.WorkloadSelector{}, budget.Workload{Namespace: "bank"}, false},
		{"nor of none", "shop/all", api.WorkloadSelector{}, budget.Workload{}, false},
		{"a wide one is about all namespaces", "all", api.WorkloadSelector{}, budget.Workload{Namespace: "bank"}, true},
		{"and none", "all", api.WorkloadSelector{}, budget.Workload{}, true},
		{"unless it names some", "all", api.WorkloadSelector{Namespaces: []string{"shop", "bank"}}, budget.Workload{Namespace: "bank"}, true},
		{"others are not meant", "all", api.WorkloadSelector{Namespaces: []string{"shop"}}, budget.Workload{Namespace: "bank"}, false},
		{"labels that match", "all", api.WorkloadSelector{LabelSelector: ofGold}, budget.Workload{Labels: gold}, true},
		{"labels that do not", "all", api.WorkloadSelector{LabelSelector: ofGold}, budget.Workload{}, false},
		{"a selector that cannot be read", "all", api.WorkloadSelector{LabelSelector: unreadable}, budget.Workload{Labels: gold}, false},
		{"a tier begins at its least priority", "all", api.WorkloadSelector{MinPriority: new(int32(5))}, budget.Workload{Priority: 5}, true},
		{"below is another", "all", api.WorkloadSelector{MinPriority: new(int32(5))}, budget.Workload{Priority: 4}, false},
		{"it ends at its highest", "all", api.WorkloadSelector{MaxPriority: new(int32(5))}, budget.Workload{Priority: 5}, true},
		{"above is another", "all", api.WorkloadSelector{MaxPriority: new(int32(5))}, budget.Workload{Priority: 6}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &messages.Budget{Name: c.budget, Spec: &api.EvictionBudgetSpec{Workloads: c.selector}}
			require.Equal(t, c.want, budget.Selects(b, c.workload))
		})
	}
}

func TestDesired(t *testing.T) {
	for _, c := range []struct {
		name     string
		spec     api.EvictionBudgetSpec
		expected int64
		want     int64
	}{
		{"a number is itself", available("3"), 10, 3},
		{"even of fewer", available("3"), 2, 3},
		{"a percentage is rounded up", available("50%"), 5, 3},
		{"also of more than 32 bits hold", available("50%"), 4 * math.MaxInt32, 2 * math.MaxInt32},
		{"of nothing it is nothing", available("50%"), 0, 0},
		{"what may be missing comes off", unavailable("3"), 10, 7},
		{"down to nothing", unavailable("3"), 2, 0},
		{"rounded up, too", unavailable("10%"), 5, 4},
		{"none may be missing", unavailable("0%"), 5, 5},
		{"a number that is none has no effect", available("x"), 5, 0},
		{"moves ask for nobody to serve", moving("1"), 5, 0},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, budget.Desired(&c.spec, c.expected)) })
	}
}

func TestJudge(t *testing.T) {
	moved := budget.Window{{At: now.Add(-9 * time.Minute), Replicas: 2}, {At: now.Add(-time.Minute), Replicas: 1}}
	most := budget.Window{{At: now.Add(-time.Minute), Replicas: math.MaxInt32}, {At: now, Replicas: math.MaxInt32}}
	for _, c := range []struct {
		name     string
		spec     api.EvictionBudgetSpec
		account  budget.Account
		eviction budget.Cost
		want     budget.Objection
		allowed  int64
	}{
		{"enough go on serving", available("4"), budget.Account{Expected: 6, Healthy: 6}, budget.Cost{Takes: 2}, budget.Objection{}, 2},
		{"one too few would", available("5"), budget.Account{Expected: 6, Healthy: 6}, budget.Cost{Takes: 2},
			budget.Objection{Never: true, Message: "the eviction takes 2 of 6 replicas immediately, and 5 are required"}, 1},
		{"they would if all served", available("4"), budget.Account{Expected: 6, Healthy: 5}, budget.Cost{Takes: 2},
			budget.Objection{Message: "5 of 6 replicas available, 4 required; the eviction takes 2 immediately"}, 1},
		{"what does not serve may go whatever serves", available("4"), budget.Account{Expected: 6, Healthy: 1}, budget.Cost{Moves: 2}, budget.Objection{}, 0},
		{"none may be missing", unavailable("0"), budget.Account{Expected: 2, Healthy: 2}, budget.Cost{Takes: 1},
			budget.Objection{Never: true, Message: "the eviction takes 1 of 2 replicas immediately, and 2 are required"}, 0},
		{"moves have room", moving("4"), budget.Account{Expected: 9, Healthy: 9, Moves: moved}, budget.Cost{Moves: 1}, budget.Objection{}, 1},
		{"or have it when one has left the window", moving("4"), budget.Account{Expected: 9, Healthy: 9, Moves: moved}, budget.Cost{Moves: 2},
			budget.Objection{Message: "3 replicas moved of at most 4 within 10m0s; the eviction moves 2", Until: now.Add(time.Minute)}, 1},
		{"or both", moving("4"), budget.Account{Expected: 9, Healthy: 9, Moves: moved}, budget.Cost{Moves: 4},
			budget.Objection{Message: "3 replicas moved of at most 4 within 10m0s; the eviction moves 4", Until: now.Add(9 * time.Minute)}, 1},
		{"those that have not left yet count", moving("4"), budget.Account{Expected: 9, Healthy: 9, Moves: moved[1:], Pending: 3}, budget.Cost{Moves: 1},
			budget.Objection{Message: "4 replicas moved of at most 4 within 10m0s; the eviction moves 1", Until: now.Add(9 * time.Minute)}, 0},
		{"and time does not end them", moving("4"), budget.Account{Expected: 9, Healthy: 9, Pending: 4}, budget.Cost{Moves: 1},
			budget.Objection{Message: "4 replicas moved of at most 4 within 10m0s; the eviction moves 1"}, 0},
		{"a share of moves", moving("10%"), budget.Account{Expected: 11, Healthy: 11}, budget.Cost{Moves: 3},
			budget.Objection{Never: true, Message: "the eviction moves 3 replicas, and at most 2 of 11 may move within 10m0s"}, 2},
		{"two of the largest workloads are more than 32 bits hold", available("1"), budget.Account{Expected: 2 * math.MaxInt32, Healthy: 2 * math.MaxInt32}, budget.Cost{Takes: math.MaxInt32},
			budget.Objection{}, 2*math.MaxInt32 - 1},
		{"and so may they move", moving("100%"), budget.Account{Expected: 2 * math.MaxInt32, Healthy: 2 * math.MaxInt32, Moves: most[:1], Pending: 1}, budget.Cost{Moves: math.MaxInt32},
			budget.Objection{Message: "2147483648 replicas moved of at most 4294967294 within 10m0s; the eviction moves 2147483647", Until: now.Add(9 * time.Minute)}, math.MaxInt32 - 1},
		{"all that moved counts", moving("100%"), budget.Account{Expected: 2 * math.MaxInt32, Healthy: 2 * math.MaxInt32, Moves: most}, budget.Cost{Moves: 1},
			budget.Objection{Message: "4294967294 replicas moved of at most 4294967294 within 10m0s; the eviction moves 1", Until: now.Add(9 * time.Minute)}, 0},
		{"what moves nothing needs no room", moving("0"), budget.Account{Expected: 3, Healthy: 3}, budget.Cost{Takes: 1}, budget.Objection{}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, budget.Judge(&c.spec, &c.account, c.eviction))
			require.Equal(t, c.allowed, c.account.Allowed(&c.spec))
		})
	}
}

func TestWindow(t *testing.T) {
	const span = time.Minute
	var w budget.Window
	require.Zero(t, w.Ends(span))
	w.Add(now, 2)
	w.Add(now, 3)
	w.Add(now.Add(time.Second), 1)
	require.Equal(t, budget.Window{{At: now, Replicas: 5}, {At: now.Add(time.Second), Replicas: 1}}, w)
	require.Equal(t, int64(6), w.Sum())
	require.Equal(t, now.Add(span), w.Ends(span))
	w.Forget(now.Add(span-1), span)
	require.Len(t, w, 2)
	w.Forget(now.Add(span), span)
	require.Equal(t, int64(1), w.Sum())
}
