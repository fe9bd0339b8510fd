package explain

import (
	"cmp"
	"fmt"
	"strings"

	"leeward/messages/lists"
	"leeward/runtime/fleet/journal"
)

func (t *text) pod(p *Pod) {
	t.line(0, "%s", joined("; ", labelled("owner", string(p.Owner)), p.how()))
	t.title("why it is where it is")
	for _, line := range p.Tolerations {
		t.line(1, "toleration: %s", line)
	}
	switch {
	case p.Bound != nil:
		t.line(1, "%s bound to %s", p.Bound, p.Node)
	case p.Node != "":
		t.line(1, "it was on %s at the start, or was created there: the scheduler was not asked", p.Node)
	}
	if d := p.Decision; d != nil {
		t.podDecision(d, p.Gone)
	} else if p.Node == "" && !p.Gone {
		t.line(1, "the scheduler was not asked")
	}
	t.underWay(p.UnderWay)
	t.title("why it moved before")
	switch {
	case p.Replaces != "":
		t.line(1, "its owner created it in the place of %s: leeward explain pod %s says why", p.Replaces, p.Replaces)
	case len(p.Past) == 0:
		t.line(1, "it did not")
	}
	t.past(p.Past, "eviction")
}

// how says how the pod is.
func (p *Pod) how() string {
	if p.Gone {
		return "gone"
	}
	words := []string{cmp.Or(string(p.Phase), "Pending")}
	if p.Ready {
		words = append(words, "ready")
	}
	if p.Terminating {
		words = append(words, "terminating")
	}
	return strings.Join(words, ", ") + " on " + cmp.Or(p.Node, "no node")
}

func (t *text) podDecision(d *PodDecision, gone bool) {
	switch {
	case d.Node == "":
		t.line(1, "%s unschedulable: %s", d.At, d.Why)
	case gone:
		t.line(1, "%s bound to %s, as decided then", d.At, d.Node)
	case d.Timed:
		t.line(1, "as decided then: each node that could take it has a NoExecute taint that it tolerates only for a time")
	default:
		t.line(1, "as decided then")
	}
	columns := []string{"NODE", "ZONE", "SCORE", "TAINTS", "AFFINITY", "FREE", "BALANCED", "SPREAD", "RESULT"}
	listed(t, 2, "node", columns, inOrder(d.Nodes, (*NodeFitted).rank), (*NodeFitted).row)
}

// rank puts the chosen node first, then those that fit.
func (n *NodeFitted) rank() int {
	switch {
	case n.Chosen:
		return 0
	case n.Compared:
		return 1
	case len(n.Refused) == 0:
		return 2
	}
	return 3
}

func (n *NodeFitted) row() []string {
	r := []string{n.Node, cmp.Or(n.Zone, "-"), "-", "-", "-", "-", "-", "-", n.result()}
	if s := n.Score; s != nil {
		for i, part := range []int64{s.Total, s.Taints, s.Affinity, s.Free, s.Balanced, s.Spread} {
			r[2+i] = fmt.Sprint(part)
		}
	}
	return r
}

// result says what became of a node.
func (n *NodeFitted) result() string {
	switch {
	case len(n.Refused) > 0:
		return "refused: " + strings.Join(n.Refused, ", ")
	case n.Chosen:
		return "chosen"
	case n.Timed && !n.Compared:
		return "fits, avoided: a NoExecute taint is tolerated only for a time"
	case !n.Compared:
		return "fits, not compared"
	}
	return "fits"
}

func (t *text) node(n *Node) {
	t.line(0, "%s", n.Zone.text())
	if n.Zone.AllDisrupted {
		t.line(0, "all zones are fully disrupted: the taints of failed nodes go, and none is added")
	}
	if n.Unschedulable {
		t.line(0, "cordoned: it takes no new pods")
	}
	if n.KubeletStopped != nil {
		t.line(0, "its kubelet has stopped, since %s: no Lease is renewed; its pods neither start nor end", n.KubeletStopped)
	}
	t.state(n.Conditions, n.Taints, lists.Of(n.Queued, func(k Queued) string {
		return fmt.Sprintf("%s  %s queued, at the rate of %s: %g nodes a second", k.Since, k.Taint, zoneCalled(n.Zone.Name), n.Zone.Rate)
	}))
	t.title("what runs here, and when it would be evicted as things are")
	t.none(len(n.Pods))
	if len(n.Pods) == 0 {
		return
	}
	listed(t, 1, "pod", []string{"POD", "PHASE", "READY", "STATE", "DUE", "WHY"}, n.Pods, func(p *PodOnIt) []string {
		return []string{string(p.Pod), cmp.Or(string(p.Phase), "Pending"), yes(p.Ready), p.State, when(p.Due), p.Why}
	})
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

func zoneCalled(name string) string {
	if name == "" {
		return "nodes without a zone"
	}
	return "zone " + name
}

func (z *Zone) text() string {
	line := zoneCalled(z.Name) + ": " + z.State
	if z.Since != nil {
		line += fmt.Sprintf(" since %s, %d of %d nodes were not ready then", z.Since, z.NotReady, z.Ready+z.NotReady)
	}
	return line + "; " + journal.ZoneRate(z.State, z.Rate)
}
