package manifest

import (
	"iter"
	"reflect"
	"slices"
	"strconv"
	"strings"

	yaml "go.yaml.in/yaml/v3"
)

// What one document may cost: levels of nesting, and values reached through aliases ("billion laughs").
const (
	maxDepth   = 1000
	maxAliased = 100_000
)

// walk goes through one document and collects its problems.
type walk struct {
	place    Place
	path     []step
	problems Problems

	depth int
	// aliases counts the aliases around the present node, aliased the nodes seen within any.
	aliases, aliased int
	// spent is set once a limit is passed; the rest of the document is not read.
	spent bool

	// told holds what was reported of this document. While again is set, or within an alias, nodes
	// are read that were read before, and what was told of them is not told twice.
	told  map[remark]bool
	again bool
}

// remark is a message about a node.
type remark struct {
	line, column int
	message      string
}

// step leads from a value to a value inside it.
type step struct {
	name  string
	index int
	kind  stepKind
}

type stepKind uint8

const (
	stepField stepKind = iota // .name
	stepKey                   // [name]
	stepItem                  // [index]
)

// DecodeNode reads a node into the value that into points to, as strictly as Decode does, for types
// that hold nodes (a field of type yaml.Node takes its node as it is). A field that is absent or null
// keeps its zero value. Problems begin with place.
func DecodeNode(place Place, n *yaml.Node, into any) Problems {
	w := walk{place: place}
	w.into(n, into)
	return w.problems
}

func (w *walk) into(n *yaml.Node, into any) {
	v := reflect.ValueOf(into).Elem()
	w.value(n, v, planOf(v.Type())())
}

// restart forgets the last document.
func (w *walk) restart() { w.aliased, w.spent, w.told = 0, false, nil }

func (w *walk) push(s step) { w.path = append(w.path, s) }
func (w *walk) pop()        { w.path = w.path[:len(w.path)-1] }

// field returns the path of the present value.
func (w *walk) field() string {
	var b strings.Builder
	b.WriteString(w.place.Field)
	for _, s := range w.path {
		switch {
		case s.kind == stepItem:
			b.WriteString("[" + itoa(s.index) + "]")
		case s.kind == stepKey:
			b.WriteString("[" + s.name + "]")
		case b.Len() > 0:
			b.WriteString("." + s.name)
		default:
			b.WriteString(s.name)
		}
	}
	return b.String()
}

// report adds a problem of the present value, seen at n.
func (w *walk) report(n *yaml.Node, value, message string) {
	said := remark{n.Line, n.Column, message}
	if w.told[said] && (w.again || w.aliases > 0) {
		return
	}
	if w.told == nil {
		w.told = map[remark]bool{}
	}
	w.told[said] = true
	w.problems = append(w.problems, &Problem{
		File: w.place.File, Line: n.Line, Column: n.Column,
		Object: w.place.Object, Field: w.field(), Value: value, Message: message,
	})
}

// at reports a problem one step further in.
func (w *walk) at(s step, n *yaml.Node, message string) {
	w.push(s)
	w.report(n, "", message)
	w.pop()
}

// wrong reports a value of another shape than wanted.
func (w *walk) wrong(n *yaml.Node, want string) {
	if n.Kind != yaml.ScalarNode {
		w.report(n, "", "want "+want+", not "+describe(n))
		return
	}
	w.report(n, written(n), "want "+want)
}

// enter follows an alias and counts what reading n costs; false: n is not to be read. leave(n) must follow.
func (w *walk) enter(n *yaml.Node) (*yaml.Node, bool) {
	w.depth++
	target := n
	if n.Kind == yaml.AliasNode {
		w.aliases++
		target = n.Alias
	}
	if w.aliases > 0 {
		w.aliased++
	}
	switch {
	case w.spent:
	case w.depth > maxDepth:
		w.spent = true
		w.report(n, "", "nested more than "+itoa(maxDepth)+" levels deep")
	case w.aliased > maxAliased:
		w.spent = true
		w.report(n, "", "aliases expand to more than "+itoa(maxAliased)+" values")
	case isTagged(target):
		w.report(target, "", "the tag "+target.Tag+" is not supported")
		return target, false
	}
	return target, !w.spent
}

func (w *walk) leave(n *yaml.Node) {
	w.depth--
	if n.Kind == yaml.AliasNode {
		w.aliases--
	}
}

// value reads a node into v.
func (w *walk) value(n *yaml.Node, v reflect.Value, p plan) {
	if target, ok := w.enter(n); ok {
		p(w, target, v)
	}
	w.leave(n)
}

func follow(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// pairs walks the keys and values of a mapping's content.
func pairs(content []*yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(k, v *yaml.Node) bool) {
		for i := 0; i+1 < len(content); i += 2 {
			if !yield(content[i], content[i+1]) {
				return
			}
		}
	}
}

// entries returns the content of a mapping, with what its merge keys (<<: *base) bring in behind its own.
func (w *walk) entries(n *yaml.Node) []*yaml.Node {
	for k := range pairs(n.Content) {
		if k.Tag == tagMerge {
			return w.merged(n)
		}
	}
	return n.Content
}

// merged resolves merge keys: a mapping's own keys win, then those of the first mapping merged.
func (w *walk) merged(n *yaml.Node) []*yaml.Node {
	var own, bases []*yaml.Node
	for k, v := range pairs(n.Content) {
		if k.Tag == tagMerge {
			bases = append(bases, w.bases(v)...)
		} else {
			own = append(own, k, v)
		}
	}
	has := map[string]bool{}
	for k := range pairs(own) {
		has[follow(k).Value] = true
	}
	for _, base := range bases {
		mapping, ok := w.enter(base)
		if ok {
			for k, v := range pairs(w.entries(mapping)) {
				if name := follow(k).Value; !has[name] {
					has[name] = true
					own = append(own, k, aliasOf(v))
				}
			}
		}
		w.leave(base)
	}
	return own
}

// bases returns the mappings that the value of a merge key names.
func (w *walk) bases(v *yaml.Node) []*yaml.Node {
	list := []*yaml.Node{v}
	if target := follow(v); target.Kind == yaml.SequenceNode {
		list = target.Content
	}
	return slices.DeleteFunc(slices.Clone(list), func(base *yaml.Node) bool {
		if follow(base).Kind == yaml.MappingNode {
			return false
		}
		w.at(step{name: "<<"}, base, "want a mapping, or a list of mappings")
		return true
	})
}

// aliasOf makes a value that was merged in cost what it would cost as an alias.
func aliasOf(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n
	}
	return &yaml.Node{Kind: yaml.AliasNode, Alias: n, Line: n.Line, Column: n.Column}
}

// key returns the text of a mapping's key. An integer is text as it is written, as it is to kubectl.
func (w *walk) key(k *yaml.Node) (string, bool) {
	k = follow(k)
	switch {
	case isTagged(k):
		w.report(k, "", "a key with the tag "+k.Tag+" is not supported")
		return "", false
	case isText(k), isPlainInt(k):
		return k.Value, true
	case k.Kind == yaml.ScalarNode:
		w.at(step{name: k.Value, kind: stepKey}, k, "want a string as key: quote it")
	default:
		w.report(k, "", "want a string as key, not "+describe(k))
	}
	return "", false
}

// isPlainInt reports whether a node is an integer written as JSON would write it.
func isPlainInt(n *yaml.Node) bool {
	i, err := scalarInt(n)
	return err == nil && strconv.FormatInt(i, 10) == n.Value
}
