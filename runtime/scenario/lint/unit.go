package lint

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/affinity"
	"leeward/actors/rules/propagation"
	"leeward/messages"
	"leeward/messages/admission"
	"leeward/messages/api"
	"leeward/messages/manifest"
	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/world"
	"leeward/runtime/scenario"
)

// Options are the settings that are on top of what a scenario says.
type Options struct {
	Profile string
	Set     []config.Override
}

// unit is what belongs together: the objects of one fleet, and its settings. Objects are defaulted copies; their documents are as
// they were written.
type unit struct {
	*scenario.Scenario
	profile   string
	overrides []config.Override
	settings  messages.Settings
	documents []manifest.Document
	policies  []taintPolicy
	// ignored are the policies where the settings have all of them ignored.
	ignored   []taintPolicy
	placed    []propagationPolicy
	templates []template
	clusters  []cluster
	budgets   []evictionBudget
	overrideD []manifest.Document
	// bound are the placements of bindings: a dump may have those of policies and resources that it does not have.
	bound []propagationPolicy
	// added, removed, conditions and outages are the taints and conditions that the timeline gives clusters.
	added      []corev1.Taint
	removed    map[string]bool
	conditions []*scenario.Condition
	outages    []*scenario.Outage
}

type taintPolicy struct {
	manifest.Document
	*api.ClusterTaintPolicy
}

// propagationPolicy is a PropagationPolicy, or a ClusterPropagationPolicy without a namespace.
type propagationPolicy struct {
	manifest.Document
	kind, namespace, name string
	spec                  *api.PropagationSpec
	// written is the specification without defaults.
	written   *api.PropagationSpec
	selectors propagation.Selectors
}

// claim is how the policy competes for a resource; ok: it selects that.
func (p *propagationPolicy) claim(t *template) (c propagation.Claim, ok bool) {
	rank := p.selectors.Closest(p.namespace, t.key, t.labels)
	if rank == propagation.NoMatch || p.namespace != "" && p.namespace != t.key.Namespace {
		return c, false
	}
	c = propagation.Claim{ClusterScoped: p.namespace == "", Rank: rank, Name: p.name}
	if p.spec.Priority != nil {
		c.Priority = *p.spec.Priority
	}
	return c, true
}

// template is a resource that a policy may propagate.
type template struct {
	manifest.Document
	key    api.Key
	labels map[string]string
}

type cluster struct {
	manifest.Document
	*api.Cluster
	view *messages.ClusterView
}

type evictionBudget struct {
	manifest.Document
	id   messages.BudgetName
	spec *api.EvictionBudgetSpec
}

func newUnit(s *scenario.Scenario, o Options) (*unit, []error) {
	u := &unit{Scenario: s, profile: cmp.Or(o.Profile, s.Profile, config.Default), removed: map[string]bool{}}
	u.overrides = slices.Concat(s.Config, o.Set)
	var problems []error
	if u.settings, problems = config.Resolve(u.profile, u.overrides); len(problems) > 0 {
		return nil, problems
	}
	if s.OfNodes || s.Began != nil {
		return u, nil // of nodes, or a recording of what has happened: no file that a user edits
	}
	u.documents = slices.Clone(s.Objects)
	for i := range s.Timeline {
		u.step(s.Timeline[i].Action)
	}
	for _, d := range u.documents {
		u.take(d)
	}
	if len(u.placed) == 0 {
		u.placed = u.bound
	}
	if !u.settings.Failover && !u.configures() {
		u.ignored, u.policies = u.policies, nil
	}
	return u, nil
}

// step takes what the timeline does to taints, conditions and objects.
func (u *unit) step(a scenario.Action) {
	switch a := a.(type) {
	case *scenario.Apply:
		for _, d := range a.Documents {
			known := func(other manifest.Document) bool {
				return other.Place == d.Place && other.Line("") == d.Line("")
			}
			if !a.MayFail && !slices.ContainsFunc(u.documents, known) {
				u.documents = append(u.documents, d)
			}
		}
	case *scenario.Taint:
		u.added = append(u.added, a.Changes.Add...)
		for _, t := range a.Changes.Remove {
			u.removed[t.Key] = true
		}
	case *scenario.Condition:
		u.conditions = append(u.conditions, a)
	case *scenario.Outage:
		if !a.Over {
			u.outages = append(u.outages, a)
		}
	}
}

// take sorts one object.
func (u *unit) take(d manifest.Document) {
	o := api.Copy(d.Object)
	admission.Default(o, &u.settings, world.Start)
	switch o := o.(type) {
	case *api.ClusterTaintPolicy:
		permissive := u.settings
		permissive.AllowNoExecuteTaintPolicy = true
		if len(admission.Validate(o, nil, &permissive)) > 0 {
			return // leeward validate says why
		}
		u.policies = append(u.policies, taintPolicy{d, o})
	case *api.PropagationPolicy:
		u.place(d, o.GetNamespace(), &o.Spec, &d.Object.(*api.PropagationPolicy).Spec)
	case *api.ClusterPropagationPolicy:
		u.place(d, "", &o.Spec, &d.Object.(*api.ClusterPropagationPolicy).Spec)
	case *api.Cluster:
		u.clusters = append(u.clusters, cluster{d, o, viewOf(o, &u.settings)})
	case *api.EvictionBudget:
		u.budgets = append(u.budgets, evictionBudget{d, messages.BudgetName(cmp.Or(o.Namespace, metav1.NamespaceDefault) + "/" + o.Name), &o.Spec})
	case *api.ClusterEvictionBudget:
		u.budgets = append(u.budgets, evictionBudget{d, messages.BudgetName(o.Name), &o.Spec})
	case *api.ResourceBinding:
		u.bind(d, &o.Spec, d.Object.(*api.ResourceBinding).Spec.Placement)
	case *api.ClusterResourceBinding:
		u.bind(d, &o.Spec, d.Object.(*api.ClusterResourceBinding).Spec.Placement)
	case *api.OverridePolicy, *api.ClusterOverridePolicy:
		u.overrideD = append(u.overrideD, d)
	default:
		if k := api.KeyOf(o); !strings.Contains(k.APIVersion, "karmada.io/") && !strings.HasPrefix(k.APIVersion, "leeward.dev/") {
			u.templates = append(u.templates, template{d, k, o.GetLabels()})
		}
	}
}

func (u *unit) place(d manifest.Document, namespace string, spec, written *api.PropagationSpec) {
	k := api.KeyOf(d.Object)
	if k.Kind == "PropagationPolicy" {
		namespace = cmp.Or(namespace, metav1.NamespaceDefault)
	}
	u.placed = append(u.placed, propagationPolicy{d, k.Kind, namespace, k.Name, spec, written, propagation.Compile(spec.ResourceSelectors)})
}

// bind takes the placement of a binding, which is at the same path as that of a policy.
func (u *unit) bind(d manifest.Document, spec *api.BindingSpec, written *api.Placement) {
	if written == nil || spec.Placement == nil {
		return
	}
	k := api.KeyOf(d.Object)
	u.bound = append(u.bound, propagationPolicy{
		Document: d, kind: k.Kind, namespace: k.Namespace, name: k.Name,
		spec: &api.PropagationSpec{Placement: *spec.Placement}, written: &api.PropagationSpec{Placement: *written},
	})
}

// viewOf is a cluster as placement and policies see it.
func viewOf(c *api.Cluster, s *messages.Settings) *messages.ClusterView {
	v := messages.Located(c)
	v.Taints, v.Conditions, v.Created = c.Spec.Taints, c.Status.Conditions, c.CreationTimestamp.Time
	v.APIs, v.Resources, v.Deleting = c.Status.APIEnablements, c.Status.ResourceSummary, c.DeletionTimestamp != nil
	if s.CustomizedClusterResourceModeling {
		v.Models = c.Spec.ResourceModels
	}
	return v
}

// targets are the clusters that a policy selects.
func (u *unit) targets(p *taintPolicy) (all []*cluster) {
	for i := range u.clusters {
		if affinity.Matches(p.Spec.TargetClusters, u.clusters[i].view) {
			all = append(all, &u.clusters[i])
		}
	}
	return all
}

// manifests reports whether the unit is of manifests, not of a scenario.
func (u *unit) manifests() bool { return u.Name == "" }

// Read returns the fleets that files describe: each scenario with all that belongs to it, and the manifests that belong to none as
// one fleet. Where several files define the same object, each of those files is a fleet of its own; apart says so.
func Read(source scenario.Source, files []string) (fleets []*scenario.Scenario, apart bool, problems manifest.Problems) {
	var bare []string
	included := map[string]bool{}
	for _, file := range files {
		data, err := source.Read(file)
		if err != nil {
			problems = append(problems, &manifest.Problem{File: file, Message: err.Error()})
			continue
		}
		scenarios, wrong := source.Decode(file, data)
		problems = append(problems, wrong...)
		if len(wrong) > 0 {
			continue
		}
		if len(scenarios) == 0 {
			bare = append(bare, file)
		}
		for _, s := range scenarios {
			fleets = append(fleets, s)
			for _, d := range s.Objects {
				included[d.Place.File] = true
			}
			for i := range s.Timeline {
				if a, is := s.Timeline[i].Action.(*scenario.Apply); is {
					for _, d := range a.Documents {
						included[d.Place.File] = true
					}
				}
			}
		}
	}
	bare = slices.DeleteFunc(bare, func(file string) bool { return included[file] })
	if len(bare) == 0 {
		return fleets, false, problems
	}
	fleet, wrong := source.Fleet(bare)
	if len(wrong) > 0 && slices.ContainsFunc(wrong, twice) {
		for _, file := range bare {
			one, wrong := source.Fleet([]string{file})
			problems = append(problems, wrong...)
			fleets = append(fleets, one)
		}
		return fleets, true, problems
	}
	return append(fleets, fleet), false, append(problems, wrong...)
}

func twice(p *manifest.Problem) bool { return strings.Contains(p.Message, "defined twice") }
