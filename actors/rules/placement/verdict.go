package placement

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
)

// verdict judges one cluster, last by its capacity for a set of components. For the verdicts on a taint it
// returns the taint's index.
func (p *Planner) verdict(a *attempt, slot int32) (v fitness, taint int) {
	v, taint = p.judge(a, slot)
	if v == fits && a.Set != nil && p.crowds(a, slot) {
		return tooSmall, -1
	}
	return v, taint
}

// judge judges one cluster, whatever its capacity. Karmada asks its filters in an order that differs from process to
// process; this one names first what people can read off the policy, last what comes and goes.
func (p *Planner) judge(a *attempt, slot int32) (v fitness, taint int) {
	marks, kept := p.fleet.marks[slot], p.roles[slot]&kept != 0
	switch {
	case marks&deleting != 0 && !(kept && p.evicted(a, slot)):
		return leaving, -1
	case a.term.tier[slot] > 0 && !a.Workload:
		return offAffinity, -1
	case a.term.verdicts[slot] != fits:
		return a.term.verdicts[slot], -1
	case a.unserved[slot] && !(kept && p.toleratesLoss(p.fleet.views[slot])):
		return noAPI, -1
	case p.roles[slot]&departing != 0:
		return evicting, -1
	case p.roles[slot]&outgoing != 0:
		return toLeave, -1
	case p.roles[slot]&resting != 0:
		return cooling, -1
	case p.roles[slot]&busy != 0 && !kept:
		return starting, -1
	case p.roles[slot]&untold != 0 && !kept:
		return suspended, -1
	case len(a.Together) > 0 && p.roles[slot]&joined == 0 && !kept:
		return elsewhere, -1
	case p.roles[slot]&shunned != 0 && !kept:
		return crowded, -1
	case marks != 0 && !kept:
		return p.welcome(a, slot)
	default:
		return fits, -1
	}
}

// evicted reports whether a workload leaves a cluster that is being deleted by eviction, now or in time: until
// then it stays, so that its old copy runs until a new one does, however slowly evictions go.
func (p *Planner) evicted(a *attempt, slot int32) bool {
	if !p.ways.EvictsDeleted {
		return false
	}
	d := taint.Deadline(p.fleet.views[slot].Taints, a.rule.placement.ClusterTolerations, p.ways.Taints)
	return d.Outcome != taint.Forever
}

// welcome judges whether a cluster may take new replicas. One that is not ready has the taint that says so,
// or should have: a workload that tolerates it may come.
func (p *Planner) welcome(a *attempt, slot int32) (v fitness, at int) {
	marks := p.fleet.marks[slot]
	at = -1
	if marks&tainted != 0 {
		v, at = p.tolerance(a, p.fleet.views[slot])
	}
	if v == fits && marks&unready != 0 && p.ways.ReadyOnly && taint.FirstUntolerated(unreadyTaints, a.rule.placement.ClusterTolerations, p.ways.Taints.Numeric) >= 0 {
		return notReady, -1
	}
	return v, at
}

// unreadyTaints are those of a cluster that is not ready, for whichever reason.
var unreadyTaints = []corev1.Taint{
	{Key: api.TaintNotReady, Effect: corev1.TaintEffectNoSchedule}, {Key: api.TaintUnreachable, Effect: corev1.TaintEffectNoSchedule},
}

// frozen reports whether a cluster keeps what it has and takes nothing more.
func (p *Planner) frozen(a *attempt, slot int32) bool {
	if p.roles[slot]&(full|untold) != 0 || p.fleet.marks[slot]&deleting != 0 {
		return true
	}
	if !p.ways.ReadyOnly || p.fleet.marks[slot] == 0 || p.roles[slot]&kept == 0 {
		return false
	}
	v, _ := p.welcome(a, slot)
	return v != fits
}

// tolerance judges a cluster by its taints. How long they are tolerated matters only where the
// settings say so: as soon as it has been too long, nothing new comes to the cluster.
func (p *Planner) tolerance(a *attempt, v *messages.ClusterView) (fitness, int) {
	tolerations := a.rule.placement.ClusterTolerations
	if i := taint.FirstUntolerated(v.Taints, tolerations, p.ways.Taints.Numeric); i >= 0 {
		return untolerated, i
	}
	if !p.ways.HonoursDeadlines && !a.Return {
		return fits, -1
	}
	if d := taint.Deadline(v.Taints, tolerations, p.ways.Taints); d.Outcome == taint.Until && !d.At.After(a.now) {
		return outstayed, d.Taint
	}
	return fits, -1
}

// toleratesLoss reports whether what runs on a cluster stays where its kind is no longer listed. Where it does not, nothing
// is taken from a cluster that does not vouch for its list. Source: Karmada's APIEnablement plugin, since 1.15 and before.
func (p *Planner) toleratesLoss(v *messages.ClusterView) bool {
	c := v.Condition(api.ConditionCompleteAPIEnablements)
	return !p.ways.NeedsAPI || c == nil || c.Status != "True"
}

// cause is why some clusters do not fit.
type cause struct {
	verdict fitness
	taint   corev1.Taint // without its time, so that it is alike on many clusters
	scarce  string       // what there is too little of, or how many there may be
	count   int          // of the clusters
}

func (p *Planner) causeOf(m *misfit) cause {
	c := cause{verdict: m.verdict}
	if m.taint >= 0 {
		c.taint = p.fleet.views[m.slot].Taints[m.taint]
		c.taint.TimeAdded = nil
	}
	switch m.verdict {
	case tooSmall:
		c.scarce = p.scarce(m.slot)
	case starting:
		c.scarce = p.mostOn(p.fleet.views[m.slot].Name)
	}
	return c
}

// isCause reports whether a cluster does not fit for a cause, without making one of its own.
func (p *Planner) isCause(c *cause, m *misfit) bool {
	if c.verdict != m.verdict {
		return false
	}
	if m.taint >= 0 {
		t := &p.fleet.views[m.slot].Taints[m.taint]
		return t.Key == c.taint.Key && t.Value == c.taint.Value && t.Effect == c.taint.Effect
	}
	switch m.verdict {
	case tooSmall:
		return c.scarce == p.scarce(m.slot)
	case starting:
		return c.scarce == p.mostOn(p.fleet.views[m.slot].Name)
	}
	return true
}

// rejections lists the clusters that the last filter let not pass, by reason: the reasons in order, and under
// each the clusters in the order of their names.
func (p *Planner) rejections() []messages.Rejection {
	causes := p.causes()
	if len(causes) == 0 {
		return nil
	}
	rejected := make([]messages.Rejection, len(causes))
	names := make([]messages.ClusterName, 0, len(p.misfits))
	for i := range causes {
		end := len(names) + causes[i].count
		rejected[i] = messages.Rejection{Reason: causes[i].String(), Clusters: names[len(names):len(names):end]}
		names = names[:end]
	}
	for i, at := range p.blames {
		r := &rejected[at]
		r.Clusters = append(r.Clusters, p.fleet.views[p.misfits[i].slot].Name)
	}
	slices.SortFunc(rejected, func(x, y messages.Rejection) int { return strings.Compare(x.Reason, y.Reason) })
	return rejected
}

// causes counts why clusters do not fit, and notes for each misfit the place of its cause.
func (p *Planner) causes() (causes []cause) {
	p.blames = p.blames[:0]
	for i := range p.misfits {
		m := &p.misfits[i]
		at := 0
		for at < len(causes) && !p.isCause(&causes[at], m) {
			at++
		}
		if at == len(causes) {
			causes = append(causes, p.causeOf(m))
		}
		p.blames = append(p.blames, int32(at))
		causes[at].count++
	}
	return causes
}

// diagnosis is Karmada's message for a request that fits no cluster: how many clusters there are, and
// how many of them fall to which reason. Clusters being deleted count, but are not explained.
func (p *Planner) diagnosis(rejected []messages.Rejection) string {
	var texts []string
	for i := range rejected {
		if r := &rejected[i]; r.Reason != reasons[leaving] {
			texts = append(texts, fmt.Sprintf("%d %s", len(r.Clusters), r.Reason))
		}
	}
	slices.Sort(texts)
	if len(texts) == 0 {
		texts = []string{"no cluster exists"}
	}
	return fmt.Sprintf("0/%d clusters are available: %s.", p.fleet.Len(), strings.Join(texts, ", "))
}

func (c *cause) String() string {
	switch c.verdict {
	case untolerated, outstayed:
		return fmt.Sprintf(reasons[c.verdict], c.taint.ToString())
	case tooSmall, starting:
		return fmt.Sprintf(reasons[c.verdict], c.scarce)
	default:
		return reasons[c.verdict]
	}
}
