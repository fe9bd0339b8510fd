package rehearsal

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/spelling"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/nodetier"
	"leeward/runtime/fleet/world"
	"leeward/runtime/kernel"
)

// NodeHorizon is how far a rehearsal with nodes looks ahead.
const NodeHorizon = time.Hour

// PodMove is a pod that would be evicted.
type PodMove struct {
	Pod  messages.PodName
	Node messages.NodeName
	// After is how long after the change; Why says for which taint, by which toleration.
	After time.Duration
	Why   string
}

// PodMoves are what a change of nodes would lead to.
type PodMoves struct {
	// Evicted are the pods that would be evicted, in the order of time and name.
	Evicted []PodMove
	// Replaced counts the pods that would be bound to each node in the place of others.
	Replaced map[messages.NodeName]int
	// Pending are the pods that no node would take at the end, each with the scheduler's explanation.
	Pending map[messages.PodName]string
	// Blocked are the pods that a drain could not evict until the end, each with its node and what their budgets say.
	Blocked map[messages.PodName]PodMove
}

// Nodes plays changes of nodes on a copy of one cluster: its nodes, its pods and what keeps them up. Kubelets are simulated. It looks
// NodeHorizon ahead.
func Nodes(ctx context.Context, f Fleet, edits ...*messages.EditNode) (*PodMoves, error) {
	return playNodes(ctx, f, edits, (*nodetier.Tier).Edit)
}

// Drains plays drains of nodes on such a copy, all at the same time.
func Drains(ctx context.Context, f Fleet, o *messages.DrainOptions, nodes ...messages.NodeName) (*PodMoves, error) {
	return playNodes(ctx, f, nodes, func(t *nodetier.Tier, n messages.NodeName) error { return t.Drain(n, o, "by a user") })
}

// playNodes plays what is done to a copy of a cluster, each act in turn.
func playNodes[T any](ctx context.Context, f Fleet, acts []T, do func(*nodetier.Tier, T) error) (*PodMoves, error) {
	moves := &PodMoves{Replaced: map[messages.NodeName]int{}, Pending: map[messages.PodName]string{}, Blocked: map[messages.PodName]PodMove{}}
	begun := false
	w := world.New(world.Config{Settings: f.Settings, Seed: f.Seed, Start: f.Now, Order: kernel.FIFO, Nodes: true, Hear: func(at time.Time, fact messages.Fact) {
		moves.hear(at.Sub(f.Now), fact, begun)
	}})
	defer w.Close()
	defer context.AfterFunc(ctx, w.Interrupt)()
	if err := settleObjects(w, f.Objects); err != nil {
		return nil, err
	}
	if err := w.Settle(f.Now); err != nil {
		return nil, err
	}
	begun = true
	for _, a := range acts {
		if err := do(w.Nodes(), a); err != nil {
			return nil, err
		}
	}
	if err := w.Settle(f.Now); err != nil {
		return nil, err
	}
	if err := w.EachDue(ctx, f.Now.Add(NodeHorizon), w.Settle); err != nil {
		return nil, err
	}
	slices.SortStableFunc(moves.Evicted, func(a, b PodMove) int { return cmp.Or(cmp.Compare(a.After, b.After), cmp.Compare(a.Pod, b.Pod)) })
	return moves, nil
}

// settleObjects gives a world the objects of a cluster that runs: nodes and pods as they are, then what keeps pods up.
func settleObjects(w *world.World, objects []api.Object) error {
	order := func(o api.Object) int {
		switch o.(type) {
		case *corev1.Node:
			return 0
		case *corev1.Pod:
			return 2
		}
		return 1
	}
	objects = slices.Clone(objects)
	slices.SortStableFunc(objects, func(a, b api.Object) int { return cmp.Compare(order(a), order(b)) })
	for _, o := range objects {
		if err := w.Nodes().Settle(o); err != nil {
			return err
		}
	}
	return nil
}

// hear takes a fact. What happens before the change is no consequence of it, but a pod may be pending before it and after it.
func (m *PodMoves) hear(after time.Duration, f messages.Fact, begun bool) {
	switch f := f.(type) {
	case *messages.PodUnschedulable:
		m.Pending[f.Pod] = f.Message
	case *messages.PodDeleted:
		delete(m.Pending, f.Pod)
		delete(m.Blocked, f.Pod)
	case *messages.PodEvictionBlocked:
		m.Blocked[f.Pod] = PodMove{Pod: f.Pod, Node: f.Node, Why: f.Error + " " + f.Detail}
	case *messages.PodDeletionRequested:
		delete(m.Blocked, f.Pod)
		if begun && strings.HasPrefix(f.Cause, "drain of ") {
			m.Evicted = append(m.Evicted, PodMove{Pod: f.Pod, Node: f.Node, After: after, Why: f.Cause})
		}
	case *messages.PodBound:
		delete(m.Pending, f.Pod)
		if begun {
			m.Replaced[f.Node]++
		}
	case *messages.PodEvicted:
		if begun {
			m.Evicted = append(m.Evicted, PodMove{Pod: f.Pod, Node: f.Node, After: after, Why: journal.PodEvictionGrounds(f)})
		}
	}
}

// String sums the moves up in a line.
func (m *PodMoves) String() string {
	bound := 0
	for _, n := range m.Replaced { // order-free: a sum
		bound += n
	}
	return fmt.Sprintf("%s would be evicted within %s, %d bound elsewhere, %d pending at the end", spelling.Count(len(m.Evicted), "pod"), NodeHorizon, bound, len(m.Pending))
}
