package agent

import (
	"encoding/json"
	"hash/fnv"
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// digest tells whether an object is as it was, apart from its status and the member's bookkeeping.
func digest(o *unstructured.Unstructured) uint64 {
	content := maps.Clone(o.Object)
	delete(content, "status")
	if m, is := content["metadata"].(map[string]any); is {
		m = maps.Clone(m)
		for _, field := range []string{"managedFields", "resourceVersion", "generation", "selfLink"} {
			delete(m, field)
		}
		content["metadata"] = m
	}
	h := fnv.New64a()
	if err := json.NewEncoder(h).Encode(content); err != nil {
		panic(err) // it was decoded from JSON
	}
	return h.Sum64()
}

// The waits between repairs of one object that something else keeps changing.
const (
	firstRepairWait = time.Second
	lastRepairWait  = 5 * time.Minute
)

// repairs paces the repairs of one object: the first is made immediately, those that follow it wait longer each time, and as at
// first once the object was as it should be for twice the last wait.
type repairs struct {
	last time.Time
	wait time.Duration
}

// due says how long a repair must wait; zero: it is made now, and counted.
func (r *repairs) due(now time.Time) time.Duration {
	since := now.Sub(r.last)
	switch {
	case r.last.IsZero() || since >= 2*max(r.wait, firstRepairWait):
		r.wait = 0
	case since < r.wait:
		return r.wait - since
	}
	r.last, r.wait = now, min(max(2*r.wait, firstRepairWait), lastRepairWait)
	return 0
}
