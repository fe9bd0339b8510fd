package messages

import "time"

// ToZone is what a zone of nodes understands.
type ToZone interface{ toZone() }

// ZoneName names a zone of nodes by its region and zone labels: "region/zone", each empty without a label.
type ZoneName string

// NodeQueued says that a node of the zone is to get the NoExecute taint that its Ready condition asks for. From: node. To: zone.
type NodeQueued struct {
	Node NodeName
	// Since is when it was found that the taint is missing.
	Since time.Time
}

// NodeDequeued says that a node needs no NoExecute taint any more: it is Ready, in another zone, or deleted. From: node. To: zone.
type NodeDequeued struct{ Node NodeName }

// ZoneRateSet sets how many nodes of the zone a second get their taint; zero: none. From: node lifecycle. To: zone.
type ZoneRateSet struct{ Rate float64 }

func (*NodeQueued) toZone()           {}
func (*NodeDequeued) toZone()         {}
func (*ZoneRateSet) toZone()          {}
func (*ControllersStopped) toZone()   {}
func (*ControllersRestarted) toZone() {}
func (*Woken) toZone()                {}
