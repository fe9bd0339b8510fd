package replay

import (
	"time"

	"leeward/messages"
	"leeward/runtime/scenario"
)

// outageOf is an outage of one kind of one cluster.
type outageOf struct {
	cluster messages.ClusterName
	kind    messages.OutageKind
}

// outage begins an outage of clusters, or ends one.
func (r *replay) outage(a *scenario.Outage) {
	by := 1
	if a.Over {
		by = -1
	}
	for _, c := range a.Clusters {
		before := r.outagesOf(c)
		r.outages[outageOf{c, a.Kind}] += by
		r.noteOutage(c, a)
		r.powerOfNodes(c, a)
		if now := r.outagesOf(c); now != before {
			r.monitor.Reaches(r.world.Now(), c, !now.Unseen())
			r.world.TellMember(c, &messages.OutagesSet{Outages: now})
		}
	}
}

// outagesOf are the outages that a cluster has now.
func (r *replay) outagesOf(c messages.ClusterName) messages.Outages {
	return messages.Outages{
		Power:     r.outages[outageOf{c, messages.OutagePower}] > 0,
		Network:   r.outages[outageOf{c, messages.OutageNetwork}] > 0,
		APIServer: r.outages[outageOf{c, messages.OutageAPIServer}] > 0,
		Agent:     r.outages[outageOf{c, messages.OutageAgent}] > 0,
	}
}

func (r *replay) noteOutage(c messages.ClusterName, a *scenario.Outage) {
	if a.Over {
		r.world.Note(&messages.OutageEnded{Cluster: c, Outage: a.Kind})
		return
	}
	var until time.Time
	if a.For > 0 {
		until = r.world.Now().Add(a.For)
	}
	r.world.Note(&messages.OutageBegan{Cluster: c, Outage: a.Kind, Until: until})
}
