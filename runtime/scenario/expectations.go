package scenario

import (
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"time"

	yaml "go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/manifest"
	"leeward/runtime/fleet/span"
	"leeward/runtime/scenario/expect"
)

func (r *reader) expectations(nodes []yaml.Node) []expect.Expectation {
	var all []expect.Expectation
	for i := range nodes {
		path := fmt.Sprintf("spec.expect[%d]", i)
		before := len(r.problems)
		var written expectation
		if !r.decode(path, &nodes[i], &written) {
			continue
		}
		e := expect.Expectation{Source: filepath.Base(r.doc.Place.File) + ":" + strconv.Itoa(nodes[i].Line)}
		r.mode(path, &written, &e)
		r.subject(path, &written, &e)
		if len(r.problems) == before {
			all = append(all, e)
		}
	}
	return all
}

// mode says for which instants an expectation speaks.
func (r *reader) mode(path string, w *expectation, e *expect.Expectation) {
	e.From, e.Until = w.From.orElse(0), w.Until.orElse(span.Max)
	modes := 0
	for i, written := range []bool{w.At != nil, w.Within != nil, w.Always != nil, w.Never != nil, w.Total != nil} {
		if written {
			e.Mode, modes = expect.Mode(i), modes+1
		}
	}
	switch {
	case modes != 1:
		r.bad(path, "want one of at, within, always, never, total, not %d of them", modes)
	case e.Mode <= expect.Within && (w.From != nil || w.Until != nil):
		r.bad(path, "from and until go with always, never and total")
	case e.Mode == expect.At:
		e.From = time.Duration(*w.At)
		e.Until = e.From
		r.inTime(path+".at", e.From)
	case e.Mode == expect.Within:
		e.From = time.Duration(w.Within.After)
		e.Until = span.Add(e.From, time.Duration(*w.Within.For))
		r.inTime(path+".within", e.Until)
	default:
		r.window(path, w, e)
	}
}

func (r *reader) window(path string, w *expectation, e *expect.Expectation) {
	r.inTime(path+".from", e.From)
	if w.Until != nil {
		r.inTime(path+".until", e.Until)
	}
	if e.From > e.Until {
		r.bad(path, "ends at %s, before it begins at %s", span.String(e.Until), span.String(e.From))
	}
	if w.Total != nil {
		r.count(path+".total", w.Total, e)
	}
}

func (r *reader) count(path string, t *total, e *expect.Expectation) {
	b := bounds{Min: t.Min, Max: t.Max}
	switch {
	case t.Exact != nil && (t.Min != nil || t.Max != nil):
		r.bad(path, "want exact, or min and max, not both")
		return
	case t.Exact != nil:
		b = bounds{Min: t.Exact, Max: t.Exact}
	}
	count, err := b.read()
	if err != nil {
		r.bad(path, "%v", err)
	}
	e.Count = count
}

// subject says what an expectation is about.
func (r *reader) subject(path string, w *expectation, e *expect.Expectation) {
	state := alternative{Taint: w.Taint, Binding: w.Binding, Pod: w.Pod, Pods: w.Pods, Object: w.Object}
	subjects := state.count()
	for _, written := range []bool{w.Event != nil, w.AnyOf != nil} {
		if written {
			subjects++
		}
	}
	switch {
	case w.Total != nil && subjects > 0:
		r.bad(path, "total has its event inside: {total: {event: ...}}")
	case w.Total != nil:
		e.Subject = r.event(path+".total.event", w.Total.Event)
	case subjects != 1:
		r.bad(path, "want one of taint, binding, pod, pods, event, object, anyOf, not %d of them", subjects)
	case w.AnyOf != nil:
		e.Subject = r.anyOf(path+".anyOf", w.AnyOf)
	case w.Event != nil && w.Always != nil:
		r.bad(path, "an event does not last: want at, within, never or total")
	case w.Event != nil:
		e.Subject = r.event(path+".event", w.Event)
	default:
		e.Subject = r.state(path, &state)
	}
}

// count is how many of an alternative's subjects are written.
func (o *alternative) count() (subjects int) {
	for _, written := range []bool{o.Taint != nil, o.Binding != nil, o.Pod != nil, o.Pods != nil, o.Object != nil} {
		if written {
			subjects++
		}
	}
	return subjects
}

// state reads the one subject of an alternative.
func (r *reader) state(path string, o *alternative) expect.State {
	switch {
	case o.Taint != nil:
		return r.taint(path+".taint", o.Taint)
	case o.Binding != nil:
		return r.ofBinding(path+".binding", o.Binding)
	case o.Pod != nil:
		return r.pod(path+".pod", o.Pod)
	case o.Pods != nil:
		return r.pods(path+".pods", o.Pods)
	default:
		return r.object(path+".object", o.Object)
	}
}

// anyOf reads alternatives of one object.
func (r *reader) anyOf(path string, outcomes []alternative) expect.AnyOf {
	before := len(r.problems)
	var states expect.AnyOf
	for i := range outcomes {
		at := fmt.Sprintf("%s[%d]", path, i)
		if n := outcomes[i].count(); n != 1 {
			r.bad(at, "want one of taint, binding, pod, pods, object, not %d of them", n)
			continue
		}
		states = append(states, r.state(at, &outcomes[i]))
	}
	if len(outcomes) < 2 {
		r.bad(path, "want two outcomes or more")
	}
	if len(r.problems) > before {
		return nil
	}
	for i, s := range states {
		if s.ObjectKey() != states[0].ObjectKey() {
			r.bad(fmt.Sprintf("%s[%d]", path, i), "is of another object, %s, than the first: %s", s.ObjectKey(), states[0].ObjectKey())
		}
	}
	return states
}

// sometime is an instant by which everything that is ever applied is there.
const sometime = span.Max

func (r *reader) cluster(path, name string) messages.ClusterName {
	if err := r.cast.there(&r.cast.clusters, name, sometime); err != nil {
		r.bad(path, "%v", err)
	}
	return messages.ClusterName(name)
}

func (r *reader) taint(path string, w *taintExpectation) *expect.Taint {
	r.oneOf(path+".effect", w.Effect, "NoSchedule", "PreferNoSchedule", "NoExecute")
	t := &expect.Taint{Key: w.Key, Value: w.Value, Effect: corev1.TaintEffect(w.Effect), Absent: w.Present != nil && !*w.Present}
	switch {
	case (w.Cluster == "") == (w.Node == ""):
		r.bad(path, "want cluster or node")
	case w.Node != "":
		t.Node = r.node(path+".node", w.Node)
	default:
		t.Cluster = r.cluster(path+".cluster", w.Cluster)
	}
	return t
}

func (r *reader) ofBinding(path string, w *bindingExpectation) *expect.Binding {
	b := &expect.Binding{Name: r.binding(path+".name", w.Name, sometime)}
	if w.Clusters != nil {
		for _, share := range *w.Clusters {
			r.cluster(path+".clusters", share.Cluster)
		}
		b.Wants = append(b.Wants, expect.Clusters(*w.Clusters))
	}
	if w.Tasks != nil {
		r.tasks(path+".tasks", *w.Tasks)
		b.Wants = append(b.Wants, expect.Tasks(*w.Tasks))
	}
	if w.Healthy != nil {
		b.Wants = append(b.Wants, expect.Healthy(*w.Healthy))
	}
	conditions := w.Conditions.objects()
	if w.Scheduled != "" {
		conditions = append(conditions, metav1.Condition{Type: api.ConditionScheduled, Reason: w.Scheduled})
	}
	if len(conditions) > 0 {
		b.Wants = append(b.Wants, expect.Conditions(conditions))
	}
	if w.Affinity != "" {
		b.Wants = append(b.Wants, expect.Affinity(w.Affinity))
	}
	b.Wants = append(b.Wants, w.numbers()...)
	if len(b.Wants) == 0 {
		r.bad(path, "expects nothing of the binding")
	}
	return b
}

// numbers are what an expectation says of what is counted.
func (w *bindingExpectation) numbers() []expect.Want {
	var wants []expect.Want
	for i, written := range []*bounds{w.ClusterCount, w.Replicas, w.Available, w.Reported} {
		if written != nil {
			b, _ := written.read() // read once before, when it was decoded
			wants = append(wants, expect.Number{Of: expect.Count(i), Bounds: b})
		}
	}
	return wants
}

func (r *reader) tasks(path string, tasks tasks) {
	for i, task := range tasks {
		at := fmt.Sprintf("%s[%d]", path, i)
		if err := misfit(task, reflect.TypeFor[api.GracefulEvictionTask]()); err != nil {
			r.bad(at, "a task %v", err)
		}
		if from, ok := task["fromCluster"].(string); ok {
			r.cluster(at, from)
		}
	}
}

// event reads the kind of a fact and the fields that it must have.
func (r *reader) event(path string, fields map[string]any) *expect.Event {
	kind, _ := fields["kind"].(string)
	factType, known := facts[kind]
	if !known {
		r.bad(path+".kind", "want the kind of a fact, not %q: %s", kind, strings.Join(factKinds(), ", "))
		return nil
	}
	rest := maps.Clone(fields)
	delete(rest, "kind")
	if err := misfit(rest, factType); err != nil {
		r.bad(path, "%s %v", kind, err)
	}
	e := &expect.Event{Kind: kind}
	if name, ok := rest["cluster"].(string); ok {
		e.Cluster = r.cluster(path+".cluster", name)
		delete(rest, "cluster")
	}
	if name, ok := rest["binding"].(string); ok {
		e.Binding = r.binding(path+".binding", name, sometime)
		delete(rest, "binding")
	}
	if name, ok := rest["node"].(string); ok {
		r.node(path+".node", name)
	}
	if name, ok := rest["pod"].(string); ok {
		rest["pod"] = string(podNamed(name))
	}
	if len(rest) > 0 {
		e.Fields = rest
	}
	return e
}

// object reads the fields that an object must have.
func (r *reader) object(path string, want map[string]any) *expect.Object {
	u := &unstructured.Unstructured{Object: want}
	if !r.identified(path, u) {
		return nil
	}
	key := api.KeyOf(u)
	switch key.Kind {
	case "Cluster":
		r.cluster(path+".metadata.name", key.Name)
	case "Node":
		r.node(path+".metadata.name", key.Name)
	}
	var object api.Object = u
	if empty, ok := manifest.FleetKinds()[metav1.TypeMeta{APIVersion: key.APIVersion, Kind: key.Kind}]; ok {
		object = empty()
		object.SetNamespace(key.Namespace)
		if err := misfit(want, reflect.TypeOf(object)); err != nil {
			r.bad(path, "%s %v", key.Kind, err)
		}
	}
	key.Namespace = namespaceOf(object)
	return &expect.Object{Key: key, Want: want}
}
