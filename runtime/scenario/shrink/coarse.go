package shrink

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	yaml "go.yaml.in/yaml/v3"

	"leeward/messages"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/span"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/expect"
	"leeward/runtime/scenario/replay"
)

// Bounds of the coarse steps.
const (
	// mostNaming is how many facts are read for the names that they mention.
	mostNaming = 100_000
	// fewManifests is how many manifests are too few for groups of them.
	fewManifests = 8
)

// coarse omits much with few tries, before elements are tried one by one: what the facts about the failures never name, then the
// manifests of one kind, or of one namespace.
func (p *parts) coarse(r *reducing, s *scenario.Scenario, run *replay.Run) {
	near, far := p.named(s, run)
	everything := func(mapping) bool { return true }
	policies := func(names set) func(mapping) bool {
		return func(d mapping) bool { return !template(d) || names.names(d) }
	}
	var changes []change
	for _, keep := range []struct{ manifest, cluster func(mapping) bool }{
		{near.names, near.names}, {policies(near), near.names}, {far.names, far.names}, {policies(far), far.names},
		{everything, near.names}, {everything, far.names}, {policies(near), everything}, {policies(far), everything},
	} {
		manifests, fleet := p.manifests, p.fleet
		changes = append(changes, change{
			do:   func() { p.manifests, p.fleet = only(manifests, keep.manifest), only(fleet, keep.cluster) },
			undo: func() { p.manifests, p.fleet = manifests, fleet },
		})
	}
	if len(p.manifests) > fewManifests {
		r.first(changes)
		r.groups(&p.manifests, func(d mapping) string { return Text(d["apiVersion"]) + " " + Text(d["kind"]) })
		r.groups(&p.manifests, func(d mapping) string { return Text(under(d, "metadata")["namespace"]) })
	}
}

// groups omits whole groups of manifests, as elements of a list are omitted, the smallest first.
func (r *reducing) groups(list *[]any, of func(mapping) string) {
	if len(*list) <= fewManifests {
		return
	}
	sizes, whole := map[string]int{}, *list
	for _, d := range whole {
		sizes[of(d.(mapping))]++
	}
	var names []any
	for _, name := range slices.SortedFunc(maps.Keys(sizes), func(a, b string) int { return cmp.Or(sizes[b]-sizes[a], strings.Compare(a, b)) }) {
		names = append(names, name)
	}
	r.omit(names, func(left []any) {
		*list = only(whole, func(d mapping) bool { return slices.Contains(left, any(of(d))) })
	})
}

// only are the elements that are kept, and those that are no mappings.
func only(list []any, keep func(mapping) bool) (kept []any) {
	for _, v := range list {
		if m, is := v.(mapping); !is || keep(m) {
			kept = append(kept, v)
		}
	}
	return kept
}

// template reports whether a manifest is a resource that policies propagate.
func template(d mapping) bool {
	version := Text(d["apiVersion"])
	return !strings.Contains(version, "karmada.io/") && !strings.Contains(version, "leeward.dev/")
}

// set are names: of objects, of bindings, of clusters.
type set map[string]bool

// names reports whether a manifest, or an entry of the fleet, is named.
func (s set) names(d mapping) bool {
	name, kind := Text(d["name"]), ""
	if meta := under(d, "metadata"); len(meta) > 0 {
		name, kind = Text(meta["name"]), Text(d["kind"])
		if namespace := cmp.Or(Text(meta["namespace"]), "default"); template(d) {
			name = namespace + "/" + name
		}
	}
	return s[name] || kind != "" && s[name+"-"+strings.ToLower(kind)]
}

// add takes the words of a text: "Deployment/shop/web" names shop/web, too.
func (s set) add(text string) {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(" ,;:=()[]{}\"", r) }) {
		s[word] = true
		if parts := strings.Split(word, "/"); len(parts) == 3 {
			s[parts[1]+"/"+parts[2]] = true
		} else if len(parts) == 1 {
			s["default/"+word] = true
		} else {
			s[parts[len(parts)-1]] = true
		}
	}
}

// named are the names in the expectations that fail and in the facts about their objects, and those in the facts about these, too.
func (p *parts) named(s *scenario.Scenario, run *replay.Run) (near, far set) {
	near = set{}
	for _, e := range p.expect {
		if n, is := e.(*yaml.Node); is {
			near.node(n)
		}
	}
	about, anything := set{}, false
	for i, e := range run.Expectations {
		if !e.Passed && i < len(s.Expect) {
			of := objectOf(&s.Expect[i], eventOf(&s.Expect[i]))
			about[string(of.Binding)], about[string(of.Cluster)] = true, true
			anything = anything || of.Binding == "" && of.Cluster == ""
		}
	}
	delete(about, "")
	facts := run.Events[:min(len(run.Events), mostNaming)]
	far = maps.Clone(near)
	near.facts(facts, about)
	kinds := set{}
	if anything {
		for i := range facts { // one fact of each kind is enough
			if kind := facts[i].Fact.Kind(); !kinds[kind] {
				kinds[kind] = true
				near.fact(facts[i].Fact)
			}
		}
	}
	far.facts(facts, near)
	return near, far
}

// node takes the scalars of an expectation.
func (s set) node(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode {
		s.add(n.Value)
	}
	for _, inner := range n.Content {
		s.node(inner)
	}
}

// facts takes what the facts name that are about a binding or a cluster of a set.
func (s set) facts(facts []journal.Entry, about set) {
	for i := range facts {
		f := facts[i].Fact
		binding, ofBinding := f.(messages.AboutBinding)
		cluster, ofCluster := f.(messages.AboutCluster)
		if !(ofBinding && about[string(binding.AboutBinding())] || ofCluster && about[string(cluster.AboutCluster())]) {
			continue
		}
		s.fact(f)
	}
}

// fact takes what a fact names.
func (s set) fact(f messages.Fact) {
	if text, err := json.Marshal(f); err == nil {
		s.add(string(text))
	}
}

// cutOff is a scenario whose run ends early, written as one that lasts no longer.
func (p *parts) cutOff(c *Config) (*scenario.Scenario, error) {
	p.cut(c.Scenario, c.Until)
	text, err := p.yaml()
	if err != nil {
		return nil, err
	}
	scenarios, problems := alone().Decode(c.Scenario.File, text)
	if len(problems) > 0 {
		return nil, fmt.Errorf("%s, cut off at %s: %w", c.Scenario.Name, span.String(c.Until), problems)
	}
	return scenarios[0], nil
}

// cut has the run end at an instant, and omits steps that come later and expectations that nothing can decide until then.
func (p *parts) cut(s *scenario.Scenario, end time.Duration) {
	p.fixed["duration"] = span.String(end)
	var timeline, expected []any
	for _, step := range p.timeline {
		m, is := step.(mapping)
		if is && (instant(m["at"]) > end || instant(m["from"]) > end) {
			continue
		}
		if is && instant(m["until"]) > end {
			m["until"] = span.String(end)
		}
		timeline = append(timeline, step)
	}
	for i, e := range p.expect {
		if of := &s.Expect[i]; of.From > end || of.Mode <= expect.Within && of.Until > end {
			continue
		}
		clip(e.(*yaml.Node), end)
		expected = append(expected, e)
	}
	p.timeline, p.expect = timeline, expected
}

// instant is an offset from the start as it is written; zero: there is none.
func instant(v any) time.Duration {
	at, err := span.Parse(Text(v))
	if err != nil { // it was read before
		return 0
	}
	return at
}

// clip has the window of an expectation end at an instant, if it ends later.
func clip(n *yaml.Node, end time.Duration) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if v := n.Content[i+1]; n.Content[i].Value == "until" && instant(v) > end {
			v.SetString(span.String(end))
		}
	}
}
