package cluster

import (
	"slices"
	"time"

	"leeward/actors"
	"leeward/actors/rules/policy"
	"leeward/messages"
	"leeward/messages/api"
)

// updatePreviews brings the previews up to date with the verdicts.
func (c *Cluster) updatePreviews(now time.Time, out *actors.Outbox) {
	c.previews.end(&c.judging)
	for i := range c.judging.policies {
		if c.judging.policies[i].verdict.ReportOnly {
			c.updatePreview(now, &c.judging.policies[i], out)
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
	if c.judging.cleanup(v) == api.CleanupOnChange && !v.verdict.Selects {
		c.previews[i].Preview = policy.Preview{}
	}
	r := ruling(v.verdict)
	c.imagine(now, &c.previews[i], &r, out)
}

// imagine takes a preview on by one ruling and asks the bindings what it would mean to them.
func (c *Cluster) imagine(now time.Time, p *preview, r *policy.Ruling, out *actors.Outbox) {
	next, because := p.Next(c.taints.list, barred(c.ways(), c.taints.list, c.taints.causes), r, c.ways().Time(now))
	if because != "" {
		p.because = because
	}
	p.Preview = next
	clear(p.leaves)
	for b := range c.subscribers.all() {
		p.consider(c.name, c.taints.list, b, out)
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
		c.previews[i].consider(c.name, c.taints.list, b, out)
	}
}
