package nodelifecycle

import (
	"slices"

	"leeward/actors"
	"leeward/actors/rules/nodelife"
	"leeward/messages"
)

// assess compares the counts of all zones with their states, and says what follows from it. A zone without a counted node is forgotten.
func (l *Lifecycle) assess(out *actors.Outbox) {
	l.changed = false
	d := nodelife.Assess(l.seen(), l.rules.Limits)
	if len(d.Zones) == 0 {
		return
	}
	full := !slices.ContainsFunc(d.Zones, func(v nodelife.ZoneState) bool { return v.State != nodelife.FullDisruption })
	enters, leaves := d.Entered, l.disrupted && !full
	if l.rules.Period <= 0 && full != l.disrupted {
		enters = full
		l.limitAll(d.Zones, full)
	}
	for i := range d.Zones {
		l.become(&d.Zones[i], out)
	}
	if enters || leaves {
		l.tell(enters, out)
	}
}

// limitAll sets the rate of every zone when disruption begins or ends. Kubernetes compares states of zones, and forgets the other ones where
// a new zone ends the disruption, or where the last zone that was not disrupted is deleted.
func (l *Lifecycle) limitAll(zones []nodelife.ZoneState, full bool) {
	for i := range zones {
		v := &zones[i]
		if v.Limited, v.Rate = true, 0; !full {
			v.Rate = l.rules.Limits.RateOf(v.State, l.zones[nameOf(v)].count.Size())
		}
	}
}

func nameOf(v *nodelife.ZoneState) messages.ZoneName { return messages.ZoneName(v.Zone.String()) }

// seen are all zones with their counts; the verdicts on them come in the order of zones.
func (l *Lifecycle) seen() []nodelife.Seen {
	zones := make([]nodelife.Seen, 0, len(l.zones))
	for name, z := range l.zones { // order-free: the verdicts are sorted
		if z.count.Size() == 0 {
			delete(l.zones, name)
			continue
		}
		zones = append(zones, nodelife.Seen{Zone: zoneOf(name), Before: z.state, Count: z.count})
	}
	return zones
}

// become takes over the new state of a zone, and tells it its rate. That a new zone is Normal is no news.
func (l *Lifecycle) become(v *nodelife.ZoneState, out *actors.Outbox) {
	name := nameOf(v)
	z := l.zones[name]
	if v.Changed && (z.state != nodelife.Initial || v.State != nodelife.Normal) {
		out.Record(&messages.ZoneStateChanged{
			Zone: name, State: v.State.String(), Ready: z.count.Ready, NotReady: z.count.NotReady, Rate: v.Rate,
		})
	}
	z.state = v.State
	if v.Limited {
		out.TellZone(name, &messages.ZoneRateSet{Rate: v.Rate})
	}
}

// tell tells all nodes that every zone is fully disrupted, or that one no longer is.
func (l *Lifecycle) tell(disrupted bool, out *actors.Outbox) {
	if l.disrupted != disrupted {
		out.Record(&messages.DisruptionChanged{Full: disrupted})
	}
	l.disrupted = disrupted
	m := &messages.NodesDisrupted{Over: !disrupted}
	if l.lasts() > 0 {
		m.Pass = l.passed
	}
	for _, name := range l.all() {
		out.TellNode(name, m)
	}
}
