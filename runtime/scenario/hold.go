package scenario

import (
	"strings"
	"time"

	"leeward/messages"
)

// fleetScope is that of a pause.
var fleetScope = []messages.HoldScope{{}}

func (c *call) pause(s *pauseStep) Action { return c.lasting(fleetScope, s.Reason, s.Until, s.For) }

func (c *call) hold(s *holdStep) Action {
	return c.lasting(c.scopes(s.Cluster, s.Binding), s.Reason, s.Until, s.For)
}

// lasting is a hold, with its end.
func (c *call) lasting(of []messages.HoldScope, reason string, until, lasts *duration) Action {
	a := &Hold{Scopes: of, Reason: strings.TrimSpace(reason), Until: until.orElse(0), For: lasts.orElse(0)}
	switch {
	case a.Reason == "":
		c.bad(c.path+".reason", "must say why")
	case until != nil && lasts != nil:
		c.bad(c.path, "want until or for, not both")
	case until != nil && a.Until <= c.at:
		c.bad(c.path+".until", "must be after the hold begins")
	case lasts != nil && a.For == 0:
		c.bad(c.path+".for", "must be more than 0")
	}
	return a
}

// release ends holds, or lets one binding wait for nothing.
func (c *call) release(s *releaseStep) Action {
	switch reason := strings.TrimSpace(s.Reason); {
	case s.Now && s.Binding == "":
		c.bad(c.path+".now", "goes with binding")
	case s.Now && reason == "":
		c.bad(c.path+".reason", "must say why")
	case !s.Now && s.Reason != "":
		c.bad(c.path+".reason", "goes with now")
	case s.Now:
		return &Release{Binding: c.binding(c.path+".binding", s.Binding, c.at), Reason: reason}
	}
	return &Hold{Scopes: c.scopes(s.Cluster, s.Binding)}
}

// scopes are those that an action names.
func (c *call) scopes(ref *clusterRef, binding string) (all []messages.HoldScope) {
	switch {
	case ref == nil && binding == "":
		c.bad(c.path, "want cluster or binding")
	case ref != nil && binding != "":
		c.bad(c.path, "want cluster or binding, not both")
	case binding != "":
		return []messages.HoldScope{{Binding: c.binding(c.path+".binding", binding, c.at)}}
	default:
		for _, name := range c.clusters(*ref) {
			all = append(all, messages.HoldScope{Cluster: name})
		}
	}
	return all
}

// Ends is when a hold that begins now ends by itself; zero: it does not. Start is that of the run.
func (h *Hold) Ends(start, now time.Time) time.Time {
	switch {
	case h.Until > 0:
		return start.Add(h.Until)
	case h.For > 0:
		return now.Add(h.For)
	default:
		return time.Time{}
	}
}
