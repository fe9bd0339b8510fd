package placement

import (
	"fmt"
	"math"

	"leeward/messages"
	"leeward/messages/api"
)

// bounds are how many groups a placement uses, at least and at most.
type bounds struct{ min, max int }

// noLimit is the upper bound where none is set.
const noLimit = math.MaxInt32

func boundsOf(c *api.SpreadConstraint, exact bool) bounds {
	if exact && c.MaxGroups == 0 {
		return bounds{c.MinGroups, noLimit}
	}
	return bounds{c.MinGroups, c.MaxGroups}
}

// grouping is one spread constraint other than cluster, and which of its groups each cluster is in: one
// region, one provider, one value of a label, but as many zones as the cluster has.
type grouping struct {
	field  api.SpreadField
	label  string
	limits bounds
	ids    map[string]int32
	groups [][]int32 // by slot
}

// groupingsOf reads all constraints that form groups of clusters.
func groupingsOf(constraints []api.SpreadConstraint) (all []grouping) {
	for i := range constraints {
		c := &constraints[i]
		if c.SpreadByField == api.SpreadByCluster || c.SpreadByField == "" && c.SpreadByLabel == "" {
			continue
		}
		all = append(all, grouping{field: c.SpreadByField, label: c.SpreadByLabel, limits: boundsOf(c, true), ids: make(map[string]int32)})
	}
	return all
}

// asks is "region asks for 2 regions".
func (g *grouping) asks(n int) string {
	if g.field == "" {
		return fmt.Sprintf("%s asks for %d groups", g.label, n)
	}
	return fmt.Sprintf("%s asks for %d %ss", g.field, n, g.field)
}

// file notes which groups a cluster is in.
func (g *grouping) file(slot int32, v *messages.ClusterView) {
	g.groups[slot] = nil
	for _, name := range g.namesOf(v) {
		id, known := g.ids[name]
		if !known {
			id = int32(len(g.ids))
			g.ids[name] = id
		}
		g.groups[slot] = append(g.groups[slot], id)
	}
}

func (g *grouping) namesOf(v *messages.ClusterView) []string {
	switch g.field {
	case api.SpreadByRegion:
		return []string{v.Region}
	case api.SpreadByProvider:
		return []string{v.Provider}
	case api.SpreadByZone:
		return v.Zones
	default:
		return []string{v.Labels[g.label]}
	}
}
