// Package policy is the machine of one ClusterTaintPolicy: it judges clusters by their conditions.
package policy

import (
	"fmt"
	"time"

	"leeward/actors"
	"leeward/actors/rules/affinity"
	"leeward/actors/rules/policy"
	"leeward/messages"
	"leeward/messages/api"
)

// Policy is one ClusterTaintPolicy.
type Policy struct {
	name     messages.PolicyName
	settings messages.Settings
	spec     *api.ClusterTaintPolicySpec
}

// New returns a policy without a spec; its first message is PolicyApplied.
func New(name messages.PolicyName, settings messages.Settings) *Policy {
	return &Policy{name: name, settings: settings, spec: &api.ClusterTaintPolicySpec{}}
}

// Receive routes a message to its transition.
func (p *Policy) Receive(_ time.Time, m messages.ToPolicy, out *actors.Outbox) {
	switch m := m.(type) {
	case *messages.PolicyApplied:
		p.applied(m.Spec, out)
	case *messages.JudgeCluster:
		p.judge(m, out)
	case *messages.SettingsChanged:
		p.settings = m.Settings
	case *messages.Woken:
	default:
		panic(fmt.Sprintf("policy %s: unknown message %T", p.name, m))
	}
}

func (p *Policy) applied(spec *api.ClusterTaintPolicySpec, out *actors.Outbox) {
	p.spec = spec
	if !p.settings.Failover {
		out.Record(&messages.PolicyIgnored{Policy: p.name, Reason: "feature gate Failover is off"})
	}
}

// judge answers always, so that the cluster need not wait; a policy that does not select the cluster,
// or is switched off, asks for nothing.
func (p *Policy) judge(m *messages.JudgeCluster, out *actors.Outbox) {
	answer := &messages.VerdictGiven{Policy: p.name, Generation: m.Generation, Taints: p.spec.Taints}
	if p.settings.Failover && p.selects(m.View) {
		v := policy.Judge(p.spec, m.View, p.settings.MissingConditionStatus)
		answer.Add, answer.Remove = v.Add, v.Remove
		answer.AddCause, answer.RemoveCause = v.AddCause, v.RemoveCause
	}
	out.TellCluster(m.View.Name, answer)
}

func (p *Policy) selects(v *messages.ClusterView) bool {
	return p.spec.TargetClusters == nil || affinity.Matches(p.spec.TargetClusters, v)
}
