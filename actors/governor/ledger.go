package governor

import (
	"slices"
	"time"

	"leeward/actors/rules/budget"
	"leeward/messages"
)

// ledger is what the governor knows of budgets and of the workloads that they are about. It is empty while there
// are none.
type ledger struct {
	funds     map[messages.BudgetName]*fund
	workloads map[messages.BindingName]*workload
	// exceeding is why what leaves a cluster may exceed budgets, where people say so.
	exceeding map[messages.ClusterName]string
	// stirred are the funds that are new since they were last settled, or of which an account is.
	stirred []*fund
	// expires is when the first move leaves its window; zero: there is none.
	expires time.Time
}

// fund is one budget.
type fund struct {
	messages.Budget
	// accounts has one for all workloads, without a name, or one for each.
	accounts map[messages.BindingName]*account
	// news are the accounts that are stirred; stirred is set while the fund is among those of the ledger.
	news    []*account
	stirred bool
	// total is the sum over accounts, shown what was last recorded of the fund.
	total sums
	shown *messages.BudgetChanged
}

// account is what a budget counts of one workload, or of all together.
type account struct {
	budget.Account
	fund      *fund
	binding   messages.BindingName
	workloads int64
	// waiting are the requests whose turn comes, the most urgent first. Never are those whose turn does not come
	// as things are: they stand in nobody's way.
	waiting, never line
	// trying is the request that was last taken out of waiting to be asked again.
	trying  *node
	stirred bool
	// added is what the account adds to the total of its fund.
	added sums
}

// workload is what is known of one binding that budgets select.
type workload struct {
	news     *messages.WorkloadObserved
	accounts []*account
	// healthy and pending are what it adds to its accounts.
	healthy, pending int64
	// grants are its permits that have not been seen to be used or given back.
	grants []grant
}

// grant is a permit to move so many replicas.
type grant struct {
	cluster  messages.ClusterName
	replicas int64
}

// budgetsSet takes over all budgets. One that was there goes on with what it has counted.
func (g *Governor) budgetsSet(m *messages.BudgetsSet) {
	l := &g.ledger
	for _, w := range l.workloads { // order-free: each is struck off by itself
		w.leave(l)
	}
	before := l.funds
	l.funds = make(map[messages.BudgetName]*fund, len(m.Budgets))
	for _, b := range m.Budgets {
		f := before[b.Name]
		if f == nil || f.Spec.PerWorkload != b.Spec.PerWorkload {
			f = open(b)
		}
		f.Spec = b.Spec
		l.funds[b.Name] = f
		l.stir(f)
	}
	for _, f := range before { // order-free: each request stands in one line
		g.askAgain(f)
	}
	for _, w := range l.workloads { // order-free: accounts are sums
		g.enrol(w)
	}
}

// open returns a new fund with the moves that are on record.
func open(b messages.Budget) *fund {
	f := &fund{Budget: b, accounts: map[messages.BindingName]*account{}}
	for _, m := range b.Moved {
		a := f.account(messages.BindingName(m.Binding))
		a.Moves = append(a.Moves, budget.Move{At: m.At.Time, Replicas: m.Replicas})
	}
	return f
}

// account returns the account of a workload.
func (f *fund) account(of messages.BindingName) *account {
	if !f.Spec.PerWorkload {
		of = ""
	}
	a := f.accounts[of]
	if a == nil {
		a = &account{fund: f, binding: of, waiting: line{before: moreUrgent}, never: line{before: moreUrgent}}
		f.accounts[of] = a
	}
	return a
}

// stir has funds settled at the end of the instant.
func (l *ledger) stir(f *fund) {
	if !f.stirred {
		f.stirred, l.stirred = true, append(l.stirred, f)
	}
}

// changed has an account settled, and those that wait for it asked again.
func (l *ledger) changed(a *account) {
	if !a.stirred {
		a.stirred, a.fund.news = true, append(a.fund.news, a)
	}
	l.stir(a.fund)
}

// dropped has those asked that waited behind a request of a workload.
func (l *ledger) dropped(of messages.BindingName) {
	if w := l.workloads[of]; w != nil {
		for _, a := range w.accounts {
			l.changed(a)
		}
	}
}

// workloadObserved takes in how a workload fares.
func (g *Governor) workloadObserved(now time.Time, m *messages.WorkloadObserved) {
	l := &g.ledger
	w := l.workloads[m.Binding]
	if w == nil {
		w = &workload{news: m}
		l.workloads[m.Binding] = w
	}
	w.leave(l)
	g.askWorkload(w.news)
	w.news = m
	if len(m.Budgets) == 0 {
		delete(l.workloads, m.Binding)
	}
	g.enrol(w)
	g.settleGrants(now, w)
}

// askWorkload has the requests of a workload asked again, because what they cost may be new.
func (g *Governor) askWorkload(m *messages.WorkloadObserved) {
	for i := range m.Shares {
		if n := g.requests[key{m.Binding, m.Shares[i].Cluster}]; n != nil && n.why != nil {
			g.tryAgain(n)
		}
	}
}

// enrol adds a workload to the accounts of the budgets that select it. A name without a fund is one whose budget
// is still to come, or gone.
func (g *Governor) enrol(w *workload) {
	for _, name := range w.news.Budgets {
		if f := g.ledger.funds[name]; f != nil {
			w.accounts = append(w.accounts, f.account(w.news.Binding))
		}
	}
	w.healthy = g.healthy(w, "")
	w.count(&g.ledger, 1)
}

// leave takes a workload out of its accounts.
func (w *workload) leave(l *ledger) {
	w.count(l, -1)
	w.accounts = w.accounts[:0]
}

// count adds what a workload has to its accounts, or takes it out of them.
func (w *workload) count(l *ledger, by int64) {
	for _, a := range w.accounts {
		a.workloads += by
		a.Expected += by * w.news.Expected
		a.Healthy += by * w.healthy
		a.Pending += by * w.pending
		l.changed(a)
	}
}

// healthy is how many replicas of a workload serve, or would if it left a cluster now. Those on clusters that
// are not Ready, and those that a permit takes away, do not; those beyond what is expected do not count.
func (g *Governor) healthy(w *workload, without messages.ClusterName) (n int64) {
	for i := range w.news.Shares {
		s := &w.news.Shares[i]
		gone := w.news.AtOnce && (s.Departure > messages.Asks || s.Cluster == without || w.granted(s.Cluster))
		if c := g.clusters[s.Cluster]; !gone && (c == nil || !c.standing.unhealthy) {
			n += int64(s.Serving)
		}
	}
	return min(n, w.news.Expected)
}

func (w *workload) granted(c messages.ClusterName) bool {
	return slices.ContainsFunc(w.grants, func(t grant) bool { return t.cluster == c })
}

// recount looks again at who serves, because a cluster became Ready or ceased to be.
func (g *Governor) recount() {
	for _, w := range g.ledger.workloads { // order-free: accounts are sums
		g.amend(w, func() {})
	}
}

// amend changes a workload and what it adds to its accounts.
func (g *Governor) amend(w *workload, change func()) {
	w.count(&g.ledger, -1)
	change()
	w.healthy = g.healthy(w, "")
	w.count(&g.ledger, 1)
}

// settleGrants notes which permits were used, and which were given back because the workload stays. One that it
// has not heard of yet is neither.
func (g *Governor) settleGrants(now time.Time, w *workload) {
	for _, t := range slices.Clone(w.grants) {
		i := slices.IndexFunc(w.news.Shares, func(s messages.Share) bool { return s.Cluster == t.cluster })
		if d := w.departure(i); d == messages.Asks || d == messages.Permitted {
			continue
		}
		g.amend(w, func() {
			w.pending -= t.replicas
			w.grants = slices.DeleteFunc(w.grants, func(o grant) bool { return o == t })
		})
		if w.departure(i) == messages.Leaves {
			w.moved(now, t.replicas)
		}
	}
}

// departure is that of a share; of one that is not there, none.
func (w *workload) departure(i int) messages.Departure {
	if i < 0 {
		return messages.Stays
	}
	return w.news.Shares[i].Departure
}

// moved counts replicas that are let go now, where that is limited.
func (w *workload) moved(now time.Time, replicas int64) {
	for _, a := range w.accounts {
		if a.fund.Spec.MaxMoved != nil {
			a.Moves.Add(now, replicas)
		}
	}
}
