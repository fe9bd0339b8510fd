package live

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/journal"
)

// Prepared is a fleet of a standby whose leader is late: its machines are made and have done what is due, and nothing of that is
// committed or told. It takes in no changes before it leads.
type Prepared struct{ fleet *Fleet }

// Prepare makes a fleet for a term that may begin soon. It is Lead's, or closed. Where the context is done meanwhile, Prepare
// returns its cause.
func Prepare(ctx context.Context, c Config) (*Prepared, error) {
	f := empty(c)
	f.silent = true
	if err := f.start(ctx, f.settle); err != nil {
		return nil, err
	}
	return &Prepared{f}, nil
}

// Close ends a fleet that does not lead.
func (p *Prepared) Close() { p.fleet.Close() }

// Lead has the fleet decide for a term, and tells what its machines have done so far. It returns nil, and the fleet is closed, where
// a leader has decided since it was made: then it is not as the store is.
func (p *Prepared) Lead(ctx context.Context, term int64) (*Fleet, error) {
	f := p.fleet
	changes := f.feed.Take()
	if slices.ContainsFunc(changes, func(c engine.Change) bool {
		return c.Version > f.loaded[byPrefix[engine.PrefixOf(c.Key)]] && decides(&c)
	}) {
		f.Close()
		return nil, nil
	}
	f.config.Term, f.silent = term, false
	for _, s := range f.unsaid {
		f.say(s.at, s.fact, s.told)
	}
	f.unsaid = nil
	err := f.untilDone(ctx, func() error {
		f.takeAll(changes)
		return f.firstRound()
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// untold is a fact with its words.
type untold struct {
	at   time.Time
	fact messages.Fact
	told journal.Phrase
}

// decides reports whether a change may be a decision of machines. Those of a fleet would take it for an edit by people. What people
// edit may look the same: a fleet is then made again, which takes longer.
func decides(c *engine.Change) bool {
	for _, o := range []api.Object{c.Object, c.Previous()} {
		switch o.(type) {
		case *api.ResourceBinding, *api.ClusterResourceBinding, *api.Governor:
			return true
		}
	}
	now, is := c.Object.(*api.Cluster)
	if !is {
		return false
	}
	before, had := c.Previous().(*api.Cluster)
	if !had {
		return now.DeletionTimestamp != nil
	}
	decided := *before
	decideCluster(&decided, now)
	return !equality.Semantic.DeepEqual(before, &decided)
}
