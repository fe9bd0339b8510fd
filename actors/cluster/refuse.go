package cluster

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors"
	"leeward/actors/rules/policy"
	"leeward/messages"
	"leeward/messages/admission"
)

// admits reports whether the cluster would be valid with the taints that policies want. One that it does not
// admit stops all of them, for they are written together; that is recorded once. Source: Karmada's
// ClusterTaintPolicy controller, whose patch the API server refuses, with the event TaintClusterFailed.
func (c *Cluster) admits(after []corev1.Taint, changes []policy.TaintChange, out *actors.Outbox) bool {
	refusal := c.refuse(after, changes)
	if refusal != nil && !sameRequest(refusal, c.refusal) {
		out.Record(refusal)
	}
	c.refusal = refusal
	return refusal == nil
}

// refuse says what is wrong with the taints after some changes; nil: nothing.
func (c *Cluster) refuse(after []corev1.Taint, changes []policy.TaintChange) *messages.TaintingFailed {
	if len(changes) == 0 {
		return nil
	}
	problems := admission.ValidateClusterTaints(after, &c.settings)
	if len(problems) == 0 {
		return nil
	}
	f := &messages.TaintingFailed{Cluster: c.name}
	for _, problem := range problems {
		f.Problems = append(f.Problems, problem.Error())
	}
	for i := range changes {
		t := changes[i].Taint
		t.TimeAdded = nil
		if changes[i].Added {
			f.Add = append(f.Add, t)
		} else {
			f.Remove = append(f.Remove, t)
		}
		if !slices.Contains(f.Policies, changes[i].Policy) {
			f.Policies = append(f.Policies, changes[i].Policy)
		}
	}
	return f
}

// sameRequest reports whether the same was refused before, which may be nothing. What is wrong with it follows
// from it; only its place in the list does not.
func sameRequest(f, before *messages.TaintingFailed) bool {
	return before != nil && slices.Equal(f.Policies, before.Policies) &&
		slices.EqualFunc(f.Add, before.Add, sameID) && slices.EqualFunc(f.Remove, before.Remove, sameID)
}
