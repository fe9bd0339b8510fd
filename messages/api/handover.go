package api

// Handover says how an old copy gives way to its replacement. Leeward's own.
type Handover string

// The ways of handing over; empty is HandoverWhole, as in Karmada. Gradually is for PurgeGracefully only.
const (
	// HandoverWhole keeps the old copy as it is until its whole replacement is healthy.
	HandoverWhole Handover = "Whole"
	// HandoverGradual takes replicas off the old copy as others begin to serve in their place.
	HandoverGradual Handover = "Gradual"
)
