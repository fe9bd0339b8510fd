package page

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
)

// document is a page as a browser understands it.
type document struct{ root *html.Node }

func parse(t *testing.T, text string) document {
	t.Helper()
	root, err := html.Parse(strings.NewReader(text))
	require.NoError(t, err)
	return document{root}
}

// all returns the elements that a path of simple selectors finds: "h1", ".name", "details.run", ".ticks text"
// for a descendant, "g > title" for a child.
func (d document) all(path string) []*html.Node {
	steps := strings.Fields(path)
	var found []*html.Node
	for n := range d.root.Descendants() {
		if n.Type == html.ElementNode && fits(n, steps) {
			found = append(found, n)
		}
	}
	return found
}

// fits reports whether an element is where the steps lead.
func fits(n *html.Node, steps []string) bool {
	last := len(steps) - 1
	switch {
	case !is(n, steps[last]):
		return false
	case last == 0:
		return true
	case steps[last-1] == ">":
		return fits(n.Parent, steps[:last-1])
	}
	for above := range n.Ancestors() {
		if fits(above, steps[:last]) {
			return true
		}
	}
	return false
}

// is reports whether an element has a tag, a class, or both.
func is(n *html.Node, selector string) bool {
	tag, class, classed := strings.Cut(selector, ".")
	if tag != "" && n.Data != tag {
		return false
	}
	return !classed || slices.ContainsFunc(n.Attr, func(a html.Attribute) bool {
		return a.Key == "class" && slices.Contains(strings.Fields(a.Val), class)
	})
}

// texts returns what the elements that a path finds say.
func (d document) texts(path string) []string {
	var texts []string
	for _, n := range d.all(path) {
		var text strings.Builder
		for child := range n.Descendants() {
			if child.Type == html.TextNode {
				text.WriteString(child.Data)
			}
		}
		texts = append(texts, strings.TrimSpace(text.String()))
	}
	return texts
}

// Elements and attributes that load something, or run. They are compared plainly: fuzzers ask of every element.
var (
	loading = []string{"script", "link", "img", "iframe", "object", "embed", "base", "form"}
	linking = []string{"src", "href", "srcset", "style", "action"}
)

// needsNothing holds a page to be whole by itself: it fetches nothing and runs nothing.
func (d document) needsNothing(t *testing.T) {
	t.Helper()
	for n := range d.root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if slices.Contains(loading, n.Data) {
			t.Fatalf("<%s> loads something or runs", n.Data)
		}
		for _, a := range n.Attr {
			if slices.Contains(linking, a.Key) || strings.HasPrefix(a.Key, "on") {
				t.Fatalf("%s of %s loads something or runs", a.Key, n.Data)
			}
		}
	}
	for _, style := range d.texts("style") {
		require.NotContains(t, style, "url(")
		require.NotContains(t, style, "@import")
	}
}

var errFull = errors.New("disk full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }
