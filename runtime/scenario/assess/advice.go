package assess

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"leeward/actors/rules/storm"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/manifest"
	"leeward/messages/spelling"
	"leeward/runtime/fleet/span"
	"leeward/runtime/scenario/forecast"
)

// Advice is one thing to change.
type Advice struct {
	// Change is what to change, and Evidence what was seen that calls for it, a line each.
	Change   string   `json:"change"`
	Evidence []string `json:"evidence"`
	// Where are the policies, with file and line, that say otherwise now, the first of them; empty: none does.
	Where []string `json:"where,omitempty"`
	// Workloads are affected, in order.
	Workloads []messages.BindingName `json:"workloads"`
	// Contingencies are those in which they are, the worst first.
	Contingencies []string `json:"contingencies"`
	// lasting counts the workloads that it affects for as long as an outage lasts.
	lasting int
	// places are the policies and their fields, in the order in which they were seen; seen are they, the workloads and the contingencies.
	places []place
	seen   map[string]bool
}

// place is a field of a policy.
type place struct {
	owner messages.PropagationName
	path  string
}

// advisor gathers advice, by what to change and where.
type advisor struct {
	*fleet
	documents map[messages.PropagationName]manifest.Document
	by        map[string]*Advice
	all       []*Advice
}

// advise says what to change.
func (f *fleet) advise(a *Assessment, documents []manifest.Document) []Advice {
	v := &advisor{fleet: f, documents: policies(documents), by: map[string]*Advice{}}
	for _, o := range a.Contingencies {
		if o.SameAs != "" {
			continue
		}
		for i := range o.Troubles {
			v.trouble(o, &o.Troubles[i])
		}
		if !o.Pair() {
			for i := range o.downOf {
				v.concentrated(o, &o.downOf[i])
			}
		}
		v.capacity(o)
		for _, over := range o.Overflows {
			at := v.note("give cluster "+over.Cluster+" more "+over.Resource+", or place by capacity", place{}, o, "")
			at.evidence("losing %s leaves cluster %s with %s of %s %s requested", o.Name, over.Cluster, over.Requested, over.Has, over.Resource)
		}
	}
	list := make([]Advice, len(v.all))
	for i, at := range v.all {
		slices.Sort(at.Workloads)
		for _, p := range at.places {
			at.Where = append(at.Where, v.where(p))
		}
		list[i] = *at
	}
	slices.SortStableFunc(list, func(x, y Advice) int {
		return cmp.Or(cmp.Compare(y.lasting, x.lasting), cmp.Compare(len(y.Workloads), len(x.Workloads)), cmp.Compare(x.Change, y.Change))
	})
	return list
}

// note returns the advice to change something somewhere, which one more workload in one more contingency calls for.
func (v *advisor) note(change string, where place, o *Outcome, w messages.BindingName) *Advice {
	at := v.by[change]
	if at == nil {
		at = &Advice{Change: change, seen: map[string]bool{}}
		v.by[change] = at
		v.all = append(v.all, at)
	}
	if w != "" && at.sees("workload "+string(w)) {
		at.Workloads = append(at.Workloads, w)
	}
	if at.sees("contingency " + o.Name) {
		at.Contingencies = append(at.Contingencies, o.Name)
	}
	if where.owner != "" && len(at.places) < mostPlaces && at.sees("place "+string(where.owner)+" "+where.path) {
		at.places = append(at.places, where)
	}
	return at
}

// lasts notes that it affects a workload for as long as an outage lasts.
func (a *Advice) lasts(w messages.BindingName) {
	if a.sees("lasting " + string(w)) {
		a.lasting++
	}
}

// sees reports whether something is new.
func (a *Advice) sees(what string) bool {
	is := !a.seen[what]
	a.seen[what] = true
	return is
}

// mostPlaces is how many policies an advice names: to find a line of each, its file is read again.
const mostPlaces = 20

// mostEvidence is how many lines of evidence an advice has.
const mostEvidence = 5

// evidence adds a line, if there are not enough.
func (a *Advice) evidence(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	if len(a.Evidence) < mostEvidence && !slices.Contains(a.Evidence, line) {
		a.Evidence = append(a.Evidence, line)
	}
}

// trouble advises on a workload that would not be whole again.
func (v *advisor) trouble(o *Outcome, t *Trouble) {
	w := &v.workloads[v.index[t.Workload]]
	switch t.Kind {
	case Stays:
		change := "have a ClusterTaintPolicy add NoExecute to clusters that are not Ready: no policy reacts to that"
		if off := v.settings.EvictionOff(); off != "" {
			change = "turn evictions on: " + off
		}
		at := v.note(change, place{}, o, t.Workload)
		at.lasts(t.Workload)
		at.evidence("losing %s evicts nothing: %s", o.Name, t.Reason)
	case Tolerates:
		at := v.note("give the toleration tolerationSeconds, or drop it", place{w.owner, "spec.placement.clusterTolerations"}, o, t.Workload)
		at.lasts(t.Workload)
		at.evidence("losing %s: %s %s", o.Name, t.Workload, t.Reason)
	case Blocked:
		reason, _, _ := strings.Cut(t.Reason, ":")
		at := v.note(v.unblock(reason), place{}, o, t.Workload)
		at.lasts(t.Workload)
		at.evidence("losing %s: %s waits: %s", o.Name, t.Workload, t.Reason)
	case Unschedulable:
		v.unschedulable(o, t, w)
	default:
		at := v.note("find out why copies are not available", place{w.owner, "spec"}, o, t.Workload)
		at.lasts(t.Workload)
		at.evidence("losing %s: %s: %s", o.Name, t.Workload, t.Reason)
	}
}

// unblock is what to change where a reason blocks evictions without an end.
func (v *advisor) unblock(reason string) string {
	switch reason {
	case string(storm.Partial):
		return fmt.Sprintf("raise unhealthyClusterThreshold %v, or have more clusters: evictions stop while so many are unhealthy", v.settings.UnhealthyClusterThreshold)
	case string(storm.Blackout):
		return fmt.Sprintf("raise blackoutThreshold %v, or have more clusters: evictions stop while so many are silent", v.settings.BlackoutThreshold)
	case api.ReasonBudgetSpent, "BudgetNeverMet":
		return "allow more in the eviction budget, or run more replicas: it blocks evictions"
	case "Held", "Paused":
		return "lift the hold or the pause: it blocks evictions"
	}
	return "look at what blocks evictions for " + span.String(Horizon) + ": " + reason
}

// unschedulable advises on a workload that no cluster could take: its placement is too narrow, or capacity is.
func (v *advisor) unschedulable(o *Outcome, t *Trouble, w *workload) {
	if strings.HasPrefix(t.Reason, "quota ") {
		at := v.note("raise the quota, or lower what workloads request", place{}, o, t.Workload)
		at.lasts(t.Workload)
		at.evidence("losing %s: %s: %d unschedulable: %s", o.Name, t.Workload, t.Missing, t.Reason)
		return
	}
	if short(t.Reason) {
		return // capacity says it for all
	}
	change, path := "widen the placement: the clusters that remain do not fit", "spec.placement"
	if p := w.spec.Placement; p != nil && strings.Contains(t.Reason, "spread constraint") {
		for i, c := range p.SpreadConstraints {
			by := cmp.Or(string(c.SpreadByField), c.SpreadByLabel)
			if c.MinGroups > 1 && !strings.Contains(t.Reason, "spread constraint "+other(by)) {
				change, path = fmt.Sprintf("lower minGroups %d by %s, or allow more", c.MinGroups, by), fmt.Sprintf("spec.placement.spreadConstraints[%d].minGroups", i)
				break
			}
		}
	}
	at := v.note(change, place{w.owner, path}, o, t.Workload)
	at.lasts(t.Workload)
	at.evidence("losing %s: %s: %d unschedulable: %s", o.Name, t.Workload, t.Missing, t.Reason)
}

// concentrated advises on a workload that has nothing available for a while, because all of it runs where the outage is.
func (v *advisor) concentrated(o *Outcome, d *down) {
	w := &v.workloads[d.workload]
	path, change := "spec.placement", "spread over more than one "+o.Kind+", or all replicas fail together"
	if p := w.spec.Placement; p != nil {
		for i, c := range p.SpreadConstraints {
			field := string(c.SpreadByField)
			if c.MaxGroups == 1 && (field == o.Kind || field == forecast.KindCluster) {
				path = fmt.Sprintf("spec.placement.spreadConstraints[%d].maxGroups", i)
				change = "raise maxGroups 1 by " + field + ", or all replicas fail together"
				break
			}
		}
	}
	at := v.note(change, place{w.owner, path}, o, w.name)
	until := "for as long as the outage lasts"
	if !d.since.IsZero() {
		at.lasts(w.name)
	} else {
		until = "for " + span.String(d.total)
	}
	at.evidence("losing %s takes all replicas of %s, %s", o.Name, w.name, until)
}

// other is the field of the spread constraint that is not meant.
func other(by string) string {
	if by == forecast.KindCluster {
		return forecast.KindRegion
	}
	return forecast.KindCluster
}

// short reports whether a reason is about capacity, in the words of package placement.
func short(reason string) bool {
	return strings.Contains(reason, "capacity") || strings.Contains(reason, "did not have enough")
}

// capacity advises on what is lacking for the workloads that no cluster has capacity for.
func (v *advisor) capacity(o *Outcome) {
	var at *Advice
	for _, t := range o.Troubles {
		if t.Kind == Unschedulable && short(t.Reason) {
			at = v.note("add capacity to the clusters that remain, or lower what workloads request", place{}, o, t.Workload)
			at.lasts(t.Workload)
		}
	}
	if at == nil {
		return
	}
	var lacks []string
	for _, what := range o.tight {
		lacks = append(lacks, forecast.Quantity(what, o.lacking[what])+" "+string(what))
	}
	text := ""
	switch {
	case len(o.fullest) == 1:
		text = ": " + o.fullest[0] + " full"
	case len(o.fullest) > 1:
		text = ": " + o.fullest[0] + " full first, then " + spelling.Few(o.fullest[1:], mostListed)
	}
	at.evidence("losing %s leaves %s too little%s", o.Name, strings.Join(lacks, ", "), text)
}

// mostListed is how many names a line has.
const mostListed = 5

// policies finds the manifest of each propagation policy.
func policies(documents []manifest.Document) map[messages.PropagationName]manifest.Document {
	all := map[messages.PropagationName]manifest.Document{}
	for _, d := range documents {
		switch k := api.KeyOf(d.Object); k.Kind {
		case "PropagationPolicy":
			all[messages.NamePropagation(cmp.Or(k.Namespace, "default"), k.Name)] = d
		case "ClusterPropagationPolicy":
			all[messages.NamePropagation("", k.Name)] = d
		}
	}
	return all
}

// where names a policy, with the file and line of a field where it was read from a file.
func (v *advisor) where(p place) string {
	d, known := v.documents[p.owner]
	if line := d.Line(p.path); known && line > 0 {
		return fmt.Sprintf("policy %s, %s:%d", p.owner, d.Place.File, line)
	}
	return "policy " + string(p.owner)
}
