package scenario

import (
	"cmp"
	"slices"
	"time"

	"leeward/messages"
)

// Outage begins an outage of clusters or nodes, or ends one that began before.
type Outage struct {
	Target
	Kind messages.OutageKind
	// For is how long it lasts; zero: until the run ends.
	For time.Duration
	// Over is set where it ends.
	Over bool
}

// OutageKubelet is the outage that a node has: its kubelet renews no Lease, and starts and ends no pod.
const OutageKubelet messages.OutageKind = "kubelet"

func (*Outage) action() {}

func (c *call) outage(s *outageStep) Action {
	switch {
	case s.Node == nil:
		c.oneOf(c.path+".kind", s.Kind, string(messages.OutagePower), string(messages.OutageNetwork), string(messages.OutageAPIServer))
	case s.Kind != string(OutageKubelet):
		c.bad(c.path+".kind", "want %s for nodes, not %q", OutageKubelet, s.Kind)
	}
	if s.For != nil && *s.For == 0 {
		c.bad(c.path+".for", "must be more than 0")
	}
	return &Outage{Target: c.target(s.Cluster, s.Node), Kind: messages.OutageKind(s.Kind), For: s.For.orElse(0)}
}

// Refuse has the API server refuse a request of evictions; without an error it does no longer.
type Refuse struct {
	Request messages.APIVerb
	Error   string
	// For is how long it does; zero: until the run ends.
	For time.Duration
}

func (*Refuse) action() {}

func (c *call) refuse(s *refuseStep) Action {
	c.oneOf(c.path+".request", s.Request, string(messages.VerbGet), string(messages.VerbPatch), string(messages.VerbDelete), string(messages.VerbEvict))
	if s.For != nil && *s.For == 0 {
		c.bad(c.path+".for", "must be more than 0")
	}
	return &Refuse{Request: messages.APIVerb(s.Request), Error: s.Error, For: s.For.orElse(0)}
}

// ended is the step that ends an outage, refusals or a crash of the controllers of nodes; false: what a step does ends by itself, or not within the run.
func (r *reader) ended(s Step) (Step, bool) {
	var lasts time.Duration
	switch a := s.Action.(type) {
	case *Outage:
		lasts, s.Action = a.For, &Outage{Target: a.Target, Kind: a.Kind, Over: true}
	case *Refuse:
		lasts, s.Action = a.For, &Refuse{Request: a.Request}
	case *Crash:
		if len(r.cast.nodes.all) > 0 && len(r.memberNodes) == 0 {
			lasts, s.Action = a.For, &Restart{}
		}
	}
	s.At += lasts
	return s, lasts > 0 && (r.duration == 0 || s.At <= r.duration)
}

// Timeline returns steps as a timeline has them: with the end of each outage that ends, and in order.
func Timeline(steps []Step) []Step {
	r := &reader{cast: newCast()}
	var all []Step
	for _, s := range steps {
		all = append(all, s)
		if end, ends := r.ended(s); ends {
			all = append(all, end)
		}
	}
	slices.SortStableFunc(all, inOrder)
	return all
}

// inOrder orders the steps of a timeline by time. In one instant what people do comes first, as written, and then what
// happens to clusters and their copies, whatever the order of the lines: what hides something hides it from its first
// instant on, and an outage that begins where another ends goes on with it.
func inOrder(a, b Step) int {
	return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(turn(a.Action), turn(b.Action)))
}

// turn is when an action has its turn in an instant.
func turn(a Action) int {
	switch a := a.(type) {
	case *Reports:
		return 1
	case *Outage:
		if a.Over {
			return 3
		}
		return 2
	case *RebootNodes:
		return 4
	case *SchedulableReplicas:
		return 5
	case *Status:
		return 6
	case *Health:
		if a.Binding != "" { // after what is said of all
			return 8
		}
		return 7
	}
	return 0
}
