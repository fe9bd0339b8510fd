package observed

import (
	"cmp"
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/health"
	"leeward/actors/rules/propagation"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/catalog"
)

// Annotations by which a Work names its binding. Source: Karmada.
const (
	annotationBindingNamespace = "resourcebinding.karmada.io/namespace"
	annotationBindingName      = "resourcebinding.karmada.io/name"
	annotationClusterBinding   = "clusterresourcebinding.karmada.io/name"
)

// Names are the annotations by which the Works of a binding name it.
func Names(b messages.BindingName) map[string]string {
	if namespace, name := b.Split(); namespace != "" {
		return map[string]string{annotationBindingNamespace: namespace, annotationBindingName: name}
	}
	return map[string]string{annotationClusterBinding: string(b)}
}

// Binding is the binding that the annotations of a Work name; empty: none.
func Binding(annotations map[string]string) messages.BindingName {
	if local := annotations[annotationBindingName]; local != "" {
		return messages.NameBinding(annotations[annotationBindingNamespace], local)
	}
	return messages.BindingName(annotations[annotationClusterBinding])
}

// Copy returns whose copy a Work is; false where it is that of no binding.
func Copy(w *api.Work) (messages.ClusterName, messages.BindingName, bool) {
	cluster, found := strings.CutPrefix(w.Namespace, api.WorkNamespacePrefix)
	name := Binding(w.Annotations)
	return messages.ClusterName(cluster), name, found && name != ""
}

// Report reads what a cluster's agent says of a copy; nil: nothing yet. It is the contract with agents of any
// make:
//
//   - the condition Applied says whether the manifest is applied, and observedGeneration which generation of the
//     Work; an agent that leaves that out means the newest;
//   - the first of manifestStatuses has the status of the object as the cluster has it, and its health; without a
//     health it follows from the status, by the rules for its kind.
//
// Source: Karmada's work status controller.
func Report(w *api.Work) *messages.WorkReport {
	applied := meta.FindStatusCondition(w.Status.Conditions, api.ConditionApplied)
	if applied == nil && len(w.Status.ManifestStatuses) == 0 {
		return nil
	}
	r := &messages.WorkReport{Health: api.Unknown}
	if applied != nil {
		r.Generation = applied.ObservedGeneration
	}
	if applied != nil && applied.Status == metav1.ConditionFalse {
		r.Refused = shortened(cmp.Or(applied.Message, applied.Reason, "the agent does not say why"))
		return r
	}
	if len(w.Status.ManifestStatuses) == 0 {
		return r
	}
	s := &w.Status.ManifestStatuses[0]
	if s.Status != nil {
		r.Ready, r.Unschedulable, r.Status = split(s.Status.Raw)
	}
	if r.Health = s.Health; r.Health == "" {
		r.Health = healthOf(w, s)
	}
	return r
}

// longestRefusal bounds what a binding repeats of a Work's condition, in bytes.
const longestRefusal = 1024

// shortened is a text of bounded length, on one line.
func shortened(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= longestRefusal {
		return text
	}
	return strings.ToValidUTF8(text[:longestRefusal], "") + " ..."
}

// Reports reads what statuses of Works say, each text once: those of most copies read alike, and share one report.
type Reports map[string]statusReport

type statusReport struct {
	report *messages.WorkReport
	// whole is set where health follows from what the Work asks for, too.
	whole bool
}

// mostReports bounds what is remembered.
const mostReports = 4096

// Of is Report of a status as it reads, unless the whole Work must be looked at.
func (r Reports) Of(status []byte) (report *messages.WorkReport, whole bool, err error) {
	s, known := r[string(status)]
	if !known {
		if s, err = readStatus(status); err != nil {
			return nil, false, err
		}
		if len(r) == mostReports {
			clear(r)
		}
		r[string(status)] = s
	}
	return s.report, s.whole, nil
}

func readStatus(status []byte) (statusReport, error) {
	w := &api.Work{}
	if len(status) > 0 {
		if err := json.Unmarshal(status, &w.Status); err != nil {
			return statusReport{}, err
		}
	}
	said := w.Status.ManifestStatuses
	if len(said) > 0 && said[0].Health == "" {
		return statusReport{whole: true}, nil
	}
	return statusReport{report: Report(w)}, nil
}

// split reads what a status says of replicas, and returns what else it says.
func split(raw []byte) (ready, unschedulable int32, rest string) {
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(raw, &fields) != nil {
		return 0, 0, ""
	}
	take := func(name string) (n int32) {
		if json.Unmarshal(fields[name], &n) != nil {
			return 0
		}
		return n
	}
	ready = max(take("readyReplicas"), take("ready"), take("numberReady"))
	unschedulable = take("unschedulableReplicas")
	for _, counted := range [...]string{"replicas", "readyReplicas", "availableReplicas", "updatedReplicas", "unschedulableReplicas"} {
		delete(fields, counted)
	}
	if len(fields) == 0 {
		return ready, unschedulable, ""
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return ready, unschedulable, ""
	}
	return ready, unschedulable, string(text)
}

// healthOf judges the object that a Work asks for by the status that it has. One that cannot be read is Unknown.
func healthOf(w *api.Work, s *api.ManifestStatus) api.ResourceHealth {
	o, known := manifestOf(w)
	switch {
	case !known:
		return api.Healthy
	case o == nil:
		return api.Unknown
	}
	if s.Status != nil && !withStatus(o, s.Status.Raw) {
		return api.Unknown
	}
	return health.Workload(o)
}

// manifestOf reads the object that a Work asks for: nil where it cannot be read, not known where it is of a kind of which
// nothing is known here.
func manifestOf(w *api.Work) (o api.Object, known bool) {
	if len(w.Spec.Workload.Manifests) == 0 {
		return nil, true
	}
	raw := w.Spec.Workload.Manifests[0].Raw
	var kind metav1.TypeMeta
	if json.Unmarshal(raw, &kind) != nil {
		return nil, true
	}
	r := catalog.Of(api.Key{APIVersion: kind.APIVersion, Kind: kind.Kind})
	if r == nil || r.Untyped() {
		return nil, false
	}
	if o = r.New(); json.Unmarshal(raw, o) != nil {
		return nil, true
	}
	return o, true
}

// Replicas is how many replicas a Work asks for; false where it has none, or cannot be read.
func Replicas(w *api.Work) (int32, bool) {
	o, _ := manifestOf(w)
	replicas, _, counts := propagation.Requirements(o)
	return replicas, counts
}

// withStatus gives an object a status and the generation that this is about, which only the cluster knows; false
// where it does not fit.
func withStatus(o api.Object, status []byte) bool {
	text, err := json.Marshal(map[string]json.RawMessage{"status": status})
	if err != nil || json.Unmarshal(text, o) != nil {
		return false
	}
	var about struct{ ObservedGeneration int64 }
	if json.Unmarshal(status, &about) != nil {
		return false
	}
	o.SetGeneration(about.ObservedGeneration)
	return true
}
