package messages

import "leeward/messages/api"

// ToPolicy is what a ClusterTaintPolicy understands.
type ToPolicy interface{ toPolicy() }

// PolicyApplied carries the policy's present spec. From: ingress. To: the policy.
type PolicyApplied struct{ Spec *api.ClusterTaintPolicySpec }

// JudgeCluster asks which of the policy's taints a cluster's conditions add and remove. The policy
// answers every one with a VerdictGiven of the same generation. From: cluster. To: every policy.
type JudgeCluster struct {
	View       *ClusterView
	Generation uint64
}

func (*PolicyApplied) toPolicy()   {}
func (*JudgeCluster) toPolicy()    {}
func (*SettingsChanged) toPolicy() {}
func (*Woken) toPolicy()           {}
