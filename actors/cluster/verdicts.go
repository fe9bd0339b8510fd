package cluster

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors"
	"leeward/actors/rules/karmada"
	"leeward/actors/rules/policy"
	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
)

// voter is one ClusterTaintPolicy, with its verdict on the present generation; nil: not given.
type voter struct {
	messages.PolicyListed
	verdict *messages.VerdictGiven
}

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

// toAsk reports whether the policies must be asked now.
func (c *Cluster) toAsk() bool { return c.judging.inquiry == due && !c.conditions.blind() }

func (c *Cluster) ask(now time.Time, out *actors.Outbox) {
	c.judging.inquiry = open
	question := &messages.JudgeCluster{View: c.view(c.conditions.seen()), Generation: c.judging.generation}
	for i := range c.judging.policies {
		c.judging.policies[i].verdict = nil
		out.TellPolicy(c.judging.policies[i].Name, question)
	}
	c.conclude(now, out)
}

func (c *Cluster) verdictGiven(now time.Time, m *messages.VerdictGiven, out *actors.Outbox) {
	i := c.judging.at(m.Policy)
	if c.judging.inquiry != open || m.Generation != c.judging.generation || i < 0 {
		return
	}
	c.judging.policies[i].verdict = m
	c.conclude(now, out)
}

// conclude carries out all verdicts in one change, once every policy has given its own.
func (c *Cluster) conclude(now time.Time, out *actors.Outbox) {
	rulings := make([]policy.Ruling, 0, len(c.judging.policies))
	var next time.Time
	for i := range c.judging.policies {
		v := c.judging.policies[i].verdict
		if v == nil {
			return
		}
		if !v.ReportOnly {
			rulings = append(rulings, ruling(v))
		}
		next = actors.Earlier(next, v.Due)
	}
	c.judging.inquiry, c.judging.due = concluded, next
	c.carryOut(now, rulings, out)
	c.judging.dropped = nil
	c.updatePreviews(now, out)
}

// ruling is what a policy answered, as the rules take it.
func ruling(v *messages.VerdictGiven) policy.Ruling {
	return policy.Ruling{
		Policy:  v.Policy,
		Verdict: policy.Verdict{Add: v.Add, Remove: v.Remove, AddCause: v.AddCause, RemoveCause: v.RemoveCause},
		Taints:  v.Taints,
	}
}

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

// policyDropped forgets a policy. Unless its taints go with it, for which others may have reasons to
// stay, they are not asked again, but may have waited for its verdict only.
func (c *Cluster) policyDropped(now time.Time, name messages.PolicyName, out *actors.Outbox) {
	i := c.judging.at(name)
	if i < 0 {
		return
	}
	if c.judging.cleanup(&c.judging.policies[i]).Cleans() {
		c.judging.dropped = append(c.judging.dropped, name)
		c.judging.reopen()
	}
	c.judging.policies = slices.Delete(c.judging.policies, i, i+1)
	c.previews.end(&c.judging)
	if c.judging.inquiry == open {
		c.conclude(now, out)
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

// noPolicy is why workloads stay on a cluster for which no policy does anything.
const noPolicy = "no ClusterTaintPolicy adds NoExecute for it"

// stay returns why nothing evicts the workloads of a cluster that is not Ready; empty where the cluster is Ready, runs
// none, or they will be evicted. It is not settled before all policies have judged every condition that the cluster has.
func (c *Cluster) stay() (reason string, settled bool) {
	ready := c.conditions.ready()
	if ready == metav1.ConditionTrue || ready == "" || c.deleting || c.subscribers.len() == 0 {
		return "", true
	}
	if c.judging.inquiry != concluded || len(c.conditions.held) > 0 {
		return "", false
	}
	if off := c.settings.EvictionOff(); off != "" {
		return off, true
	}
	if len(taint.Evicting(c.taints.list)) > 0 || c.ways().NotReadyEvictsAfter() > 0 || slices.ContainsFunc(c.judging.policies, voter.evicts) {
		return "", true
	}
	return noPolicy, true
}

// evicts reports whether the policy adds NoExecute for the cluster, as it last judged.
func (v voter) evicts() bool { return v.verdict != nil && v.verdict.Evicts }

// toSayStay reports whether that is news. It is said once for each outage, when its instant ends.
func (c *Cluster) toSayStay() bool {
	reason, settled := c.stay()
	return settled && reason != c.stays
}

func (c *Cluster) sayStay(out *actors.Outbox) {
	if c.toSayStay() {
		c.stays, _ = c.stay()
		out.Record(&messages.WorkloadsStay{Cluster: c.name, Reason: c.stays})
	}
}
