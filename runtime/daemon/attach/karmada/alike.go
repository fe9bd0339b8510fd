package karmada

import (
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"

	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

// mostAlike is how many different placements are known at the same time. Beyond those all are forgotten.
const mostAlike = 10_000

// alike has bindings of one policy share their placement, and the text of the annotation that says which was applied: in a large fleet those
// would be a tenth of the memory.
type alike struct {
	mu sync.Mutex
	of map[string]applied
}

// applied is a placement with the text that says that it was applied, which it is known by.
type applied struct {
	text      string
	placement *api.Placement
}

// share has a binding that was decoded just now share what another one has. It changes nothing that can be read of it.
func (a *alike) share(b *store.Binding) {
	text := b.Meta.Annotations[api.AnnotationAppliedPlacement]
	if text == "" || b.Spec.Placement == nil {
		return
	}
	if r := b.Spec.Placement.ReplicaScheduling; r != nil && r.ReplicaSchedulingType == "" {
		return // machines complete it in its place
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	known, is := a.of[text]
	if !is {
		if len(a.of) >= mostAlike || a.of == nil {
			a.of = map[string]applied{}
		}
		known = applied{strings.Clone(text), b.Spec.Placement}
		a.of[known.text] = known
	}
	b.Meta.Annotations[api.AnnotationAppliedPlacement] = known.text
	if equality.Semantic.DeepEqual(known.placement, b.Spec.Placement) {
		b.Spec.Placement = known.placement
	}
}

// sharedPlacements are those of all bindings that are read.
var sharedPlacements alike
