package difference

import (
	"cmp"
	"time"

	"leeward/messages/api"
	"leeward/runtime/scenario/incident"
	"leeward/runtime/scenario/replay"
)

// Recording is what was decided in a recording.
type Recording struct {
	Evictions incident.Evictions
	Lasts     time.Duration
}

// RecordedEviction is an eviction of which two recordings tell otherwise, or that one of them has.
type RecordedEviction struct {
	Workload string `json:"workload"`
	Cluster  string `json:"cluster"`
	// A and B are null where the recording has no such eviction.
	A *Recorded `json:"a"`
	B *Recorded `json:"b"`
	// Verdict is how B differs: earlier, later, differs, A only or B only.
	Verdict string `json:"verdict"`
}

// Recorded is an eviction as a recording has it.
type Recorded struct {
	At float64 `json:"atSeconds"`
	// To are the clusters that took over.
	To []api.TargetCluster `json:"to"`
	// Ended is when the old copy was gone, or Returned when the cluster became a target again; both nil: neither was recorded.
	Ended    *float64 `json:"endedSeconds,omitempty"`
	Returned *float64 `json:"returnedSeconds,omitempty"`
	text     string
}

// recorded compares what was decided in two recordings. A recording differs from itself in nothing.
func (d *Difference) recorded(a, b *Recording) {
	if a == nil || b == nil {
		return
	}
	for _, c := range incident.Compare(a.Evictions, b.Evictions, max(a.Lasts, b.Lasts)) {
		if c.Verdict == replay.Same {
			continue
		}
		verdict := map[replay.Agreement]string{replay.OnlyRecorded: "A only", replay.OnlyReplayed: "B only"}[c.Verdict]
		verdict = cmp.Or(verdict, string(c.Verdict))
		d.Recorded = append(d.Recorded, RecordedEviction{c.Binding, c.Cluster, recordedOf(c.Recorded), recordedOf(c.Replayed), verdict})
		d.Differ = true
	}
}

func recordedOf(e *replay.EvictionRecord) *Recorded {
	if e == nil {
		return nil
	}
	r := &Recorded{At: e.At.Seconds(), To: e.To, text: e.String()}
	switch ended := e.Released.Seconds(); {
	case e.Open:
	case e.Back:
		r.Returned = &ended
	default:
		r.Ended = &ended
	}
	return r
}

// told is the eviction in words.
func (r *Recorded) told() string {
	if r == nil {
		return "not evicted"
	}
	return r.text
}

// recordedRows are the table of what differs between two recordings.
func (d *Difference) recordedRows(wide bool) (rows [][]string) {
	for i, e := range d.Recorded {
		if i == mostRows && !wide {
			break
		}
		rows = append(rows, []string{e.Workload, "eviction from " + e.Cluster, e.A.told(), e.B.told(), e.Verdict})
	}
	return rows
}
