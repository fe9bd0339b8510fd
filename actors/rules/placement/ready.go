package placement

import (
	"leeward/messages"
	"leeward/messages/api"
)

// minReady is how many placements are kept at least.
const minReady = 1024

var anywhere api.Placement

// rules are the placements of a fleet that are made ready for use, which takes longer than to use them.
type rules struct {
	fleet *Fleet
	exact bool // exactSpread

	ready map[*api.Placement]*rule
	limit int    // of ready, before it is swept
	plans uint64 // how many were asked for so far
	swept uint64 // how many they were at the last sweep
}

// of returns a placement made ready.
func (rs *rules) of(placement *api.Placement) *rule {
	if placement == nil {
		placement = &anywhere
	}
	rs.plans++
	r := rs.ready[placement]
	if r == nil {
		rs.sweep()
		r = compile(placement, rs.exact)
		rs.ready[placement] = r
	}
	r.used = rs.plans
	r.follow(rs.fleet)
	return r
}

// sweep drops the placements that were not used since the last sweep, once there are too many. One
// dropped too early is only made ready again.
func (rs *rules) sweep() {
	if len(rs.ready) < rs.limit {
		return
	}
	for placement, r := range rs.ready { // order-free: each is judged by itself
		if r.used < rs.swept {
			delete(rs.ready, placement)
		}
	}
	rs.swept, rs.limit = rs.plans, max(minReady, 2*len(rs.ready))
}

type kind struct{ apiVersion, kind string }

// unservedBy reports whether the cluster is known not to serve a kind.
func unservedBy(v *messages.ClusterView, k kind) bool {
	for i := range v.APIs {
		if v.APIs[i].GroupVersion != k.apiVersion {
			continue
		}
		for j := range v.APIs[i].Resources {
			if v.APIs[i].Resources[j].Kind == k.kind {
				return false
			}
		}
	}
	return len(v.APIs) > 0
}

// service says, by slot, which clusters are known not to serve a kind.
type service struct {
	unserved []bool
	seen     version
}

// services are what the clusters of a fleet are known not to serve.
type services struct {
	fleet  *Fleet
	served map[kind]*service
}

// unserved returns which clusters are known not to serve a kind.
func (ss *services) unserved(k kind) []bool {
	s := ss.served[k]
	if s == nil {
		s = &service{}
		ss.served[k] = s
	}
	if s.seen.era != ss.fleet.era {
		s.unserved = resized(s.unserved, ss.fleet.Len())
	}
	ss.fleet.catchUp(&s.seen, func(slot int32) { s.unserved[slot] = unservedBy(ss.fleet.views[slot], k) })
	return s.unserved
}
