package forecast

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/manifest"
	"leeward/messages/spelling"
)

// Loss is one part of a fleet that fails: a cluster, or all clusters of a region, zone or provider.
type Loss struct{ Kind, Name string }

// mostLosses is how many parts one text may name.
const mostLosses = 1000

// ParseLosses reads "region=eu", "zone=eu/a,eu/b" and, of clusters, "eu-1,eu-2". The error names the field.
func ParseLosses(text string) ([]Loss, error) {
	kind, names, found := strings.Cut(text, "=")
	if !found {
		kind, names = KindCluster, text
	}
	if !slices.Contains(Kinds(), kind) {
		return nil, fmt.Errorf("kind: must be one of %s, with = and a name, or the name of a cluster alone, not %q", strings.Join(Kinds(), ", "), text)
	}
	if n := strings.Count(names, ",") + 1; n > mostLosses {
		return nil, fmt.Errorf("%s: has %d names, more than %d", kind, n, mostLosses)
	}
	var all []Loss
	for name := range strings.SplitSeq(names, ",") {
		if name == "" {
			return nil, fmt.Errorf("%s: must have a name, such as %s=NAME", kind, kind)
		}
		all = append(all, Loss{kind, name})
	}
	return all, nil
}

// String is "region eu".
func (l Loss) String() string { return l.Kind + " " + l.Name }

// Clusters are those that fail, in order. The error says that there are none, and what there is. A zone may be named without its region.
func (l Loss) Clusters(fleet []*api.Cluster) (names []messages.ClusterName, err error) {
	for _, c := range fleet {
		if slices.ContainsFunc(PartsOf(c, l.Kind), func(part string) bool {
			return part == l.Name || l.Kind == KindZone && strings.HasSuffix(part, "/"+l.Name)
		}) {
			names = append(names, messages.ClusterName(c.Name))
		}
	}
	if len(names) == 0 {
		return nil, l.unknown(fleet)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// Bounds of what an error lists.
const (
	mostChoices = 10
	mostNear    = 3
)

// unknown says that a fleet has no such part, with the names that are near, or else with all.
func (l Loss) unknown(fleet []*api.Cluster) error {
	known := parts(fleet, l.Kind)
	limit := max(1, len(l.Name)/3)
	near := slices.DeleteFunc(slices.Clone(known), func(name string) bool { return spelling.Slip(l.Name, []string{name}, limit) == "" })
	for _, kind := range Kinds() {
		if kind != l.Kind && slices.Contains(parts(fleet, kind), l.Name) {
			near = slices.Insert(near, 0, kind+"="+l.Name)
		}
	}
	told := "; the fleet names none"
	switch {
	case len(near) > 0:
		told = "; did you mean " + strings.Join(near[:min(len(near), mostNear)], " or ") + "?"
	case len(known) > 0:
		told = "; there are " + spelling.Few(known, mostChoices)
	}
	return fmt.Errorf("there is no %s %q%s", l.Kind, l.Name, told)
}

// parts are the names of one kind in a fleet, in order.
func parts(fleet []*api.Cluster, kind string) []string {
	known := map[string]bool{}
	for _, c := range fleet {
		for _, name := range PartsOf(c, kind) {
			known[name] = true
		}
	}
	return slices.Sorted(maps.Keys(known))
}

// Clusters are those among manifests.
func Clusters(documents []manifest.Document) (all []*api.Cluster) {
	for _, d := range documents {
		if c, is := d.Object.(*api.Cluster); is {
			all = append(all, c)
		}
	}
	return all
}

// The kinds of parts of a fleet.
const (
	KindCluster  = "cluster"
	KindRegion   = "region"
	KindZone     = "zone"
	KindProvider = "provider"
)

// Kinds are all of them, the narrowest first.
func Kinds() []string { return []string{KindCluster, KindZone, KindRegion, KindProvider} }

// PartsOf are the regions, zones or providers that a cluster is in, or the cluster itself.
func PartsOf(c *api.Cluster, kind string) []string {
	var names []string
	switch kind {
	case KindCluster:
		names = []string{c.Name}
	case KindRegion:
		names = []string{c.Spec.Region}
	case KindProvider:
		names = []string{c.Spec.Provider}
	case KindZone:
		names = zones(c)
	}
	return slices.DeleteFunc(names, func(n string) bool { return n == "" })
}

// zones are those of a cluster, named with their region: zones of two regions are not one.
func zones(c *api.Cluster) (names []string) {
	in := c.Spec.Zones
	if len(in) == 0 && c.Spec.Zone != "" {
		in = []string{c.Spec.Zone}
	}
	if len(in) > 1 {
		return nil // one that is in several outlives each
	}
	for _, zone := range in {
		if c.Spec.Region != "" && !strings.HasPrefix(zone, c.Spec.Region) {
			zone = c.Spec.Region + "/" + zone
		}
		names = append(names, zone)
	}
	return names
}
