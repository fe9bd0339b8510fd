package scenario

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/messages/api"
)

// population is all that steps and expectations can name of one kind, in the order of definition: clusters, or nodes.
type population struct {
	kind   string
	all    []*located
	byName map[string]*located
}

// located is one of a population: what selectors go by, and the instant from which it is there.
type located struct {
	name, region, provider string
	zones                  []string
	labels                 map[string]string
	since                  time.Duration
}

func newPopulation(kind string) population { return population{kind, nil, map[string]*located{}} }

func (p *population) join(l *located) {
	p.all = append(p.all, l)
	p.byName[l.name] = l
}

func locatedCluster(o *api.Cluster, since time.Duration) *located {
	zones := slices.Clone(o.Spec.Zones)
	if o.Spec.Zone != "" {
		zones = append(zones, o.Spec.Zone)
	}
	return &located{o.Name, o.Spec.Region, o.Spec.Provider, zones, o.Labels, since}
}

func locatedNode(o *corev1.Node, since time.Duration) *located {
	l := &located{name: o.Name, region: o.Labels[corev1.LabelTopologyRegion], labels: o.Labels, since: since}
	if zone := o.Labels[corev1.LabelTopologyZone]; zone != "" {
		l.zones = []string{zone}
	}
	return l
}

// reference says which of a population: by name or pattern, or by what they are.
type reference struct {
	names []string
	by    *selector
}

// clusterRef says which clusters, nodeRef which nodes.
type (
	clusterRef struct{ reference }
	nodeRef    struct{ reference }
)

// selector selects by what clusters or nodes are when they are defined: all that is set must hold.
type selector struct {
	// Region of the clusters or nodes.
	Region string `json:"region"`
	// A zone of the clusters, or that of the nodes.
	Zone string `json:"zone"`
	// Provider of the clusters.
	Provider string `json:"provider"`
	// Labels of the clusters or nodes.
	Labels map[string]string `json:"labels"`
}

func (r *reference) UnmarshalJSON(text []byte) error {
	switch text[0] {
	case '[':
		return strictly(text, &r.names)
	case '"':
		r.names = make([]string, 1)
		return strictly(text, &r.names[0])
	case '{':
		r.by = &selector{}
		if err := strictly(text, r.by); err != nil {
			return err
		}
		if r.by.Region+r.by.Zone+r.by.Provider == "" && len(r.by.Labels) == 0 {
			return errors.New("want region, zone, provider or labels")
		}
		return nil
	}
	return errors.New("want a name, a pattern, a list of these, or a selector such as {region: eu}")
}

func (s *selector) selects(l *located) bool {
	for key, value := range s.Labels {
		if got, ok := l.labels[key]; !ok || got != value {
			return false
		}
	}
	return (s.Region == "" || s.Region == l.region) &&
		(s.Provider == "" || s.Provider == l.provider) &&
		(s.Zone == "" || slices.Contains(l.zones, s.Zone))
}

// resolve returns the names that a reference means at an instant, each once. Errors: a malformed
// pattern, a name that there is not (yet), a pattern or selector that selects nothing.
func (c *cast) resolve(p *population, ref *reference, at time.Duration) ([]string, error) {
	if ref.by != nil {
		names := p.matching(at, ref.by.selects)
		if len(names) == 0 {
			return nil, c.missing("no %s is selected", p.kind)
		}
		return names, nil
	}
	var all []string
	seen := map[string]bool{}
	for _, pattern := range ref.names {
		words, err := ExpandBraces(pattern)
		if err != nil {
			return nil, fmt.Errorf("%q %w", pattern, err)
		}
		for _, word := range words {
			some, err := c.called(p, word, at)
			if err != nil {
				return nil, err
			}
			for _, name := range some {
				if !seen[name] {
					seen[name] = true
					all = append(all, name)
				}
			}
		}
	}
	if len(ref.names) == 0 {
		return nil, fmt.Errorf("names no %s", p.kind)
	}
	return all, nil
}

// called returns what a word without braces means: one name, or all that a glob matches.
func (c *cast) called(p *population, word string, at time.Duration) ([]string, error) {
	if !strings.ContainsAny(word, `*?[\`) {
		return []string{word}, c.there(p, word, at)
	}
	if _, err := path.Match(word, ""); err != nil {
		return nil, fmt.Errorf("%q is no pattern: a bracket is open", word)
	}
	names := p.matching(at, func(l *located) bool {
		ok, _ := path.Match(word, l.name)
		return ok
	})
	if len(names) == 0 {
		return nil, c.missing("no %s matches %q", p.kind, word)
	}
	return names, nil
}

func (p *population) matching(at time.Duration, selects func(*located) bool) []string {
	var names []string
	for _, l := range p.all {
		if l.since <= at && selects(l) {
			names = append(names, l.name)
		}
	}
	return names
}

// there returns the error of naming one that there is not, or not yet.
func (c *cast) there(p *population, name string, at time.Duration) error {
	l := p.byName[name]
	if l == nil {
		names := make([]string, len(p.all))
		for i := range names {
			names[i] = p.all[i].name
		}
		return c.unknown(p.kind, name, names)
	}
	if l.since > at {
		return fmt.Errorf("%s %q is applied later", p.kind, name)
	}
	return nil
}
