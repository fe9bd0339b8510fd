// Package manifest reads the files that users write: YAML or JSON, any number of documents, and the
// `kind: List` dumps that kubectl prints. Reading is strict: whatever would be dropped or bent in
// silence elsewhere (an unknown field, a key set twice, an unquoted "yes" where text is wanted) is a
// Problem with file, line and field path, and all problems of all documents are found in one pass.
//
// Scalars mean what they mean to kubectl, which reads YAML 1.1: yes, no, on and off are booleans.
package manifest

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	yaml "go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"leeward/messages/api"
)

// Document is one object as it was written. Nothing is defaulted and nothing but its form is checked.
type Document struct {
	Object api.Object
	// Place is the object's file and name; its Field is "items[3]" for an item of a List, else empty.
	Place Place
	// root parses the text once more, for the few objects whose lines are asked for: keeping the
	// nodes of every document would take more memory than the objects.
	root func() *yaml.Node
}

// Line returns the line of a field, as in "spec.taints[0].effect" or "metadata.labels[app]"; that of
// the nearest field around it if the field is not written, and of the object for "". 0: the object was not read from a manifest.
func (d Document) Line(path string) int { return d.locate(path).Line }

func (d Document) locate(path string) *yaml.Node {
	if d.root == nil {
		return &yaml.Node{}
	}
	return locate(d.root(), joinField(d.Place.Field, path))
}

// written returns where a field is written that validation names: of the taints of a Node, Kubernetes says "metadata.taints".
func (d Document) written(path string) string {
	if _, node := d.Object.(*corev1.Node); node {
		if rest, taints := strings.CutPrefix(path, "metadata.taints"); taints {
			return "spec.taints" + rest
		}
	}
	return path
}

// Invalid returns the findings of validation as problems of this document.
func (d Document) Invalid(errs field.ErrorList) Problems {
	var problems Problems
	for _, e := range errs {
		path := joinField(d.Place.Field, e.Field)
		at := d.locate(d.written(e.Field))
		problems = append(problems, &Problem{
			File: d.Place.File, Line: at.Line, Column: at.Column,
			Object: d.Place.Object, Field: path, Message: e.ErrorBody(),
		})
	}
	return problems
}

// Decode reads one file whose kinds are FleetKinds.
func Decode(file string, data []byte) ([]Document, Problems) {
	return NewDecoder(FleetKinds()).Decode(file, data)
}

// Decoder reads files that belong together: an object may be defined only once in all of them.
type Decoder struct {
	kinds Kinds
	// defined says where each object is, as "fleet.yaml:3".
	defined map[identity]string
	flawed  []Document
}

// identity is what makes two objects the same: the version does not, and no namespace is "default".
type identity struct{ group, kind, namespace, name string }

// NewDecoder returns a decoder that makes typed objects of kinds.
func NewDecoder(kinds Kinds) *Decoder {
	return &Decoder{kinds: kinds, defined: map[identity]string{}}
}

// Decode returns the objects of a file that are well formed, in file order, and every problem of the
// others, in file order.
func (d *Decoder) Decode(file string, data []byte) ([]Document, Problems) {
	r := d.reading(file)
	for _, c := range split(data) {
		r.chunk(c)
	}
	return r.over()
}

// DecodeNodes is Decode for documents that were not written but made: the root of each. Lines are those of the nodes. The
// nodes must not change afterwards.
func (d *Decoder) DecodeNodes(file string, roots []*yaml.Node) ([]Document, Problems) {
	r := d.reading(file)
	for _, root := range roots {
		r.root = func() *yaml.Node { return root }
		r.document(root)
	}
	return r.over()
}

func (d *Decoder) reading(file string) *reading {
	d.flawed = nil
	return &reading{Decoder: d, walk: walk{place: Place{File: file}}}
}

// Flawed returns the objects of the last file that have problems, as far as they could be read: a caller that
// checks more than form can so find all that is wrong with them together.
func (d *Decoder) Flawed() []Document { return d.flawed }

// reading is one file being read.
type reading struct {
	*Decoder
	walk
	documents []Document
	root      func() *yaml.Node
}

func (r *reading) chunk(c chunk) {
	roots, err := c.parse()
	for i, root := range roots {
		r.root = sync.OnceValue(func() *yaml.Node {
			again, _ := c.parse()
			return again[i]
		})
		r.document(root)
	}
	if err != nil {
		r.place.Object = ""
		r.report(&yaml.Node{Line: c.lineOf(err)}, "", syntaxOf(err))
	}
}

func (r *reading) document(root *yaml.Node) {
	if !isNull(root) {
		r.restart()
		r.object(root)
	}
}

// over returns what was read, once nothing remains to read.
func (r *reading) over() ([]Document, Problems) {
	slices.SortStableFunc(r.problems, func(a, b *Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return r.documents, r.problems
}

// object reads one object, or the many of a List.
func (r *reading) object(n *yaml.Node) {
	before := len(r.problems)
	outer := r.place.Object
	defer func() { r.place.Object = outer }()
	root, ok := r.enter(n)
	defer r.leave(n)
	if !ok {
		return
	}
	if root.Kind != yaml.MappingNode {
		r.wrong(root, "an object")
		return
	}
	head := headerOf(root)
	if head.isList() {
		r.list(root)
		return
	}
	r.place.Object = head.String()
	r.checkHeader(root, head)
	object := r.kinds.new(head.typeMeta())
	if u, ok := object.(*unstructured.Unstructured); ok {
		u.Object = r.unstructured(root)
	} else {
		r.into(root, object)
	}
	r.checkUnique(root, head)
	place := r.place
	place.Field = r.field()
	document := Document{Object: object, Place: place, root: r.root}
	if len(r.problems) > before {
		r.flawed = append(r.flawed, document)
		return
	}
	r.documents = append(r.documents, document)
}

// list is what a List holds beside its items.
type list struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []yaml.Node `json:"items"`
}

func (r *reading) list(root *yaml.Node) {
	var l list
	r.into(root, &l)
	r.push(step{name: "items"})
	for i := range l.Items {
		r.push(step{index: i, kind: stepItem})
		r.object(&l.Items[i])
		r.pop()
	}
	r.pop()
}

// header holds the nodes that say which object a document is; nil where there is none.
type header struct {
	apiVersion, kind, metadata, namespace, name *yaml.Node
	// listed is whether there are items.
	listed bool
}

func (h header) isList() bool {
	kind := text(h.kind)
	return kind == "List" || h.listed && strings.HasSuffix(kind, "List")
}

func (h header) typeMeta() metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: text(h.apiVersion), Kind: text(h.kind)}
}

// String returns "Kind namespace/name", as far as it is known.
func (h header) String() string {
	if text(h.kind) == "" {
		return ""
	}
	key := api.Key{Kind: text(h.kind), Namespace: text(h.namespace), Name: text(h.name)}
	return strings.TrimSpace(key.String())
}

// headerOf looks ahead, so that every problem can name its object.
func headerOf(root *yaml.Node) header {
	h := header{
		apiVersion: member(root, "apiVersion"),
		kind:       member(root, "kind"),
		metadata:   member(root, "metadata"),
		listed:     member(root, "items") != nil,
	}
	if h.metadata != nil {
		h.namespace, h.name = member(h.metadata, "namespace"), member(h.metadata, "name")
	}
	return h
}

// member returns a value of a mapping by name, nil if there is none.
func member(n *yaml.Node, name string) *yaml.Node {
	if _, value := new(walk).child(n, name); value != nil {
		return follow(value)
	}
	return nil
}

func text(n *yaml.Node) string {
	if n == nil || isNull(n) {
		return ""
	}
	return n.Value
}

// checkHeader reports what keeps an object from being named. A field that is there but of the wrong
// type is judged by the walk.
func (r *reading) checkHeader(root *yaml.Node, h header) {
	if isEmpty(h.apiVersion) {
		r.at(step{name: "apiVersion"}, root, "required")
	}
	if isEmpty(h.kind) {
		r.at(step{name: "kind"}, root, "required")
	} else if said := r.kinds.doubt(h.typeMeta()); said != "" {
		r.at(step{name: "kind"}, h.kind, said)
	}
	switch {
	case h.metadata == nil || isNull(h.metadata):
		r.at(step{name: "metadata.name"}, root, "required")
	case h.metadata.Kind == yaml.MappingNode && isEmpty(h.name):
		r.at(step{name: "metadata.name"}, h.metadata, "required")
	}
}

// isEmpty reports whether a field that must hold text is absent, null or "".
func isEmpty(n *yaml.Node) bool {
	return n == nil || n.Kind == yaml.ScalarNode && text(n) == ""
}

func (r *reading) checkUnique(root *yaml.Node, h header) {
	if isEmpty(h.kind) || isEmpty(h.name) {
		return
	}
	id := identity{
		group: groupOf(text(h.apiVersion)), kind: text(h.kind),
		namespace: cmp.Or(text(h.namespace), "default"), name: text(h.name),
	}
	if first, ok := r.defined[id]; ok {
		r.report(root, "", "defined twice, first at "+first)
		return
	}
	r.defined[id] = r.place.File + ":" + itoa(root.Line)
}
