// Package podplacement decides on which node of a cluster a pod runs, and says why where none can take it: the filters, the scores
// and the words of kube-scheduler.
//
// A Fleet holds the nodes and what runs on them, a Shape is what all pods of one template ask for, and a Planner finds a node
// for a pod of some shape. A Planner only answers: the caller tells the Fleet what was bound.
//
// A decision depends on the nodes, on what runs there, on the name of the pod and on the seed, never on the order in which the
// Fleet came to know them. Sources: the default plugins of kube-scheduler 1.37 with their default weights. Not modelled: volumes, host
// ports, pod affinity, images, preemption.
package podplacement

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/resource"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// Pod is what the scheduler looks at in a pod.
type Pod struct {
	Namespace string
	Labels    map[string]string
	Spec      *corev1.PodSpec
	// Peers selects the pods of the same owner, nil for a pod without one. The pods of a ReplicaSet or StatefulSet are spread
	// over nodes and zones without asking for it.
	Peers *metav1.LabelSelector
}

// Resources that every node has; others are extended resources, kept in columns of their own.
const (
	cpu = iota
	memory
	ephemeral
	basic
)

var basicNames = [basic]corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage}

// What a pod without requests is taken to use where nodes are compared: 100m cpu and 200 MiB. Source: kube-scheduler's
// DefaultMilliCPURequest and DefaultMemoryRequest.
const (
	defaultMilliCPU = 100
	defaultMemory   = 200 << 20
)

// request is an amount of an extended resource.
type request struct {
	column int
	amount int64
}

// Shape is what all pods of one template ask for, in the terms of one Fleet.
type Shape struct {
	class *class
	// wants is what it asks of a node whatever runs there, as text: shapes that ask alike share fits.
	wants       string
	nodeName    string
	tolerations []corev1.Toleration
	required    nodeaffinity.RequiredNodeAffinity
	hasRequired bool
	preferred   *nodeaffinity.PreferredSchedulingTerms
	// only are the names of the nodes that the affinity allows by name, nil for all. Daemon pods ask so for their node.
	only      []string
	byName    bool
	requests  [basic]int64
	estimated [2]int64
	extended  []request
	bare      bool // asks for nothing: cpu, memory and their balance are not compared
	hard      []spread
	soft      []spread
	defaults  bool // soft is byDefault
	neverTake bool // preemptionPolicy Never

	// failed is the state of the Fleet, by its count of what may help, in which no node could take the shape; why says so of
	// the state that it counts as told.
	failed, told uint64
	why          string
}

// Shape returns the shape of a pod. What is wrong in it is an error that names the field.
func (f *Fleet) Shape(p *Pod) (*Shape, error) {
	spec := p.Spec
	s := &Shape{
		class: f.class(p.Namespace, p.Labels), nodeName: spec.NodeName, tolerations: spec.Tolerations,
		required:    nodeaffinity.NewRequiredNodeAffinity(spec.NodeSelector, spec.Affinity),
		hasRequired: len(spec.NodeSelector) > 0,
		neverTake:   spec.PreemptionPolicy != nil && *spec.PreemptionPolicy == corev1.PreemptNever,
	}
	s.wants = fmt.Sprint(spec.NodeName, spec.NodeSelector)
	for i := range spec.Tolerations {
		s.wants += spec.Tolerations[i].String()
	}
	if a := spec.Affinity; a != nil && a.NodeAffinity != nil {
		s.wants += a.NodeAffinity.String()
		if r := a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution; r != nil {
			s.hasRequired = true
			s.only, s.byName = namesIn(r)
			if _, err := nodeaffinity.NewNodeSelector(r); err != nil {
				return nil, fmt.Errorf("spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution: %w", err)
			}
		}
		if terms := a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution; len(terms) > 0 {
			preferred, err := nodeaffinity.NewPreferredSchedulingTerms(terms)
			if err != nil {
				return nil, fmt.Errorf("spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution: %w", err)
			}
			s.preferred = preferred
		}
	}
	for i := range spec.TopologySpreadConstraints {
		c, err := compile(&spec.TopologySpreadConstraints[i], p.Labels)
		if err != nil {
			return nil, fmt.Errorf("spec.topologySpreadConstraints[%d].labelSelector: %w", i, err)
		}
		if c.soft {
			s.soft = append(s.soft, c)
		} else {
			s.hard = append(s.hard, c)
		}
	}
	if p.Peers != nil && len(spec.TopologySpreadConstraints) == 0 {
		for _, c := range byDefault {
			c.LabelSelector = p.Peers
			compiled, err := compile(&c, p.Labels)
			if err != nil {
				return nil, fmt.Errorf("selector of the owner: %w", err)
			}
			if len(s.soft) > 0 { // the selector is the same
				compiled.counts = s.soft[0].counts
			}
			s.soft = append(s.soft, compiled)
		}
		s.defaults = true
	}
	f.measure(s, spec)
	return s, nil
}

// measure reads what the pod requests.
func (f *Fleet) measure(s *Shape, spec *corev1.PodSpec) {
	requests := resource.PodRequests(&corev1.Pod{Spec: *spec}, resource.PodResourcesOptions{})
	for _, name := range slices.Sorted(maps.Keys(requests)) {
		amount := amountOf(name, requests)
		if amount == 0 {
			continue
		}
		if i := slices.Index(basicNames[:], name); i >= 0 {
			s.requests[i] = amount
		} else if name != corev1.ResourcePods {
			s.extended = append(s.extended, request{column: f.column(name), amount: amount})
		}
	}
	s.bare = s.requests == [basic]int64{} && len(s.extended) == 0
	estimate := resource.PodRequests(&corev1.Pod{Spec: *spec}, resource.PodResourcesOptions{
		NonMissingContainerRequests: corev1.ResourceList{
			corev1.ResourceCPU: *milli(defaultMilliCPU), corev1.ResourceMemory: *bytes(defaultMemory),
		},
	})
	s.estimated = [2]int64{amountOf(corev1.ResourceCPU, estimate), amountOf(corev1.ResourceMemory, estimate)}
}

// Spreads reports whether where other pods run can refuse a node to the shape.
func (s *Shape) Spreads() bool { return len(s.hard) > 0 }

// namesIn returns the nodes that a required affinity allows by their names, and whether it does: each term then asks for a name.
func namesIn(s *corev1.NodeSelector) (names []string, byName bool) {
	for i := range s.NodeSelectorTerms {
		var allowed []string
		named := false
		for _, r := range s.NodeSelectorTerms[i].MatchFields {
			if r.Key != metav1.ObjectNameField || r.Operator != corev1.NodeSelectorOpIn {
				continue
			}
			if !named {
				allowed, named = slices.Clone(r.Values), true
				continue
			}
			allowed = slices.DeleteFunc(allowed, func(name string) bool { return !slices.Contains(r.Values, name) })
		}
		if !named {
			return nil, false
		}
		names = append(names, allowed...)
	}
	slices.Sort(names)
	return slices.Compact(names), len(s.NodeSelectorTerms) > 0
}

// compile reads one topology spread constraint.
func compile(c *corev1.TopologySpreadConstraint, own map[string]string) (spread, error) {
	s := spread{
		key: c.TopologyKey, most: int64(c.MaxSkew), domains: 1, soft: c.WhenUnsatisfiable == corev1.ScheduleAnyway,
		ignoreAffinity: c.NodeAffinityPolicy != nil && *c.NodeAffinityPolicy == corev1.NodeInclusionPolicyIgnore,
		honorTaints:    c.NodeTaintsPolicy != nil && *c.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor,
	}
	if c.MinDomains != nil {
		s.domains = int(*c.MinDomains)
	}
	selector, err := metav1.LabelSelectorAsSelector(c.LabelSelector)
	if err != nil {
		return s, err
	}
	for _, key := range c.MatchLabelKeys {
		if value, has := own[key]; has {
			same, _ := labels.SelectorFromValidatedSet(labels.Set{key: value}).Requirements()
			selector = selector.Add(same...)
		}
	}
	s.counts = &counted{selector: selector}
	if selector.Matches(labels.Set(own)) {
		s.self = 1
	}
	return s, nil
}

// byDefault are the constraints of pods that ask for none. Source: PodTopologySpread's system defaults.
var byDefault = []corev1.TopologySpreadConstraint{
	{TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.ScheduleAnyway, MaxSkew: 3},
	{TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.ScheduleAnyway, MaxSkew: 5},
}

// logOf is the weight of a topology with so many domains. Source: PodTopologySpread's topologyNormalizingWeight.
func logOf(domains int) float64 { return math.Log(float64(domains + 2)) }

// Like joins a namespace and labels into one string, the same for the same labels.
func Like(namespace string, set map[string]string) string {
	keys := slices.Sorted(maps.Keys(set))
	var b strings.Builder
	b.WriteString(namespace)
	for _, key := range keys {
		b.WriteByte(0)
		b.WriteString(key)
		b.WriteByte('=')
		b.WriteString(set[key])
	}
	return b.String()
}
