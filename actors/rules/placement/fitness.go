package placement

// fitness says whether a cluster fits, and if not, why.
type fitness uint8

const (
	fits fitness = iota
	leaving
	offAffinity
	noProvider
	noRegion
	noZone
	noLabel
	noAPI
	evicting
	toLeave
	cooling
	starting
	suspended
	elsewhere
	crowded
	untolerated
	outstayed
	notReady
	tooSmall
)

// reasons are Karmada's words; leaving, outstayed and others that it does not know are in its style.
var reasons = [...]string{
	fits:        "",
	leaving:     "cluster(s) is being deleted",
	offAffinity: "cluster(s) did not match the placement cluster affinity constraint",
	noProvider:  "cluster(s) did not have provider property",
	noRegion:    "cluster(s) did not have region property",
	noZone:      "cluster(s) did not have zones property",
	noLabel:     "cluster(s) did not have the label to spread by",
	noAPI:       "cluster(s) did not have the API resource",
	evicting:    "cluster(s) is in the process of eviction",
	toLeave:     "cluster(s) was being drained or evicted from",
	cooling:     "cluster(s) was evicted from recently because the application failed",
	starting:    "cluster(s) was starting as many evicted workloads as its limit allows (%s)",
	suspended:   "cluster(s) had dispatching suspended",
	elsewhere:   "cluster(s) did not run a workload of the same affinity group",
	crowded:     "cluster(s) ran a workload of the same anti-affinity group",
	untolerated: "cluster(s) had untolerated taint {%s}",
	outstayed:   "cluster(s) had a taint {%s} whose toleration has expired",
	notReady:    "cluster(s) is not ready",
	tooSmall:    "cluster(s) did not have enough %s for all components",
}

// misfit is a cluster that does not fit. It is small, as every decision notes it, also one that succeeds.
type misfit struct {
	slot    int32
	taint   int16 // that the verdict is about, -1 for others
	verdict fitness
}
