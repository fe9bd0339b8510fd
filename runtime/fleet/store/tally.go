package store

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors/rules/affinity"
	"leeward/messages"
	"leeward/messages/api"
)

// tally is what one cluster counts for in the status of one ClusterTaintPolicy.
type tally struct {
	matched, tainted, wouldTaint, wouldUntaint bool
	wouldEvict                                 int32
}

// counted is a ClusterTaintPolicy with what each cluster counts for.
type counted struct {
	entry *entry
	// targets is nil where the affinity is invalid and selects nothing.
	targets  *affinity.Matcher
	clusters map[messages.ClusterName]tally
}

func (c *counted) policy() *api.ClusterTaintPolicy { return c.entry.object.(*api.ClusterTaintPolicy) }

// putPolicy counts all clusters for a policy. Its status is the store's own.
func (s *Store) putPolicy(e *entry, p *api.ClusterTaintPolicy) {
	s.dropPolicy(p.Name)
	c := &counted{entry: e, clusters: map[messages.ClusterName]tally{}}
	c.targets, _ = affinity.Compile(p.Spec.TargetClusters)
	p.Status = api.ClusterTaintPolicyStatus{}
	s.policies = append(s.policies, c)
	for name := range s.clusters { // sums do not depend on order
		c.count(name, s.Cluster(name))
	}
}

func (s *Store) dropPolicy(name string) {
	s.policies = slices.DeleteFunc(s.policies, func(c *counted) bool { return c.policy().Name == name })
}

// recount brings the status of every policy up to date with one cluster, which may be gone.
func (s *Store) recount(name messages.ClusterName) {
	for _, c := range s.policies {
		if c.count(name, s.Cluster(name)) {
			s.touch(c.entry)
		}
	}
}

// count takes in what a cluster counts for now and says whether that changed the status.
func (c *counted) count(name messages.ClusterName, cluster *api.Cluster) bool {
	before := c.clusters[name]
	now := c.tally(cluster)
	if now == before {
		return false
	}
	c.clusters[name] = now
	if cluster == nil {
		delete(c.clusters, name)
	}
	add := func(n *int32, is, was bool) {
		if is && !was {
			*n++
		} else if was && !is {
			*n--
		}
	}
	status := &c.policy().Status
	add(&status.MatchedClusters, now.matched, before.matched)
	add(&status.TaintedClusters, now.tainted, before.tainted)
	add(&status.WouldTaint, now.wouldTaint, before.wouldTaint)
	add(&status.WouldUntaint, now.wouldUntaint, before.wouldUntaint)
	status.WouldEvict += now.wouldEvict - before.wouldEvict
	return true
}

// tally is what a cluster counts for; nothing where it is gone.
func (c *counted) tally(cluster *api.Cluster) (t tally) {
	if cluster == nil {
		return t
	}
	policy := c.policy().Name
	t.matched = c.targets != nil && c.targets.Matches(messages.Located(cluster))
	t.tainted = slices.ContainsFunc(cluster.Status.TaintCauses, func(cause api.TaintCause) bool {
		here := func(taint corev1.Taint) bool { return cause.Key == taint.Key && cause.Effect == taint.Effect }
		return cause.Policy == policy && slices.ContainsFunc(cluster.Spec.Taints, here)
	})
	for i := range cluster.Status.TaintPreviews {
		if p := &cluster.Status.TaintPreviews[i]; p.Policy == policy {
			t.wouldTaint, t.wouldUntaint, t.wouldEvict = len(p.Add) > 0, len(p.Remove) > 0, p.WouldEvict
		}
	}
	return t
}

// counts reports whether a fact can change what its cluster counts for.
func counts(f messages.AboutCluster) bool {
	switch f.(type) {
	case *messages.TaintAdded, *messages.TaintAdopted, *messages.TaintRemoved, *messages.TaintsPreviewed,
		*messages.LabelsChanged, *messages.ClusterSpecChanged:
		return true
	default:
		return false
	}
}
