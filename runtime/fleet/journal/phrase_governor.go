package journal

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"leeward/actors/rules/storm"
	"leeward/messages"
	"leeward/messages/lists"
)

// governed says how evictions from the fleet, or from a region, are governed from now on. What slows them is
// a warning.
func (t teller) governed(f *messages.GovernorChanged) Phrase {
	say := change
	if f.EvictionsPerSecond != nil {
		say = warning
	}
	return say("state", f.State, joined(", ", f.Message, t.until(f.Until))).about(governed(f.Region, nil))
}

// broke says how a breaker is from now on.
func (t teller) broke(f *messages.BreakerChanged) Phrase {
	say := warning
	if f.State == string(storm.Closed) {
		say = change
	}
	return say("breaker", f.State, joined(", ", f.Message, t.until(f.Until))).about(governed(f.Region, f.Priority))
}

// governed names a region, a priority or, with neither, the fleet.
func governed(region string, priority *int32) string {
	switch {
	case region != "":
		return "region " + region
	case priority != nil:
		return "priority " + strconv.Itoa(int(*priority))
	default:
		return "fleet"
	}
}

// startsCounted says how many evicted workloads a cluster may be starting at a time, and why.
func (t teller) startsCounted(f *messages.StartsCounted) Phrase {
	switch {
	case !f.Limits:
		return detail("failed starts", strconv.Itoa(len(f.Failed)), "recently")
	case f.Most > 0:
		until := ""
		if f.Until != nil {
			until = t.until(f.Until.Time)
		}
		return warning("starts limited", fmt.Sprintf("to %d at a time", f.Most), joined(", ", f.Message, until))
	default:
		return change("starts unlimited", "", f.Message)
	}
}

// permitted says which evictions got a permit, and which permits came back unused.
func permitted(f *messages.EvictionsPermitted) Phrase {
	back := ""
	if len(f.Returned) > 0 {
		back = "returned, as there is no target cluster: " + permits(f.Returned)
	}
	return detail("permits", permits(f.Permits), back).about("governor")
}

func permits(list []messages.Permit) string {
	return strings.Join(lists.Of(list, func(p messages.Permit) string { return string(p.Binding) + " from " + string(p.Cluster) }), ", ")
}

// holdPlaced says which evictions an admin holds, until when, and why.
func (t teller) holdPlaced(f *messages.HoldPlaced) Phrase {
	until := ""
	if !f.Until.IsZero() {
		until = "until " + t.at(f.Until)
	}
	if f.HoldScope == (messages.HoldScope{}) {
		return warning("paused", until, f.Reason).about("fleet")
	}
	return warning("held", until, f.Reason).about(heldSubject(f.HoldScope))
}

func holdEnded(f *messages.HoldEnded) Phrase {
	if f.HoldScope == (messages.HoldScope{}) {
		return change("resumed", "", f.Reason).about("fleet")
	}
	return change("hold ended", "", f.Reason).about(heldSubject(f.HoldScope))
}

func heldSubject(of messages.HoldScope) string { return cmp.Or(string(of.Binding), string(of.Cluster)) }

// budget says how many disruptions a budget allows. One that evictions wait for is a warning.
func budget(f *messages.BudgetChanged) Phrase {
	s, say := &f.Status, detail
	why := fmt.Sprintf("%d of %d replicas available, %d required", s.CurrentHealthy, s.ExpectedReplicas, s.DesiredHealthy)
	moved := int64(0)
	for _, m := range s.Moved {
		moved += m.Replicas
	}
	if moved > 0 {
		why += fmt.Sprintf(", %d moved", moved)
	}
	switch {
	case s.Waiting == 1:
		say, why = warning, why+"; 1 eviction waits"
	case s.Waiting > 1:
		say, why = warning, why+fmt.Sprintf("; %d evictions wait", s.Waiting)
	}
	return say("allows", fmt.Sprintf("%d disruptions", s.DisruptionsAllowed), why).about("budget " + string(f.Budget))
}
