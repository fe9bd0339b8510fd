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
	// Nodes are in the order of their zones, and within a zone in that in which the run first speaks of them, pods in the order of their names.
	Nodes, Pods []*Lane
	// Start is the instant from which everything counts, End that of the last fact.
	Start, End time.Time
}

// Lane is what happened to one cluster, one binding, one binding on one cluster, one node, or one pod.
type Lane struct {
	Name   string
	Tracks []*Track
	// Lanes are those of a binding's clusters.
	Lanes []*Lane
	// Zone is that of a node. Owner is that of a pod, and Nodes are all that it was ever bound to, in order.
	Zone, Owner string
	Nodes       []string

	failovers failover.Binding
}

// Track is one thing about a lane that lasts: no two of its bars overlap.
type Track struct {
	Name string
	Bars []*Bar
}

// Kind is what a bar is: it says how the bar is painted.
type Kind string

// The kinds of bars. Copies are told by their health, taints by their effect, pods by their phase.
const (
	Good    Kind = "good"
	Bad     Kind = "bad"
	Neutral Kind = "neutral"
	Placed  Kind = "placed"
	// Pending, Running and Terminating are of pods.
	Pending     Kind = "pending"
	Running     Kind = "running"
	Terminating Kind = "terminating"
	Countdown   Kind = "countdown"
	Blocked     Kind = "blocked"
	Evicting    Kind = "evicting"
	Starting    Kind = "starting"
	Healthy     Kind = "healthy"
	Unhealthy   Kind = "unhealthy"
	Unknown     Kind = "unknown"
	// Unschedulable is of replicas that no cluster can take, and of pods that no node can take.
	Unschedulable Kind = "unschedulable"
	NoSchedule    Kind = "noSchedule"
	NoExecute     Kind = "noExecute"
	Slowed        Kind = "slowed"
	Mark          Kind = "mark"
	Warning       Kind = "warning"
)

// Kinds are all kinds, from what a summary of several shows last to what it shows first.
func Kinds() []Kind {
	return []Kind{
		Placed, Running, Good, Healthy, Neutral, Unknown, Starting, Pending, NoSchedule, NoExecute, Slowed, Countdown, Blocked, Evicting, Terminating, Bad,
		Unhealthy, Unschedulable,
		Mark, Warning,
	}
}

// Bar is a time for which something was so. Marks last no time; To is zero for what is still so in the end.
type Bar struct {
	Kind     Kind
	From, To time.Time
	Label    string
	// Facts are the places in the journal of what began the bar, what happened to it and what ended it.
	Facts []int
}

// names of the tracks that every lane may have.
const (
	trackEvents        = "events"
	trackPlacement     = "placement"
	trackEviction      = "eviction"
	trackCopy          = "copy"
	trackUnschedulable = "unschedulable"
	// trackReady is whether a pod is ready.
	trackReady = "ready"
	// trackAvailable is for what an outage takes from users.
	trackAvailable = "available"
)

// Of tells a run from its facts.
func Of(start time.Time, entries []journal.Entry) *Timeline {
	t := &telling{start: start, all: &Timeline{Inputs: &Lane{Name: "inputs"}, Governor: &Lane{Name: "governor"}, Start: start, End: start}, clusters: map[string]*Lane{}, bindings: map[string]*Lane{}, nodes: map[string]*Lane{}, pods: map[string]*Lane{}, drains: map[string][]*Track{}}
	for i := range entries {
		t.fact = i
		t.tell(&entries[i])
	}
	byName := func(a, b *Lane) int { return cmp.Compare(a.Name, b.Name) }
	slices.SortFunc(t.all.Bindings, byName)
	slices.SortFunc(t.all.Pods, byName)
	slices.SortStableFunc(t.all.Nodes, func(a, b *Lane) int { return cmp.Compare(a.Zone, b.Zone) })
	return t.all
}

// telling is a timeline that is being told.
type telling struct {
	start time.Time
	all   *Timeline
	// lanes by name.
	clusters, bindings, nodes, pods map[string]*Lane
	// drains are, by node, the tracks of the evictions that block its drain.
	drains map[string][]*Track
	// now is the instant of the fact at hand, and fact its place in the journal.
	now   time.Time
	fact  int
	level zerolog.Level
}

func (t *telling) tell(e *journal.Entry) {
	t.now, t.all.End = e.At, e.At
	t.level = journal.Tell(t.start, e.Fact).Level
	switch f := e.Fact.(type) {
	case messages.AboutBinding:
		t.binding(lane(t.bindings, &t.all.Bindings, string(f.AboutBinding())), f)
	case messages.AboutCluster:
		t.cluster(lane(t.clusters, &t.all.Clusters, string(f.AboutCluster())), f)
	case messages.AboutPod:
		t.pod(lane(t.pods, &t.all.Pods, string(f.AboutPod())), f)
	case messages.AboutNode:
		t.node(lane(t.nodes, &t.all.Nodes, string(f.AboutNode())), f)
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
	track.Bars = append(track.Bars, &Bar{Kind: kind, From: t.now, Label: label, Facts: []int{t.fact}})
}

// end says that what was so on a track is so no longer, if it was of one of the kinds; none means all.
func (t *telling) end(track *Track, kinds ...Kind) {
	if !track.is(kinds...) {
		return
	}
	track.last().To = t.now
	t.note(track)
}

// note adds the fact to what is or was so on a track, once.
func (t *telling) note(track *Track) {
	if b := track.last(); len(b.Facts) == 0 || b.Facts[len(b.Facts)-1] != t.fact {
		b.Facts = append(b.Facts, t.fact)
	}
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
	if t.level <= zerolog.DebugLevel {
		return
	}
	track := l.track(trackEvents)
	if len(track.Bars) == 0 || track.last().From.Before(t.now) {
		track.Bars = append(track.Bars, &Bar{Kind: Mark, From: t.now, To: t.now})
	}
	t.note(track)
	if t.level == zerolog.WarnLevel {
		track.last().Kind = Warning
	}
}
