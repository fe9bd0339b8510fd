package sweep

import (
	"time"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/store"
	"leeward/runtime/scenario/replay"
)

// Figures are what came of one run, in numbers.
type Figures struct {
	Held   int `json:"held"`
	Failed int `json:"failed"`
	// Evictions are those that started, of workloads from clusters, or of pods from nodes.
	Evictions int `json:"evictions"`
	// Unschedulable are the workloads, or pods, that have too few replicas at the end because nothing can take them.
	Unschedulable int `json:"unschedulable"`
	// Lowest is the smallest share of the replicas that serve users, of those that workloads ask for, once they were all available for
	// the first time; nil: there were none, as in a scenario of nodes.
	Lowest *float64 `json:"lowestAvailability"`
	// Disturbed is set where fewer than all were available at some time. After is how long it took, in seconds, from the first moment
	// until all were available for the last time; nil: they are not at the end.
	Disturbed bool     `json:"disturbed"`
	After     *float64 `json:"availableAfterSeconds"`
}

// Measure reads the figures of a run off its facts.
func Measure(run *replay.Run) Figures {
	f := Figures{Failed: run.Failures()}
	f.Held = len(run.Expectations) - f.Failed
	m := &measure{refused: map[string]bool{}, of: map[messages.BindingName]*served{}}
	for _, o := range run.Objects {
		if b := store.AsBinding(o); b != nil { // until a fact says otherwise: one that exists before the start tells it nowhere else
			m.served(b.Name()).wanted = b.Spec.Replicas
		}
	}
	lowest := 1.0
	var first, again time.Time
	for i := range run.Events {
		e := &run.Events[i]
		m.take(e.Fact)
		if i+1 < len(run.Events) && run.Events[i+1].At.Equal(e.At) {
			continue
		}
		switch available, wanted := m.sum(); {
		case wanted == 0:
		case available < wanted:
			lowest = min(lowest, float64(available)/float64(wanted))
			again = time.Time{}
			if first.IsZero() {
				first = e.At
			}
		case again.IsZero():
			again = e.At
		}
	}
	f.Evictions, f.Unschedulable, f.Disturbed = m.evictions, len(m.refused), !first.IsZero()
	if m.anyServed() {
		f.Lowest = &lowest
	}
	if f.Disturbed && !again.IsZero() {
		f.After = new(again.Sub(first).Seconds())
	}
	return f
}

// served is how many replicas of a workload serve users.
type served struct {
	available, wanted int32
	// whole is set once all were available: what has not started yet is not missed.
	whole bool
}

type measure struct {
	evictions int
	// refused are the workloads and pods that nothing can take.
	refused map[string]bool
	of      map[messages.BindingName]*served
}

func (m *measure) served(b messages.BindingName) *served {
	s := m.of[b]
	if s == nil {
		s = &served{}
		m.of[b] = s
	}
	return s
}

// take follows a fact.
func (m *measure) take(f messages.Fact) {
	switch f := f.(type) {
	case *messages.EvictionStarted, *messages.PodEvicted:
		m.evictions++
	case *messages.AvailabilityChanged:
		m.served(f.Binding).available += f.Available - f.Before
	case *messages.BindingCreated:
		m.served(f.Binding).ask(f.Replicas)
	case *messages.BindingUpdated:
		if f.Spec != nil {
			m.served(f.Binding).ask(f.Spec.Replicas)
		}
	case *messages.BindingDeleted:
		delete(m.of, f.Binding)
		delete(m.refused, string(f.Binding))
	case *messages.Scheduled:
		delete(m.refused, string(f.Binding))
	case *messages.ScheduleFailed:
		if api.IsUnschedulable(f.Reason) {
			m.refused[string(f.Binding)] = true
		}
	case *messages.PodUnschedulable:
		m.refused[string(f.Pod)] = true
	case *messages.PodBound:
		delete(m.refused, string(f.Pod))
	case *messages.PodDeleted:
		delete(m.refused, string(f.Pod))
	}
}

// ask changes how many replicas a workload asks for. More of them must start first.
func (s *served) ask(n int32) {
	s.whole = s.whole && n <= s.wanted
	s.wanted = n
}

// sum is how many replicas serve users, and are asked for, of the workloads that were whole once.
func (m *measure) sum() (available, wanted int) {
	for _, s := range m.of { // order-free: a sum
		s.whole = s.whole || s.wanted > 0 && s.available >= s.wanted
		if s.whole {
			available, wanted = available+int(max(0, min(s.available, s.wanted))), wanted+int(s.wanted)
		}
	}
	return available, wanted
}

// anyServed reports whether any workload was whole.
func (m *measure) anyServed() bool {
	_, wanted := m.sum()
	return wanted > 0
}
