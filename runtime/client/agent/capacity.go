package agent

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	resourcehelper "k8s.io/component-helpers/resource"

	"leeward/messages/api"
)

// podShare is what is kept of a pod: what capacity and scheduling depend on, so that ten thousand of them fit in memory.
type podShare struct {
	metav1.ObjectMeta
	node     string
	requests corev1.ResourceList
	// ended is set once it takes nothing any more.
	ended bool
	// waits is since when no node takes it; zero: it does not wait.
	waits time.Time
	// workload is what it is of, group, kind, namespace and name; without a kind it is of none.
	workload identity
}

func shareOf(p *corev1.Pod) *podShare {
	s := &podShare{
		ObjectMeta: metav1.ObjectMeta{Name: p.Name, Namespace: p.Namespace, UID: p.UID, ResourceVersion: p.ResourceVersion},
		node:       p.Spec.NodeName, requests: resourcehelper.PodRequests(p, resourcehelper.PodResourcesOptions{}),
		ended: p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed,
	}
	if owner := metav1.GetControllerOfNoCopy(p); owner != nil {
		s.workload = workloadOf(p, owner)
	}
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable {
			s.waits = c.LastTransitionTime.Time
		}
	}
	return s
}

// workloadOf is the workload of a pod: the owner, or, of a ReplicaSet that a Deployment made, that Deployment.
func workloadOf(p *corev1.Pod, owner *metav1.OwnerReference) identity {
	workload := identity{schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind).Group, owner.Kind, p.Namespace, owner.Name}
	if hash := p.Labels["pod-template-hash"]; owner.Kind == "ReplicaSet" && hash != "" {
		if n := len(owner.Name) - len(hash) - 1; n > 0 && owner.Name[n:] == "-"+hash {
			workload.kind, workload.name = "Deployment", owner.Name[:n]
		}
	}
	return workload
}

// unschedulableAfter is how long a pod must wait for a node before it is reported. How long is too long, the daemon decides: its
// unschedulableThreshold counts from the report.
const unschedulableAfter = 10 * time.Second

// unschedulable reports whether no node takes a pod, since long enough to be told.
func (p *podShare) unschedulable(now time.Time) bool {
	return !p.waits.IsZero() && p.node == "" && now.Sub(p.waits) >= unschedulableAfter
}

// leanNode keeps of a node what its capacity and its place depend on.
func leanNode(n *corev1.Node) *corev1.Node {
	lean := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name, UID: n.UID, ResourceVersion: n.ResourceVersion}}
	lean.Spec.Unschedulable, lean.Status.Allocatable = n.Spec.Unschedulable, n.Status.Allocatable
	lean.Labels = map[string]string{}
	for _, l := range [...]string{corev1.LabelTopologyRegion, corev1.LabelTopologyZone} {
		if value := n.Labels[l]; value != "" {
			lean.Labels[l] = value
		}
	}
	for i := range n.Status.Conditions {
		if c := &n.Status.Conditions[i]; c.Type == corev1.NodeReady {
			lean.Status.Conditions = []corev1.NodeCondition{{Type: c.Type, Status: c.Status}}
		}
	}
	return lean
}

// mostZones is how many zones are reported, within the bound of the daemon (docs/api.md).
const mostZones = 100

// topologyOf is where nodes are by their labels, be they Ready or not.
func topologyOf(nodes []*corev1.Node) *api.NodeTopology {
	found := map[string][]string{}
	for _, label := range [...]string{corev1.LabelTopologyRegion, corev1.LabelTopologyZone} {
		for _, n := range nodes {
			if value := n.Labels[label]; value != "" {
				found[label] = append(found[label], value)
			}
		}
		slices.Sort(found[label])
		found[label] = slices.Compact(found[label])
	}
	regions, zones := found[corev1.LabelTopologyRegion], found[corev1.LabelTopologyZone]
	t := &api.NodeTopology{Zones: zones[:min(len(zones), mostZones)]}
	if len(regions) == 1 {
		t.Region = regions[0]
	}
	return t
}

func nodeReady(n *corev1.Node) bool {
	return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

// capacityOf sums what nodes have and pods take. Allocatable is of nodes that are Ready and not cordoned; allocated is what their
// pods request, allocating what pods request that have no node yet. Source: Karmada's cluster status controller.
func capacityOf(nodes []*corev1.Node, pods []*podShare, grades []api.ResourceModel) (*api.NodeSummary, *api.ResourceSummary) {
	nodeSummary := &api.NodeSummary{TotalNum: int32(len(nodes))}
	r := &api.ResourceSummary{Allocatable: corev1.ResourceList{}, Allocated: corev1.ResourceList{}, Allocating: corev1.ResourceList{}}
	free := map[string]corev1.ResourceList{}
	for _, n := range nodes {
		if !nodeReady(n) {
			continue
		}
		nodeSummary.ReadyNum++
		if !n.Spec.Unschedulable {
			addTo(r.Allocatable, n.Status.Allocatable, 1)
			free[n.Name] = n.Status.Allocatable.DeepCopy()
		}
	}
	for _, p := range pods {
		if p.ended {
			continue
		}
		requests := corev1.ResourceList{corev1.ResourcePods: *resource.NewQuantity(1, resource.DecimalSI)}
		addTo(requests, p.requests, 1)
		switch on := free[p.node]; {
		case p.node == "":
			addTo(r.Allocating, requests, 1)
		case on != nil:
			addTo(r.Allocated, requests, 1)
			addTo(on, requests, -1)
		}
	}
	r.AllocatableModelings = gradesOf(free, grades)
	return nodeSummary, r
}

func addTo(sum, more corev1.ResourceList, sign int64) {
	for name, q := range more { // order-free: each by itself
		total := sum[name]
		if sign < 0 {
			total.Sub(q)
		} else {
			total.Add(q)
		}
		sum[name] = total
	}
}

// gradesOf counts the nodes of each grade by what is free on them: a node is of the highest grade whose lower bounds it reaches in
// every resource. Source: Karmada's resource models.
func gradesOf(free map[string]corev1.ResourceList, grades []api.ResourceModel) []api.AllocatableModeling {
	if len(grades) == 0 {
		return nil
	}
	counts := make([]api.AllocatableModeling, len(grades))
	for i := range grades {
		counts[i].Grade = grades[i].Grade
	}
	for _, has := range free { // order-free: a sum
		for i := len(grades) - 1; i >= 0; i-- {
			if i == 0 || reaches(has, grades[i].Ranges) {
				counts[i].Count++
				break
			}
		}
	}
	return counts
}

func reaches(has corev1.ResourceList, ranges []api.ResourceModelRange) bool {
	return !slices.ContainsFunc(ranges, func(r api.ResourceModelRange) bool { return has.Name(r.Name, resource.DecimalSI).Cmp(r.Min) < 0 })
}

// status is what the agent reports of its cluster; what other writers say of it remains.
func (a *Agent) status(c *api.Cluster) *api.ClusterStatus {
	sum := a.member.summary(c.Spec.ResourceModels)
	if sum != nil && c.Status.ResourceSummary != nil && sameSummary(sum.resources, c.Status.ResourceSummary) {
		sum.resources = c.Status.ResourceSummary // the same amounts, written otherwise
	}
	if sum != nil && a.hub.placeless {
		sum.topology = nil
	}
	return statusOf(c, a.readiness.current, a.member.served.Load(), sum, a.Clock.Now())
}

// statusOf puts together the status of a cluster. What is not known is as it was.
func statusOf(c *api.Cluster, ready probe, s *served, sum *summary, now time.Time) *api.ClusterStatus {
	next := c.Status
	next.Conditions = slices.Clone(next.Conditions)
	meta.SetStatusCondition(&next.Conditions, ready.condition(now))
	if s != nil {
		next.KubernetesVersion, next.APIEnablements = s.version, s.enablements
		complete := metav1.Condition{
			Type: api.ConditionCompleteAPIEnablements, Status: metav1.ConditionTrue, Reason: "Complete", Message: "all API groups of the member answered",
			LastTransitionTime: metav1.Time{Time: now.UTC().Truncate(time.Second)},
		}
		if s.incomplete != nil {
			complete.Status, complete.Reason, complete.Message = metav1.ConditionFalse, "PartialAPIEnablements", s.incomplete.Error()
		}
		meta.SetStatusCondition(&next.Conditions, complete)
	}
	if sum != nil {
		next.NodeSummary, next.ResourceSummary = sum.nodes, sum.resources
		if t := sum.topology; t != nil && sum.nodes.TotalNum > 0 && (c.Status.NodeTopology != nil || t.Region != "" || len(t.Zones) > 0) {
			next.NodeTopology = t // a cluster without nodes, for now, is where they were
		}
	}
	return &next
}

func sameSummary(a, b *api.ResourceSummary) bool {
	return equality.Semantic.DeepEqual(a.Allocatable, b.Allocatable) && equality.Semantic.DeepEqual(a.Allocated, b.Allocated) &&
		equality.Semantic.DeepEqual(a.Allocating, b.Allocating) && slices.Equal(a.AllocatableModelings, b.AllocatableModelings)
}
