// Package timeline tells a run as what lasts: from when to when a cluster had a condition or a taint, a
// workload ran somewhere, counted down, was blocked, had a handover, and why each began and ended.
package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"leeward/actors/rules/storm"
	"leeward/messages"
	"leeward/runtime/fleet/failover"
	"leeward/runtime/fleet/journal"
)

// Timeline is one run. Clusters, and those of a binding, are in the order in which the run first speaks of them,
// bindings in the order of their names.
type Timeline struct {
	// Inputs is what came from outside and is about no cluster or workload alone.
	Inputs *Lane
	// Governor is how evictions were governed: a track for the fleet, and for each region.
	Governor *Lane
	Clusters []*Lane
	// Bindings have a lane for each cluster that they ever had to do with.
	Bindings []*Lane
	// Start is the instant from which everything counts, End that of the last fact.
	Start, End time.Time
}

// Lane is what happened to one cluster, or to one binding, or to one binding on one cluster.
type Lane struct {
	Name   string
	Tracks []*Track
	// Lanes are those of a binding's clusters.
	Lanes []*Lane

	failovers failover.Binding
}

// Track is one thing about a lane that lasts: no two of its bars overlap.
type Track struct {
	Name string
	Bars []*Bar
}

// Kind is what a bar is: it says how the bar is painted.
type Kind string

// The kinds of bars. Copies are told by their health, taints by their effect.
const (
	Good      Kind = "good"
	Bad       Kind = "bad"
	Neutral   Kind = "neutral"
	Placed    Kind = "placed"
	Countdown Kind = "countdown"
	Held      Kind = "held"
	Leaving   Kind = "leaving"
	Starting  Kind = "starting"
	Healthy   Kind = "healthy"
	Unhealthy Kind = "unhealthy"
	Unknown   Kind = "unknown"
	Blocks    Kind = "blocks"
	Evicts    Kind = "evicts"
	Slowed    Kind = "slowed"
	Mark      Kind = "mark"
	Warning   Kind = "warning"
)

// Bar is a time for which something was so. Marks last no time; To is zero for what is still so in the end.
type Bar struct {
	Kind     Kind
	From, To time.Time
	// Label is short. Details has what began the bar, what happened to it and what ended it, with their reasons.
	Label   string
	Details []string
}

// names of the tracks that every lane may have.
const (
	trackEvents = "events"
	trackPlace  = "place"
	trackLeave  = "leaving"
	trackCopy   = "copy"
	// trackAvailable is for what an outage takes from users.
	trackAvailable = "available"
)

// Of tells a run from its facts.
func Of(start time.Time, entries []journal.Entry) *Timeline {
	t := &telling{start: start, all: &Timeline{Inputs: &Lane{Name: "inputs"}, Governor: &Lane{Name: "governor"}, Start: start, End: start}, clusters: map[string]*Lane{}, bindings: map[string]*Lane{}}
	for i := range entries {
		t.tell(&entries[i])
	}
	slices.SortFunc(t.all.Bindings, func(a, b *Lane) int { return cmp.Compare(a.Name, b.Name) })
	return t.all
}

// telling is a timeline that is being told.
type telling struct {
	start time.Time
	all   *Timeline
	// lanes by name.
	clusters, bindings map[string]*Lane
	// now is the instant of the fact at hand, and told what it says.
	now  time.Time
	told journal.Phrase
}

func (t *telling) tell(e *journal.Entry) {
	t.now, t.all.End = e.At, e.At
	t.told = journal.Tell(t.start, e.Fact)
	switch f := e.Fact.(type) {
	case messages.AboutBinding:
		t.binding(lane(t.bindings, &t.all.Bindings, string(f.AboutBinding())), f)
	case messages.AboutCluster:
		t.cluster(lane(t.clusters, &t.all.Clusters, string(f.AboutCluster())), f)
	case *messages.ObjectApplied:
		t.applied(f)
	case *messages.GovernorChanged:
		t.governed(t.all.Governor, f)
	case *messages.BreakerChanged:
		t.broke(t.all.Governor, f)
	case *messages.EvictionsPermitted: // each shows by what comes of it
	case *messages.HoldPlaced:
		t.begin(t.all.Governor.track(holdTrack(f.HoldScope)), Slowed, f.Reason)
	case *messages.HoldEnded:
		t.end(t.all.Governor.track(holdTrack(f.HoldScope)))
	case *messages.ReleaseGranted:
		t.begin(t.all.Governor.track("released "+string(f.Binding)), Good, f.Reason)
	case *messages.ReleaseEnded:
		t.end(t.all.Governor.track("released " + string(f.Binding)))
	default:
		t.mark(t.all.Inputs)
	}
}

// holdTrack is the track of what people hold.
func holdTrack(of messages.HoldScope) string {
	if of == (messages.HoldScope{}) {
		return "paused"
	}
	return "on hold: " + cmp.Or(string(of.Binding), string(of.Cluster))
}

// governed goes on from one state of the governor to the next.
func (t *telling) governed(l *Lane, f *messages.GovernorChanged) {
	who, kind := "fleet", Good
	if f.Region != "" {
		who = "region " + f.Region
	}
	if f.EvictionsPerSecond != nil {
		kind = Slowed
	}
	t.begin(l.track(who), kind, who+": "+f.State)
}

// broke goes on from one state of a breaker to the next.
func (t *telling) broke(l *Lane, f *messages.BreakerChanged) {
	who, kind := "fleet", Slowed
	switch {
	case f.Region != "":
		who = "region " + f.Region
	case f.Priority != nil:
		who = fmt.Sprintf("priority %d", *f.Priority)
	}
	if f.State == string(storm.Closed) {
		kind = Good
	}
	t.begin(l.track(who+" breaker"), kind, who+": breaker "+f.State)
}

// applied gives a cluster its lane before anything happens to it.
func (t *telling) applied(f *messages.ObjectApplied) {
	kind, name, _ := strings.Cut(f.Object, " ")
	switch {
	case kind == "Cluster":
		lane(t.clusters, &t.all.Clusters, name)
	case !f.Created || t.now.After(t.start):
		t.mark(t.all.Inputs)
	}
}

// lane returns the lane of a name, which is new where no fact named it before.
func lane(known map[string]*Lane, list *[]*Lane, name string) *Lane {
	if l := known[name]; l != nil {
		return l
	}
	l := &Lane{Name: name}
	known[name] = l
	*list = append(*list, l)
	return l
}

// track returns a lane's track of a name.
func (l *Lane) track(name string) *Track {
	for _, t := range l.Tracks {
		if t.Name == name {
			return t
		}
	}
	t := &Track{Name: name}
	if name == trackEvents { // above what lasts
		l.Tracks = slices.Insert(l.Tracks, 0, t)
		return t
	}
	l.Tracks = append(l.Tracks, t)
	return t
}

func (t *Track) last() *Bar { return t.Bars[len(t.Bars)-1] }

// open reports whether something is so at the moment.
func (t *Track) open() bool { return len(t.Bars) > 0 && t.last().To.IsZero() }

// begin ends what was so on a track, and lets something else be so from now on. What began at this instant was
// never so.
func (t *telling) begin(track *Track, kind Kind, label string) {
	if track.open() && track.last().From.Equal(t.now) {
		track.last().Kind, track.last().Label = kind, label
		t.note(track)
		return
	}
	if track.open() {
		track.last().To = t.now
	}
	track.Bars = append(track.Bars, &Bar{Kind: kind, From: t.now, Label: label, Details: []string{t.told.Text()}})
}

// end says that what was so on a track is so no longer, if it was of one of the kinds; none means all.
func (t *telling) end(track *Track, kinds ...Kind) {
	if !track.is(kinds...) {
		return
	}
	track.last().To = t.now
	t.note(track)
}

// note adds to what is told of what is or was so on a track.
func (t *telling) note(track *Track) {
	b := track.last()
	b.Details = append(b.Details, t.told.Text())
}

// is reports whether something of these kinds is so.
func (t *Track) is(kinds ...Kind) bool {
	if !t.open() {
		return false
	}
	return len(kinds) == 0 || slices.Contains(kinds, t.last().Kind)
}

// mark tells of something that lasts no time, if a timeline shows it.
func (t *telling) mark(l *Lane) {
	if t.told.Level <= zerolog.DebugLevel {
		return
	}
	track := l.track(trackEvents)
	if len(track.Bars) == 0 || track.last().From.Before(t.now) {
		track.Bars = append(track.Bars, &Bar{Kind: Mark, From: t.now, To: t.now})
	}
	t.note(track)
	if t.told.Level == zerolog.WarnLevel {
		track.last().Kind = Warning
	}
}

// Thin reports whether a track accompanies others and needs no words of its own.
func (t *Track) Thin() bool { return t.Name == trackCopy }

// Calm reports whether a binding ran where it was placed first all the time, and there was no warning.
func (l *Lane) Calm() bool {
	for _, t := range l.Tracks {
		for _, b := range t.Bars {
			if b.Kind == Warning {
				return false
			}
		}
	}
	for _, on := range l.Lanes {
		if len(on.track(trackLeave).Bars) > 0 || len(on.track(trackPlace).Bars) > 1 || !on.Calm() {
			return false
		}
	}
	return true
}

// Instants are those at which a bar begins or ends, as times from the start, in no order.
func (t *Timeline) Instants() []time.Duration {
	var instants []time.Duration
	for _, lanes := range [][]*Lane{{t.Inputs, t.Governor}, t.Clusters, t.Bindings} {
		for _, l := range lanes {
			instants = l.instants(instants, t.Start)
		}
	}
	return append(instants, t.End.Sub(t.Start))
}

func (l *Lane) instants(to []time.Duration, start time.Time) []time.Duration {
	for _, t := range l.Tracks {
		for _, b := range t.Bars {
			to = append(to, b.From.Sub(start))
			if !b.To.IsZero() {
				to = append(to, b.To.Sub(start))
			}
		}
	}
	for _, on := range l.Lanes {
		to = on.instants(to, start)
	}
	return to
}
