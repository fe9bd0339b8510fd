package difference

import (
	"context"
	"fmt"
	"slices"

	"leeward/messages"
	"leeward/messages/lists"
	"leeward/runtime/fleet/span"
	"leeward/runtime/scenario/assess"
	"leeward/runtime/scenario/forecast"
)

// Contingency is the loss of a part of the fleet under both sides.
type Contingency struct {
	Name    string   `json:"name"`
	Verdict Verdict  `json:"verdict"`
	By      []string `json:"by"`
	// Figures are those that differ.
	Figures []Figure `json:"figures,omitempty"`
	// Resolved are the workloads that are unavailable or unschedulable at the end under A alone, Introduced those under B alone.
	Resolved   []Trouble `json:"resolved,omitempty"`
	Introduced []Trouble `json:"introduced,omitempty"`
	// Changed are those that are so under both, for another reason or with other numbers.
	Changed []Changed `json:"changed,omitempty"`
	// Only is A or B where the other side has no such part of the fleet.
	Only string `json:"only,omitempty"`
}

// Trouble is a workload that is not whole at the end, and why.
type Trouble struct {
	Workload messages.BindingName `json:"workload"`
	Missing  int32                `json:"missing"`
	Reason   string               `json:"reason"`
}

// Changed is a workload that is not whole at the end under both sides, and why under each.
type Changed struct {
	Workload messages.BindingName `json:"workload"`
	MissingA int32                `json:"missingA"`
	ReasonA  string               `json:"reasonA"`
	MissingB int32                `json:"missingB"`
	ReasonB  string               `json:"reasonB"`
}

// contingencies assesses both sides, and compares contingency by contingency.
func (d *Difference) contingencies(ctx context.Context, c *Config, sideA, sideB played) error {
	d.Outage = fmt.Sprintf("each loss of a cluster, region, zone or provider: an outage (%s) without an end, followed for %s", c.Outage, span.String(assess.Horizon))
	a, err := assess.Run(ctx, *c.assessment(sideA))
	if err != nil {
		return fmt.Errorf("%s: %w", c.A.Name, err)
	}
	b, err := assess.Run(ctx, *c.assessment(sideB))
	if err != nil {
		return fmt.Errorf("%s: %w", c.B.Name, err)
	}
	if a.Fleet.Moving+b.Fleet.Moving > 0 {
		d.Notes = append(d.Notes, "workloads are evicted before anything fails, and the fleet is not at rest: the figures depend on the moment of the failure")
	}
	under := map[string]*assess.Outcome{}
	for _, o := range b.Contingencies {
		under[o.Name] = o
	}
	var first *assess.Outcome // of those that are better or worse, if any is
	judged := false
	for _, o := range a.Contingencies {
		other := under[o.Name]
		delete(under, o.Name)
		if o.SameAs != "" && other != nil && other.SameAs != "" {
			continue // it is compared under its other name
		}
		if !d.contingency(o, other) || other == nil || judged {
			continue
		}
		if judged = d.Contingencies[len(d.Contingencies)-1].Verdict != Differs; judged || first == nil {
			first = o
		}
	}
	for _, o := range b.Contingencies {
		if under[o.Name] != nil && o.SameAs == "" {
			d.contingency(nil, o)
		}
	}
	d.Differ = len(d.Contingencies) > 0
	if first == nil {
		return nil
	}
	return d.decide(ctx, c, sideA, sideB, first)
}

// contingency compares one, and reports whether it differs. Nil: a side has no such part of the fleet.
func (d *Difference) contingency(a, b *assess.Outcome) bool {
	d.Compared++
	if a == nil || b == nil {
		only := Contingency{Verdict: Differs, Only: "A", By: []string{}}
		if a == nil {
			a, only.Only = b, "B"
		}
		only.Name = a.Name
		d.Contingencies = append(d.Contingencies, only)
		return true
	}
	at := Contingency{Name: a.Name}
	for _, f := range figures(measured(a), measured(b)) {
		if f.Verdict != Same {
			at.Figures = append(at.Figures, f)
		}
	}
	at.Resolved, at.Introduced, at.Changed = onlyIn(a, b), onlyIn(b, a), changed(a, b)
	if len(at.Figures)+len(at.Resolved)+len(at.Introduced)+len(at.Changed) == 0 {
		return false
	}
	at.Verdict, at.By = conclude(at.Figures)
	if at.Verdict != Same {
		d.Verdict = d.Verdict.and(at.Verdict)
	} else {
		at.Verdict = Differs
	}
	for _, name := range at.By {
		if !slices.Contains(d.By, name) {
			d.By = append(d.By, name)
		}
	}
	d.Contingencies = append(d.Contingencies, at)
	return true
}

// measured are the figures of a contingency.
func measured(o *assess.Outcome) measures {
	m := measures{
		Unschedulable: number(float64(o.Unschedulable.Replicas)), Unavailable: number(float64(o.Unavailable.Replicas)), Unavailability: whole(o.Unavailability),
		Lowest: number(o.Lowest), Down: number(float64(o.Down)), Evictions: number(float64(o.Evicted.Workloads)), AvailableAgain: nil,
		lacking: number(float64(o.Lacking)),
	}
	if o.AvailableAfter != nil {
		m[AvailableAgain] = whole(o.AvailableAfter.Length().Seconds())
	}
	return m
}

// onlyIn are the workloads that are in trouble in one outcome and not in another.
func onlyIn(o, other *assess.Outcome) (all []Trouble) {
	for _, t := range o.Troubles {
		if !slices.ContainsFunc(other.Troubles, func(x assess.Trouble) bool { return x.Workload == t.Workload }) {
			all = append(all, Trouble{t.Workload, t.Missing, t.Why()})
		}
	}
	return all
}

// changed are the workloads that are in trouble in both outcomes, of another kind or with other numbers.
func changed(a, b *assess.Outcome) (all []Changed) {
	for _, t := range a.Troubles {
		i := slices.IndexFunc(b.Troubles, func(x assess.Trouble) bool { return x.Workload == t.Workload })
		if i < 0 {
			continue
		}
		if x := &b.Troubles[i]; t.Kind != x.Kind || t.Missing != x.Missing {
			all = append(all, Changed{t.Workload, t.Missing, t.Why(), x.Missing, x.Why()})
		}
	}
	return all
}

// decide replays the contingency that is worst under A of those that differ, for the first decision that does.
func (d *Difference) decide(ctx context.Context, c *Config, sideA, sideB played, o *assess.Outcome) error {
	clusters := lists.Of(o.Clusters, func(name string) messages.ClusterName { return messages.ClusterName(name) })
	lost := *c
	lost.For = 0
	a, err := lost.lost(sideA, clusters)
	if err != nil {
		return err
	}
	b, err := lost.lost(sideB, slices.Clone(clusters))
	if err != nil {
		return err
	}
	of := Difference{}
	if err := of.play(ctx, c.Seed, played{fleet: a}, played{fleet: b}, forecast.Lead); err != nil {
		return err
	}
	if d.Decision = of.Decision; d.Decision != nil {
		d.Decision.Contingency = o.Name
	}
	return nil
}
