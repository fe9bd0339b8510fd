package live

import (
	"time"

	"github.com/benbjohnson/clock"

	"leeward/messages"
	"leeward/runtime/fleet/invariant"
	"leeward/runtime/fleet/journal"
)

// invariants watch over what a fleet does. They are asked once for each commit, however many instants of the machines' time it is
// about: what waits is many while a fleet fails.
type invariants struct {
	// monitor asks the invariants; nil: nothing does. Spent is how long it has worked.
	monitor *invariant.Monitor
	spent   time.Duration
	news    []journal.Entry
	looked  time.Time
	told    int
}

// keepsNews is how many facts a buffer may be for that outlives an instant: a storm has a hundred times as many in one.
const keepsNews = 4096

// hear leaves out what is asked of Works: which copies run is not looked at, and a start asks for all.
func (l *invariants) hear(at time.Time, f messages.Fact) {
	switch f.(type) {
	case *messages.CopyWanted, *messages.CopyUnwanted:
		return
	}
	if l.monitor != nil {
		l.news = append(l.news, journal.Entry{At: at, Fact: f})
	}
}

// askLaws asks the invariants of what was done up to now, and tells what they find.
func (f *Fleet) checkInvariants() {
	l, now, s := &f.invariants, f.world.Now(), f.world.Store()
	if l.monitor == nil {
		return
	}
	defer l.time(f.config.Clock)()
	l.monitor.Heard(s, l.news)
	clear(l.news)
	if l.news = l.news[:0]; cap(l.news) > keepsNews {
		l.news = nil
	}
	if now.After(l.looked) {
		l.monitor.Look(now, s)
		l.looked = now
	}
	broken := l.monitor.Violations()
	for i := range broken[l.told:] {
		f.accuse(&broken[l.told+i])
	}
	l.told = len(broken)
}

// time counts how long the monitor works, from now until what it returns is called.
func (l *invariants) time(c clock.Clock) (done func()) {
	began := c.Now()
	return func() { l.spent += c.Since(began) }
}

// Monitor returns how long the monitor of the invariants has worked, and an estimate of its memory; zero where Unmonitored is
// set. It is read on the goroutine of Run.
func (f *Fleet) Monitor() (spent time.Duration, bytes int64) {
	if f.invariants.monitor == nil {
		return 0, 0
	}
	return f.invariants.spent, f.invariants.monitor.Bytes()
}

func (f *Fleet) accuse(v *invariant.Violation) {
	f.config.Log.Error().Str("invariant", string(v.Invariant)).Str("binding", string(v.Binding)).Str("cluster", string(v.Cluster)).
		Str("detail", v.Detail).Msg("an invariant is broken: this is a bug of the machines, or an edit by a user")
	if f.config.Broken != nil {
		f.config.Broken(v)
	}
}
