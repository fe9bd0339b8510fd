package whatif

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/manifest"
	"leeward/messages/spelling"
	"leeward/runtime/fleet/config"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/forecast"
)

// resolver looks up in a fleet what changes name, and makes them steps of a timeline.
type resolver struct {
	outage   Outage
	fleet    *forecast.Fleet
	read     func(file string) ([]manifest.Document, error)
	objects  []manifest.Document
	clusters []*api.Cluster
	problems []error
	// settings are those that the changes before set.
	settings []config.Override
}

// resolve returns the steps of changes. The error joins every problem, each with its flag.
func (c *Config) resolve(f *forecast.Fleet) ([]scenario.Step, error) {
	r := &resolver{outage: c.Outage, fleet: f, read: c.Read, objects: slices.Clone(c.Fleet.Objects)}
	documents := make([][]manifest.Document, len(c.Changes))
	for i, change := range c.Changes {
		if change.Flag == FlagApply {
			documents[i] = r.applied(change)
		}
	}
	r.clusters = forecast.Clusters(r.objects)
	var steps []scenario.Step
	for i, change := range c.Changes {
		if action := r.action(change, documents[i]); action != nil {
			steps = append(steps, scenario.Step{At: forecast.Lead + change.At, Action: action, File: change.String()})
		}
	}
	if len(r.problems) > 0 {
		return nil, errors.Join(r.problems...)
	}
	return scenario.Timeline(steps), nil
}

// bad notes a problem.
func (r *resolver) bad(c *Change, field, format string, args ...any) {
	r.problems = append(r.problems, c.wrong(field, fmt.Errorf(format, args...)))
}

// applied reads the manifests of a file, which later changes may name.
func (r *resolver) applied(c *Change) []manifest.Document {
	documents, err := r.read(c.subject)
	if err != nil {
		r.problems = append(r.problems, c.wrong("file", err))
		return nil
	}
	if len(documents) > mostApplied {
		r.bad(c, "file", "holds %d objects, more than %d", len(documents), mostApplied)
		return nil
	}
	if err := forecast.Claims(r.objects, documents); err != nil {
		r.problems = append(r.problems, c.wrong("file", err))
	}
	r.objects = append(r.objects, documents...)
	return documents
}

// action is what a change does; nil: it has a problem.
func (r *resolver) action(c *Change, documents []manifest.Document) scenario.Action {
	switch c.Flag {
	case FlagLose:
		if lost := r.lost(c); len(lost) > 0 {
			return &scenario.Outage{Target: scenario.Target{Clusters: lost}, Kind: r.outage.Kind, For: r.outage.For}
		}
	case FlagTaint:
		if target, ok := r.target(c); ok {
			return &scenario.Taint{Target: target, Changes: c.taints}
		}
	case FlagCondition:
		if target, ok := r.target(c); ok {
			return &scenario.Condition{Target: target, Type: c.kind, Status: c.status, Reason: "WhatIf", Message: "what if " + c.Text}
		}
	case FlagDrain:
		if target, ok := r.target(c); ok {
			return &scenario.Drain{Target: target}
		}
	case FlagApply:
		if len(documents) > 0 {
			return &scenario.Apply{Documents: documents}
		}
	case FlagDelete:
		if key, ok := r.object(c); ok {
			return &scenario.Delete{Object: key}
		}
	case FlagScale:
		if key, ok := r.workload(c); ok {
			return &scenario.Scale{Workload: key, Replicas: c.replicas}
		}
	case FlagSet:
		return r.setting(c)
	}
	return nil
}

// lost are the clusters of the parts that are lost.
func (r *resolver) lost(c *Change) (lost []messages.ClusterName) {
	for _, l := range c.losses {
		clusters, err := l.Clusters(r.clusters)
		if err != nil {
			r.problems = append(r.problems, c.wrong(l.Kind, err))
			return nil
		}
		lost = append(lost, clusters...)
	}
	slices.Sort(lost)
	return slices.Compact(lost)
}

// target is the cluster that a change names.
func (r *resolver) target(c *Change) (scenario.Target, bool) {
	clusters, err := forecast.Loss{Kind: forecast.KindCluster, Name: c.subject}.Clusters(r.clusters)
	if err != nil {
		r.problems = append(r.problems, c.wrong("cluster", err))
		return scenario.Target{}, false
	}
	return scenario.Target{Clusters: clusters}, true
}

// setting changes a setting, if it then makes sense with the others.
func (r *resolver) setting(c *Change) scenario.Action {
	next := append(slices.Clip(r.settings), c.setting)
	if _, problems := config.Resolve(r.fleet.Profile, slices.Concat(r.fleet.Config, next)); len(problems) > 0 {
		r.problems = append(r.problems, problems...)
		return nil
	}
	r.settings = next
	return &scenario.Config{Settings: []config.Override{c.setting}}
}

// kinds are those of the fleet's objects.
func (r *resolver) kinds() (all []string) {
	for _, d := range r.objects {
		if kind := api.KeyOf(d.Object).Kind; !slices.Contains(all, kind) {
			all = append(all, kind)
		}
	}
	return all
}

// object is the one that a change deletes.
func (r *resolver) object(c *Change) (api.Key, bool) {
	parts := strings.Split(c.subject, "/")
	kind, _ := spelling.KindMeant(parts[0], r.kinds())
	namespace := ""
	if len(parts) == 3 {
		namespace = parts[1]
	}
	return r.one(c, "object", []spelling.Workload{{Kind: kind, Namespace: namespace, Name: parts[len(parts)-1]}})
}

// workload is the one that a change scales.
func (r *resolver) workload(c *Change) (api.Key, bool) {
	readings, err := spelling.Workloads(c.subject, r.kinds())
	if err != nil {
		r.problems = append(r.problems, c.wrong("workload", err))
		return api.Key{}, false
	}
	return r.one(c, "workload", readings)
}

// one is the only object that the first reading of a name which names any does name.
func (r *resolver) one(c *Change, field string, readings []spelling.Workload) (api.Key, bool) {
	for _, w := range readings {
		var found []api.Key
		for _, d := range r.objects {
			key := api.KeyOf(d.Object)
			if key.Kind == w.Kind && key.Name == w.Name && (w.Namespace == "" || w.Namespace == key.Namespace) && !slices.Contains(found, key) {
				found = append(found, key)
			}
		}
		switch {
		case len(found) == 1:
			return found[0], true
		case len(found) > 1:
			r.bad(c, field, "%d objects have that name: name the namespace, as in %s/%s/%s", len(found), found[0].Kind, found[0].Namespace, found[0].Name)
			return api.Key{}, false
		}
	}
	r.bad(c, field, "the fleet's manifests have no such %s", field)
	return api.Key{}, false
}
