package member

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"leeward/actors"
	"leeward/actors/rules/draw"
	"leeward/messages"
)

// subject is what a report is about: one binding's copy, or something of the cluster itself.
type subject struct {
	binding messages.BindingName
	of      string
}

// report is one report on its way.
type report struct {
	about   subject
	message messages.Message
	// number counts what was sent, so that who was overtaken can be told; at is when it arrives.
	number int
	at     time.Time
}

// link is what becomes of a member's reports on their way. It is there from a disturbance on, until all that
// was sent meanwhile has arrived or is void.
type link struct {
	now   time.Time // of the message that is being handled
	fault messages.ReportFault
	until time.Time
	by    time.Duration
	sent  int
	// late are on their way, in the order in which they arrive.
	late []report
	// unsaid are the last that were lost, one for each subject.
	unsaid []report
	// arrived is the newest report of each subject that did.
	arrived map[subject]int
}

// disturbed begins a disturbance, or changes the one there is.
func (m *Member) disturbed(now time.Time, d *messages.ReportsDisturbed) {
	if m.link == nil {
		m.link = &link{now: now, arrived: map[subject]int{}}
	}
	m.link.fault, m.link.until, m.link.by = d.Fault, d.Until, d.By
}

// reportOf tells a binding of its copy.
func (m *Member) reportOf(b messages.BindingName, msg messages.ToBinding, out *actors.Outbox) {
	if m.link == nil {
		out.TellBinding(b, msg)
		return
	}
	m.send(subject{binding: b}, msg, out)
}

// clusterSays tells the cluster what it is to report of itself.
func (m *Member) clusterSays(msg messages.ToCluster, out *actors.Outbox) {
	if m.link == nil {
		out.TellCluster(m.cluster, msg)
		return
	}
	about := subject{of: "resources"}
	if c, ok := msg.(*messages.ConditionReported); ok {
		about.of = "condition " + c.Type
	}
	m.send(about, msg, out)
}

// send lets a report arrive, late or not at all.
func (m *Member) send(about subject, msg messages.Message, out *actors.Outbox) {
	l := m.link
	l.sent++
	r := report{about: about, message: msg, number: l.sent, at: l.now}
	switch {
	case l.over():
		m.arrive(r, out)
	case l.fault == messages.ReportsLost:
		l.lose(r)
	case l.fault == messages.ReportsDuplicated:
		m.arrive(r, out)
		r.at = l.now.Add(l.by)
		l.delay(r)
	case l.fault == messages.ReportsDelayed:
		r.at = l.now.Add(l.by)
		l.delay(r)
	default:
		r.at = l.now.Add(m.straggles(about))
		l.delay(r)
	}
}

// straggles is how much later a shuffled report arrives: those of one subject and instant stay in order.
func (m *Member) straggles(about subject) time.Duration {
	number := draw.Hash(0, fmt.Sprintf("%d/%s/%s/%d", m.seed, m.cluster, about, m.link.now.UnixNano()))
	return draw.Between(number, 0, m.link.by)
}

// arrive hands a report over, unless a newer one about the same did arrive.
func (m *Member) arrive(r report, out *actors.Outbox) {
	if r.number < m.link.arrived[r.about] {
		return
	}
	m.link.arrived[r.about] = r.number
	if r.about.binding != "" {
		out.TellBinding(r.about.binding, r.message.(messages.ToBinding))
		return
	}
	out.TellCluster(m.cluster, r.message.(messages.ToCluster))
}

// deliverLate delivers what was under way for long enough; of a silent member nothing arrives. When the
// disturbance is over, what was lost is said again, as it is when an agent lists again what it runs.
func (m *Member) deliverLate(now time.Time, out *actors.Outbox) {
	l := m.link
	if l == nil {
		return
	}
	for len(l.late) > 0 && !l.late[0].at.After(now) {
		r := l.late[0]
		if l.late = l.late[1:]; m.outages.Silent() {
			l.lose(r)
			continue
		}
		m.arrive(r, out)
	}
	m.sayAgain(out)
}

// sayAgain repeats what was lost, if it can be heard now, and ends a link that has nothing left to carry.
func (m *Member) sayAgain(out *actors.Outbox) {
	l := m.link
	if l == nil || m.outages.Silent() || !l.over() && l.fault == messages.ReportsLost {
		return
	}
	for _, r := range l.unsaid {
		m.arrive(r, out)
	}
	if l.unsaid = nil; l.over() && len(l.late) == 0 {
		m.link = nil
	}
}

// flush delivers everything immediately, for the member ends.
func (m *Member) flush(out *actors.Outbox) {
	if m.link == nil {
		return
	}
	for _, r := range slices.Concat(m.link.unsaid, m.link.late) {
		m.arrive(r, out)
	}
	m.link = nil
}

func (l *link) over() bool { return !l.now.Before(l.until) }

// lose remembers the last of what is lost about a subject.
func (l *link) lose(r report) {
	l.unsaid = slices.DeleteFunc(l.unsaid, func(u report) bool { return u.about == r.about })
	l.unsaid = append(l.unsaid, r)
}

func (l *link) delay(r report) {
	i, _ := slices.BinarySearchFunc(l.late, r, func(a, b report) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.number, b.number))
	})
	l.late = slices.Insert(l.late, i, r)
}

// next is when something becomes of the link by itself; zero: never.
func (l *link) next() (at time.Time) {
	if l == nil {
		return at
	}
	if !l.over() {
		at = l.until
	}
	if len(l.late) > 0 {
		at = actors.Earlier(at, l.late[0].at)
	}
	return at
}
