package scenario

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/lists"
	"leeward/messages/spelling"
)

// call is one action being read: where it is written and when it fires first.
type call struct {
	*reader
	path string
	at   time.Duration
}

// namedAction is an action that is written in a step.
type namedAction struct {
	name string
	read func(*call) Action
}

// actions lists the actions that a step is written with: one, if it is as it should be.
func (w *writtenStep) actions() []namedAction {
	all := []struct {
		namedAction
		written bool
	}{
		{namedAction{"condition", func(c *call) Action { return c.condition(w.Condition) }}, w.Condition != nil},
		{namedAction{"taint", func(c *call) Action { return c.taint(w.Taint, w.Taint.Taints) }}, w.Taint != nil},
		{namedAction{"untaint", func(c *call) Action { return c.taint(w.Untaint, removals(w.Untaint.Taints)) }}, w.Untaint != nil},
		{namedAction{"cordon", func(c *call) Action { return &Cordon{Target: c.target(w.Cordon.Cluster, w.Cordon.Node)} }}, w.Cordon != nil},
		{namedAction{"uncordon", func(c *call) Action { return &Cordon{Target: c.target(w.Uncordon.Cluster, w.Uncordon.Node), Off: true} }}, w.Uncordon != nil},
		{namedAction{"drain", func(c *call) Action { return c.drain(w.Drain) }}, w.Drain != nil},
		{namedAction{"label", func(c *call) Action { return c.label(w.Label) }}, w.Label != nil},
		{namedAction{"outage", func(c *call) Action { return c.outage(w.Outage) }}, w.Outage != nil},
		{namedAction{"health", func(c *call) Action { return c.health(w.Health) }}, w.Health != nil},
		{namedAction{"status", func(c *call) Action { return c.status(w.Status) }}, w.Status != nil},
		{namedAction{"schedulableReplicas", func(c *call) Action { return c.schedulableReplicas(w.SchedulableReplicas) }}, w.SchedulableReplicas != nil},
		{namedAction{"apiEnablements", func(c *call) Action { return c.apiEnablements(w.APIEnablements) }}, w.APIEnablements != nil},
		{namedAction{"capacity", func(c *call) Action { return c.capacity(w.Capacity) }}, w.Capacity != nil},
		{namedAction{"scale", func(c *call) Action { return c.scale(w.Scale) }}, w.Scale != nil},
		{namedAction{"apply", func(*call) Action { return &Apply{Documents: w.documents, MayFail: w.MayFail} }}, w.Apply != nil},
		{namedAction{"delete", func(c *call) Action { return c.remove(w.Delete) }}, w.Delete != nil},
		{namedAction{"config", func(c *call) Action { return &Config{c.settings(c.path, w.Config)} }}, w.Config != nil},
		{namedAction{"pause", func(c *call) Action { return c.pause(w.Pause) }}, w.Pause != nil},
		{namedAction{"resume", func(*call) Action { return &Hold{Scopes: fleetScope} }}, w.Resume != nil},
		{namedAction{"hold", func(c *call) Action { return c.hold(w.Hold) }}, w.Hold != nil},
		{namedAction{"release", func(c *call) Action { return c.release(w.Release) }}, w.Release != nil},
		{namedAction{"restart", func(*call) Action { return &Restart{} }}, w.Restart != nil},
		{namedAction{"crash", func(c *call) Action { return c.crash(w.Crash) }}, w.Crash != nil},
		{namedAction{"clock", func(c *call) Action { return c.clock(w.Clock) }}, w.Clock != nil},
		{namedAction{"reports", func(c *call) Action { return c.reports(w.Reports) }}, w.Reports != nil},
		{namedAction{"refuse", func(c *call) Action { return c.refuse(w.Refuse) }}, w.Refuse != nil},
		{namedAction{"rebootNodes", func(c *call) Action { return &RebootNodes{Clusters: c.clusters(w.RebootNodes.Cluster)} }}, w.RebootNodes != nil},
	}
	var actions []namedAction
	for _, a := range all {
		if a.written {
			actions = append(actions, a.namedAction)
		}
	}
	return actions
}

// clusters returns the clusters that an action names.
func (c *call) clusters(ref clusterRef) []messages.ClusterName {
	return resolved[messages.ClusterName](c, &c.cast.clusters, &ref.reference)
}

// target returns the clusters or the nodes that an action names: it must name one of the two.
func (c *call) target(clusters *clusterRef, nodes *nodeRef) Target {
	switch {
	case (clusters == nil) == (nodes == nil):
		c.bad(c.path, "want cluster or node")
	case nodes != nil:
		return Target{Nodes: resolved[messages.NodeName](c, &c.cast.nodes, &nodes.reference)}
	default:
		return Target{Clusters: c.clusters(*clusters)}
	}
	return Target{}
}

// resolved returns those of a population that an action names.
func resolved[Name ~string](c *call, p *population, ref *reference) []Name {
	words, err := c.cast.resolve(p, ref, c.at)
	if err != nil {
		c.bad(c.path+"."+p.kind, "%v", err)
	}
	return lists.Of(words, func(word string) Name { return Name(word) })
}

func (c *call) condition(s *conditionStep) Action {
	a := &Condition{
		Target: c.target(s.Cluster, s.Node), Type: s.Type, Reason: s.Reason, Message: s.Message, Toggle: s.Toggle, Observed: s.Observed,
	}
	if s.Observed && (s.Type != api.ConditionReady || s.Status != nil && *s.Status == "") {
		c.bad(c.path+".observed", "goes with a status of Ready")
	}
	if s.Node != nil && s.Status != nil && *s.Status == "" {
		c.bad(c.path+".status", "want True, False or Unknown: a kubelet takes back no condition")
	}
	if s.Observed && s.Node != nil {
		c.bad(c.path+".observed", "goes with cluster: nodes are not probed")
	}
	switch {
	case s.Toggle && s.Status != nil:
		c.bad(c.path, "want status or toggle, not both")
	case s.Toggle:
	case s.Status == nil:
		c.bad(c.path+".status", "required")
	case !isStatus(*s.Status):
		c.bad(c.path+".status", "want True, False, Unknown or an empty one, not %q", *s.Status)
	default:
		a.Status = metav1.ConditionStatus(*s.Status)
	}
	return a
}

func (c *call) taint(s *taintStep, specs []string) Action {
	changes, err := taint.Parse(specs)
	if err != nil {
		c.bad(c.path+".taints", "%v", err)
	}
	return &Taint{Target: c.target(s.Cluster, s.Node), Changes: changes}
}

// removals are specs with the "-" that says remove, whether or not it is written.
func removals(specs []string) []string {
	all := slices.Clone(specs)
	for i, spec := range all {
		if !strings.HasSuffix(spec, "-") {
			all[i] = spec + "-"
		}
	}
	return all
}

func (c *call) drain(s *drainStep) Action {
	if s.Node != nil && s.Deadline != nil {
		c.bad(c.path+".deadline", "goes with cluster")
	}
	return &Drain{Target: c.target(s.Cluster, s.Node), Deadline: s.Deadline.orElse(0), Options: c.drainOptions(s)}
}

// drainOptions are the flags of kubectl drain.
func (c *call) drainOptions(s *drainStep) messages.DrainOptions {
	o := messages.DrainOptions{
		IgnoreDaemonSets: s.IgnoreDaemonSets, DeleteEmptyDirData: s.DeleteEmptyDirData, Force: s.Force, DisableEviction: s.DisableEviction,
		Timeout: s.Timeout.orElse(0), SkipWaitForDelete: c.wholeSeconds(s.SkipWaitForDeleteTimeout, "skipWaitForDeleteTimeout"),
	}
	if s.GracePeriod != nil {
		o.GracePeriodSeconds = new(int64(c.wholeSeconds(s.GracePeriod, "gracePeriod") / time.Second))
	}
	if s.PodSelector != "" {
		selector, err := labels.Parse(s.PodSelector)
		if err != nil {
			c.bad(c.path+".podSelector", "%v", err)
		}
		o.Pods = selector
	}
	if s.Node == nil && !reflect.DeepEqual(o, messages.DrainOptions{}) {
		c.bad(c.path, "the flags of kubectl drain go with node")
	}
	return o
}

// wholeSeconds is a duration of the step, zero where it is not written.
func (c *call) wholeSeconds(d *duration, field string) time.Duration {
	value := d.orElse(0)
	if value%time.Second != 0 {
		c.bad(c.path+"."+field, "want whole seconds")
	}
	return value
}

func (c *call) label(s *labelStep) Action {
	if len(s.Labels) == 0 {
		c.bad(c.path+".labels", "names no label")
	}
	set := map[string]string{}
	for key, value := range s.Labels {
		set[key] = ptr.Deref(value, "")
	}
	for _, e := range metav1validation.ValidateLabels(set, nil) {
		c.bad(c.path+".labels", "%s", e.ErrorBody())
	}
	return &Label{Target: c.target(s.Cluster, s.Node), Labels: s.Labels}
}

func (c *call) health(s *healthStep) Action {
	c.oneOf(c.path+".status", s.Status, "Healthy", "Unhealthy", "Unknown")
	a := &Health{Clusters: c.clusters(s.Cluster), Health: api.ResourceHealth(s.Status)}
	if s.Binding != "" {
		a.Binding = c.binding(c.path+".binding", s.Binding, c.at)
	}
	return a
}

func (c *call) status(s *statusStep) Action {
	text, err := json.Marshal(s.Status)
	if err != nil {
		c.bad(c.path+".status", "%v", err)
	}
	return &Status{Clusters: c.clusters(s.Cluster), Binding: c.binding(c.path+".binding", s.Binding, c.at), Status: string(text)}
}

func (c *call) schedulableReplicas(s *schedulableReplicasStep) Action {
	a := &SchedulableReplicas{Clusters: c.clusters(s.Cluster), Binding: c.binding(c.path+".binding", s.Binding, c.at), Replicas: -1}
	if s.Replicas == nil {
		return a
	}
	if a.Replicas = *s.Replicas; a.Replicas < 0 {
		c.bad(c.path+".replicas", "must not be negative")
	}
	return a
}

func (c *call) capacity(s *capacityStep) Action {
	if s.Capacity == nil && s.Allocated == nil {
		c.bad(c.path, "want capacity or allocated")
	}
	return &Capacity{Clusters: c.clusters(s.Cluster), Capacity: s.Capacity, Allocated: s.Allocated}
}

func (c *call) apiEnablements(s *apiEnablementsStep) Action {
	a := &APIEnablements{Clusters: c.clusters(s.Cluster)}
	for _, version := range slices.Sorted(maps.Keys(s.Kinds)) {
		if _, err := schema.ParseGroupVersion(version); err != nil || version == "" {
			c.bad(c.path+".kinds", "want a group and version, such as apps/v1, not %q", version)
		}
		served := api.APIEnablement{GroupVersion: version}
		for _, kind := range s.Kinds[version] {
			served.Resources = append(served.Resources, api.APIResource{Kind: kind})
		}
		a.APIs = append(a.APIs, served)
	}
	return a
}

func (c *call) scale(s *scaleStep) Action {
	key, err := c.cast.workload(s.Workload, c.at)
	if err != nil {
		c.bad(c.path+".workload", "%v", err)
	}
	if *s.Replicas < 0 {
		c.bad(c.path+".replicas", "must not be negative")
	}
	return &Scale{Workload: key, Replicas: *s.Replicas}
}

func (c *call) remove(s *deleteStep) Action {
	kind, _ := spelling.KindMeant(s.Kind, c.cast.kinds())
	key, err := c.cast.object(named{kind, s.Namespace, s.Name}, s.APIVersion, c.at)
	if err != nil {
		c.bad(c.path, "%v", err)
	}
	return &Delete{key}
}

// binding returns the binding that is named at a path.
func (r *reader) binding(path, name string, at time.Duration) messages.BindingName {
	binding, err := r.cast.binding(name, at)
	if err != nil {
		r.bad(path, "%v", err)
	}
	return binding
}
