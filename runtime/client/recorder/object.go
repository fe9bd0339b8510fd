package recorder

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"

	"leeward/messages/api"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/scenario/incident"
)

// object is one with all of its fields, known to us or not.
type object struct{ unstructured.Unstructured }

// UnmarshalJSON reads an object that need not name its kind: items of lists do not.
func (o *object) UnmarshalJSON(data []byte) error { return json.Unmarshal(data, &o.Object) }

// writersOf takes out of an object who wrote it.
func writersOf(o *object) []incident.Writer {
	var all []incident.Writer
	for _, m := range o.GetManagedFields() {
		w := incident.Writer{Manager: m.Manager, Subresource: m.Subresource}
		if m.Time != nil {
			w.Time = *m.Time
		}
		all = append(all, w)
	}
	o.SetManagedFields(nil)
	return all
}

// lastApplied has a whole object once more, with what it holds.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// redact takes out of an object what must not be shared: what ConfigMaps and Secrets hold, also those within Works,
// and the headers by which clusters are reached. Digests tell that something changed.
func (r *recording) redact(o *object) {
	r.hide(o.Object)
	if headers, found, _ := unstructured.NestedMap(o.Object, "spec", "proxyHeader"); found {
		r.digestAll(headers, false)
		_ = unstructured.SetNestedMap(o.Object, headers, "spec", "proxyHeader") // it was there
	}
	manifests, found, _ := unstructured.NestedSlice(o.Object, "spec", "workload", "manifests")
	if !found || o.GetKind() != "Work" {
		return
	}
	for _, m := range manifests {
		if inner, ok := m.(map[string]any); ok {
			r.hide(inner)
		}
	}
	_ = unstructured.SetNestedSlice(o.Object, manifests, "spec", "workload", "manifests") // it was there
}

// hide puts digests in the place of what an object holds, if it is one that holds something.
func (r *recording) hide(o map[string]any) {
	if annotations, found, _ := unstructured.NestedStringMap(o, "metadata", "annotations"); found && annotations[lastApplied] != "" {
		delete(annotations, lastApplied)
		_ = unstructured.SetNestedStringMap(o, annotations, "metadata", "annotations") // they were there
	}
	if kind := o["kind"]; kind != "Secret" && kind != "ConfigMap" {
		return
	}
	for _, field := range []string{"data", "stringData", "binaryData"} {
		if held, ok := o[field].(map[string]any); ok {
			r.digestAll(held, field == "binaryData" || field == "data" && o["kind"] == "Secret")
		}
	}
}

// digestAll digests every value. Those that are bytes stay bytes.
func (r *recording) digestAll(values map[string]any, bytes bool) {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		text, _ := values[key].(string)
		h := hmac.New(sha256.New, r.Key)
		h.Write([]byte(text))
		digest := base64.StdEncoding.EncodeToString(h.Sum(nil))
		if !bytes {
			digest = "digest:" + digest
		}
		values[key] = digest
	}
}

// within is the namespace in which a resource is read; empty: all. Works of one namespace lie in those of their clusters,
// and Leases are shared with the components of a control plane: agents have a namespace of their own.
func (f *followed) within() string {
	switch {
	case f.resource.ClusterScoped || f.resource.Kind == catalog.Works.Kind:
		return ""
	case f.resource.Kind == catalog.Leases.Kind:
		return api.LeaseNamespace
	}
	return f.Namespace
}

// labels is the selector that the server is asked with.
func (f *followed) labels() string {
	if f.resource.Template() {
		return f.Selector
	}
	return ""
}
