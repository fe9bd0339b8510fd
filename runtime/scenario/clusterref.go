package scenario

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"leeward/messages"
	"leeward/messages/api"
)

// clusterRef says which clusters: by name or pattern, or by what they are.
type clusterRef struct {
	names []string
	by    *selector
}

// selector selects clusters by what they are when they are defined: all that is set must hold.
type selector struct {
	// Region of the clusters.
	Region string `json:"region"`
	// A zone of the clusters.
	Zone string `json:"zone"`
	// Provider of the clusters.
	Provider string `json:"provider"`
	// Labels of the clusters.
	Labels map[string]string `json:"labels"`
}

func (c *clusterRef) UnmarshalJSON(text []byte) error {
	switch text[0] {
	case '[':
		return strictly(text, &c.names)
	case '"':
		c.names = make([]string, 1)
		return strictly(text, &c.names[0])
	case '{':
		c.by = &selector{}
		if err := strictly(text, c.by); err != nil {
			return err
		}
		if c.by.Region+c.by.Zone+c.by.Provider == "" && len(c.by.Labels) == 0 {
			return errors.New("want region, zone, provider or labels")
		}
		return nil
	}
	return errors.New("want a name, a pattern, a list of these, or a selector such as {region: eu}")
}

func (s *selector) selects(cluster *api.Cluster) bool {
	for key, value := range s.Labels {
		if got, ok := cluster.Labels[key]; !ok || got != value {
			return false
		}
	}
	spec := &cluster.Spec
	return (s.Region == "" || s.Region == spec.Region) &&
		(s.Provider == "" || s.Provider == spec.Provider) &&
		(s.Zone == "" || s.Zone == spec.Zone || slices.Contains(spec.Zones, s.Zone))
}

// resolve returns the clusters that a reference names at an instant, each once. Errors: a malformed
// pattern, a name that there is not (yet), a pattern or selector that selects nothing.
func (c *cast) resolve(ref *clusterRef, at time.Duration) ([]messages.ClusterName, error) {
	if ref.by != nil {
		names := c.matching(at, ref.by.selects)
		if len(names) == 0 {
			return nil, c.missing("no cluster is selected")
		}
		return names, nil
	}
	var all []messages.ClusterName
	seen := map[messages.ClusterName]bool{}
	for _, pattern := range ref.names {
		words, err := ExpandBraces(pattern)
		if err != nil {
			return nil, fmt.Errorf("%q %w", pattern, err)
		}
		for _, word := range words {
			some, err := c.called(word, at)
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
		return nil, errors.New("names no cluster")
	}
	return all, nil
}

// called returns the clusters that a word without braces means: one, or all that a glob matches.
func (c *cast) called(word string, at time.Duration) ([]messages.ClusterName, error) {
	if !strings.ContainsAny(word, `*?[\`) {
		return []messages.ClusterName{messages.ClusterName(word)}, c.cluster(word, at)
	}
	if _, err := path.Match(word, ""); err != nil {
		return nil, fmt.Errorf("%q is no pattern: a bracket is open", word)
	}
	names := c.matching(at, func(cluster *api.Cluster) bool {
		ok, _ := path.Match(word, cluster.Name)
		return ok
	})
	if len(names) == 0 {
		return nil, c.missing("no cluster matches %q", word)
	}
	return names, nil
}

func (c *cast) matching(at time.Duration, selects func(*api.Cluster) bool) []messages.ClusterName {
	var names []messages.ClusterName
	for _, cluster := range c.clusters {
		if c.since[api.KeyOf(cluster)] <= at && selects(cluster) {
			names = append(names, messages.ClusterName(cluster.Name))
		}
	}
	return names
}
