package expect

import (
	"fmt"
	"math"
	"strings"
	"time"

	"leeward/messages"
	"leeward/runtime/fleet/journal"
)

// mostOutages is how many outages the reason of one expectation tells of.
const mostOutages = 3

// outages are the clusters from which nothing evicts although they are not Ready, in the order in which that began.
// People who expect workloads to move are told of them.
type outages struct {
	all []outage
	// open is the index of the outage of each cluster that has not ended.
	open map[messages.ClusterName]int
}

type outage struct {
	first, last time.Duration // both inclusive
	fact        *messages.WorkloadsStay
}

// notice takes in that workloads stay for a reason, or no longer do.
func (o *outages) notice(at time.Duration, f *messages.WorkloadsStay) {
	if i, open := o.open[f.Cluster]; open {
		o.all[i].last = at - 1
		delete(o.open, f.Cluster)
	}
	if f.Reason != "" {
		o.open[f.Cluster] = len(o.all)
		o.all = append(o.all, outage{at, math.MaxInt64, f})
	}
}

// during tells of the outages at an instant, each on a line of its own.
func (o *outages) during(at time.Duration) string {
	var text strings.Builder
	told := 0
	for i := range o.all {
		if at < o.all[i].first || at > o.all[i].last {
			continue
		}
		if told++; told <= mostOutages {
			fmt.Fprintf(&text, "\n%s", journal.Tell(time.Time{}, o.all[i].fact).Text())
		}
	}
	if told > mostOutages {
		fmt.Fprintf(&text, "\nand so for %d more clusters", told-mostOutages)
	}
	return text.String()
}
