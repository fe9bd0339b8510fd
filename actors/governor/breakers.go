package governor

import (
	"fmt"
	"slices"
	"time"

	"leeward/actors"
	"leeward/actors/rules/storm"
	"leeward/messages"
	"leeward/messages/api"
)

// breaker is that of a domain: it counts evictions, of so many copies, and says why it is as it is. A cluster has the
// copies only.
type breaker struct {
	storm.Breaker
	copies int
	says   string
}

// breakers stop the fleet, a region or a priority when too many of its copies are evicted.
type breakers struct {
	settings *messages.Settings
	domains  *domains
	queue    *queue
	permits  *permits
	// surveyed is set once it is known how many copies there are.
	surveyed bool
	// broken are the domains whose breaker is not closed, opened those that this instant opened.
	broken, opened []*domain
	// tripped is set where one changed in this instant, tried where a trial did, or a permit came back, and resuming until
	// the evictions on trial before a restart were asked how they went.
	tripped, tried, resuming bool
}

// blocks is the gate of breakers. Until it is known how many copies there are, nothing is evicted: that is said later in
// the same instant.
func (bs *breakers) blocks(_ time.Time, n *node) *wait {
	d := bs.guarding(n)
	if d == nil {
		return nil
	}
	switch t := bs.breaking(d); {
	case !t.Works():
		return nil
	case !bs.surveyed:
		return &wait{}
	case d.breaker.Lets(t):
		return nil
	}
	return &wait{reason: "Breaker" + string(d.breaker.State), message: fmt.Sprintf("%s: %s", d, d.breaker.says)}
}

// guarding is the domain whose breaker a node has to pass: a request that of its priority; nil: there is none.
func (bs *breakers) guarding(n *node) *domain {
	if !bs.settings.Breaks() {
		return nil
	}
	if n.scope == nil {
		return bs.domains.priority(n.priority)
	}
	if d := n.scope.domain; d != nil && d.tier != tierCluster {
		return d
	}
	return nil
}

// breaking is how the breaker of a domain works. Clusters without a region share none.
func (bs *breakers) breaking(d *domain) storm.Breaking {
	s := bs.settings
	t := storm.Breaking{Least: s.BreakerMinimum, Window: s.BreakerWindow, Cooldown: s.BreakerCooldown, Trials: s.BreakerTrials}
	switch {
	case d.tier == tierFleet:
		t.Share = s.FleetBreakerShare
	case d.tier == tierPriority:
		t.Share = s.PriorityBreakerShare
	case d.tier == tierRegion && d.name != "":
		t.Share = s.RegionBreakerShare
	}
	return t
}

// charge counts a permitted request for every breaker that it passed, and reports whether it is on trial for one.
func (bs *breakers) charge(now time.Time, n *node) (onTrial bool) {
	e := storm.Trial{Binding: n.head.Binding, Cluster: n.head.Cluster}
	for ; n != nil; n = n.parent {
		d := bs.guarding(n)
		if d == nil || !bs.breaking(d).Works() {
			continue
		}
		t := bs.breaking(d)
		opens, trial := d.breaker.Take(now, e, d.breaker.copies, t)
		onTrial = onTrial || trial
		bs.permits.note(d)
		if trial && !d.breaker.Lets(t) {
			bs.changed(d, fmt.Sprintf("%d evictions are on trial", len(d.breaker.Trials)))
		}
		if opens {
			bs.broken = append(bs.broken, d)
			bs.opened = append(bs.opened, d)
			bs.changed(d, fmt.Sprintf("%d of %d copies evicted within %s: no more evictions", d.breaker.Count(now, t), d.breaker.Most(now, d.breaker.copies, t), messages.Period(t.Window)))
		}
	}
	return onTrial
}

// changed has all requests tried again, and told, because a breaker is in another state.
func (bs *breakers) changed(d *domain, because string) {
	d.breaker.says, bs.tripped = because, true
	bs.queue.retryAll()
}

// record tells of the state that a breaker is in now.
func (bs *breakers) record(now time.Time, d *domain, out *actors.Outbox) {
	t := bs.breaking(d)
	f := &messages.BreakerChanged{
		State: string(d.breaker.State), Message: d.breaker.says, Until: d.breaker.Until,
		Moved: d.breaker.Count(now, t), Copies: d.breaker.Most(now, d.breaker.copies, t),
	}
	switch d.tier {
	case tierRegion:
		f.Region = d.name
	case tierPriority:
		f.Priority = &d.priority
	}
	out.Record(f)
}

// recordOpened tells of the breakers that this instant opened.
func (bs *breakers) recordOpened(now time.Time, out *actors.Outbox) {
	for _, d := range bs.opened {
		bs.record(now, d, out)
	}
	bs.opened = bs.opened[:0]
}

// judge brings those that are not closed up to date, the widest first, and by name.
func (bs *breakers) judge(now time.Time, out *actors.Outbox) {
	slices.SortFunc(bs.broken, wider)
	bs.resume(out)
	bs.reconsider(now, out)
	for _, d := range bs.broken {
		on := fmt.Sprintf("%d of %d trial evictions are available again", d.breaker.Serving(), len(d.breaker.Trials))
		if d.breaker.Judge(now, bs.breaking(d)) {
			bs.changed(d, bs.verdict(d, on))
			bs.record(now, d, out)
		}
	}
	bs.broken = slices.DeleteFunc(bs.broken, func(d *domain) bool { return d.breaker.Closed() })
	if bs.tried {
		bs.tried = false
		bs.queue.retryAll()
	}
}

// reconsider closes breakers that opened for permits which came back.
func (bs *breakers) reconsider(now time.Time, out *actors.Outbox) {
	if len(bs.permits.returned) == 0 {
		return
	}
	for _, d := range bs.broken {
		if d.breaker.Reconsider(now, d.breaker.copies, bs.breaking(d)) {
			bs.changed(d, "the workloads it opened for have no target cluster and keep running")
			bs.record(now, d, out)
		}
	}
}

// verdict says why a breaker is as it is now, after trials that ended so.
func (bs *breakers) verdict(d *domain, trials string) string {
	switch d.breaker.State {
	case storm.Open:
		return trials + ": no more evictions"
	case storm.HalfOpen:
		return fmt.Sprintf("%d evictions may be tried", max(bs.settings.BreakerTrials, 1))
	default:
		if !bs.breaking(d).Works() {
			return "the breaker no longer exists"
		}
		return trials
	}
}

// conclude takes in how an eviction on trial ended.
func (bs *breakers) conclude(m *messages.TrialConcluded) {
	for _, d := range bs.broken {
		d.breaker.End(m.Binding, m.Cluster, m.Serves)
		bs.tried = true
	}
}

// untry takes a request off the trial that is made again, or is no longer needed.
func (bs *breakers) untry(k key) {
	for _, d := range bs.broken {
		d.breaker.Forget(k.binding, k.cluster)
		bs.tried = true
	}
}

// refund takes back one permit at a node.
func (bs *breakers) refund(now time.Time, n *node) {
	if d := bs.guarding(n); d != nil && bs.breaking(d).Works() {
		d.breaker.Return(now, bs.breaking(d))
		bs.permits.note(d)
	}
}

// count takes in how many copies there are.
func (bs *breakers) count(m *messages.CopiesCounted) {
	for _, c := range m.Clusters {
		d := bs.domains.cluster(c.Cluster)
		bs.tally(d.within, c.Copies-d.breaker.copies)
		d.breaker.copies = c.Copies
	}
	for _, c := range m.Priorities {
		bs.domains.priority(c.Priority).breaker.copies = c.Copies
	}
	if !bs.surveyed {
		bs.surveyed = true
		bs.queue.retryAll()
		bs.queue.tellAll()
	}
}

// relocate counts the copies of a cluster in another region.
func (bs *breakers) relocate(c, region *domain) {
	bs.tally(c.within, -c.breaker.copies)
	bs.tally(region, c.breaker.copies)
}

// tally adds copies to the counts of a region and of the fleet.
func (bs *breakers) tally(region *domain, more int) {
	region.breaker.copies += more
	bs.domains.fleet.breaker.copies += more
}

// survey forgets how many copies there are where the scheduler does not count them: one that begins to says so.
func (bs *breakers) survey() {
	if bs.settings.Breaks() {
		return
	}
	ds := bs.domains
	bs.surveyed, ds.fleet.breaker.copies = false, 0
	for _, d := range ds.regions { // order-free: all are set to nothing
		d.breaker.copies = 0
	}
	for _, d := range ds.clusters { // order-free: all are set to nothing
		d.breaker.copies = 0
	}
	clear(ds.priorities)
}

// restore takes over the state of a breaker before a restart.
func (bs *breakers) restore(d *domain, stored *api.BreakerStatus) {
	if stored == nil {
		return
	}
	d.breaker.Breaker, d.breaker.says = storm.Breaker{State: storm.BreakerState(stored.State)}, stored.Message
	if stored.Until != nil {
		d.breaker.Until = stored.Until.Time
	}
	if !d.breaker.Closed() {
		bs.broken = append(bs.broken, d)
	}
}

// resume asks bindings on trial before a restart how that ended. A request that was made again since is not on trial any
// more.
func (bs *breakers) resume(out *actors.Outbox) {
	if !bs.resuming {
		return
	}
	bs.resuming = false
	asked := map[key]bool{}
	for _, d := range bs.broken {
		for _, e := range slices.Clone(d.breaker.Trials) {
			switch k := (key{e.Binding, e.Cluster}); {
			case bs.queue.requests[k] != nil:
				d.breaker.Forget(e.Binding, e.Cluster)
			case !asked[k]:
				asked[k] = true
				out.TellBinding(e.Binding, &messages.ReportTrial{Cluster: e.Cluster})
			}
		}
	}
}

// due is when there is reason to judge; zero: never.
func (bs *breakers) due(now time.Time) (next time.Time) {
	if bs.tried {
		return now
	}
	for _, d := range bs.broken {
		next = actors.Earlier(next, d.breaker.Due(bs.breaking(d)))
	}
	return next
}
