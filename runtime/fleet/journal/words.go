package journal

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/lists"
	"leeward/messages/spelling"
)

// at writes an instant as hh:mm:ss from the start, with .mmm only where the second is not whole.
func (t teller) at(instant time.Time) string {
	if t.start.IsZero() {
		return instant.UTC().Format(time.RFC3339Nano)
	}
	return Clock(instant.Sub(t.start))
}

// Clock is an offset from the start as timelines show it: "00:01:30", "00:00:00.250".
func Clock(d time.Duration) string {
	sign := ""
	if d < 0 {
		d, sign = -d, "-"
	}
	s := int64(d / time.Second)
	clock := fmt.Sprintf("%s%02d:%02d:%02d", sign, s/3600, s/60%60, s%60)
	if ms := d % time.Second / time.Millisecond; ms != 0 {
		return fmt.Sprintf("%s.%03d", clock, ms)
	}
	return clock
}

// Reason is why an eviction happens: the taint, who set it, and the toleration.
func Reason(g *messages.Grounds) string { return Printable(teller{}.grounds(g)) }

// grounds gives the reason of an eviction, its parts apart and in a fixed order: taint; policy or who set it; condition;
// toleration.
func (t teller) grounds(g *messages.Grounds) string {
	switch {
	case g.Reason == api.EvictionReasonApplicationFailure:
		return "application unhealthy"
	case g.Reason == api.EvictionReasonFailback:
		return "failback"
	case g.Reason == api.EvictionReasonRebalance:
		return "rebalance requested"
	case g.Reason == api.EvictionReasonReschedule:
		return "rescheduled"
	case g.Taint == nil:
		return g.Reason
	}
	return joined("; ", "taint "+taint.String(g.Taint), setBy(g.Cause), tolerated(g))
}

// deadline names when an eviction was due, where a toleration or the policy set that.
func (t teller) deadline(g *messages.Grounds) string {
	if g.Deadline.IsZero() || g.Toleration == nil && g.Reason != api.EvictionReasonApplicationFailure {
		return ""
	}
	return "deadline " + t.at(g.Deadline)
}

func tolerated(g *messages.Grounds) string {
	switch by := g.Toleration; {
	case by == nil:
		return "not tolerated"
	case by.TolerationSeconds == nil:
		return "tolerated" + matcher(by, g.Taint)
	default:
		return "toleration " + strconv.FormatInt(*by.TolerationSeconds, 10) + "s" + matcher(by, g.Taint)
	}
}

// matcher names a toleration that is wider than the taint it covers; one that spells the taint out
// needs no name.
func matcher(t *corev1.Toleration, of *corev1.Taint) string {
	if t.Key == of.Key && t.Effect == of.Effect {
		return ""
	}
	return " by " + cmp.Or(t.Key, "*") + ":" + cmp.Or(string(t.Effect), "*")
}

// setBy names the policy, or the user, that changed a taint, and the condition that asked for it, or another reason.
func setBy(c *api.TaintCause) string {
	if c == nil {
		return ""
	}
	by := wrap("by ", joined(" ", c.By, c.User), "")
	if c.Policy != "" {
		by = "policy " + c.Policy
	}
	if because, _, is := strings.Cut(c.Because, "="); is && !strings.Contains(because, " ") {
		return joined("; ", by, "condition "+c.Because)
	}
	return joined("; ", by, c.Because)
}

// targets writes a placement as "member1:2 member3:2", with components as "member1[head:1 workers:2]", or
// "nowhere"; placed leaves the latter empty.
func targets(clusters []api.TargetCluster) string {
	if len(clusters) == 0 {
		return "nowhere"
	}
	return placed(clusters)
}

func placed(clusters []api.TargetCluster) string {
	words := make([]string, len(clusters))
	for i, c := range clusters {
		words[i] = c.Name
		if c.Replicas != 0 {
			words[i] += ":" + strconv.Itoa(int(c.Replicas))
		}
		if c.Components != nil {
			words[i] += "[" + components(*c.Components) + "]"
		}
	}
	return strings.Join(words, " ")
}

func components(list api.TargetComponents) string {
	return strings.Join(lists.Of(list, func(c api.TargetComponent) string { return c.Name + ":" + strconv.Itoa(int(c.Replicas)) }), " ")
}

func revision(n int32) string { return "revision " + strconv.Itoa(int(n)) }

func replicas(n int32) string {
	if n == 0 {
		return ""
	}
	return spelling.Count(n, "replica")
}

func bindings(n int32) string { return spelling.Count(n, "binding") }

func remaining(n int32) string { return spelling.Count(n, "binding remains", "bindings remain") }

func names[T ~string](list []T) string {
	return strings.Join(lists.Of(list, func(l T) string { return string(l) }), " ")
}

func taints(list []corev1.Taint) string {
	return strings.Join(lists.Of(list, func(t corev1.Taint) string { return taint.String(&t) }), " ")
}

func rescaled(from, to int32) string {
	return strconv.Itoa(int(from)) + " to " + strconv.Itoa(int(to)) + " replicas"
}

func labels(m map[string]string) string {
	if len(m) == 0 {
		return "with nothing"
	}
	return pairs(m)
}

func capacity(s *api.ResourceSummary) Phrase {
	if s == nil {
		return change("capacity", "not reported", "")
	}
	used := joined(" ", quantities(s.Allocated), quantities(s.Allocating))
	return change("capacity", quantities(s.Allocatable), wrap("allocated: ", used, ""))
}

// serves names the kinds that a cluster serves, while they are few.
func serves(apis []api.APIEnablement) Phrase {
	var kinds []string
	for i := range apis {
		for j := range apis[i].Resources {
			kinds = append(kinds, apis[i].Resources[j].Kind)
		}
	}
	switch {
	case len(apis) == 0:
		return change("API enablements", "not reported", "")
	case len(kinds) > 8:
		return change("API enablements", fmt.Sprintf("%d kinds", len(kinds)), "")
	}
	return change("API enablements", strings.Join(kinds, " "), "")
}

func quantities(l corev1.ResourceList) string {
	m := make(map[string]string, len(l))
	for name, q := range l {
		m[string(name)] = q.String()
	}
	return pairs(m)
}

func pairs(m map[string]string) string {
	words := make([]string, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		words = append(words, k+"="+m[k])
	}
	return strings.Join(words, " ")
}

// wrap puts words around s, unless s is empty.
func wrap(before, s, after string) string {
	if s == "" {
		return ""
	}
	return before + s + after
}

// joined joins what is not empty.
func joined(separator string, words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), separator)
}
