package cluster

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors"
	"leeward/actors/rules/policy"
	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
)

// preview is what one policy that only reports would have done to the cluster.
type preview struct {
	policy.Preview
	policy  messages.PolicyName
	because string
	// leaves are the bindings that would have to leave.
	leaves map[messages.BindingName]bool
	// shown is the preview as last recorded.
	shown api.TaintPreview
}

// previews are those of all policies that only report.
type previews []preview

// previewsOf takes over the stored previews. Bindings answer again as they come.
func previewsOf(stored []api.TaintPreview) (all previews) {
	for _, s := range stored {
		all = append(all, preview{
			Preview: policy.Preview{Add: s.Add, Remove: s.Remove, Spared: s.Spared}, policy: messages.PolicyName(s.Policy),
			because: s.Because, leaves: map[messages.BindingName]bool{}, shown: s,
		})
	}
	return all
}

// consider asks one binding whether it would leave, where that is a question.
func (p *preview) consider(cluster messages.ClusterName, has []corev1.Taint, b messages.BindingName, out *actors.Outbox) {
	if len(taint.Evicting(p.Add)) > 0 {
		taints := taint.Evicting(p.Imagine(has))
		out.TellBinding(b, &messages.ConsiderTaints{Cluster: cluster, Policy: p.policy, Taints: taints})
	}
}

// answered takes in what a binding says of one of them.
func (all previews) answered(m *messages.TaintsConsidered) {
	for i := range all {
		switch p := &all[i]; {
		case p.policy != m.Policy:
		case m.Leaves:
			p.leaves[m.Binding] = true
		default:
			delete(p.leaves, m.Binding)
		}
	}
}

// end ends the previews of policies that are gone, or no longer only report.
func (all previews) end(by *judging) {
	for i := range all {
		at := by.at(all[i].policy)
		if at < 0 || by.policies[at].verdict != nil && !by.policies[at].verdict.ReportOnly {
			all[i].Preview = policy.Preview{}
		}
	}
}

// changed reports whether a preview has changed since it was last recorded.
func (all previews) changed() bool {
	return slices.ContainsFunc(all, func(p preview) bool { return p.changed() })
}

// record records the previews that changed, once all bindings have answered, and forgets empty ones.
func (all *previews) record(cluster messages.ClusterName, out *actors.Outbox) {
	for i := range *all {
		if p := &(*all)[i]; p.changed() {
			p.shown = p.present()
			out.Record(&messages.TaintsPreviewed{Cluster: cluster, TaintPreview: p.shown})
		}
	}
	*all = slices.DeleteFunc(*all, func(p preview) bool { return p.Empty() })
}

func (p *preview) changed() bool {
	was, is := &p.shown, p.present()
	return was.WouldEvict != is.WouldEvict || !slices.EqualFunc(was.Add, is.Add, sameID) ||
		!slices.EqualFunc(was.Remove, is.Remove, sameID) || !slices.EqualFunc(was.Spared, is.Spared, sameID)
}

// present is the preview as it is shown.
func (p *preview) present() api.TaintPreview {
	shown := api.TaintPreview{Policy: string(p.policy), Add: p.Add, Remove: p.Remove, Spared: p.Spared}
	if !p.Empty() {
		shown.Because, shown.WouldEvict = p.because, int32(len(p.leaves))
	}
	return shown
}
