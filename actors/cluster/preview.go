package cluster

import (
	"slices"
	"time"

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

// restorePreviews takes over the stored previews. Bindings answer again as they come.
func (c *Cluster) restorePreviews(stored []api.TaintPreview) {
	for _, s := range stored {
		c.previews = append(c.previews, preview{
			Preview: policy.Preview{Add: s.Add, Remove: s.Remove, Spared: s.Spared}, policy: messages.PolicyName(s.Policy),
			because: s.Because, leaves: map[messages.BindingName]bool{}, shown: s,
		})
	}
}

// updatePreviews brings the previews up to date with the verdicts.
func (c *Cluster) updatePreviews(now time.Time, out *actors.Outbox) {
	c.endPreviews()
	for i := range c.policies {
		if c.policies[i].verdict.ReportOnly {
			c.updatePreview(now, &c.policies[i], out)
		}
	}
}

// updatePreview brings the preview of one policy up to date with its verdict.
func (c *Cluster) updatePreview(now time.Time, v *voter, out *actors.Outbox) {
	i := slices.IndexFunc(c.previews, func(p preview) bool { return p.policy == v.Name })
	if i < 0 {
		c.previews = append(c.previews, preview{policy: v.Name, leaves: map[messages.BindingName]bool{}})
		i = len(c.previews) - 1
	}
	if c.cleanup(v) == api.CleanupOnChange && !v.verdict.Selects {
		c.previews[i].Preview = policy.Preview{}
	}
	r := ruling(v.verdict)
	c.imagine(now, &c.previews[i], &r, out)
}

// imagine takes a preview on by one ruling and asks the bindings what it would mean to them.
func (c *Cluster) imagine(now time.Time, p *preview, r *policy.Ruling, out *actors.Outbox) {
	next, because := p.Next(c.taints, c.barred(c.taints, c.causes), r, c.ways().Time(now))
	if because != "" {
		p.because = because
	}
	p.Preview = next
	clear(p.leaves)
	for b := range c.subscribers.all() {
		c.consider(p, b, out)
	}
}

// refreshPreviews brings all previews up to date with the taints.
func (c *Cluster) refreshPreviews(now time.Time, out *actors.Outbox) {
	for i := range c.previews {
		c.imagine(now, &c.previews[i], &policy.Ruling{}, out)
	}
}

// considerAll asks one binding about every preview.
func (c *Cluster) considerAll(b messages.BindingName, out *actors.Outbox) {
	for i := range c.previews {
		c.consider(&c.previews[i], b, out)
	}
}

// consider asks one binding whether it would leave, where that is a question.
func (c *Cluster) consider(p *preview, b messages.BindingName, out *actors.Outbox) {
	if len(taint.Evicting(p.Add)) > 0 {
		taints := taint.Evicting(p.Imagine(c.taints))
		out.TellBinding(b, &messages.ConsiderTaints{Cluster: c.name, Policy: p.policy, Taints: taints})
	}
}

func (c *Cluster) taintsConsidered(m *messages.TaintsConsidered) {
	for i := range c.previews {
		switch p := &c.previews[i]; {
		case p.policy != m.Policy:
		case m.Leaves:
			p.leaves[m.Binding] = true
		default:
			delete(p.leaves, m.Binding)
		}
	}
}

// endPreviews ends the previews of policies that are gone, or no longer only report.
func (c *Cluster) endPreviews() {
	for i := range c.previews {
		at := c.policyAt(c.previews[i].policy)
		if at < 0 || c.policies[at].verdict != nil && !c.policies[at].verdict.ReportOnly {
			c.previews[i].Preview = policy.Preview{}
		}
	}
}

// toReport reports whether a preview has changed since it was last recorded.
func (c *Cluster) toReport() bool {
	return slices.ContainsFunc(c.previews, func(p preview) bool { return p.changed() })
}

// report records the previews that changed, once all bindings have answered, and forgets empty ones.
func (c *Cluster) report(out *actors.Outbox) {
	for i := range c.previews {
		if p := &c.previews[i]; p.changed() {
			p.shown = p.present()
			out.Record(&messages.TaintsPreviewed{Cluster: c.name, TaintPreview: p.shown})
		}
	}
	c.previews = slices.DeleteFunc(c.previews, func(p preview) bool { return p.Empty() })
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
