// Package forecast is what predictions about a fleet share: how the fleet is brought to rest before anything happens to it, and
// how much capacity its workloads take. Its callers are packages assess, explain and whatif.
package forecast

import (
	"cmp"
	"errors"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/lists"
	"leeward/messages/manifest"
	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/store"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/replay"
)

const (
	// Horizon is how far a prediction looks ahead.
	Horizon = 24 * time.Hour
	// Lead is how long the fleet runs undisturbed before anything happens to it, so that nothing of its beginning is still due.
	Lead = time.Hour
	// Rest is how long before the end of Lead nothing may be evicted, or the fleet is not at rest.
	Rest = 15 * time.Minute
)

// Predicted begins each line of text that is a prediction.
const Predicted = "predicted: "

// ByNamespace is the word for groups by namespace.
const ByNamespace = "namespace"

// Invalid says what is wrong with a fleet, with its settings, or with what is asked about it.
type Invalid struct{ Problem error }

func (e *Invalid) Error() string { return e.Problem.Error() }

// Unwrap returns the problem.
func (e *Invalid) Unwrap() error { return e.Problem }

// Fleet is a fleet whose prediction can begin.
type Fleet struct {
	Profile string
	// Config are the settings that Settings come from, in order.
	Config   []config.Override
	Settings messages.Settings
	// Start is when virtual time begins; the prediction begins at Start plus Lead.
	Start   time.Time
	Members map[messages.ClusterName]messages.MemberBehaviour
	// Objects are those to apply at Start.
	Objects []manifest.Document
	// own is what copies take of what clusters report as allocated; nil: clusters report without them.
	own store.ClusterUsage
}

// Others is a cluster that reports what others take of it, without the copies of workloads: these are counted by their placements.
func (f *Fleet) Others(c *api.Cluster) *api.Cluster {
	if f.own == nil {
		return c
	}
	others := *c
	others.Status.ResourceSummary = f.own.Others(messages.ClusterName(c.Name), c.Status.ResourceSummary)
	return &others
}

// Prepare checks a fleet, under a profile and settings on top of its own. A copy takes startup on clusters of which the fleet does
// not say it. The error is an *Invalid.
func Prepare(s *scenario.Scenario, profile string, set []config.Override, startup time.Duration) (*Fleet, error) {
	f := &Fleet{Profile: cmp.Or(profile, s.Profile, config.Default)}
	// A policy that is stored was admitted, so what admits it is on.
	admitted := []config.Override{{Field: "allowNoExecuteTaintPolicy", Value: true, Source: "assess"}}
	f.Config = slices.Concat(admitted, s.Config, set)
	var problems []error
	if f.Settings, problems = config.Resolve(f.Profile, f.Config); len(problems) > 0 {
		return nil, &Invalid{errors.Join(problems...)}
	}
	if s.OfNodes {
		return nil, &Invalid{errors.New("want a fleet of clusters; this is a scenario of nodes")}
	}
	if len(s.MemberNodes) > 0 {
		return nil, &Invalid{errors.New("clusters have nodes of their own, which a prediction does not run: omit the nodes, and give capacity")}
	}
	var err error
	if f.Start, err = replay.StartOf(s); err != nil {
		return nil, &Invalid{err}
	}
	f.Members = members(s, startup)
	if f.Objects = s.Objects; f.Settings.CapacityReservation {
		f.Objects = Reported(s.Objects)
		return f, nil
	}
	f.own = store.ClusterUsage{}
	for _, d := range s.Objects {
		f.own.Count(store.AsBinding(d.Object), 1)
	}
	return f, nil
}

// Reported are the objects, whose clusters report what others take of them: copies that run are counted by themselves.
func Reported(documents []manifest.Document) []manifest.Document {
	documents = slices.Clone(documents)
	objects := lists.Of(documents, func(d manifest.Document) api.Object { return d.Object })
	store.WithoutOwn(objects)
	for i := range documents {
		documents[i].Object = objects[i]
	}
	return documents
}

// members are those of the fleet; a copy takes startup on clusters of which it says nothing.
func members(s *scenario.Scenario, startup time.Duration) map[messages.ClusterName]messages.MemberBehaviour {
	all := map[messages.ClusterName]messages.MemberBehaviour{}
	for name, b := range s.Members { // order-free: each by itself
		if b.StartupMax == 0 {
			b.StartupMin, b.StartupMax = startup, startup
		}
		all[name] = b
	}
	for _, d := range s.Objects {
		if d.Object.GetObjectKind().GroupVersionKind().Kind != "Cluster" {
			continue
		}
		name := messages.ClusterName(d.Object.GetName())
		if _, known := all[name]; !known {
			all[name] = messages.MemberBehaviour{StartupMin: startup, StartupMax: startup, Health: api.Healthy}
		}
	}
	return all
}

// Tolerated says until when tolerations keep a workload on a tainted cluster, counted from an instant of which the text is after;
// empty: they do not.
func Tolerated(taints []corev1.Taint, tolerations []corev1.Toleration, s *messages.Settings, from time.Time, after string) string {
	taints = slices.DeleteFunc(slices.Clone(taints), func(t corev1.Taint) bool { return t.Effect != corev1.TaintEffectNoExecute })
	if len(taints) == 0 {
		return ""
	}
	v := taint.Deadline(taints, tolerations, taint.Rule{Match: s.TolerationMatch, Numeric: s.NumericTolerations})
	switch v.Outcome {
	case taint.Forever:
		return "tolerates " + taints[0].ToString() + " without an end"
	case taint.Until:
		return "tolerates " + taints[0].ToString() + " until " + v.At.Sub(from).Round(time.Second).String() + " " + after
	}
	return ""
}
