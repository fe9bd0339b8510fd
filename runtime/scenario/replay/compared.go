package replay

import (
	"fmt"
	"strings"
	"time"

	"leeward/messages/api"
	"leeward/runtime/fleet/journal"
)

// EvictionRecord is how a workload left a cluster. Instants are offsets from the start.
type EvictionRecord struct {
	// At is when it had to: the cluster ceased to be one of its targets.
	At time.Duration
	// To are the clusters that took over, with the replicas that each got; none: no cluster did.
	To []api.TargetCluster
	// Released is when the old copy was let go; zero with Open.
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

// Comparison is one eviction as it was recorded and as it was replayed; nil: it did not come to pass.
type Comparison struct {
	Binding            string
	Cluster            string
	Recorded, Replayed *EvictionRecord
	Verdict            Agreement
}

// String is "00:06:00 for member3:2, released 00:06:15".
func (d *EvictionRecord) String() string {
	if d == nil {
		return "stays"
	}
	text := journal.Clock(d.At)
	if len(d.To) > 0 {
		text += " for " + journal.Printable(targets(d.To))
	}
	switch {
	case d.Back:
		return text + ", back " + journal.Clock(d.Released)
	case d.Open:
		return text + ", not released"
	}
	return text + ", released " + journal.Clock(d.Released)
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
