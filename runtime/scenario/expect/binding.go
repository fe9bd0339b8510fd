package expect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/lists"
	"leeward/runtime/fleet/store"
)

// Binding expects all of Wants of a ResourceBinding, or of a ClusterResourceBinding if its name has no
// namespace.
type Binding struct {
	Name  messages.BindingName
	Wants []Want
}

// Want is one thing to expect of a binding: Clusters, Tasks, Healthy, Conditions, Affinity or Number.
// String says what the binding does, as in "runs on member1=2".
type Want interface {
	fmt.Stringer
	// judge says whether a binding is as wanted, and what it does instead or indeed.
	judge(b *store.Binding) (holds bool, seen string)
}

func (*Binding) subject() {}

// ObjectKey is the binding's.
func (b *Binding) ObjectKey() api.Key { return store.BindingKey(b.Name) }

// String returns "binding default/web runs on member1=2, member3=2; leaves member2".
func (b *Binding) String() string {
	return "binding " + string(b.Name) + " " + strings.Join(lists.Of(b.Wants, func(want Want) string { return want.String() }), "; ")
}

// judge says of a binding all that is wrong, or else all that was asked.
func (b *Binding) judge(o *objects) (holds bool, seen string) {
	got := o.Binding(b.Name)
	if got == nil {
		return false, "there is no such binding"
	}
	var right, wrong []string
	for _, want := range b.Wants {
		if holds, seen := want.judge(got); holds {
			right = append(right, seen)
		} else {
			wrong = append(wrong, seen)
		}
	}
	if len(wrong) > 0 {
		return false, "it " + strings.Join(wrong, "; ")
	}
	return true, "it " + strings.Join(right, "; ")
}

// Clusters is the exact set of clusters.
type Clusters []Share

// Share is one cluster of a binding.
type Share struct {
	Cluster string
	// Replicas is negative where any number will do.
	Replicas int32
}

// String returns "runs on member1=2, member3", by name.
func (c Clusters) String() string {
	words := make([]string, len(c))
	for i, share := range c {
		words[i] = share.Cluster
		if share.Replicas >= 0 {
			words[i] += fmt.Sprintf("=%d", share.Replicas)
		}
	}
	slices.Sort(words)
	return "runs on " + cmp.Or(strings.Join(words, ", "), "no cluster")
}

func (c Clusters) judge(b *store.Binding) (holds bool, seen string) {
	got := make(Clusters, len(b.Spec.Clusters))
	for i, target := range b.Spec.Clusters {
		got[i] = Share{target.Name, target.Replicas}
	}
	holds = len(got) == len(c)
	for _, want := range c {
		holds = holds && slices.ContainsFunc(got, func(g Share) bool {
			return g.Cluster == want.Cluster && (want.Replicas < 0 || g.Replicas == want.Replicas)
		})
	}
	return holds, got.String()
}

// Healthy asks whether the binding has a cluster and all its clusters run a healthy copy.
type Healthy bool

// String returns "is healthy" or "is not healthy".
func (h Healthy) String() string {
	if h {
		return "is healthy"
	}
	return "is not healthy"
}

func (h Healthy) judge(b *store.Binding) (holds bool, seen string) {
	health := make(map[string]api.ResourceHealth, len(b.Status.AggregatedStatus))
	for i := range b.Status.AggregatedStatus {
		health[b.Status.AggregatedStatus[i].ClusterName] = b.Status.AggregatedStatus[i].Health
	}
	healthy := len(b.Spec.Clusters) > 0
	words := make([]string, len(b.Spec.Clusters))
	for i, c := range b.Spec.Clusters {
		healthy = healthy && health[c.Name] == api.Healthy
		words[i] = c.Name + " " + cmp.Or(string(health[c.Name]), "not reported")
	}
	slices.Sort(words)
	return healthy == bool(h), "has copies: " + cmp.Or(strings.Join(words, ", "), "none")
}

// Affinity is the name of the affinity group in use.
type Affinity string

// String returns "uses the affinity group primary".
func (a Affinity) String() string { return "uses the affinity group " + cmp.Or(string(a), `""`) }

func (a Affinity) judge(b *store.Binding) (holds bool, seen string) {
	got := Affinity(b.Status.SchedulerObservedAffinityName)
	return got == a, got.String()
}

// Number bounds something that is counted.
type Number struct {
	Of Count
	Bounds
}

// Count says what of a binding is counted.
type Count uint8

// What can be counted.
const (
	// ClusterCount is the number of clusters.
	ClusterCount Count = iota
	// Replicas is the sum of the clusters' replicas.
	Replicas
	// Available is the number of replicas that serve users, wherever they run: those of a copy that is being evicted
	// count until it is gone.
	Available
	// Reported is the number of ready replicas that clusters last reported, likewise.
	Reported
)

var counts = [...]string{
	ClusterCount: "clusters", Replicas: "replicas", Available: "available replicas", Reported: "reported replicas",
}

// String returns "has at least 2 available replicas".
func (n Number) String() string { return "has " + n.Bounds.String() + " " + counts[n.Of] }

func (n Number) judge(b *store.Binding) (holds bool, seen string) {
	got := 0
	switch n.Of {
	case ClusterCount:
		got = len(b.Spec.Clusters)
	case Replicas:
		for _, c := range b.Spec.Clusters {
			got += int(c.Replicas)
		}
	case Available:
		got = int(b.Available())
	case Reported:
		for i := range b.Status.AggregatedStatus {
			got += int(b.Status.AggregatedStatus[i].ReadyReplicas)
		}
	}
	return n.Holds(got), Number{n.Of, Exactly(got)}.String()
}
