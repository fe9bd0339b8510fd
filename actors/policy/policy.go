// Package policy is the machine of one ClusterTaintPolicy: it judges clusters by their conditions.
package policy

import (
	"fmt"
	"time"

	"leeward/actors"
	"leeward/actors/rules/affinity"
	"leeward/actors/rules/karmada"
	"leeward/actors/rules/policy"
	"leeward/messages"
	"leeward/messages/api"
)

// Policy is one ClusterTaintPolicy.
type Policy struct {
	name     messages.PolicyName
	settings messages.Settings
	spec     *api.ClusterTaintPolicySpec
	// targets are the clusters that the policy is about; nil: none, for its affinity is invalid.
	targets *affinity.Matcher
}

// New returns a policy that asks for nothing; its first message is PolicyApplied.
func New(name messages.PolicyName, settings messages.Settings) *Policy {
	return &Policy{name: name, settings: settings, spec: &api.ClusterTaintPolicySpec{}}
}

// Receive routes a message to its transition.
func (p *Policy) Receive(now time.Time, m messages.ToPolicy, out *actors.Outbox) {
	switch m := m.(type) {
	case *messages.PolicyApplied:
		p.applied(m.Spec, out)
	case *messages.JudgeCluster:
		p.judge(now, m, out)
	case *messages.SettingsChanged:
		p.settingsChanged(m.Settings, out)
	case *messages.Woken:
	default:
		panic(fmt.Sprintf("policy %s: unknown message %T", p.name, m))
	}
}

// applied takes over a spec. Admission refuses an affinity that is invalid; one that slips through
// selects no cluster.
func (p *Policy) applied(spec *api.ClusterTaintPolicySpec, out *actors.Outbox) {
	p.spec = spec
	p.targets, _ = affinity.Compile(spec.TargetClusters)
	if !p.settings.Failover {
		p.ignored(out)
	}
}

// settingsChanged needs no new verdicts: every cluster has its policies judge again by itself.
func (p *Policy) settingsChanged(s messages.Settings, out *actors.Outbox) {
	was := p.settings.Failover
	p.settings = s
	if was && !s.Failover {
		p.ignored(out)
	}
}

func (p *Policy) ignored(out *actors.Outbox) {
	out.Record(&messages.PolicyIgnored{Policy: p.name, Reason: "feature gate Failover is off"})
}

// judge answers always, so that the cluster need not wait; a policy that does not select the cluster,
// or is switched off, asks for nothing.
func (p *Policy) judge(now time.Time, m *messages.JudgeCluster, out *actors.Outbox) {
	answer := &messages.VerdictGiven{Policy: p.name, Generation: m.Generation, Taints: p.spec.Taints, ReportOnly: p.spec.ReportOnly}
	answer.Selects = p.targets != nil && p.targets.Matches(m.View)
	if p.settings.Failover && answer.Selects {
		missing := karmada.Of(&p.settings).MissingCondition()
		v := policy.Judge(p.spec, m.View, missing, now)
		answer.Add, answer.Remove = v.Add, v.Remove
		answer.AddCause, answer.RemoveCause = v.AddCause, v.RemoveCause
		answer.Due = v.Due
		answer.Evicts = policy.Evicts(p.spec, m.View, missing, now)
	}
	out.TellCluster(m.View.Name, answer)
}
