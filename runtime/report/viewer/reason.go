package viewer

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/journal"
)

// part is one part of a reason, such as the taint.
type part struct{ name, value string }

// partsOf takes a fact's reason apart: condition, taint, policy, toleration, deadline, permit, placement, what was rejected. None:
// its text says all.
func partsOf(start time.Time, f messages.Fact) []part {
	p := &parts{start: start}
	switch f := f.(type) {
	case *messages.ConditionChanged:
		p.add("condition", f.Type+"="+string(f.Status)).add("reason", f.Reason).add("message", f.Message).add("reported by", f.By)
	case *messages.TaintAdded:
		p.add("taint", taint.String(&f.Taint)).cause(&f.Cause)
	case *messages.TaintAdopted:
		p.add("taint", taint.String(&f.Taint)).cause(&f.Cause)
	case *messages.TaintRemoved:
		p.add("taint", taint.String(&f.Taint)).cause(&f.Cause)
	case *messages.EvictionScheduled:
		p.grounds(&f.Grounds)
	case *messages.EvictionBlocked:
		p.add("blocked by", f.Reason).add("message", f.Message).instant("checked again", f.Until).grounds(&f.Grounds).rejections(f.Rejections)
	case *messages.EvictionStarted:
		p.grounds(&f.Grounds).task(&f.Task)
	case *messages.EvictionCancelled:
		p.add("reason", f.Reason)
	case *messages.EvictionEnded:
		p.add("reason", f.Reason)
	case *messages.EvictionWithdrawn:
		p.add("reason", f.Reason).add("placement", placement(f.Clusters))
	case *messages.EvictionsPermitted:
		p.permits("permit", f.Permits).permits("permit returned", f.Returned)
	case *messages.HandoverBlocked:
		p.add("message", f.Message)
	case *messages.Scheduled:
		p.add("trigger", f.Trigger).add("affinity", f.Affinity).add("placement", placement(f.Clusters)).add("before", placement(f.Before))
		for _, t := range f.Takeovers {
			p.add("instead of "+string(t.From), placement(t.By))
		}
	case *messages.ScheduleFailed:
		p.add("reason", f.Reason).add("message", f.Message).number("unschedulable", f.Missing).add("trigger", f.Trigger).
			add("before", placement(f.Before)).rejections(f.Rejections)
	}
	return p.list
}

// parts is a reason that is being taken apart.
type parts struct {
	start time.Time
	list  []part
}

// add adds a part that says something.
func (p *parts) add(name, value string) *parts {
	if value != "" {
		p.list = append(p.list, part{name, value})
	}
	return p
}

func (p *parts) number(name string, n int32) *parts {
	if n == 0 {
		return p
	}
	return p.add(name, strconv.Itoa(int(n)))
}

func (p *parts) instant(name string, t time.Time) *parts {
	if t.IsZero() {
		return p
	}
	return p.add(name, journal.Clock(t.Sub(p.start)))
}

// cause adds who set a taint, and which condition asked for it.
func (p *parts) cause(c *api.TaintCause) *parts {
	if c == nil {
		return p
	}
	if c.Policy == "" {
		p.add("set by", strings.TrimSpace(c.By+" "+c.User))
	}
	return p.add("policy", c.Policy).add("condition", c.Because)
}

func (p *parts) grounds(g *messages.Grounds) *parts {
	if g.Taint == nil {
		return p.add("reason", g.Reason).instant("deadline", g.Deadline)
	}
	tolerates := "none matches"
	if t := g.Toleration; t != nil {
		tolerates = cmp.Or(t.Key, "*") + ":" + cmp.Or(string(t.Effect), "*")
		if t.TolerationSeconds != nil {
			tolerates += fmt.Sprintf(" for %ds", *t.TolerationSeconds)
		}
	}
	return p.add("taint", taint.String(g.Taint)).cause(g.Cause).add("toleration", tolerates).instant("deadline", g.Deadline)
}

func (p *parts) task(t *api.GracefulEvictionTask) *parts {
	if t.Replicas != nil {
		p.number("replicas", *t.Replicas)
	}
	if t.GracePeriodSeconds != nil {
		p.add("grace period", fmt.Sprintf("%ds", *t.GracePeriodSeconds))
	}
	return p.add("producer", t.Producer)
}

func (p *parts) permits(name string, all []messages.Permit) *parts {
	for _, permit := range all[:min(len(all), mostParts)] {
		p.add(name, string(permit.Binding)+" from "+string(permit.Cluster))
	}
	return p.beyond(name, len(all))
}

// rejections adds why clusters were filtered out.
func (p *parts) rejections(all []messages.Rejection) {
	for _, r := range all[:min(len(all), mostParts)] {
		names := make([]string, 0, mostParts)
		for _, c := range r.Clusters[:min(len(r.Clusters), mostParts)] {
			names = append(names, string(c))
		}
		if beyond := len(r.Clusters) - mostParts; beyond > 0 {
			names = append(names, fmt.Sprintf("%d more", beyond))
		}
		p.add("rejected: "+r.Reason, strings.Join(names, ", "))
	}
	p.beyond("rejected", len(all))
}

// mostParts is how many of a kind a reason names.
const mostParts = 50

// beyond says how many there are that are not named.
func (p *parts) beyond(name string, n int) *parts {
	if n > mostParts {
		p.add(name, fmt.Sprintf("%d more", n-mostParts))
	}
	return p
}

// placement writes clusters with their replicas, "member1: 2, member3: 2".
func placement(clusters []api.TargetCluster) string {
	words := make([]string, len(clusters))
	for i, c := range clusters {
		words[i] = c.Name
		if c.Replicas > 0 {
			words[i] += ": " + strconv.Itoa(int(c.Replicas))
		}
	}
	return strings.Join(words, ", ")
}
