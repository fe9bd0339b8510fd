package placement_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors/rules/affinity"
	"leeward/actors/rules/division"
	"leeward/actors/rules/placement"
	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
)

// reference is the planner written down as plainly as its rules read, without columns, keys, heaps,
// caches or short cuts: clusters are structs, choices are sorts, seats are given one at a time and
// combinations of regions are all walked through. Tests hold the planner to it; benchmarks measure
// against it.
type reference struct {
	clusters []*messages.ClusterView // in the order of their names
	reserved map[messages.ClusterName][]reservation
	settings messages.Settings
	seed     uint64
}

type reservation struct {
	replicas     int64
	requirements *api.ReplicaRequirements
}

// option is a cluster that fits.
type option struct {
	view  *messages.ClusterView
	tier  int
	avoid int // PreferNoSchedule taints, and one that is tolerated for a time
	score int64
	prev  int32
	turn  int
	has   bool
	holds int64 // with prev
	seats int32
	votes int64
}

func (o *option) free() int64 { return o.holds - int64(o.prev) }

type failure struct{ reason, message string }

func (f *failure) Error() string { return f.reason + ": " + f.message }

func (n *reference) plan(now time.Time, r *placement.Request) placement.Decision {
	p := r.Placement
	if p == nil {
		p = &api.Placement{}
	}
	terms := slices.Clone(p.ClusterAffinities)
	if len(terms) == 0 {
		terms = []api.ClusterAffinityTerm{{}}
		if p.ClusterAffinity != nil {
			terms[0].ClusterAffinity = *p.ClusterAffinity
		}
	}
	start := 0
	for i := range terms {
		if !r.Fresh && r.Affinity != "" && terms[i].AffinityName == r.Affinity {
			start = i
			break
		}
	}
	var first *failure
	passing := false
	for _, term := range terms[start:] {
		targets, err := n.try(now, r, p, &term)
		if err == nil {
			return placement.Decision{Targets: targets, Affinity: term.AffinityName}
		}
		_, reasons := n.fitting(now, r, p, &term)
		passes := slices.ContainsFunc(reasons, func(why string) bool { return strings.Contains(why, "was starting as many") })
		if first == nil || passes && !passing {
			first, passing = err, passes
		}
	}
	if n.settings.PartialPlacement && dividedByCapacity(r, p) > 0 {
		for _, term := range terms[start:] {
			if targets, missing := n.place(now, r, p, &term); len(targets) > 0 {
				return placement.Decision{Targets: targets, Affinity: term.AffinityName, Reason: api.ReasonUnschedulable, Missing: missing}
			}
		}
	}
	return placement.Decision{Affinity: r.Affinity, Reason: first.reason, Message: first.message}
}

func (n *reference) try(now time.Time, r *placement.Request, p *api.Placement, term *api.ClusterAffinityTerm) ([]api.TargetCluster, *failure) {
	options, reasons := n.fitting(now, r, p, term)
	if len(options) == 0 {
		return nil, &failure{api.ReasonNoClusterFit, message(len(n.clusters), reasons)}
	}
	n.measure(now, r, p, options)
	sort.SliceStable(options, func(i, j int) bool { return before(&options[i], &options[j]) })
	exact := n.exact(p)
	pick := choose
	if exact {
		pick = chooseExactly
	}
	chosen, problem := pick(r, p, options, false)
	if problem != "" {
		return nil, &failure{api.ReasonSchedulerError, problem}
	}
	if len(chosen) == 0 {
		return nil, &failure{api.ReasonSchedulerError, "no cluster chosen"}
	}
	if exact {
		return n.divideAndCover(r, p, term, options, chosen)
	}
	return n.assign(r, p, term, chosen)
}

// exact reports whether spread constraints must be met to the letter.
func (n *reference) exact(p *api.Placement) bool {
	return n.settings.ExactSpread && len(p.SpreadConstraints) > 0 && !ignoresSpread(p.ReplicaScheduling)
}

// place places as many replicas as it can: one less and one less, until all find capacity.
func (n *reference) place(now time.Time, r *placement.Request, p *api.Placement, term *api.ClusterAffinityTerm) ([]api.TargetCluster, int32) {
	options, _ := n.fitting(now, r, p, term)
	n.measure(now, r, p, options)
	sort.SliceStable(options, func(i, j int) bool { return before(&options[i], &options[j]) })
	pick := choose
	if n.exact(p) {
		pick = chooseExactly
	}
	chosen, problem := pick(r, p, options, true)
	if problem != "" {
		return nil, 0
	}
	for less := *r; less.Replicas > 0; less.Replicas-- {
		targets, err := n.assign(&less, p, term, slices.Clone(chosen))
		if err == nil && n.exact(p) {
			targets, _ = cover(constraintsOf(p, int(r.Replicas)), chosen, targets)
		}
		if err == nil {
			return targets, r.Replicas - less.Replicas
		}
	}
	return nil, 0
}

// before is the order of candidates everywhere.
func before(a, b *option) bool {
	switch {
	case a.tier != b.tier:
		return a.tier < b.tier
	case a.score != b.score:
		return a.score > b.score
	case !a.has && a.avoid != b.avoid:
		return a.avoid < b.avoid
	case a.holds != b.holds:
		return a.holds > b.holds
	default:
		return a.view.Name < b.view.Name
	}
}

func message(clusters int, reasons []string) string {
	counts := make(map[string]int)
	for _, reason := range reasons {
		counts[reason]++
	}
	var texts []string
	for reason, count := range counts {
		texts = append(texts, fmt.Sprintf("%d %s", count, reason))
	}
	if len(texts) == 0 {
		texts = []string{"no cluster exists"}
	}
	sort.Strings(texts)
	return fmt.Sprintf("0/%d clusters are available: %s.", clusters, strings.Join(texts, ", "))
}

func (n *reference) fitting(now time.Time, r *placement.Request, p *api.Placement, term *api.ClusterAffinityTerm) (options []option, reasons []string) {
	for _, v := range n.clusters {
		if v.Deleting {
			continue
		}
		o := option{view: v, turn: slices.IndexFunc(r.Previous, func(t api.TargetCluster) bool { return t.Name == string(v.Name) })}
		if o.has = o.turn >= 0; o.has {
			o.score, o.prev = 100, r.Previous[o.turn].Replicas
		}
		if reason := n.rejects(now, r, p, term, &o); reason != "" {
			reasons = append(reasons, reason)
			continue
		}
		for i := range v.Taints {
			soft := v.Taints[i].Effect == corev1.TaintEffectPreferNoSchedule && n.settings.PreferNoSchedule
			if soft && o.avoid < 6 && !slices.ContainsFunc(p.ClusterTolerations, func(t corev1.Toleration) bool {
				return taint.Tolerates(&t, &v.Taints[i], n.settings.NumericTolerations)
			}) {
				o.avoid++
			}
		}
		rule := taint.Rule{Match: n.settings.TolerationMatch, Numeric: n.settings.NumericTolerations}
		if n.settings.TemporaryDestinationsLast && taint.Deadline(v.Taints, p.ClusterTolerations, rule).Outcome == taint.Until {
			o.avoid = 7 // it would have to leave again
		}
		options = append(options, o)
	}
	return options, reasons
}

func (n *reference) rejects(now time.Time, r *placement.Request, p *api.Placement, term *api.ClusterAffinityTerm, o *option) string {
	v := o.view
	o.tier = -1
	if affinity.Matches(&term.ClusterAffinity, v) {
		o.tier = 0
	}
	for i := range term.OverflowAffinities {
		if o.tier < 0 && r.Workload && affinity.Matches(&term.OverflowAffinities[i].ClusterAffinity, v) {
			o.tier = i + 1
		}
	}
	if o.tier < 0 {
		return "cluster(s) did not match the placement cluster affinity constraint"
	}
	for _, c := range p.SpreadConstraints {
		switch {
		case c.SpreadByField == api.SpreadByProvider && v.Provider == "":
			return "cluster(s) did not have provider property"
		case c.SpreadByField == api.SpreadByRegion && v.Region == "":
			return "cluster(s) did not have region property"
		case c.SpreadByField == api.SpreadByZone && len(v.Zones) == 0:
			return "cluster(s) did not have zones property"
		case n.settings.ExactSpread && c.SpreadByLabel != "" && v.Labels[c.SpreadByLabel] == "" && !ignoresSpread(p.ReplicaScheduling):
			return "cluster(s) did not have the label to spread by"
		}
	}
	if !serves(v, r.APIVersion, r.Kind) {
		complete := v.Condition(api.ConditionCompleteAPIEnablements)
		if !o.has || n.settings.TargetsNeedTheirAPI && complete != nil && complete.Status == "True" {
			return "cluster(s) did not have the API resource"
		}
	}
	if slices.Contains(r.Evicting, v.Name) {
		return "cluster(s) is in the process of eviction"
	}
	if slices.Contains(r.Leaving, v.Name) {
		return "cluster(s) was being drained or evicted from"
	}
	if slices.Contains(r.Cooling, v.Name) {
		return "cluster(s) was evicted from recently because the application failed"
	}
	starts := slices.IndexFunc(r.Busy, func(b placement.BusyCluster) bool { return b.Cluster == v.Name })
	switch {
	case o.has:
		return ""
	case starts >= 0:
		return "cluster(s) was starting as many evicted workloads as its limit allows (" + r.Busy[starts].Most + ")"
	case slices.Contains(r.Untold, string(v.Name)):
		return "cluster(s) had dispatching suspended"
	case len(r.Together) > 0 && !slices.Contains(r.Together, v.Name):
		return "cluster(s) did not run a workload of the same affinity group"
	case slices.Contains(r.Apart, v.Name):
		return "cluster(s) ran a workload of the same anti-affinity group"
	}
	return n.unwelcome(now, p, v)
}

// unwelcome says why a cluster may take nothing new.
func (n *reference) unwelcome(now time.Time, p *api.Placement, v *messages.ClusterView) string {
	if i := taint.FirstUntolerated(v.Taints, p.ClusterTolerations, n.settings.NumericTolerations); i >= 0 {
		return fmt.Sprintf("cluster(s) had untolerated taint {%s}", v.Taints[i].ToString())
	}
	rule := taint.Rule{Match: n.settings.TolerationMatch, Numeric: n.settings.NumericTolerations}
	d := taint.Deadline(v.Taints, p.ClusterTolerations, rule)
	if n.settings.PlacementHonoursDeadlines && d.Outcome == taint.Until && !d.At.After(now) {
		return fmt.Sprintf("cluster(s) had a taint {%s} whose toleration has expired", v.Taints[d.Taint].ToString())
	}
	if ready := v.Condition(api.ConditionReady); n.settings.ScaleUpNeedsReady && ready != nil && ready.Status != "True" {
		for _, key := range []string{api.TaintNotReady, api.TaintUnreachable} {
			said := []corev1.Taint{{Key: key, Effect: corev1.TaintEffectNoSchedule}}
			if taint.FirstUntolerated(said, p.ClusterTolerations, n.settings.NumericTolerations) == 0 {
				return "cluster(s) is not ready"
			}
		}
	}
	return ""
}

func serves(v *messages.ClusterView, apiVersion, kind string) bool {
	for _, e := range v.APIs {
		for _, resource := range e.Resources {
			if e.GroupVersion == apiVersion && resource.Kind == kind {
				return true
			}
		}
	}
	return len(v.APIs) == 0
}

func (n *reference) measure(now time.Time, r *placement.Request, p *api.Placement, options []option) {
	for i := range options {
		o := &options[i]
		o.holds = math.MaxInt32
		if r.Workload && r.Replicas > 0 {
			if o.holds = n.free(o.view, r.Requirements); o.holds >= math.MaxInt32 {
				o.holds = int64(r.Replicas)
			}
		}
		if slices.Contains(r.Untold, string(o.view.Name)) || n.settings.ScaleUpNeedsReady && o.has && n.unwelcome(now, p, o.view) != "" {
			o.holds = 0
		}
		o.holds += int64(o.prev)
	}
}

func (n *reference) free(v *messages.ClusterView, r *api.ReplicaRequirements) int64 {
	holds := n.left(v, corev1.ResourcePods)
	if nodes, known := n.byGrades(v, r); known {
		for _, held := range n.reserved[v.Name] {
			nodes -= held.replicas
		}
		return max(0, min(holds, nodes))
	}
	if r != nil {
		for name, q := range r.ResourceRequest {
			if amount := units(name, q); amount > 0 {
				holds = min(holds, n.left(v, name)/amount)
			}
		}
	}
	return max(0, holds)
}

// byGrades packs replicas onto the nodes that a cluster counts by grade, each as small as it may be.
func (n *reference) byGrades(v *messages.ClusterView, r *api.ReplicaRequirements) (replicas int64, known bool) {
	if v.Resources == nil || len(v.Resources.AllocatableModelings) == 0 || len(v.Models) == 0 || r == nil {
		return 0, false
	}
	asked := false
	for name, q := range r.ResourceRequest {
		if units(name, q) > 0 {
			asked = true
			if !slices.ContainsFunc(v.Models[0].Ranges, func(g api.ResourceModelRange) bool { return g.Name == name }) {
				return 0, false
			}
		}
	}
	for i, model := range v.Models {
		each, fits := int64(110), true
		for _, g := range model.Ranges {
			if amount := units(g.Name, r.ResourceRequest[g.Name]); amount > 0 {
				fits = fits && units(g.Name, g.Min) >= amount
				each = min(each, units(g.Name, g.Min)/amount)
			}
		}
		if fits {
			replicas += each * int64(v.Resources.AllocatableModelings[i].Count)
		}
	}
	return replicas, asked
}

func (n *reference) left(v *messages.ClusterView, name corev1.ResourceName) int64 {
	if v.Resources == nil {
		return 0
	}
	q, known := v.Resources.Allocatable[name]
	if !known {
		return 0
	}
	q = q.DeepCopy()
	q.Sub(v.Resources.Allocated[name])
	q.Sub(v.Resources.Allocating[name])
	left := units(name, q)
	for _, held := range n.reserved[v.Name] {
		switch {
		case name == corev1.ResourcePods:
			left -= held.replicas
		case held.requirements != nil:
			left -= held.replicas * units(name, held.requirements.ResourceRequest[name])
		}
	}
	return left
}

func choose(r *placement.Request, p *api.Placement, options []option, part bool) (chosen []option, problem string) {
	limits := make(map[api.SpreadField]api.SpreadConstraint)
	for _, c := range p.SpreadConstraints {
		if c.SpreadByField == "" && c.SpreadByLabel == "" {
			c.SpreadByField = api.SpreadByCluster
		}
		limits[c.SpreadByField] = c
	}
	region, byRegion := limits[api.SpreadByRegion]
	cluster, byCluster := limits[api.SpreadByCluster]
	switch {
	case len(limits) == 0 || ignoresSpread(p.ReplicaScheduling):
		return options, ""
	case byRegion:
		return chooseByRegion(r, p, options, region, cluster)
	case byCluster:
		return chooseByCluster(r, p, options, cluster, part)
	default:
		return nil, "neither cluster nor region"
	}
}

func ignoresSpread(s *api.ReplicaSchedulingStrategy) bool {
	if s == nil || s.ReplicaSchedulingType == api.Duplicated || s.ReplicaDivisionPreference != api.Weighted {
		return false
	}
	w := s.WeightPreference
	return w == nil || w.DynamicWeight == "" && len(w.StaticWeightList) > 0
}

func isDuplicated(p *api.Placement) bool {
	return p.ReplicaScheduling == nil || p.ReplicaScheduling.ReplicaSchedulingType == api.Duplicated
}

func sumOf(options []option) (sum int64) {
	for i := range options {
		sum += options[i].holds
	}
	return sum
}

func chooseByCluster(r *placement.Request, p *api.Placement, options []option, c api.SpreadConstraint, part bool) ([]option, string) {
	if len(options) < c.MinGroups {
		return nil, "too few clusters"
	}
	n := max(0, min(len(options), c.MaxGroups))
	if isDuplicated(p) {
		return options[:n], ""
	}
	chosen, rest := slices.Clone(options[:n]), slices.Clone(options[n:])
	for i := n - 1; i >= 0 && sumOf(chosen) < int64(r.Replicas); i-- {
		most := -1
		if part && chosen[i].has {
			continue
		}
		for j := range rest {
			if rest[j].holds > chosen[i].holds && (most < 0 || rest[j].holds > rest[most].holds) {
				most = j
			}
		}
		if most >= 0 {
			chosen[i], rest[most] = rest[most], chosen[i]
		}
	}
	if sumOf(chosen) < int64(r.Replicas) && !part {
		return nil, "too little room"
	}
	return chosen, ""
}

// group is a region.
type group struct {
	name    string
	options []option
	weight  int64
}

// way is a combination of regions.
type way struct {
	groups        []*group
	weight, count int64
	found         int
}

func chooseByRegion(r *placement.Request, p *api.Placement, options []option, region, cluster api.SpreadConstraint) ([]option, string) {
	var groups []*group
	for _, o := range options {
		i := slices.IndexFunc(groups, func(g *group) bool { return g.name == o.view.Region })
		if i < 0 {
			i, groups = len(groups), append(groups, &group{name: o.view.Region})
		}
		groups[i].options = append(groups[i].options, o)
	}
	if len(groups) < region.MinGroups {
		return nil, "too few regions"
	}
	for _, g := range groups {
		g.weight = weightOf(r, p, g.options, region.MinGroups, cluster.MinGroups)
	}
	best := bestWay(groups, region, int64(cluster.MinGroups))
	if best == nil || len(best.groups) == 0 {
		return nil, "no combination of regions"
	}
	var chosen, rest []option
	for _, g := range best.groups {
		chosen, rest = append(chosen, g.options[0]), append(rest, g.options[1:]...)
	}
	sort.SliceStable(rest, func(i, j int) bool { return before(&rest[i], &rest[j]) })
	for _, o := range rest {
		if len(chosen) < cluster.MaxGroups {
			chosen = append(chosen, o)
		}
	}
	return chosen, ""
}

func weightOf(r *placement.Request, p *api.Placement, options []option, minRegions, minClusters int) int64 {
	clusters, holds, score := int64(0), int64(0), int64(0)
	if isDuplicated(p) {
		for _, o := range options {
			if o.holds >= int64(r.Replicas) {
				clusters, score = clusters+1, score+o.score
			}
		}
		if clusters == 0 {
			return 0
		}
		return clusters*1000 + score/clusters
	}
	target := int64(math.Ceil(float64(r.Replicas) / float64(max(1, minRegions))))
	for _, o := range options {
		clusters, holds, score = clusters+1, holds+o.holds, score+o.score
		if clusters >= int64(max(minRegions, minClusters)) && holds >= target {
			break
		}
	}
	if holds < target {
		return holds*1000 + score/int64(len(options))
	}
	return target*1000 + score/clusters
}

// bestWay walks through all combinations, depth first, regions with few clusters first.
func bestWay(groups []*group, limits api.SpreadConstraint, target int64) *way {
	sort.SliceStable(groups, func(i, j int) bool {
		a, b := groups[i], groups[j]
		return cmp.Or(cmp.Compare(len(a.options), len(b.options)), cmp.Compare(b.weight, a.weight), cmp.Compare(a.name, b.name)) < 0
	})
	var ways []*way
	var path []*group
	var walk func(from int, count int64)
	walk = func(from int, count int64) {
		if count >= target && len(path) >= limits.MinGroups && len(path) <= limits.MaxGroups {
			ways = append(ways, newWay(path, len(ways)))
			return
		}
		if len(path) >= limits.MaxGroups {
			return
		}
		for i := from; i < len(groups); i++ {
			path = append(path, groups[i])
			walk(i+1, count+int64(len(groups[i].options)))
			path = path[:len(path)-1]
		}
	}
	walk(0, 0)
	if len(ways) == 0 {
		return nil
	}
	sort.Slice(ways, func(i, j int) bool {
		a, b := ways[i], ways[j]
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(b.count, a.count), cmp.Compare(a.found, b.found)) < 0
	})
	best := ways[0]
	for _, w := range ways[1:] {
		if len(w.groups) < len(best.groups) && slices.Equal(w.groups, best.groups[:len(w.groups)]) {
			best = w
		}
	}
	return best
}

func newWay(path []*group, found int) *way {
	w := &way{groups: slices.Clone(path), found: found}
	for _, g := range path {
		w.weight, w.count = w.weight+g.weight, w.count+int64(len(g.options))
	}
	sort.Slice(w.groups, func(i, j int) bool {
		a, b := w.groups[i], w.groups[j]
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.name, b.name)) < 0
	})
	return w
}

func (n *reference) assign(r *placement.Request, p *api.Placement, term *api.ClusterAffinityTerm, chosen []option) ([]api.TargetCluster, *failure) {
	if !r.Workload {
		return named(chosen, true), nil
	}
	s := p.ReplicaScheduling
	switch {
	case isDuplicated(p):
		for i := range chosen {
			chosen[i].seats = r.Replicas
		}
	case s.ReplicaDivisionPreference == api.Weighted && (s.WeightPreference == nil || s.WeightPreference.DynamicWeight == ""):
		weighStatically(s.WeightPreference, chosen)
		n.share(r.Replicas, r.UID, chosen)
	case s.ReplicaDivisionPreference == api.Weighted, s.ReplicaDivisionPreference == api.Aggregated:
		return n.divideByTier(r, s.ReplicaDivisionPreference == api.Aggregated, len(term.OverflowAffinities) > 0, chosen)
	default:
		return nil, &failure{api.ReasonSchedulerError, "unsupported"}
	}
	return named(chosen, false), nil
}

func named(options []option, all bool) (targets []api.TargetCluster) {
	for _, o := range options {
		if all || o.seats > 0 {
			targets = append(targets, api.TargetCluster{Name: string(o.view.Name), Replicas: o.seats})
		}
	}
	sort.Slice(targets, func(i, j int) bool { return targets[i].Name < targets[j].Name })
	return targets
}

func weighStatically(w *api.WeightPreference, options []option) {
	total := int64(0)
	for i := range options {
		options[i].votes = 0
		for j := 0; w != nil && j < len(w.StaticWeightList); j++ {
			if entry := &w.StaticWeightList[j]; affinity.Matches(&entry.TargetCluster, options[i].view) {
				options[i].votes = max(options[i].votes, entry.Weight)
			}
		}
		total += options[i].votes
	}
	for i := range options {
		if total == 0 {
			options[i].votes = 1
		}
	}
}

func (n *reference) divideByTier(r *placement.Request, aggregates, overflows bool, chosen []option) ([]api.TargetCluster, *failure) {
	left := int64(r.Replicas)
	var targets []option
	for tier := 0; left > 0 || tier == 0; tier++ {
		var members []option
		for _, o := range chosen {
			if !overflows || o.tier == tier {
				members = append(members, o)
			}
		}
		replicas := left
		if overflows {
			replicas = min(left, sumOf(members))
		}
		if !n.divideGently(int32(replicas), r.UID, r.Fresh, aggregates, members) || tier > 100 {
			return nil, &failure{api.ReasonUnschedulable, "no room"}
		}
		left, targets = left-replicas, append(targets, members...)
	}
	return named(targets, false), nil
}

// divideGently lets those that should be avoided keep what they have, and gives them more only if the
// others are full.
func (n *reference) divideGently(replicas int32, uid string, fresh, aggregates bool, options []option) bool {
	assigned, soft := int32(0), false
	for i := range options {
		assigned, soft = assigned+options[i].prev, soft || options[i].avoid > 0
	}
	if !soft || !fresh && assigned >= replicas {
		return n.divide(replicas, uid, fresh, aggregates, options)
	}
	left := int64(replicas)
	for avoid := range 8 {
		var same []option
		var at []int
		later := int64(0)
		for i := range options {
			switch {
			case options[i].avoid == avoid:
				same, at = append(same, options[i]), append(at, i)
			case options[i].avoid > avoid && !fresh:
				later += int64(options[i].prev)
			}
		}
		some := max(0, min(left-later, sumOf(same)))
		n.divide(int32(some), uid, fresh, aggregates, same)
		left -= some
		for j, i := range at {
			options[i] = same[j]
		}
	}
	return left == 0
}

func (n *reference) divide(replicas int32, uid string, fresh, aggregates bool, options []option) bool {
	assigned, holds := int64(0), int64(0)
	for i := range options {
		assigned += int64(options[i].prev)
	}
	grows, shrinks := !fresh && assigned <= int64(replicas), !fresh && assigned > int64(replicas)
	for i := range options {
		o := &options[i]
		switch {
		case grows:
			o.votes = o.free()
		case shrinks:
			o.votes = int64(o.prev)
		default:
			o.votes = o.holds
		}
		holds += o.votes
	}
	if grows {
		replicas -= int32(assigned)
	}
	if holds < int64(replicas) {
		return false
	}
	if aggregates {
		narrow(int64(replicas), grows, shrinks, options)
	}
	n.share(replicas, uid, options)
	for i := range options {
		if grows {
			options[i].seats += options[i].prev
		}
	}
	return true
}

// narrow leaves the votes to the fewest that suffice.
func narrow(replicas int64, grows, shrinks bool, options []option) {
	order := make([]*option, len(options))
	for i := range options {
		order[i] = &options[i]
	}
	if shrinks {
		sort.SliceStable(order, func(i, j int) bool { return order[i].turn < order[j].turn })
	}
	sort.SliceStable(order, func(i, j int) bool { return order[i].votes > order[j].votes })
	if grows {
		sort.SliceStable(order, func(i, j int) bool { return order[i].prev > 0 && order[j].prev == 0 })
	}
	for _, o := range order {
		if replicas <= 0 {
			o.votes = 0
		}
		replicas -= o.votes
	}
}

// share divides by votes, one seat at a time; the older method is division's own, tested there.
func (n *reference) share(replicas int32, uid string, options []option) {
	if n.settings.DivisionMethod == messages.DivideFloor {
		n.shareByFloor(replicas, uid, options)
		return
	}
	better := func(a, b *option) bool {
		x, y := float64(a.votes)/float64(2*int64(a.seats)+1), float64(b.votes)/float64(2*int64(b.seats)+1)
		switch {
		case x != y:
			return x > y
		case a.seats != b.seats:
			return a.seats < b.seats
		default:
			return (a.view.Name < b.view.Name) != division.Descending(uid)
		}
	}
	for i := range options {
		options[i].seats = 0
	}
	for ; replicas > 0; replicas-- {
		var best *option
		for i := range options {
			if o := &options[i]; o.votes > 0 && (best == nil || better(o, best)) {
				best = o
			}
		}
		if best == nil {
			return
		}
		best.seats++
	}
}

func (n *reference) shareByFloor(replicas int32, uid string, options []option) {
	c := make([]division.Candidate, len(options))
	for i, o := range options {
		rank := slices.Index(n.clusters, o.view)
		c[i] = division.Candidate{Rank: int32(rank), Weight: o.votes, Prev: o.prev}
	}
	v := division.Divider{Method: messages.DivideFloor, Seed: n.seed}
	v.Floor(replicas, uid, c)
	for i := range options {
		options[i].seats = c[i].Seats
	}
}
