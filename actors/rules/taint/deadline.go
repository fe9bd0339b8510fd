package taint

import (
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/messages"
)

// Stay says how long a workload may remain on a tainted cluster.
type Stay uint8

// The stays; the zero value evicts nothing.
const (
	// Forever: every NoExecute taint is tolerated, none for a limited time.
	Forever Stay = iota
	// Until: every NoExecute taint is tolerated, one of them until an instant only.
	Until
	// Untolerated: a NoExecute taint is not tolerated at all.
	Untolerated
)

var stays = [...]string{Forever: "forever", Until: "until", Untolerated: "untolerated"}

// String returns the stay in one word, as transcripts print it.
func (o Stay) String() string { return stays[o] }

// Rule says which of the tolerations that cover a taint count against it.
type Rule struct {
	// Match is messages.MatchFirst (also where it is empty) or messages.MatchMinimum.
	Match string
	// Numeric allows the operators Lt and Gt.
	Numeric bool
}

// Tolerance is an Outcome with what decided it.
type Tolerance struct {
	Outcome Stay
	// At is the deadline in UTC, for Until: the instant at which the workload must leave, perhaps past.
	At time.Time
	// Taint and Toleration are the indices of the pair that decided. -1: no taint or no toleration did.
	Taint, Toleration int
}

// Deadline returns how long tolerations keep a workload on a cluster with these taints. Only NoExecute
// taints count. One that nothing covers ends the matter. Otherwise the deadline is the earliest
// timeAdded + tolerationSeconds over the pairs of a taint and a toleration that covers it and counts.
// Negative seconds lie before the taint; a toleration without seconds, and a taint without timeAdded,
// set no deadline.
//
// With MatchFirst a toleration counts if it is the first in list order to cover some taint; it then
// counts against every taint that it covers, also against one that an earlier toleration covers for
// good. With MatchMinimum every toleration counts, so their order does not matter.
//
// Sources: tolerationSeconds of Kubernetes for one pair, Karmada's taint manager for MatchFirst, the
// device taints of Kubernetes 1.37 for MatchMinimum.
func Deadline(taints []corev1.Taint, tolerations []corev1.Toleration, r Rule) Tolerance {
	v := Tolerance{Outcome: Forever, Taint: -1, Toleration: -1}
	var earliest instant
	for i := range taints {
		if taints[i].Effect != corev1.TaintEffectNoExecute {
			continue
		}
		first := covering(&taints[i], tolerations, r.Numeric)
		if first < 0 {
			return Tolerance{Outcome: Untolerated, Taint: i, Toleration: -1}
		}
		j := r.shortest(i, first, taints, tolerations)
		if j < 0 {
			continue
		}
		at := due(taints[i].TimeAdded.Time, *tolerations[j].TolerationSeconds)
		if v.Outcome == Forever || at.before(earliest) {
			v.Outcome, v.Taint, v.Toleration, earliest = Until, i, j, at
		}
	}
	if v.Outcome == Until {
		v.At = time.Unix(earliest.seconds, earliest.nanos).UTC()
	}
	return v
}

// shortest returns the index of the toleration that bounds taint i soonest, -1 if the taint has no
// timeAdded or no toleration bounds it; first is the one that covers the taint first. What cannot be
// shorter is not looked at closer.
func (r Rule) shortest(i, first int, taints []corev1.Taint, tolerations []corev1.Toleration) int {
	best := -1
	if taints[i].TimeAdded == nil {
		return best
	}
	for j := first; j < len(tolerations); j++ {
		s := tolerations[j].TolerationSeconds
		if s == nil || best >= 0 && *s >= *tolerations[best].TolerationSeconds {
			continue
		}
		if j == first || Tolerates(&tolerations[j], &taints[i], r.Numeric) && r.counts(j, taints, tolerations) {
			best = j
		}
	}
	return best
}

// counts reports whether toleration j counts against all that it covers.
func (r Rule) counts(j int, taints []corev1.Taint, tolerations []corev1.Toleration) bool {
	if r.Match == messages.MatchMinimum {
		return true
	}
	for k := range taints {
		if taints[k].Effect == corev1.TaintEffectNoExecute && covering(&taints[k], tolerations, r.Numeric) == j {
			return true
		}
	}
	return false
}

// instant is a time since 1970, cheaper to add to and to compare than time.Time.
type instant struct{ seconds, nanos int64 }

// due returns the instant some seconds after another. Beyond 292 years either way it stays there
// instead of wrapping.
func due(added time.Time, seconds int64) instant {
	const most = math.MaxInt64 / int64(time.Second)
	return instant{added.Unix() + min(max(seconds, -most), most), int64(added.Nanosecond())}
}

func (a instant) before(b instant) bool {
	return a.seconds < b.seconds || a.seconds == b.seconds && a.nanos < b.nanos
}
