package api

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Annotations by which people have evictions of one ResourceBinding or ClusterResourceBinding wait, or all
// those from one Cluster. Leeward's own.
const (
	// AnnotationHold says why evictions wait.
	AnnotationHold = "leeward.dev/hold-evictions"
	// AnnotationHoldUntil says until when, in RFC 3339; without it, until AnnotationHold goes.
	AnnotationHoldUntil = "leeward.dev/hold-until"
	// AnnotationRelease says why evictions of a binding wait for nothing: for no limit, no storm and no hold.
	AnnotationRelease = "leeward.dev/release-evictions"
)

// Hold is people's word that evictions wait.
type Hold struct {
	// Reason says why, for users who ask later.
	Reason string `json:"reason"`
	// Until is when the hold ends by itself; nil: when it is taken away.
	Until *metav1.Time `json:"until,omitempty"`
}

// HoldIn reads the hold that annotations ask for; nil: none. The error is about AnnotationHoldUntil.
func HoldIn(annotations map[string]string) (*Hold, error) {
	reason, held := annotations[AnnotationHold]
	text, ends := annotations[AnnotationHoldUntil]
	var until *metav1.Time
	if ends {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return nil, fmt.Errorf("must be an instant in RFC 3339, as 2026-01-31T18:00:00Z")
		}
		until = &metav1.Time{Time: at}
	}
	if !held {
		return nil, nil
	}
	return &Hold{Reason: reason, Until: until}, nil
}

// Annotate returns annotations that ask for a hold in place of the one that they asked for; nil: for none.
func (h *Hold) Annotate(annotations map[string]string) map[string]string {
	next := map[string]string{}
	for key, value := range annotations { // order-free: a copy
		if key != AnnotationHold && key != AnnotationHoldUntil {
			next[key] = value
		}
	}
	if h != nil {
		next[AnnotationHold] = h.Reason
		if h.Until != nil {
			next[AnnotationHoldUntil] = h.Until.Format(time.RFC3339Nano)
		}
	}
	return next
}
