package failover

import "leeward/messages"

// reasons are those of Events where they are not the kind of the fact: those that Karmada's Events have for the same, and none
// where the object says it itself, such as which policy claimed it.
var reasons = map[string]string{
	"BindingCreated":     "",
	"CapacityChanged":    "",
	"TaintAdded":         "TaintClusterSucceed",
	"TaintRemoved":       "TaintClusterSucceed",
	"TaintingFailed":     "TaintClusterFailed",
	"Scheduled":          "ScheduleBindingSucceed",
	"ScheduleFailed":     "ScheduleBindingFailed",
	"EvictionEnded":      "EvictWorkloadFromClusterSucceed",
	"BindingDescheduled": "DescheduleBindingSucceed",
}

// EventReason is the reason of the Event that tells of a fact; empty: none does.
func EventReason(f messages.Fact) string {
	kind := f.Kind()
	if reason, another := reasons[kind]; another {
		return reason
	}
	return kind
}
