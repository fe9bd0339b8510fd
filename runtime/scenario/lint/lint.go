// Package lint finds what is wrong with policies, placements, budgets and scenarios before anything fails: what is valid and yet
// does not do what its author expects. Each finding names its rule, file, line and object, says why and what to change, and has a
// witness: a generated scenario that shows the fault when it is replayed.
//
// The rules of actors/rules decide; this package asks them about all states that matter.
package lint

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"leeward/messages/manifest"
	"leeward/runtime/scenario"
)

// Severity is how much a finding matters.
type Severity string

// The severities, the worst first.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Info    Severity = "info"
)

// Fails reports whether a finding of the severity fails the command.
func (s Severity) Fails() bool { return s == Error || s == Warning }

// AnnotationIgnore, on an object, names the rules whose findings about it are suppressed, with commas between them; on a Scenario, those
// whose findings about it and all that belongs to it are, unless another scenario has them, too.
const AnnotationIgnore = "leeward.dev/lint-ignore"

// Bounds on findings.
const (
	// mostFindings is how many findings a report has.
	mostFindings = 1000
	// mostOfRule is how many of them one rule has: what hides the other rules is read by no user.
	mostOfRule = 100
	// mostNames is how many names a message lists.
	mostNames = 5
)

// Rule is one kind of fault.
type Rule struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	Severity Severity `json:"severity"`
	// Finds says what it finds, in a sentence; Needs what the files must hold for that, empty: the object alone.
	Finds string `json:"finds"`
	Needs string `json:"needs,omitempty"`
	// Fixes is set where --fix can mend it.
	Fixes bool `json:"fixes,omitempty"`
	// everywhere: an object is at fault only if it is in every fleet that it is part of.
	everywhere bool
	check      func(*unit, *reporter)
}

// Finding is one fault.
type Finding struct {
	Rule     string   `json:"rule"`
	Name     string   `json:"name"`
	Severity Severity `json:"severity"`
	// File and Line are where it is written. Line is 0 where it is not, and File then names the server or the recording.
	File string `json:"file"`
	Line int    `json:"line"`
	// Object is "ClusterTaintPolicy not-ready", Field the path within it.
	Object string `json:"object"`
	Field  string `json:"field,omitempty"`
	// Why says what is wrong, Fix what to change.
	Why string `json:"why"`
	Fix string `json:"fix"`
	// Edit is the mechanical fix; nil: there is none.
	Edit *Edit `json:"edit,omitempty"`
	// witness makes a scenario that shows the fault.
	witness *witness
}

// Witness returns the file name and the text of a scenario that shows the fault: its expectations hold.
func (f *Finding) Witness() (name, text string, err error) {
	if f.witness == nil {
		return "", "", fmt.Errorf("%s: has no witness", f.Rule)
	}
	text, err = f.witness.text(f)
	return strings.ToLower(f.Rule) + "-" + f.Name, text, err
}

// Report is what lint found.
type Report struct {
	Findings []*Finding `json:"findings"`
	// Omitted counts findings beyond the bounds, Suppressed those that annotations suppress.
	Omitted    int `json:"omitted,omitempty"`
	Suppressed int `json:"suppressed,omitempty"`
	// Objects and Scenarios count what was looked at.
	Objects   int `json:"objects"`
	Scenarios int `json:"scenarios"`
}

// Failed reports whether there is a finding of warning or above.
func (r *Report) Failed() bool {
	return slices.ContainsFunc(r.Findings, func(f *Finding) bool { return f.Severity.Fails() })
}

// Count returns how many findings have a severity.
func (r *Report) Count(s Severity) (n int) {
	for _, f := range r.Findings {
		if f.Severity == s {
			n++
		}
	}
	return n
}

// Run looks at fleets: scenarios, or manifests as scenarios without a timeline. The error is of the settings.
func Run(fleets []*scenario.Scenario, o Options) (*Report, error) {
	r := &reporter{report: &Report{Findings: []*Finding{}}, seen: map[key]*seen{}, fleets: map[manifest.Place]int{}}
	for _, s := range fleets {
		u, problems := newUnit(s, o)
		if len(problems) > 0 {
			return nil, errors.Join(problems...)
		}
		if s.Name != "" {
			r.report.Scenarios++
		}
		r.count(u)
		r.unit++
		r.ignored = s.Annotations[AnnotationIgnore]
		for i := range rules {
			r.rule = &rules[i]
			r.rule.check(u, r)
		}
	}
	r.judge()
	slices.SortStableFunc(r.report.Findings, func(a, b *Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Why, b.Why))
	})
	return r.report, nil
}

// key is what makes two findings the same: several scenarios may include one object.
type key struct{ rule, file, object, field, with string }

// seen is one finding, and in how many fleets it is one.
type seen struct {
	*Finding
	at          manifest.Place
	everywhere  bool
	suppressed  bool
	unit, units int
}

// reporter gathers findings.
type reporter struct {
	report *Report
	rule   *Rule
	unit   int
	// ignored is the annotation of the scenario that is looked at.
	ignored string
	seen    map[key]*seen
	order   []*seen
	// fleets counts the fleets that an object is part of.
	fleets map[manifest.Place]int
}

// found is what a rule says of an object; the rest follows from the rule and the document.
type found struct {
	// at is the object; in place of one, a line of a scenario.
	at       manifest.Document
	line     *line
	field    string
	why, fix string
	// with tells findings about one field apart: the other object.
	with string
	// severity is not that of the rule; empty: it is.
	severity Severity
	edit     *Edit
	witness  *witness
}

// line is a line of a scenario that is no object.
type line struct {
	file, object string
	number       int
}

// add takes a finding, unless it is known.
func (r *reporter) add(f found) {
	place, ignored := f.at.Place, ""
	if f.line != nil {
		place = manifest.Place{File: f.line.file, Object: f.line.object}
	} else {
		ignored = f.at.Object.GetAnnotations()[AnnotationIgnore]
	}
	k := key{r.rule.ID, place.File, place.Object, f.field, f.with}
	suppressed := ignores(ignored, r.rule) || ignores(r.ignored, r.rule)
	if known := r.seen[k]; known != nil {
		known.suppressed = known.suppressed && suppressed
		if known.unit != r.unit {
			known.unit, known.units = r.unit, known.units+1
		}
		return
	}
	if len(r.order) >= mostFindings*len(rules) {
		r.report.Omitted++
		return
	}
	var at int
	if f.line != nil {
		at = f.line.number
	} else {
		at = f.at.Line(f.field)
	}
	r.seen[k] = &seen{at: place, everywhere: r.rule.everywhere && f.line == nil, suppressed: suppressed, unit: r.unit, units: 1, Finding: &Finding{
		Rule: r.rule.ID, Name: r.rule.Name, Severity: cmp.Or(f.severity, r.rule.Severity),
		File: place.File, Line: at, Object: place.Object, Field: f.field,
		Why: f.why, Fix: f.fix, Edit: f.edit, witness: f.witness,
	}}
	r.order = append(r.order, r.seen[k])
}

// count notes which objects a fleet has, each once.
func (r *reporter) count(u *unit) {
	here := map[manifest.Place]bool{}
	for _, d := range u.documents {
		if here[d.Place] {
			continue
		}
		here[d.Place] = true
		if r.fleets[d.Place]++; r.fleets[d.Place] == 1 {
			r.report.Objects++
		}
	}
}

// judge keeps the findings that count: none that an annotation suppresses, that is none in another fleet, or that is beyond the
// bounds.
func (r *reporter) judge() {
	of := map[string]int{}
	for _, s := range r.order {
		switch {
		case s.everywhere && s.units < r.fleets[s.at]:
		case s.suppressed:
			r.report.Suppressed++
		case of[s.Rule] >= mostOfRule || len(r.report.Findings) >= mostFindings:
			r.report.Omitted++
		default:
			of[s.Rule]++
			r.report.Findings = append(r.report.Findings, s.Finding)
		}
	}
}

// ignores reports whether the value of the annotation names a rule, by id or name.
func ignores(value string, r *Rule) bool {
	for word := range strings.SplitSeq(value, ",") {
		if word = strings.TrimSpace(word); strings.EqualFold(word, r.ID) || word == r.Name {
			return true
		}
	}
	return false
}

// rules are all rules, in the order of their ids. docs/lint.md has the same table.
var rules []Rule

func init() { // for checks read it
	rules = []Rule{
		{ID: "LW001", Name: "overlapping-conditions", Severity: Warning, Finds: "the conditions that add and those that remove taints of a policy can hold together", check: overlapping},
		{ID: "LW002", Name: "fighting-policies", Severity: Warning, Finds: "one policy adds a taint in a state in which another one removes it", Needs: "both policies", check: fighting},
		{ID: "LW003", Name: "taint-never-removed", Severity: Warning, Finds: "a policy adds a taint that no policy ever removes", everywhere: true, check: neverRemoved},
		{ID: "LW004", Name: "unreported-condition", Severity: Warning, Finds: "a policy asks for a condition that clusters do not report", Needs: "Clusters", everywhere: true, check: unreported},
		{ID: "LW005", Name: "flapping-condition", Severity: Info, Finds: "a NoExecute taint follows a condition immediately: neither `for` nor tolerationSeconds outlasts a short change", check: flapping},
		{ID: "LW006", Name: "policy-without-clusters", Severity: Warning, Finds: "the targetClusters of a policy select no cluster", Needs: "Clusters", check: withoutClusters},
		{ID: "LW007", Name: "not-ready-without-eviction", Severity: Warning, Finds: "no policy adds NoExecute to a cluster that is not Ready: its workloads remain there", Needs: "Clusters, and placements", check: notReady},
		{ID: "LW008", Name: "tolerated-by-all", Severity: Warning, Finds: "every placement tolerates a NoExecute taint of a policy without an end: it evicts nothing", Needs: "the placements", check: toleratedByAll},
		{ID: "LW009", Name: "tolerated-by-none", Severity: Info, Finds: "no placement tolerates a NoExecute taint of a policy for any time: it evicts everything immediately", Needs: "the placements", check: toleratedByNone},
		{ID: "LW010", Name: "toleration-without-taint", Severity: Info, Finds: "a toleration covers no taint that a policy, the system or a Cluster has; a warning where a policy has its key with another effect or value", Needs: "the ClusterTaintPolicies", everywhere: true, check: withoutTaint},
		{ID: "LW011", Name: "seconds-without-noexecute", Severity: Error, Finds: "a toleration has tolerationSeconds, and an effect that evicts nothing", Fixes: true, check: secondsWithoutNoExecute},
		{ID: "LW012", Name: "policy-never-applies", Severity: Warning, Finds: "other policies claim every resource that a policy selects", Needs: "the resources", check: neverApplies},
		{ID: "LW013", Name: "policy-without-resources", Severity: Info, Finds: "a policy selects none of the resources", Needs: "the resources", everywhere: true, check: withoutResources},
		{ID: "LW014", Name: "unsatisfiable-placement", Severity: Error, Finds: "no cluster satisfies a placement", Needs: "Clusters", everywhere: true, check: unsatisfiable},
		{ID: "LW015", Name: "bound-to-cluster", Severity: Warning, Finds: "a placement cannot be satisfied after the loss of one cluster", Needs: "Clusters", check: boundToCluster},
		{ID: "LW016", Name: "bound-to-region", Severity: Warning, Finds: "a placement cannot be satisfied after the loss of one region of several", Needs: "Clusters", check: boundToRegion},
		{ID: "LW017", Name: "max-groups", Severity: Info, Finds: "maxGroups 1 by cluster holds all divided replicas on one cluster; an error where maxGroups is missing and the settings place nothing without it", check: maxGroups},
		{ID: "LW018", Name: "available-without-outage", Severity: Info, Finds: "a scenario expects replicas to be always available while a cluster is not Ready, but has no outage: no copy ever dies", Needs: "a scenario", check: withoutOutage},
		{ID: "LW019", Name: "unmeetable-budget", Severity: Warning, Finds: "an eviction budget never allows what it bounds, or asks for more replicas than there are", check: unmeetable},
		{ID: "LW020", Name: "without-effect", Severity: Warning, Finds: "a policy, a budget, a field or a setting does nothing with these settings", everywhere: true, check: withoutEffect},
		{ID: "LW021", Name: "stale-field", Severity: Warning, Finds: "a field, or a value, that Karmada has replaced", Fixes: true, check: stale},
	}
}

// Rules returns all rules, in the order of their ids.
func Rules() []Rule { return slices.Clone(rules) }
