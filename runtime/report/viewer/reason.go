package viewer

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/journal"
)

// part is one part of a reason, such as the taint.
type part struct{ name, value string }

// of takes a fact's reason apart: condition, taint, policy, toleration, deadline, permit, placement, what was rejected. None: its
// text says all. A taint of a node must be
// asked about before what follows from it.
func (p *parts) of(f messages.Fact) []part {
	p.list = nil
	switch f := f.(type) {
	case messages.AboutNode:
		p.ofNode(f)
	case messages.AboutPod:
		p.ofPod(f)
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

// ofNode takes apart a reason of a node, and keeps what asked for its taints.
func (p *parts) ofNode(f messages.AboutNode) {
	switch f := f.(type) {
	case *messages.NodeConditionChanged:
		p.add("condition", string(f.Type)+"="+string(f.Status)).add("reason", f.Reason).add("message", f.Message).add("reported by", f.By)
	case *messages.NodeTaintAdded:
		p.tainted[nodeTaint{f.Node, taint.String(&f.Taint)}] = f.Because
		p.add("taint", taint.String(&f.Taint)).because(f.Because)
	case *messages.NodeTaintRemoved:
		p.add("taint", taint.String(&f.Taint)).because(f.Because)
	case *messages.NodeTaintQueued:
		p.add("waits for", taint.String(&f.Taint)).add("zone", string(f.Zone))
	case *messages.NodeDrainStarted:
		p.add("pods", strconv.Itoa(f.Pods)).add("warning", f.Warning)
	case *messages.NodeDrainFailed:
		p.add("message", f.Error).pods("remains", f.Pending)
	case *messages.NodeDrained:
		p.pods("not waited for", f.Skipped)
	}
}

// ofPod takes apart a reason of a pod.
func (p *parts) ofPod(f messages.AboutPod) {
	switch f := f.(type) {
	case *messages.PodCreated:
		p.add("owner", string(f.Owner))
	case *messages.PodUnschedulable:
		p.add("message", f.Message)
	case *messages.PodPhaseChanged:
		p.add("reason", f.Reason)
	case *messages.PodEvictionScheduled:
		p.podGrounds(f.Node, &f.Taint, &f.Toleration, f.Deadline)
	case *messages.PodEvicted:
		p.podGrounds(f.Node, &f.Taint, f.Toleration, f.Deadline)
	case *messages.PodEvictionCancelled:
		p.add("reason", f.Reason)
	case *messages.PodEvictionBlocked:
		p.add("blocked by", string(f.Budget)).add("message", f.Error).add("detail", f.Detail).add("evicted by", f.By)
	case *messages.PodEvictionFailed:
		p.add("message", f.Error).add("request", string(f.Verb)).add("tries", strconv.Itoa(f.Tries)).instant("tried again", f.Retry)
	case *messages.PodDeletionRequested:
		p.add("deleted by", f.Cause).add("grace period", fmt.Sprintf("%ds", f.GracePeriodSeconds))
	}
}

// podGrounds adds for which taint of its node a pod is evicted, and what asked for the taint.
func (p *parts) podGrounds(node messages.NodeName, t *corev1.Taint, by *corev1.Toleration, deadline time.Time) {
	p.add("node", string(node)).add("taint", taint.String(t)).because(p.tainted[nodeTaint{node, taint.String(t)}]).
		add("toleration", tolerates(by)).instant("deadline", deadline)
}

// because adds the condition, or the user, that asked for a taint of a node.
func (p *parts) because(of string) *parts {
	if by, is := strings.CutPrefix(of, "by "); is {
		return p.add("set by", by)
	}
	return p.add("condition", of)
}

func (p *parts) pods(name string, all []messages.PodName) {
	for _, pod := range all[:min(len(all), mostParts)] {
		p.add(name, string(pod))
	}
	p.beyond(name, len(all))
}

// nodeTaint is a taint of a node.
type nodeTaint struct {
	node  messages.NodeName
	taint string
}

// parts takes reasons apart, one after the other.
type parts struct {
	start time.Time
	list  []part
	// tainted is what asked for the taints of nodes.
	tainted map[nodeTaint]string
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
	return p.add("taint", taint.String(g.Taint)).cause(g.Cause).add("toleration", tolerates(g.Toleration)).instant("deadline", g.Deadline)
}

func tolerates(t *corev1.Toleration) string {
	switch {
	case t == nil:
		return "none matches"
	case t.TolerationSeconds == nil:
		return cmp.Or(t.Key, "*") + ":" + cmp.Or(string(t.Effect), "*")
	}
	return fmt.Sprintf("%s:%s for %ds", cmp.Or(t.Key, "*"), cmp.Or(string(t.Effect), "*"), *t.TolerationSeconds)
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
