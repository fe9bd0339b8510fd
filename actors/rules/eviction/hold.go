package eviction

import "leeward/messages/api"

// Holdable reports whether an eviction for a reason is one that people may hold, and no move by choice.
func Holdable(reason string) bool {
	return reason == api.EvictionReasonTaintUntolerated || reason == api.EvictionReasonApplicationFailure
}
