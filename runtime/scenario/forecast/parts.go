package forecast

import (
	"slices"
	"strings"

	"leeward/messages/api"
)

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
