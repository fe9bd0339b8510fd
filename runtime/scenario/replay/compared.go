package replay

import (
	"fmt"
	"strings"
	"time"

	"leeward/messages/api"
	"leeward/runtime/fleet/journal"
)

// EvictionRecord is how a workload was evicted from a cluster. Instants are offsets from the start.
type EvictionRecord struct {
	// At is when the cluster ceased to be one of its targets.
	At time.Duration
	// To are the clusters that took over, with the replicas that each got; none: no cluster did.
	To []api.TargetCluster
	// Released is when the handover ended; zero with Open.
	Released time.Duration
	// Open is set where that did not happen, Back where the cluster became a target again instead.
	Open, Back bool
}

// Agreement says how a replay compares with its recording.
type Agreement string

// The agreements.
const (
	Same         Agreement = "same"
	Earlier      Agreement = "earlier"
	Later        Agreement = "later"
	Differs      Agreement = "differs"
	OnlyRecorded Agreement = "recorded only"
	OnlyReplayed Agreement = "replayed only"
)

// Comparison is one eviction as it was recorded and as it was replayed; nil: it did not happen.
type Comparison struct {
	Binding            string
	Cluster            string
	Recorded, Replayed *EvictionRecord
	Verdict            Agreement
}

// String is "shop/web from m1, recorded only: recorded 00:01:00 to m2:3, copy removed 00:01:10; replayed not evicted".
func (c *Comparison) String() string {
	return fmt.Sprintf("%s from %s, %s: recorded %s; replayed %s", c.Binding, c.Cluster, c.Verdict, c.Recorded, c.Replayed)
}

// String is "00:06:00 to member3:2, copy removed 00:06:15".
func (d *EvictionRecord) String() string {
	if d == nil {
		return "not evicted"
	}
	text := journal.Clock(d.At)
	if len(d.To) > 0 {
		text += " to " + journal.Printable(targets(d.To))
	}
	switch {
	case d.Back:
		return text + ", withdrawn " + journal.Clock(d.Released)
	case d.Open:
		return text + ", copy not removed"
	}
	return text + ", copy removed " + journal.Clock(d.Released)
}

func targets(all []api.TargetCluster) string {
	texts := make([]string, len(all))
	for i, t := range all {
		texts[i] = t.Name
		if n := t.Pods(); n > 0 {
			texts[i] = fmt.Sprintf("%s:%d", t.Name, n)
		}
	}
	return strings.Join(texts, ", ")
}
