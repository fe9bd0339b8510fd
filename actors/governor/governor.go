// Package governor is the machine that decides how fast evictions go: it hands out permits, the most
// urgent request first, as far as the gates of the fleet, of regions and of clusters let it. Requests of
// one instant are served together, so that their order of arrival does not matter.
package governor

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"leeward/actors"
	"leeward/actors/rules/storm"
	"leeward/messages"
)

// Governor hands out permits to evict.
type Governor struct {
	settings messages.Settings

	// fleet and its regions and clusters have the limits; under root stand the requests that they are meant for:
	// a desk for each kind, and under it the regions, the clusters and their requests. The desks of other kinds
	// stand by themselves.
	fleet    place
	regions  map[string]*place
	clusters map[messages.ClusterName]*place
	root     *node
	requests map[key]*node
	people
	// resting are the nodes that a gate stopped, in the order in which they are tried again.
	resting line
	// counted is set where the counts of clusters may have changed since they were last judged.
	counted bool
	// fresh are requests that are to be told what they wait for.
	fresh []*node

	// priorities have breakers, as the fleet and its regions do; surveyed is set once it is known how much there is
	// of each. Broken are those that are not closed, tripped is set where one changed in this instant, tried where
	// a trial did, or a permit came back, and resumed until those on trial before a restart were asked how it went.
	priorities        map[int32]*place
	broken            []*place
	surveyed, tripped bool
	tried, resumed    bool
	// permits are those of this instant, booked the places that count them, and opened those that they broke.
	permits        []messages.Permit
	booked, opened []*place
	// given are the requests that got a permit since givenAt, in its instant; returned are those of this turn that gave
	// it back.
	given    map[key]*node
	givenAt  time.Time
	returned []messages.Permit

	ledger ledger
	starts starts
}

// key names a request.
type key struct {
	binding messages.BindingName
	cluster messages.ClusterName
}

// New returns a governor with no requests.
func New(settings messages.Settings) *Governor {
	g := &Governor{
		settings: settings, resting: line{before: sooner},
		regions: map[string]*place{}, clusters: map[messages.ClusterName]*place{}, requests: map[key]*node{},
		priorities: map[int32]*place{},
		people:     newPeople(),
		starts:     newStarts(),
		ledger:     ledger{workloads: map[messages.BindingName]*workload{}, exceeding: map[messages.ClusterName]string{}},
	}
	g.fleet.verdict.State = storm.Normal
	g.root = newNode(nil, namespaced, &g.fleet)
	g.fleet.nodes = [kinds]*node{
		namespaced: newNode(g.root, namespaced, nil), clusterScoped: newNode(g.root, clusterScoped, nil),
		unlimited: newNode(nil, unlimited, nil), released: newNode(nil, released, nil),
	}
	g.staff()
	return g
}

// Receive routes a message to its transition.
func (g *Governor) Receive(now time.Time, m messages.ToGovernor, out *actors.Outbox) {
	switch m := m.(type) {
	case *messages.RequestEviction:
		g.request(m)
	case *messages.WithdrawRequest:
		g.withdraw(key{m.Binding, m.Cluster})
	case *messages.PermitReturned:
		g.permitReturned(now, m)
	case *messages.ClusterObserved:
		g.clusterObserved(m)
	case *messages.ClusterGone:
		g.clusterGone(m.Name)
	case *messages.CopiesCounted:
		g.copiesCounted(m)
	case *messages.TrialConcluded:
		g.trialConcluded(m)
	case *messages.GovernorRestored:
		g.restored(m.Status, out)
	case *messages.StartFailed:
		g.startFailed(m)
	case *messages.StartsSucceeded:
		g.startsSucceeded(m)
	case *messages.HoldChanged:
		g.holdChanged(now, m, out)
	case *messages.ReleaseChanged:
		g.releaseChanged(m, out)
	case *messages.BudgetsSet:
		g.budgetsSet(m)
	case *messages.ExceedingAllowed:
		g.exceedingAllowed(m)
	case *messages.WorkloadObserved:
		g.workloadObserved(now, m)
	case *messages.SettingsChanged:
		g.settingsChanged(m.Settings)
	case *messages.Woken:
		g.serve(now, out)
	default:
		panic(fmt.Sprintf("governor: unknown message %T", m))
	}
	out.WakeAt(g.nextDeadline(now))
}

// request takes a request in, in the place of the one for the same binding and cluster. In Karmada's queue
// priorities do not count (K32).
func (g *Governor) request(m *messages.RequestEviction) {
	priority := m.Priority
	if g.settings.EvictionOrder == messages.EvictByArrival && m.Priority != 0 {
		equal := *m
		equal.Priority = 0
		m = &equal
	}
	k := key{m.Binding, m.Cluster}
	g.withdraw(k)
	n := &node{parent: g.cluster(m.Cluster).node(g.kindOf(m)), head: m, priority: priority, told: m.Told}
	g.requests[k] = n
	n.put(n.ready())
	g.tell(n)
}

// tell has a request told what it waits for when the others of its instant are served.
func (g *Governor) tell(n *node) {
	if !n.fresh {
		n.fresh, g.fresh = true, append(g.fresh, n)
	}
}

// withdraw drops a request that was taken back, or is made anew.
func (g *Governor) withdraw(k key) {
	g.drop(k)
	g.untried(k)
}

func (g *Governor) drop(k key) {
	if n := g.requests[k]; n != nil {
		delete(g.requests, k)
		n.put(nil)
		g.ledger.dropped(k.binding)
	}
}

func (g *Governor) settingsChanged(s messages.Settings) {
	if s.EvictionBudgets != g.settings.EvictionBudgets {
		g.reviewBudgets()
	}
	g.settings, g.counted = s, true
	g.starts.review = true
	g.survey()
	g.staff()
	g.rouseAll()
}

// staff gives each desk its workers. Those that served last stay, so that nobody gains a permit by it.
func (g *Governor) staff() {
	for _, desk := range g.fleet.nodes[:unlimited] {
		served, workers := desk.scope.served, make([]time.Time, g.settings.EvictionWorkers)
		for i, j := len(workers)-1, len(served)-1; i >= 0 && j >= 0; i, j = i-1, j-1 {
			workers[i] = served[j]
		}
		desk.scope.served = workers
	}
}

// serve hands out permits: the kernel wakes at the end of an instant, when all its requests are there.
func (g *Governor) serve(now time.Time, out *actors.Outbox) {
	g.judge(now, out)
	g.judgeBreakers(now, out)
	g.endHolds(now, out)
	g.judgeStarts(now, out)
	g.rouse(now)
	g.reopen(now)
	for again := true; again; again = g.tryWaiting() {
		g.permitAll(now, out)
	}
	g.settle(now, out)
	g.record(now, out)
	g.explain(now, out)
}

// permitAll lets go whom every gate does.
func (g *Governor) permitAll(now time.Time, out *actors.Outbox) {
	for _, root := range g.roots() {
		for n := g.next(now, root); n != nil; n = g.next(now, root) {
			g.permit(now, n, out)
		}
	}
}

// roots are all nodes without a parent.
func (g *Governor) roots() [3]*node {
	return [...]*node{g.fleet.nodes[released], g.fleet.nodes[unlimited], g.root}
}

// unserved reports whether somebody waits to be served, and for nothing else.
func (g *Governor) unserved() bool {
	for _, root := range g.roots() {
		if root.head != nil && root.in == nil {
			return true
		}
	}
	return false
}

// next returns the most urgent request under a root that every gate lets go; nil: there is none. What a gate
// stops rests.
func (g *Governor) next(now time.Time, root *node) *node {
	for n := root; n.head != nil && n.in == n.ready(); {
		switch n.why = g.ask(now, n); {
		case n.why != nil:
			g.rest(n)
			n = root
		case n.scope == nil:
			return n
		default:
			n = n.scope.ready.nodes[0]
		}
	}
	return nil
}

// rest has a node wait for what stopped it. One that waits for a budget is told so: it may have waited for others before.
func (g *Governor) rest(n *node) {
	n.put(cmp.Or(n.why.line, &g.resting))
	if a := n.why.account; a != nil {
		g.ledger.changed(a)
		g.tell(n)
	}
}

// ask asks the gates of one node, and changes nothing.
func (g *Governor) ask(now time.Time, n *node) *wait {
	for _, gate := range n.gates() {
		if why := gate(g, now, n); why != nil {
			return why
		}
	}
	return nil
}

// permit lets a request go and charges for it all the way up.
func (g *Governor) permit(now time.Time, n *node, out *actors.Outbox) {
	r, kind := n.head, n.kind()
	m := &messages.EvictionPermitted{Cluster: r.Cluster}
	out.TellBinding(r.Binding, m)
	if kind != unlimited {
		g.spend(r, out)
	}
	if kind < unlimited {
		m.Trial = g.take(now, n)
		for p := n.parent; p != nil; p = p.parent {
			p.scope.charge(now, g)
		}
		g.permits = append(g.permits, n.permit())
		g.give(now, n)
	}
	g.drop(key{r.Binding, r.Cluster})
}

// rouse has everything tried again whose time has come.
func (g *Governor) rouse(now time.Time) {
	for g.resting.Len() > 0 {
		n := g.resting.nodes[0]
		if n.why.until.IsZero() || n.why.until.After(now) {
			return
		}
		g.wakeUp(n)
	}
}

// rouseAll has everything tried again, because the gates changed.
func (g *Governor) rouseAll() {
	for g.resting.Len() > 0 {
		g.wakeUp(g.resting.nodes[0])
	}
}

func (g *Governor) wakeUp(n *node) {
	n.why = nil
	n.put(n.ready())
}

// explain tells the requests that could not go what they wait for, each once.
func (g *Governor) explain(now time.Time, out *actors.Outbox) {
	if g.tripped {
		g.tripped = false
		g.retell()
	}
	if len(g.ledger.funds) > 0 { // who waits for one is asked again in any order
		slices.SortFunc(g.fresh, byUrgency)
	}
	for _, n := range g.fresh {
		n.fresh = false
		r := n.head
		if g.requests[key{r.Binding, r.Cluster}] != n {
			continue
		}
		why := g.stops(now, n)
		if why == nil && n.told {
			why = g.busy(now, n)
		}
		if why != nil {
			n.told = true
			out.TellBinding(r.Binding, &messages.EvictionDelayed{Cluster: r.Cluster, Reason: why.reason, Message: why.message, Until: why.ends})
		}
	}
	clear(g.fresh)
	g.fresh = g.fresh[:0]
}

// stops is what stops a node: people, or else the limit of its widest scope, also where a wider one stops it without
// a word; nil: nothing that is told.
func (g *Governor) stops(now time.Time, n *node) *wait {
	var word, limit *wait
	for ; n != nil; n = n.parent {
		if w := g.held(n); w != nil {
			word = w
		} else if w := g.limited(now, n); w != nil {
			limit = w
		}
	}
	return cmp.Or(word, limit)
}

// limited is what stops one node, or would if it was its turn; nil: nothing that is told.
func (g *Governor) limited(now time.Time, n *node) *wait {
	why := n.why
	if why == nil {
		why = g.ask(now, n)
	}
	if why == nil || why.reason == "" {
		return nil
	}
	return why
}

// nextDeadline is the end of this instant if there is something to judge, or somebody to serve or to tell; or
// else when a node has rested, or a verdict ends; zero: never.
func (g *Governor) nextDeadline(now time.Time) time.Time {
	if g.counted || g.tried || len(g.starts.failed)+len(g.starts.succeeded) > 0 || len(g.fresh) > 0 || len(g.ledger.stirred) > 0 || g.unserved() {
		return now
	}
	next := actors.Earlier(actors.Earlier(g.judgeAt(), g.breakersDue()), actors.Earlier(g.starts.due, actors.Earlier(g.ends, g.ledger.expires)))
	if g.resting.Len() > 0 {
		next = actors.Earlier(next, g.resting.nodes[0].why.until)
	}
	return next
}
