package simulation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"leeward/messages/api"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/world"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/replay"
	"leeward/runtime/scenario/shrink"
)

// Finding is what went wrong with a case.
type Finding struct {
	// Invariant is what does not hold: an invariant of package invariant, or one of those below.
	Invariant string
	// Detail says where and how.
	Detail string
	// Others are invariants of package invariant that the run broke after that one.
	Others []string
}

// What must hold of a run as a whole.
const (
	// Valid: what was drawn is a scenario.
	Valid = "a scenario is valid"
	// Runs: the engine neither panics nor goes round in circles.
	Runs = "a scenario runs to its end"
	// Repeats: two runs of a seed are equal, byte for byte.
	Repeats = "two runs of a seed are equal"
	// Confluent: the order of mailboxes makes no difference to how it ends. It is not asked where the engine dies in
	// the middle of an instant: by then other things are done in another order.
	Confluent = "any order of messages ends the same"
)

// mostMessages is how many an instant may take for each object that a fleet begins with: some tens are usual.
const mostMessages = 1000

// repeated says how many seeds there are to one that is run twice.
const repeated = 8

// Try runs a case, in two orders of mailboxes and now and then twice, and returns the first thing that is
// wrong; nil: nothing is.
func Try(c *Case) *Finding { return TryWith(c, nil) }

// TryWith is Try with something between the machines and what they are sent, made again for each run.
func TryWith(c *Case, tamper func() world.Tamper) *Finding {
	s, err := c.Scenario()
	if err != nil {
		return &Finding{Invariant: Valid, Detail: err.Error()}
	}
	first, wrong := run(s, replay.Options{Seed: c.Seed}, tamper)
	if wrong != nil {
		return wrong
	}
	other, wrong := run(s, replay.Options{Seed: c.Seed, Interleaving: ^c.Seed}, tamper)
	if wrong != nil {
		return wrong
	}
	if difference := endings(first, other); difference != "" && !s.Interrupted() {
		return &Finding{Invariant: Confluent, Detail: difference}
	}
	if c.Seed%repeated == 0 {
		return repeats(s, first, tamper)
	}
	return nil
}

func run(s *scenario.Scenario, o replay.Options, tamper func() world.Tamper) (r *replay.Run, wrong *Finding) {
	defer func() {
		if p := recover(); p != nil {
			wrong = &Finding{Invariant: Runs, Detail: fmt.Sprint("panic: ", p)}
		}
	}()
	o.MaxPerInstant = mostMessages * len(s.Objects)
	if tamper != nil {
		o.Tamper = tamper()
	}
	r, err := replay.Play(s, o)
	var invalid *world.Invalid
	switch {
	case errors.As(err, &invalid):
		return nil, &Finding{Invariant: Valid, Detail: err.Error()}
	case err != nil:
		return nil, &Finding{Invariant: Runs, Detail: err.Error()}
	}
	return r, broken(r)
}

// broken is what a run says of the invariants of package invariant; nil: all held.
func broken(r *replay.Run) (wrong *Finding) {
	for _, e := range r.Expectations {
		name, is := strings.CutPrefix(e.Text, replay.InvariantPrefix)
		switch {
		case !is || e.Passed:
		case wrong == nil:
			at := time.Duration(e.At * float64(time.Second))
			wrong = &Finding{Invariant: name, Detail: fmt.Sprintf("at %s: %s", at, e.Reason)}
		case name != wrong.Invariant && !slices.Contains(wrong.Others, name):
			wrong.Others = append(wrong.Others, name)
		}
	}
	return wrong
}

func repeats(s *scenario.Scenario, first *replay.Run, tamper func() world.Tamper) *Finding {
	again, wrong := run(s, replay.Options{Seed: first.Seed}, tamper)
	if wrong != nil {
		return wrong
	}
	if slices.EqualFunc(first.Events, again.Events, equal) {
		return nil
	}
	if difference := compare(history(first), history(again)); difference != "" {
		return &Finding{Invariant: Repeats, Detail: difference}
	}
	return nil
}

// endings says in what two runs end differently; empty: in nothing. What is equal in memory need not be written down.
func endings(a, b *replay.Run) string {
	if slices.EqualFunc(a.All(), b.All(), alike) {
		return ""
	}
	return compare(ended(a), ended(b))
}

// alike reports whether two objects are the same in memory, but for their resourceVersion.
func alike(a, b api.Object) bool {
	ofA, ofB := a.GetResourceVersion(), b.GetResourceVersion()
	a.SetResourceVersion("")
	b.SetResourceVersion("")
	same := reflect.DeepEqual(a, b)
	a.SetResourceVersion(ofA)
	b.SetResourceVersion(ofB)
	return same
}

// ended are the objects in the end, a line each. Which of an instant's changes came first shows in nothing but
// the resourceVersion.
func ended(r *replay.Run) []string {
	objects := r.All()
	lines := make([]string, len(objects))
	for i, o := range objects {
		o = api.Copy(o)
		o.SetResourceVersion("")
		lines[i] = line(o)
	}
	return lines
}

// equal reports whether two facts are the same in memory, and so in writing.
func equal(a, b journal.Entry) bool {
	return a.At.Equal(b.At) && a.Actor == b.Actor && reflect.DeepEqual(a.Fact, b.Fact)
}

// history are all facts, a line each.
func history(r *replay.Run) []string {
	lines := make([]string, len(r.Events))
	for i := range r.Events {
		e := &r.Events[i]
		lines[i] = e.At.String() + " " + e.Actor.String() + " " + e.Fact.Kind() + " " + line(e.Fact)
	}
	return lines
}

func line(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("simulation: write a %T: %v", v, err))
	}
	return string(bytes.TrimSpace(text))
}

// compare returns the first line in which two lists differ, cut to where they do; empty: in none.
func compare(a, b []string) string {
	for i := range max(len(a), len(b)) {
		switch {
		case i >= len(a):
			return "one more: " + b[i]
		case i >= len(b):
			return "one less: " + a[i]
		case a[i] != b[i]:
			return difference(a[i], b[i])
		}
	}
	return ""
}

// difference shows two texts from shortly before where they part.
func difference(a, b string) string {
	const before, after = 100, 200
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	from := max(0, at-before)
	return fmt.Sprintf("...%s and ...%s of %s", a[from:min(len(a), at+after)], b[from:min(len(b), at+after)], a[:min(len(a), before)])
}

// again is what people do to what counts already, for some of the cases: a taint that is taken off and put on again in one
// instant, so that its time is newer; a policy whose tolerations are edited while they count down; a workload that is scaled
// to zero and back. It comes from dice of its own, so that the rest of a case does not depend on it.
func again(c *Case, workloads int) (steps []mapping) {
	d := newDice(c.Seed ^ 0xa6a1)
	if !d.chance(35) {
		return nil
	}
	at := d.seconds(0, int(c.Duration/time.Second)/2)
	later := at + d.seconds(1, 300)
	switch d.IntN(3) {
	case 0:
		taint := mapping{"cluster": d.someClusters(len(c.Fleet)), "taints": []string{"ours:NoExecute"}}
		return []mapping{step(at, "taint", taint), step(later, "untaint", taint), step(later, "taint", taint)}
	case 1:
		taint := mapping{"cluster": d.someClusters(len(c.Fleet)), "taints": []string{"ours:NoExecute"}}
		edit := step(later, "apply", d.policy(d.IntN(workloads), len(c.Fleet)))
		edit["mayFail"] = true
		return []mapping{step(at, "taint", taint), edit}
	default:
		of := "default/" + workload(d.IntN(workloads))
		return []mapping{
			step(at, "scale", mapping{"workload": of, "replicas": 0}),
			step(later, "scale", mapping{"workload": of, "replicas": d.between(1, 9)}),
		}
	}
}

// mostTries is when a case is small enough: most are as small as they get after some hundred, and one that goes
// round in circles takes long each time.
const mostTries = 400

// Shrink returns a case that breaks the same invariant with as little as it takes: parts are omitted, and numbers
// made smaller, as long as it does. A case without which the invariant holds, or that is no valid scenario, is no
// step. The case is taken apart: draw it again to have it.
func Shrink(c *Case, name string, try func(*Case) *Finding) *Case {
	shrink.Reduce([]*[]any{&c.Timeline, &c.Manifests, &c.Fleet, &c.Config}, mostTries, func() bool {
		f := try(c)
		return f != nil && f.Invariant == name
	})
	return c
}

// removed has a workload, or its policy, deleted and made again, for some of the cases: a workload in one instant, so that what
// was known of it must not outlive it; a policy then or later. Every second time the workload is evicted before that from some
// clusters, to which it would return. It comes from dice of its own, as again.
func removed(c *Case, deployments, policies, others []mapping) (steps []mapping) {
	d := newDice(c.Seed ^ 0xde1e)
	if !d.chance(25) {
		return nil
	}
	i := d.IntN(len(policies))
	at := d.near(others)
	if d.chance(50) {
		taint := mapping{"cluster": d.someClusters(len(c.Fleet)), "taints": []string{"ours:NoExecute"}}
		returns := step(max(0, at-d.seconds(0, 120)), "apply", d.returning(policies[i]))
		returns["mayFail"] = true
		steps = append(steps, returns, step(at, "taint", taint))
		at += d.seconds(0, pick(d, 0, 10, 600))
		if d.chance(80) {
			steps = append(steps, step(at+d.seconds(0, 600), "untaint", taint))
		}
	}
	if d.chance(60) {
		again := step(at, "apply", deployments[i])
		again["mayFail"] = true
		return append(steps, step(at, "delete", mapping{"kind": "Deployment", "name": workload(i)}), again)
	}
	if d.chance(40) { // what the policy asked for last is heard beside what the next one does
		edit := step(at, "apply", d.policy(i, len(c.Fleet)))
		edit["mayFail"] = true
		steps = append(steps, edit)
	}
	again := step(at+d.seconds(0, pick(d, 0, 0, 0, 60, 600)), "apply", policies[i])
	again["mayFail"] = true
	return append(steps, step(at, "delete", mapping{"kind": "PropagationPolicy", "name": workload(i)}), again)
}

// returning is a policy that has its workload fail back once a cluster is healthy again.
func (d dice) returning(policy mapping) mapping {
	policy = maps.Clone(policy)
	spec := maps.Clone(policy["spec"].(mapping))
	failback := mapping{"mode": "Automatic", "stabilizationSeconds": pick(d, 0, 30)}
	policy["spec"], spec["propagateDeps"] = spec, true
	spec["failover"] = mapping{"cluster": mapping{"purgeMode": "Gracefully", "failback": failback}}
	return policy
}
