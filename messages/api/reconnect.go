package api

// ReconnectStrategy says who stays when a cluster that was cut off, and left for that, comes back with its old
// copy. Empty: the setting withdrawOnRecovery decides while the handover is under way, and after it the
// replacement stays. Leeward's own.
type ReconnectStrategy string

// The reconnect strategies.
const (
	// ReconnectKeepReplacement removes the old copy, as Karmada does.
	ReconnectKeepReplacement ReconnectStrategy = "KeepReplacement"
	// ReconnectKeepOriginal gives the old copy its place back, if it is healthy.
	ReconnectKeepOriginal ReconnectStrategy = "KeepOriginal"
	// ReconnectKeepHealthiest does so if it has at least as many replicas ready as took its place.
	ReconnectKeepHealthiest ReconnectStrategy = "KeepHealthiest"
)
