package shrink

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"leeward/messages"
	"leeward/runtime/fleet/world"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/expect"
	"leeward/runtime/scenario/replay"
)

// trying says of smaller scenarios whether they fail in the same way.
type trying struct {
	ctx    context.Context
	config *Config
	// want is what fails, and expected the expectations of it.
	want     []string
	expected set
	// most is how many facts a try may have; short is set where a try may end early.
	most  int
	short bool
}

// A scenario that is smaller and has many more facts is none that a user would rather read.
const (
	moreFacts = 4
	someFacts = 10_000
)

func newTrying(ctx context.Context, c *Config, want []string, run *replay.Run) *trying {
	t := &trying{ctx: ctx, config: c, want: want, expected: set{}, most: moreFacts*len(run.Events) + someFacts, short: true}
	for i, e := range run.Expectations {
		switch {
		case e.Passed:
		case i < len(c.Scenario.Expect):
			t.expected[said(&c.Scenario.Expect[i], e.Text)] = true
		default:
			t.short = false // an invariant: nothing but the whole run says which are broken
		}
	}
	return t
}

// fails reports whether a scenario fails in the same way. A short run rejects most of those that do not: it has no invariants, and ends
// when what fails is decided, or another expectation fails, or one passes that must fail.
func (t *trying) fails(text []byte) bool {
	if t.ctx.Err() != nil || t.short && !t.decided(text) {
		return false
	}
	return t.whole(text)
}

// alone is the source of a scenario that needs no other file.
func alone() scenario.Source {
	return scenario.Source{
		Read: func(name string) ([]byte, error) { return nil, fmt.Errorf("%s is not part of the file", name) },
		Glob: func(string) ([]string, error) { return nil, nil },
	}
}

// read reads a scenario that needs no other file; nil: it is none.
func (t *trying) read(text []byte) *scenario.Scenario {
	scenarios, problems := alone().Decode(t.config.Scenario.File, text)
	if len(problems) > 0 || len(scenarios) != 1 {
		return nil
	}
	return scenarios[0]
}

// whole runs a scenario to its end. One that cannot be run, or in which a machine panics, fails in another way.
func (t *trying) whole(text []byte) bool {
	return t.same(text, func(*scenario.Scenario, *replay.Options) {})
}

// decided runs a scenario until its verdicts are known.
func (t *trying) decided(text []byte) bool {
	return t.same(text, func(s *scenario.Scenario, o *replay.Options) {
		var facts func() int
		must := make([]bool, len(s.Expect))
		for i := range s.Expect {
			must[i] = t.expected[said(&s.Expect[i], s.Expect[i].String())]
		}
		o.Unwatched = true
		o.Begun = func(w *world.World) { facts = w.Journal().Len }
		o.Enough = func(c *expect.Checker) bool {
			open := false
			for i := range must {
				decided, passed := c.Verdict(i)
				if decided && passed == must[i] {
					return true
				}
				open = open || !decided
			}
			return !open || facts() > t.most
		}
	})
}

// same runs a scenario and compares what fails. A run that ended early fails in another way by the expectations that it left.
func (t *trying) same(text []byte, options func(*scenario.Scenario, *replay.Options)) (is bool) {
	defer func() {
		if recover() != nil {
			is = false
		}
	}()
	s := t.read(text)
	if s == nil {
		return false
	}
	o := replay.Options{Seed: t.config.Seed}
	options(s, &o)
	run, err := replay.PlayContext(t.ctx, s, o)
	return err == nil && slices.Equal(failures(s, run), t.want)
}

// failures are what fails in a run, in order, such that two runs fail in the same way if they have the same: the expectation, why it
// failed but for names and numbers, and the kinds of facts about its object until then. Without the latter, an eviction
// that does not happen would not happen without an outage either.
func failures(s *scenario.Scenario, run *replay.Run) (all []string) {
	for i, e := range run.Expectations {
		switch {
		case e.Passed:
		case i >= len(s.Expect): // an invariant
			all = append(all, e.Text)
		default:
			of := &s.Expect[i]
			event := eventOf(of)
			sign := said(of, e.Text) + "\n" + shape(e.Reason)
			if event == nil || strings.Contains(e.Reason, "did not happen") {
				until := run.Start.Add(time.Duration(e.At * float64(time.Second)))
				sign += "\n" + strings.Join(kinds(run, objectOf(of, event), until), " ")
			}
			all = append(all, sign)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// said is an expectation without where it is written.
func said(e *expect.Expectation, text string) string {
	return strings.TrimSuffix(text, " ("+e.Source+")")
}

// eventOf is the event that an expectation is about; nil: it is about a state.
func eventOf(e *expect.Expectation) *expect.Event {
	event, _ := e.Subject.(*expect.Event)
	return event
}

// shape is a reason without what has a name or a number in it.
func shape(reason string) string {
	words := strings.FieldsFunc(reason, func(r rune) bool { return strings.ContainsRune(" ,;\n", r) })
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return strings.ContainsAny(w, "0123456789=/:-\"'") }), " ")
}

// objectOf is the binding or the cluster that an expectation is about; empty: any.
func objectOf(e *expect.Expectation, event *expect.Event) (of messages.HoldScope) {
	if event != nil {
		return messages.HoldScope{Binding: event.Binding, Cluster: event.Cluster}
	}
	state, is := e.Subject.(expect.State)
	if !is {
		return of
	}
	switch key := state.ObjectKey(); key.Kind {
	case "Cluster":
		of.Cluster = messages.ClusterName(key.Name)
	case "ResourceBinding", "ClusterResourceBinding":
		of.Binding = messages.NameBinding(key.Namespace, key.Name)
	}
	return of
}

// kinds are those of the facts about an object until an instant, in order. A binding comes before a cluster.
func kinds(run *replay.Run, of messages.HoldScope, until time.Time) []string {
	all := map[string]bool{}
	for i := range run.Events {
		e := &run.Events[i]
		if e.At.After(until) {
			break
		}
		binding, ofBinding := e.Fact.(messages.AboutBinding)
		cluster, ofCluster := e.Fact.(messages.AboutCluster)
		switch {
		case of.Binding != "":
			all[e.Fact.Kind()] = all[e.Fact.Kind()] || ofBinding && binding.AboutBinding() == of.Binding
		case of.Cluster != "":
			all[e.Fact.Kind()] = all[e.Fact.Kind()] || ofCluster && cluster.AboutCluster() == of.Cluster
		default:
			all[e.Fact.Kind()] = true
		}
	}
	maps.DeleteFunc(all, func(_ string, is bool) bool { return !is })
	return slices.Sorted(maps.Keys(all))
}
