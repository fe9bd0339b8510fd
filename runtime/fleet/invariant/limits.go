package invariant

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"leeward/actors/rules/storm"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

// limits is what is known of the permits so far. A scope is the fleet, a region, a cluster or a priority.
type limits struct {
	// paid is when the permits of a scope are paid for at its rate.
	paid map[scope]time.Time
	// fleet is the rate that the state of the fleet sets; nil: it sets none.
	fleet *float64
	// breakers are those that ever changed, and moved the permits that count for them, the oldest first.
	breakers map[scope]*broken
	// opened are the breakers that opened in the instant.
	opened map[scope]time.Time
	moved  map[scope][]time.Time
	// Of the instant: permits are compared with the fleet as it is then, and doubts against the copies, unless
	// either became less after them.
	permits     []messages.Permit
	permittedAt time.Time
	doubts      []doubt
	// most is how many copies a scope had at most while what counts for its breaker moved. Gone are those that
	// ended in the instant, at the most.
	most map[scope]int
	gone int
	// counted are the scopes whose copies did not become more since they were counted.
	counted map[scope]bool
}

// doubt is a permit for which so much of a scope had left that its share matters.
type doubt struct {
	scope     scope
	share     float64
	before    int
	violation Violation
}

// scope names what a limit is about; all empty: the fleet.
type scope struct {
	region   string
	cluster  messages.ClusterName
	priority string
}

func (s scope) String() string {
	switch {
	case s.region != "":
		return "region " + s.region
	case s.cluster != "":
		return "cluster " + string(s.cluster)
	case s.priority != "":
		return "priority " + s.priority
	default:
		return "the fleet"
	}
}

// broken is the last known state of a breaker, and how many permits there were in it.
type broken struct {
	state   storm.BreakerState
	permits int
}

func newLimits() limits {
	return limits{paid: map[scope]time.Time{}, breakers: map[scope]*broken{}, opened: map[scope]time.Time{}, moved: map[scope][]time.Time{}, most: map[scope]int{}, counted: map[scope]bool{}}
}

// renewed forgets what counted by settings that no longer hold.
func (l *limits) renewed() {
	clear(l.paid)
	clear(l.moved)
	clear(l.opened)
	clear(l.most)
	clear(l.counted)
}

func (m *Monitor) breakerChanged(at time.Time, f *messages.BreakerChanged) {
	s := scope{region: f.Region}
	if f.Priority != nil {
		s.priority = fmt.Sprint(*f.Priority)
	}
	before := m.limits.breakers[s]
	m.limits.breakers[s] = &broken{state: storm.BreakerState(f.State)}
	delete(m.limits.opened, s)
	if f.State == string(storm.Open) && (before == nil || before.state == storm.Closed) {
		m.limits.opened[s] = at
	}
	if f.State == string(storm.Closed) && (before == nil || before.state != storm.Open) { // else it opened for a permit that came back
		delete(m.limits.moved, s)
		delete(m.limits.most, s)
		delete(m.limits.counted, s)
	}
}

// retried lets breakers give trials to others: what had not begun before a restart asks again.
func (l *limits) retried() {
	for _, b := range l.breakers { // order-free: each by itself
		b.permits = 0
	}
}

// permitted holds each permit against every limit that it has to pass.
func (m *Monitor) permitted(at time.Time, s *store.Store, f *messages.EvictionsPermitted) {
	for _, p := range f.Returned {
		m.returned(s, p)
	}
	for _, p := range f.Permits {
		v := Violation{At: at, Binding: p.Binding, Cluster: p.Cluster}
		m.check(LimitsKept, !m.permits.holds(time.Time{}, evictedFrom{p.Binding, p.Cluster}), v, "evictions are held")
		fleet, region, cluster := scope{}, scope{region: regionOf(s, p.Cluster)}, scope{cluster: p.Cluster}
		m.paced(at, fleet, m.fleetRate(), v)
		m.paced(at, cluster, m.settings.ClusterEvictionRate, v)
		m.broke(at, fleet, m.settings.FleetBreakerShare, v)
		m.broke(at, scope{priority: fmt.Sprint(p.Priority)}, m.settings.PriorityBreakerShare, v)
		if region.region != "" {
			m.paced(at, region, m.settings.RegionEvictionRate, v)
			m.broke(at, region, m.settings.RegionBreakerShare, v)
		}
	}
	if len(f.Permits) > 0 {
		m.limits.permits, m.limits.permittedAt = append(m.limits.permits, f.Permits...), at
	}
}

// returned has a permit count no longer that came back in its instant. A trial is for another then.
func (m *Monitor) returned(s *store.Store, p messages.Permit) {
	l, region := &m.limits, regionOf(s, p.Cluster)
	l.refund(scope{}, m.fleetRate())
	l.refund(scope{cluster: p.Cluster}, m.settings.ClusterEvictionRate)
	passed := []scope{{}, {priority: fmt.Sprint(p.Priority)}}
	if region != "" {
		l.refund(scope{region: region}, m.settings.RegionEvictionRate)
		passed = append(passed, scope{region: region})
	}
	for _, of := range passed {
		if b := l.breakers[of]; b != nil && b.state == storm.HalfOpen {
			b.permits--
		} else if n := len(l.moved[of]); n > 0 {
			l.moved[of] = l.moved[of][:n-1]
		}
	}
}

// refund takes back what one permit was charged at a rate.
func (l *limits) refund(of scope, rate float64) {
	if rate > 0 {
		l.paid[of] = l.paid[of].Add(-time.Duration(float64(time.Second) / rate))
	}
}

func regionOf(s *store.Store, name messages.ClusterName) string {
	if c := s.Cluster(name); c != nil {
		return c.Spec.Region
	}
	return ""
}

// fleetRate is that of the settings, or that of the fleet's state where that is lower. Where the state lets
// none go, the fleet as it is says so.
func (m *Monitor) fleetRate() float64 {
	rate := m.settings.FleetEvictionRate
	if l := m.limits.fleet; l != nil && *l > 0 && (rate <= 0 || *l < rate) {
		return *l
	}
	return rate
}

// paced counts one permit against a rate: what went is paid for at the rate, and a burst may be owed.
func (m *Monitor) paced(now time.Time, s scope, rate float64, v Violation) {
	if rate <= 0 {
		return
	}
	step, burst := time.Duration(float64(time.Second)/rate), time.Duration(max(m.settings.EvictionBurst, 1))
	paid := m.limits.paid[s]
	if paid.Before(now) {
		paid = now
	}
	paid = paid.Add(step)
	m.limits.paid[s] = paid
	m.check(LimitsKept, !paid.After(now.Add(burst*step)), v, "evictions from %s are faster than %v a second", s, rate)
}

// broke counts one permit for a breaker.
func (m *Monitor) broke(now time.Time, s scope, share float64, v Violation) {
	if share <= 0 {
		return
	}
	if b := m.limits.breakers[s]; b != nil && b.state != storm.Closed {
		b.permits++
		tried := b.state == storm.HalfOpen && b.permits <= max(m.settings.BreakerTrials, 1)
		m.check(LimitsKept, tried, v, "the breaker of %s is %s", s, b.state)
		return
	}
	moved := m.limits.moved[s]
	window := m.settings.BreakerWindow
	for len(moved) > 0 && !moved[0].Add(window+window/10).After(now) { // the governor forgets them a tenth of the window at a time
		moved = moved[1:]
	}
	past, _ := slices.BinarySearchFunc(moved, now.Add(-window), func(t, end time.Time) int { return cmp.Or(t.Compare(end), -1) }) // the oldest are first
	before := len(moved) - past
	most, known := m.limits.most[s], m.limits.counted[s]
	if !known || before >= max(m.settings.BreakerMinimum, 1) && float64(before) >= share*float64(most) {
		m.limits.doubts = append(m.limits.doubts, doubt{s, share, before, v})
	}
	m.limits.moved[s] = append(moved, now)
}

// sharesKept looks at the doubts of the instant. Copies are counted only for those.
func (m *Monitor) sharesKept(s *store.Store) {
	l := &m.limits
	counted := map[scope]bool{}
	for _, d := range l.doubts {
		if !counted[d.scope] {
			l.most[d.scope] = max(l.most[d.scope], l.gone+m.mostCopies(s, d.scope))
			counted[d.scope], l.counted[d.scope] = true, true
		}
		most := l.most[d.scope]
		few := d.before < max(m.settings.BreakerMinimum, 1)
		m.check(LimitsKept, few || float64(d.before) < d.share*float64(most), d.violation, "%d of %d copies of %s had left", d.before, most, d.scope)
	}
	l.doubts, l.gone = l.doubts[:0], 0
	for _, of := range slices.SortedFunc(maps.Keys(l.opened), func(x, y scope) int { return cmp.Compare(x.String(), y.String()) }) {
		m.check(LimitsKept, len(l.moved[of]) > 0, Violation{At: l.opened[of]}, "the breaker of %s stays open, and every permit that it opened for came back", of)
	}
	l.opened = emptied(l.opened)
}

// mostCopies is how many copies there may have been: those placed, and those that are being evicted. What was edited in the
// instant may have had any priority.
func (m *Monitor) mostCopies(st *store.Store, s scope) (sum int) {
	st.EachBinding(func(b *store.Binding) {
		if s.priority != "" && !m.edited[b.Name()] && s.priority != fmt.Sprint(priorityOf(b)) {
			return
		}
		for _, t := range b.Spec.Clusters {
			sum += within(st, s, t.Name)
		}
		for i := range b.Spec.GracefulEvictionTasks {
			sum += within(st, s, b.Spec.GracefulEvictionTasks[i].FromCluster)
		}
	})
	return sum
}

func within(st *store.Store, s scope, cluster string) int {
	if s.region != "" && regionOf(st, messages.ClusterName(cluster)) != s.region {
		return 0
	}
	return 1
}

func priorityOf(b *store.Binding) int32 {
	if p := b.Spec.SchedulePriority; p != nil {
		return p.Priority
	}
	return 0
}

// stateAllows holds the permits of the instant against the state of the fleet, as its clusters are: a fleet that
// seems to be down is not believed, and a small one stops when most of it is unhealthy.
func (m *Monitor) stateAllows(s *store.Store) {
	if len(m.limits.permits) > 0 {
		clusters, unhealthy := s.List("Cluster"), 0
		for _, o := range clusters {
			if !meta.IsStatusConditionTrue(o.(*api.Cluster).Status.Conditions, api.ConditionReady) {
				unhealthy++
			}
		}
		c := &m.settings
		verdict := storm.Judge(storm.Regime{}, unhealthy, len(clusters), storm.Thresholds{
			Unhealthy: c.UnhealthyClusterThreshold, Large: c.LargeFleetSize, Secondary: c.SecondaryEvictionRate, Blackout: c.BlackoutThreshold,
		}, m.limits.permittedAt)
		p := m.limits.permits[0]
		m.check(LimitsKept, !verdict.Stops(), Violation{At: m.limits.permittedAt, Binding: p.Binding, Cluster: p.Cluster},
			"%d of %d clusters are unhealthy: %s", unhealthy, len(clusters), verdict.State)
	}
	m.limits.permits = m.limits.permits[:0]
}

// fleetChanged notes that clusters are not what they were when permits of this instant were given.
func (l *limits) fleetChanged() { l.permits = l.permits[:0] }

// endless means any number of copies.
const endless = 1 << 30

// shrunk notes that there are fewer copies than when permits of this instant were given.
func (l *limits) shrunk(by int) { l.gone += max(by, 0) }

// grown notes that there are more copies than before, somewhere.
func (l *limits) grown() { clear(l.counted) }
