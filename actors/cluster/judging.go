package cluster

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors/rules/karmada"
	"leeward/actors/rules/policy"
	"leeward/messages"
	"leeward/messages/api"
)

// voter is one ClusterTaintPolicy, with its verdict on the present generation; nil: not given.
type voter struct {
	messages.PolicyListed
	verdict *messages.VerdictGiven
}

// evicts reports whether the policy adds NoExecute for the cluster, as it last judged.
func (v voter) evicts() bool { return v.verdict != nil && v.verdict.Evicts }

// inquiry says how far the policies are with the present generation.
type inquiry uint8

const (
	// concluded: all have judged, and what they ask for is done.
	concluded inquiry = iota
	// due: they are asked at the end of the instant.
	due
	// open: they have been asked.
	open
)

// judging is how far the ClusterTaintPolicies are with what they are to judge of a cluster.
type judging struct {
	settings *messages.Settings
	// seed breaks ties that Karmada leaves undefined.
	seed uint64
	// policies in the order in which they act.
	policies []voter
	// generation counts what policies are to judge; verdicts on an older one are void.
	generation uint64
	inquiry    inquiry
	// dropped are policies that are gone and whose taints are to go too.
	dropped []messages.PolicyName
	// due is when time alone changes a verdict of the present generation; zero: it does not.
	due time.Time
}

// reopen has all policies judge again, once for all changes of an instant. Answers to older questions
// are void from now on.
func (j *judging) reopen() {
	j.generation++
	j.inquiry = due
	j.due = time.Time{}
}

// over reports whether a condition has lasted for as long as one of them asks.
func (j *judging) over(now time.Time) bool { return !j.due.IsZero() && !j.due.After(now) }

// cleanup is when a policy takes away the taints that it added and no longer asks for.
func (j *judging) cleanup(v *voter) api.CleanupMode {
	return karmada.Of(j.settings).Cleanup(v.Cleanup)
}

// moved has the policies judge again where the cleanup of one of them is OnChange: it removes its taints from clusters that it no
// longer selects, and adds again what users remove. Karmada's do not look again before some condition changes.
func (j *judging) moved() {
	if slices.ContainsFunc(j.policies, func(v voter) bool { return j.cleanup(&v) == api.CleanupOnChange }) {
		j.reopen()
	}
}

// forsaken returns why the policy that added a taint no longer asks for it; empty where it does.
func (j *judging) forsaken(cause *api.TaintCause, t *corev1.Taint) string {
	owner := messages.PolicyName(cause.Policy)
	if slices.Contains(j.dropped, owner) {
		return "it was deleted"
	}
	if at := j.at(owner); at >= 0 && !j.policies[at].verdict.ReportOnly {
		v := j.policies[at].verdict
		return policy.Forsaken(j.cleanup(&j.policies[at]), v.Selects, v.Taints, t)
	}
	return ""
}

// listed takes in a policy, or its edit.
func (j *judging) listed(m *messages.PolicyListed) {
	v := voter{PolicyListed: *m}
	if i := j.at(m.Name); i >= 0 {
		j.policies[i].PolicyListed = *m
	} else {
		j.policies = append(j.policies, v)
	}
	j.sort()
	if m.Targeted || j.cleanup(&v) == api.CleanupOnChange || j.inquiry == open {
		j.reopen()
	}
}

func (j *judging) at(name messages.PolicyName) int {
	return slices.IndexFunc(j.policies, func(v voter) bool { return v.Name == name })
}

// sort keeps the policies in the order in which they act: the youngest last, so that it wins.
func (j *judging) sort() {
	order := karmada.Of(j.settings).PolicyOrder(j.seed)
	slices.SortFunc(j.policies, func(a, b voter) int {
		return order.Compare(policy.Birth{Name: a.Name, Created: a.CreatedAt}, policy.Birth{Name: b.Name, Created: b.CreatedAt})
	})
}

// ruling is what a policy answered, as the rules take it.
func ruling(v *messages.VerdictGiven) policy.Ruling {
	return policy.Ruling{
		Policy:  v.Policy,
		Verdict: policy.Verdict{Add: v.Add, Remove: v.Remove, AddCause: v.AddCause, RemoveCause: v.RemoveCause},
		Taints:  v.Taints,
	}
}
