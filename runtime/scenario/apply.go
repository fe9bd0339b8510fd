package scenario

import (
	"fmt"

	yaml "go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"leeward/messages/api"
	"leeward/messages/manifest"
)

// fileRef names a file to apply.
type fileRef struct {
	// Path of a file with manifests, or a glob pattern, relative to this file.
	File string `json:"file" schema:"required"`
}

// applied returns the manifests that an apply names: one, those of a file, or a list of such.
func (r *reader) applied(path string, n *yaml.Node) []manifest.Document {
	if n == nil {
		return nil
	}
	var items []yaml.Node
	if follow(n).Kind != yaml.SequenceNode {
		return r.appliedOne(path, n)
	}
	if !r.decode(path, n, &items) {
		return nil
	}
	if len(items) == 0 {
		r.bad(path, "names no manifest")
	}
	var docs []manifest.Document
	for i := range items {
		docs = append(docs, r.appliedOne(fmt.Sprintf("%s[%d]", path, i), &items[i])...)
	}
	return docs
}

func follow(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func (r *reader) appliedOne(path string, n *yaml.Node) []manifest.Document {
	for i, mapping := 0, follow(n); i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == "file" {
			return r.appliedFile(path, n)
		}
	}
	return r.inline(path, n)
}

// appliedFile reads files, also such as are included: applying an object again is an edit.
func (r *reader) appliedFile(path string, n *yaml.Node) []manifest.Document {
	var ref fileRef
	if !r.decode(path, n, &ref) {
		return nil
	}
	var docs []manifest.Document
	for _, name := range r.files(path+".file", ref.File) {
		docs = append(docs, r.manifests(path+".file", name, manifest.NewDecoder(kinds()))...)
	}
	for _, doc := range docs {
		r.prepare(doc.Object)
	}
	return docs
}

// inline reads a manifest that is written in the scenario itself.
func (r *reader) inline(path string, n *yaml.Node) []manifest.Document {
	var fields map[string]any
	if !r.decode(path, n, &fields) {
		return nil
	}
	object, ok := r.typed(path, n, &unstructured.Unstructured{Object: fields})
	if !ok {
		return nil
	}
	r.prepare(object)
	doc := r.doc
	doc.Object = object
	doc.Place.Object, doc.Place.Field = api.KeyOf(object).String(), r.field(path)
	return []manifest.Document{doc}
}

// typed returns an object as the Go type of its kind, if there is one.
func (r *reader) typed(path string, n *yaml.Node, u *unstructured.Unstructured) (api.Object, bool) {
	if !r.identified(path, u) {
		return nil, false
	}
	if u.GetKind() == Kind {
		r.bad(path, "a Scenario cannot be applied")
		return nil, false
	}
	empty, ok := manifest.FleetKinds()[metav1.TypeMeta{APIVersion: u.GetAPIVersion(), Kind: u.GetKind()}]
	if !ok {
		return u, true
	}
	object := empty()
	return object, r.decode(path, n, object)
}
