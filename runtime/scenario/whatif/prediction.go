package whatif

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/failover"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/scenario/forecast"
	"leeward/runtime/scenario/replay"
)

// Prediction is what changes would do. Times count from the first instant.
type Prediction struct {
	// Prediction is true: nothing of this has happened.
	Prediction bool     `json:"prediction"`
	Profile    string   `json:"profile"`
	Seed       uint64   `json:"seed"`
	Clusters   int      `json:"clusters"`
	Workloads  int      `json:"workloads"`
	Changes    []string `json:"changes"`
	// Changed is set where an eviction, a placement or availability differs.
	Changed       bool       `json:"changed"`
	Evictions     []Eviction `json:"evictions"`
	Placements    []Move     `json:"placements"`
	Blocked       []Blocked  `json:"blocked"`
	Unschedulable []Trouble  `json:"unschedulable"`
	Unavailable   []Trouble  `json:"unavailable"`
	// Down are the workloads that have nothing available for a while.
	Down     []messages.BindingName `json:"down"`
	Capacity []Capacity             `json:"capacity"`
	Busiest  *Minute                `json:"busiestMinute,omitempty"`
	// Lowest is the smallest share of available replicas, at LowestAt.
	Lowest   float64          `json:"lowestAvailability"`
	LowestAt forecast.Seconds `json:"lowestAtSeconds"`
	// AvailableAfter is when all are available again; nil: not within the horizon.
	AvailableAfter *forecast.Seconds `json:"availableAfterSeconds"`
	By             string            `json:"by"`
	Groups         []Group           `json:"groups"`
	Samples        *Samples          `json:"samples,omitempty"`
}

// Eviction is one that the changes cause.
type Eviction struct {
	At         forecast.Seconds     `json:"atSeconds"`
	Workload   messages.BindingName `json:"workload"`
	Replicas   int32                `json:"replicas"`
	From       messages.ClusterName `json:"from"`
	To         []api.TargetCluster  `json:"to"`
	Reason     string               `json:"reason"`
	Taint      *corev1.Taint        `json:"taint,omitempty"`
	Policy     string               `json:"policy,omitempty"`
	Toleration *corev1.Toleration   `json:"toleration,omitempty"`
}

// Move is a placement that differs in the end.
type Move struct {
	Workload messages.BindingName `json:"workload"`
	Before   []api.TargetCluster  `json:"before"`
	After    []api.TargetCluster  `json:"after"`
}

// Blocked is an eviction that waits.
type Blocked struct {
	At       forecast.Seconds     `json:"atSeconds"`
	Workload messages.BindingName `json:"workload"`
	Cluster  messages.ClusterName `json:"cluster"`
	Reason   string               `json:"reason"`
	// Evicted is set where it happens later.
	Evicted bool `json:"evicted"`
}

// Trouble is a workload that is not whole in the end.
type Trouble struct {
	Workload messages.BindingName `json:"workload"`
	Missing  int32                `json:"missing"`
	Reason   string               `json:"reason"`
}

// Capacity is how much of a resource of a cluster is free.
type Capacity struct {
	Cluster     string `json:"cluster"`
	Resource    string `json:"resource"`
	Allocatable string `json:"allocatable"`
	Before      string `json:"before"`
	After       string `json:"after"`
}

// Minute is the one with the most evictions.
type Minute struct {
	From      forecast.Seconds `json:"fromSeconds"`
	Evictions int              `json:"evictions"`
}

// Group is what happens to a group.
type Group struct {
	Group         string `json:"group"`
	Evictions     int    `json:"evictions"`
	Replicas      int    `json:"replicas"`
	Unschedulable int    `json:"unschedulable"`
	Unavailable   int    `json:"unavailable"`
}

// Samples are times until all are available again under several seeds.
type Samples struct {
	Seeds  int               `json:"seeds"`
	Median *forecast.Seconds `json:"medianSeconds"`
	Worst  *forecast.Seconds `json:"worstSeconds"`
	Never  int               `json:"never"`
}

// summarized is the median and the worst of samples; one that never ends is worse than any.
func summarized(all []*Prediction) *Samples {
	s := &Samples{Seeds: len(all)}
	var after []*forecast.Seconds
	for _, p := range all {
		if after = append(after, p.AvailableAfter); p.AvailableAfter == nil {
			s.Never++
		}
	}
	slices.SortFunc(after, func(a, b *forecast.Seconds) int {
		switch {
		case a == nil || b == nil:
			return cmp.Compare(btoi(a == nil), btoi(b == nil))
		}
		return cmp.Compare(*a, *b)
	})
	s.Median, s.Worst = after[(len(after)-1)/2], after[len(after)-1]
	return s
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// compare reads what the changes did that does not happen without them.
func (p *player) compare(run *replay.Run, base *state) *Prediction {
	end := newState(slices.Values(run.Objects))
	f := newFollower(p.begins())
	f.want = func(b messages.BindingName, n int32) int32 {
		spec := end.bindings[b]
		if spec == nil {
			return 0
		}
		n = min(n, spec.Replicas)
		if base.available != nil {
			n = min(n, base.available[b])
		}
		return n
	}
	f.all(run)
	r := &Prediction{Prediction: true, Profile: run.Profile, Seed: run.Seed, Clusters: len(base.clusters), Workloads: len(base.names), By: cmp.Or(p.config.By, forecast.ByNamespace), Lowest: 1}
	for _, c := range p.config.Changes {
		r.Changes = append(r.Changes, c.String())
	}
	p.evictions(r, f, base)
	p.troubles(r, f, base, end)
	r.moves(base, end)
	r.capacity(base, end)
	if f.total > 0 {
		r.Lowest = float64(f.lowest) / float64(f.total)
	}
	r.LowestAt = p.since(f.lowestAt)
	if !f.wholeAt.IsZero() {
		after := p.since(f.wholeAt)
		r.AvailableAfter = &after
	}
	p.groups(r, base)
	r.Changed = len(r.Evictions)+len(r.Placements)+len(r.Unschedulable)+len(r.Unavailable)+len(r.Down)+len(r.Blocked) > 0 || f.lowest < f.total
	return r
}

func (p *player) since(at time.Time) forecast.Seconds { return forecast.Seconds(at.Sub(p.begins())) }

// evictions lists those that do not happen anyway, what blocks them, and the busiest minute.
func (p *player) evictions(r *Prediction, f *follower, base *state) {
	minutes, evicted := map[time.Duration]int{}, map[failover.Key]bool{}
	for _, o := range f.evictions {
		evicted[o.Key] = true
		if base.evicted[eviction{o.Binding, o.Cluster, o.Evicted}] {
			continue
		}
		g := &o.Eviction.Grounds
		e := Eviction{At: p.since(o.Evicted), Workload: o.Binding, From: o.Cluster, To: o.To, Reason: journal.Reason(g), Taint: g.Taint, Toleration: g.Toleration}
		if n := o.Eviction.Task.Replicas; n != nil {
			e.Replicas = *n
		}
		if g.Cause != nil {
			e.Policy = g.Cause.Policy
		}
		r.Evictions = append(r.Evictions, e)
		minute := time.Duration(e.At).Truncate(time.Minute)
		minutes[minute]++
		if n := minutes[minute]; r.Busiest == nil || n > r.Busiest.Evictions {
			r.Busiest = &Minute{forecast.Seconds(minute), n}
		}
	}
	for key, o := range f.blocked { // sorted below
		if base.blocked[key] != nil {
			continue
		}
		r.Blocked = append(r.Blocked, Blocked{p.since(f.blockedAt[key]), key.Binding, key.Cluster, journal.Printable(o.BlockedBy.Reason + ": " + o.BlockedBy.Message), evicted[key]})
	}
	slices.SortFunc(r.Evictions, func(a, b Eviction) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Workload, b.Workload), cmp.Compare(a.From, b.From))
	})
	slices.SortFunc(r.Blocked, func(a, b Blocked) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Workload, b.Workload), cmp.Compare(a.Cluster, b.Cluster))
	})
}

// troubles lists the workloads that are not whole in the end, with the reason.
func (p *player) troubles(r *Prediction, f *follower, base, end *state) {
	for _, b := range end.names {
		spec := end.bindings[b]
		missing := spec.Replicas
		for _, t := range spec.Clusters {
			missing -= t.Replicas
		}
		old := base.bindings[b]
		if reason, is := f.refused[b]; is && base.refused[b] == "" && (old == nil || !slices.Equal(old.Clusters, spec.Clusters) || old.Replicas != spec.Replicas || f.available[b] < f.target[b]) {
			r.Unschedulable = append(r.Unschedulable, Trouble{b, max(0, missing, f.target[b]-f.available[b]), journal.Printable(reason)})
		}
		if lacks := f.target[b] - f.available[b]; lacks > 0 {
			r.Unavailable = append(r.Unavailable, Trouble{b, lacks, p.why(b, f, end)})
		}
		if f.down[b] {
			r.Down = append(r.Down, b)
		}
	}
	slices.Sort(r.Down)
	order := func(a, b Trouble) int {
		return cmp.Or(cmp.Compare(b.Missing, a.Missing), cmp.Compare(a.Workload, b.Workload))
	}
	slices.SortFunc(r.Unschedulable, order)
	slices.SortFunc(r.Unavailable, order)
}

// why is why a workload is not available.
func (p *player) why(b messages.BindingName, f *follower, end *state) string {
	if reason, is := f.refused[b]; is {
		return "unschedulable: " + journal.Printable(reason)
	}
	spec := end.bindings[b]
	for _, t := range spec.Clusters {
		name := messages.ClusterName(t.Name)
		if o := f.blocked[failover.Key{Binding: b, Cluster: name}]; o != nil {
			return "blocked: " + journal.Printable(o.BlockedBy.Reason+": "+o.BlockedBy.Message)
		}
		if stays := f.stays[name]; stays != "" {
			return "stays: " + stays
		}
		i := slices.IndexFunc(end.clusters, func(c *api.Cluster) bool { return c.Name == t.Name })
		if i >= 0 && spec.Placement != nil {
			if text := forecast.Tolerated(end.clusters[i].Spec.Taints, spec.Placement.ClusterTolerations, &p.ready.Settings, p.begins(), "after the change"); text != "" {
				return text
			}
		}
	}
	return "copies are not available within " + forecast.Horizon.String()
}

// moves lists the placements that differ in the end.
func (r *Prediction) moves(base, end *state) {
	sorted := func(s *api.BindingSpec) []api.TargetCluster {
		if s == nil {
			return nil
		}
		all := slices.Clone(s.Clusters)
		slices.SortFunc(all, func(a, b api.TargetCluster) int { return cmp.Compare(a.Name, b.Name) })
		return all
	}
	names := slices.Concat(base.names, end.names)
	slices.Sort(names)
	for _, b := range slices.Compact(names) {
		if before, after := sorted(base.bindings[b]), sorted(end.bindings[b]); !slices.Equal(before, after) {
			r.Placements = append(r.Placements, Move{b, before, after})
		}
	}
}

// capacity is how much of each cluster is free without and with the changes.
func (r *Prediction) capacity(base, end *state) {
	for _, c := range end.clusters {
		has, others := forecast.CapacityOf(c)
		var all []Capacity
		for what, q := range has { // sorted below
			left := api.Units(what, q)
			if taken, is := others[what]; is {
				left -= api.Units(what, taken)
			}
			before, after := base.used[c.Name][what], end.used[c.Name][what]
			all = append(all, Capacity{c.Name, string(what), q.String(), forecast.Quantity(what, left-before), forecast.Quantity(what, left-after)})
		}
		slices.SortFunc(all, func(a, b Capacity) int { return cmp.Compare(a.Resource, b.Resource) })
		r.Capacity = append(r.Capacity, all...)
	}
}

// groups counts what happens to each group.
func (p *player) groups(r *Prediction, base *state) {
	all, names := map[string]*Group{}, []string(nil)
	group := func(name string) *Group {
		if all[name] == nil {
			all[name] = &Group{Group: name}
			names = append(names, name)
		}
		return all[name]
	}
	for _, e := range r.Evictions {
		g := group(p.groupOf(e.Workload, string(e.From), base))
		g.Evictions++
		g.Replicas += int(e.Replicas)
	}
	each := func(troubles []Trouble, count func(*Group)) {
		for _, t := range troubles {
			var seen []string
			for _, cluster := range clustersOf(base.bindings[t.Workload]) {
				if name := p.groupOf(t.Workload, cluster, base); !slices.Contains(seen, name) {
					seen = append(seen, name)
					count(group(name))
				}
			}
		}
	}
	each(r.Unschedulable, func(g *Group) { g.Unschedulable++ })
	each(r.Unavailable, func(g *Group) { g.Unavailable++ })
	slices.Sort(names)
	for _, name := range names {
		r.Groups = append(r.Groups, *all[name])
	}
}

func clustersOf(s *api.BindingSpec) (names []string) {
	if s != nil {
		for _, t := range s.Clusters {
			names = append(names, t.Name)
		}
	}
	if len(names) == 0 {
		return []string{""}
	}
	return names
}

// groupOf is the group of a workload, or of the cluster that it is on.
func (p *player) groupOf(b messages.BindingName, cluster string, base *state) string {
	switch p.config.By {
	case forecast.KindCluster:
		return cluster
	case forecast.KindRegion:
		if i := slices.IndexFunc(base.clusters, func(c *api.Cluster) bool { return c.Name == cluster }); i >= 0 {
			return base.clusters[i].Spec.Region
		}
		return ""
	}
	if label, is := strings.CutPrefix(p.config.By, "label:"); is {
		if spec := base.bindings[b]; spec != nil {
			return p.labels[spec.Resource.Key()][label]
		}
		return ""
	}
	namespace, _ := b.Split()
	return namespace
}
