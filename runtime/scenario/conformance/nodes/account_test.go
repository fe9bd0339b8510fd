package nodes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// account is all that is compared of a recording and a replay.
type account struct {
	// pods are the lives of all pods, nodes the taints that each had in turn.
	pods  []life
	nodes map[string]history
	// refused are the inputs that were refused, with what was answered.
	refused []refusal
}

// refusal is an input that was refused.
type refusal struct {
	at  float64
	why string
}

// never is the instant of what did not happen.
const never = -1.0

// life is what became of one pod. Instants are seconds from the beginning of the script, never where it did not come to that; what was so at
// first happened at 0.
type life struct {
	// owner is the pod's name, or what it was made by: pods of one owner have no names of their own here.
	owner, node                              string
	created, bound, running, condemned, gone float64
	// why is the reason of its DisruptionTarget.
	why string
	// unschedulable is set where the scheduler found no node for it at least once.
	unschedulable bool
	// phase is the last that was seen, with whether the pod was ready.
	phase string
	ready bool
}

// state is what something was like from an instant on; history is states of which no two neighbours are the same.
type (
	state struct {
		at   float64
		text string
	}
	history []state
)

func (h history) add(at float64, text string) history {
	if len(h) > 0 && h[len(h)-1].text == text {
		return h
	}
	return append(h, state{at, text})
}

// kindOf is what of a life does not depend on chance or the load of a machine.
func (l *life) kindOf(class func(string) string) string {
	parts := []string{l.owner, "on", cmp.Or(class(l.node), "no node")}
	for _, s := range []struct {
		word string
		at   float64
	}{{"running", l.running}, {"condemned", l.condemned}, {"gone", l.gone}} {
		if s.at != never {
			parts = append(parts, s.word)
		}
	}
	if l.why != "" {
		parts = append(parts, "by", l.why)
	}
	if l.unschedulable && l.created > 0 { // of what was there before, nothing tells when
		parts = append(parts, "once unschedulable")
	}
	if l.gone == never {
		if parts = append(parts, l.phase); l.ready {
			parts = append(parts, "and ready")
		}
	}
	return strings.Join(parts, " ")
}

func (l *life) times() []float64 {
	return []float64{l.created, l.bound, l.running, l.condemned, l.gone}
}

// tolerance is how much later than in a replay something may have been seen, in seconds.
type tolerance struct{ earlier, later float64 }

func (t tolerance) holds(recorded, replayed float64) bool {
	if recorded == never || replayed == never {
		return recorded == replayed
	}
	return recorded-replayed >= -t.earlier && recorded-replayed <= t.later
}

// differences tells how a replay differs from a recording, an entry for each difference; class says which nodes are alike but for their names.
func differences(recorded, replayed *account, class func(string) string, t tolerance) (all []string) {
	all = append(all, differentPods(recorded.pods, replayed.pods, class, t)...)
	all = append(all, differentNodes(recorded.nodes, replayed.nodes, class, t)...)
	if !slices.EqualFunc(recorded.refused, replayed.refused, func(a, b refusal) bool { return a.at == b.at && strings.HasSuffix(b.why, a.why) }) {
		all = append(all, fmt.Sprintf("refused:\n  recorded %v\n  replayed %v", recorded.refused, replayed.refused))
	}
	return all
}

func differentPods(recorded, replayed []life, class func(string) string, t tolerance) (all []string) {
	want, got := kindsOf(recorded, class), kindsOf(replayed, class)
	for _, kind := range keysOf(want, got) {
		if len(want[kind]) != len(got[kind]) {
			all = append(all, fmt.Sprintf("%s: recorded %d times, replayed %d times", kind, len(want[kind]), len(got[kind])))
			continue
		}
		same := func(a, b life) bool { return slices.EqualFunc(a.times(), b.times(), t.holds) }
		if !paired(want[kind], got[kind], same) {
			all = append(all, fmt.Sprintf("%s: created, bound, running, condemned, gone:%s%s", kind, timesOf("recorded", want[kind]), timesOf("replayed", got[kind])))
		}
	}
	return all
}

func timesOf(which string, lives []life) string {
	var b strings.Builder
	for i := range lives {
		fmt.Fprintf(&b, "\n  %s %.2f", which, lives[i].times())
	}
	return b.String()
}

// paired reports whether each of some things can be paired with one that is the same to it of as many others.
func paired[T any](some, others []T, same func(a, b T) bool) bool {
	if len(some) != len(others) {
		return false
	}
	mates := make([]int, len(others)) // 1 and the index of its mate among some
	var find func(i int, tried []bool) bool
	find = func(i int, tried []bool) bool {
		for j := range others {
			if tried[j] || !same(some[i], others[j]) {
				continue
			}
			tried[j] = true
			if mates[j] == 0 || find(mates[j]-1, tried) {
				mates[j] = i + 1
				return true
			}
		}
		return false
	}
	for i := range some {
		if !find(i, make([]bool, len(others))) {
			return false
		}
	}
	return true
}

// kindsOf groups lives by their kinds.
func kindsOf(lives []life, class func(string) string) map[string][]life {
	all := map[string][]life{}
	for _, l := range lives {
		kind := l.kindOf(class)
		all[kind] = append(all[kind], l)
	}
	return all
}

func keysOf[T any](a, b map[string]T) []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(all)
	return slices.Compact(all)
}

// differentNodes compares what happened to the nodes of each class. Which node of a class it happened to is random.
func differentNodes(recorded, replayed map[string]history, class func(string) string, t tolerance) (all []string) {
	want, got := changesOf(recorded, class), changesOf(replayed, class)
	same := func(a, b change) bool { return a.from == b.from && a.to == b.to && t.holds(a.at, b.at) }
	for _, name := range keysOf(want, got) {
		if !paired(want[name], got[name], same) {
			all = append(all, fmt.Sprintf("taints of %s:%s%s", name, told("recorded", want[name]), told("replayed", got[name])))
		}
	}
	return all
}

// change is one of the taints of a node.
type change struct {
	at       float64
	from, to string
}

func changesOf(nodes map[string]history, class func(string) string) map[string][]change {
	all := map[string][]change{}
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		before := "nothing"
		for _, s := range nodes[name] {
			all[class(name)] = append(all[class(name)], change{s.at, before, s.text})
			before = s.text
		}
	}
	return all
}

func told(which string, changes []change) string {
	var b strings.Builder
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	for _, c := range changes {
		if c.at > 0 {
			fmt.Fprintf(&b, "\n  %s at %.2f %s", which, c.at, cmp.Or(c.to, "no taint"))
		}
	}
	return b.String()
}
