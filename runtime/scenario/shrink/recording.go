package shrink

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"time"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/scenario/incident"
	"leeward/runtime/scenario/replay"
)

// ErrSame says that there is nothing to shrink.
var ErrSame = errors.New("the replay evicts as was recorded: there is nothing to shrink")

// Recording returns the smallest recording whose replay differs from it in the same way: in the first eviction that is another one. It
// omits objects with all their changes, and then changes; what it keeps is as it was recorded. When the context ends, it is the smallest
// so far. The error is ErrSame where nothing differs.
func Recording(ctx context.Context, c Config) (*Result, error) {
	data, err := c.Source.Read(c.Scenario.File)
	if err != nil {
		return nil, err
	}
	h := &history{config: &c, ctx: ctx}
	run, compared, err := h.play(data, incident.Under{With: c.With, Profile: c.Profile, Set: c.Set}, c.Until)
	if err != nil {
		return nil, err
	}
	first := firstDifference(run, compared)
	if first == nil {
		return nil, ErrSame
	}
	if err := h.takeApart(data); err != nil {
		return nil, err
	}
	if run, compared, err = h.play(h.text(), incident.Under{}, 0); err != nil {
		return nil, err
	}
	if h.want = first.in(run, compared); h.want == nil {
		return nil, fmt.Errorf("%s, with its settings and manifests in one file, does not differ in the same way", c.Scenario.Name)
	}
	h.compared = compared
	r := &Result{Before: h.size(), Fails: []string{h.want.String()}}
	search := &reducing{most: c.Most, parallel: min(runtime.GOMAXPROCS(0), mostParallel), begin: func() func() bool {
		text := h.text()
		return func() bool { return h.differs(text) }
	}}
	if c.Progress != nil {
		search.tried = func(tries int) { c.Progress(tries, len(h.families)+len(h.changes)) }
	}
	search.omit(h.families, func(left []any) { h.families = left })
	h.left()
	search.omit(h.changes, func(left []any) { h.changes = left })
	search.omit(h.families, func(left []any) { h.families = left })
	h.left()
	r.Tries, r.After, r.Text = search.tries, h.size(), h.text()
	r.Bounded = r.Tries >= c.Most || ctx.Err() != nil
	return r, nil
}

// difference is an eviction that is not as it was recorded, and what was told of its binding and its cluster until then.
type difference struct {
	replay.Comparison
	facts []string
}

// firstDifference is the first eviction that is not as it was recorded; nil: all are.
func firstDifference(run *replay.Run, compared []replay.Comparison) *difference {
	i := slices.IndexFunc(compared, func(c replay.Comparison) bool { return c.Verdict != replay.Same })
	if i < 0 {
		return nil
	}
	return differenceOf(run, &compared[i])
}

func differenceOf(run *replay.Run, c *replay.Comparison) *difference {
	d := &difference{Comparison: *c}
	var last time.Duration
	for _, e := range []*replay.EvictionRecord{c.Recorded, c.Replayed} {
		if e != nil {
			last = max(last, e.At)
		}
	}
	all := map[string]bool{}
	for i := range run.Events {
		if e := &run.Events[i]; !e.At.After(run.Start.Add(last+incident.Apart)) && d.concerns(e.Fact) {
			all[e.Fact.Kind()] = true
		}
	}
	d.facts = slices.Sorted(maps.Keys(all))
	return d
}

// concerns reports whether a fact is about the binding, or about the cluster and no binding.
func (d *difference) concerns(f messages.Fact) bool {
	if binding, is := f.(messages.AboutBinding); is {
		return string(binding.AboutBinding()) == d.Binding
	}
	cluster, is := f.(messages.AboutCluster)
	return is && string(cluster.AboutCluster()) == d.Cluster
}

// in is the same difference in another run, nil: there is none.
func (d *difference) in(run *replay.Run, compared []replay.Comparison) *difference {
	if i := slices.IndexFunc(compared, func(c replay.Comparison) bool { return alike(&c, &d.Comparison) }); i >= 0 {
		return differenceOf(run, &compared[i])
	}
	return nil
}

// alike reports whether two runs of a recording differ from it in the same way in an eviction: what was recorded is the same, and what is
// replayed to within incident.Apart.
func alike(a, b *replay.Comparison) bool {
	return a.Binding == b.Binding && a.Cluster == b.Cluster && a.Verdict == b.Verdict && a.Recorded.String() == b.Recorded.String() && near(a.Replayed, b.Replayed)
}

func near(a, b *replay.EvictionRecord) bool {
	if a == nil || b == nil {
		return a == b
	}
	return (a.At-b.At).Abs() <= incident.Apart && slices.EqualFunc(a.To, b.To, api.TargetCluster.Equal) && a.Open == b.Open && a.Back == b.Back
}

// play replays a recording, and holds it against what was recorded.
func (h *history) play(data []byte, under incident.Under, until time.Duration) (*replay.Run, []replay.Comparison, error) {
	i, err := incident.Read(h.config.Scenario.File, data)
	if err != nil {
		return nil, nil, err
	}
	s := i.Scenario(under)
	run, err := replay.PlayContext(h.ctx, s, replay.Options{Seed: h.config.Seed, Profile: under.Profile, Set: under.Set, Until: until})
	if err != nil {
		return nil, nil, err
	}
	return run, i.Held(run, s, until), nil
}

// differs reports whether the replay of a recording differs from it in the same way. One in which a machine panics does not.
func (h *history) differs(text []byte) (is bool) {
	defer func() {
		if recover() != nil {
			is = false
		}
	}()
	if h.ctx.Err() != nil {
		return false
	}
	run, compared, err := h.play(text, incident.Under{}, 0)
	if err != nil {
		return false
	}
	d := h.want.in(run, compared)
	return d != nil && slices.Equal(d.facts, h.want.facts) && !slices.ContainsFunc(compared, h.other)
}

// other reports whether an eviction differs that did not in the whole recording.
func (h *history) other(c replay.Comparison) bool {
	return c.Verdict != replay.Same && !slices.ContainsFunc(h.compared, func(of replay.Comparison) bool { return alike(&c, &of) })
}
