package storm

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/propagation"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/world"
)

// Fleet is a fleet to build: clusters in regions of the same size, Deployments of three replicas that as many
// policies as there are kinds of placement and toleration send to them.
type Fleet struct {
	Clusters, Bindings, Regions int
	// Placements mixes duplicated, static, dynamic and aggregated; Tolerations mixes none, forever, and how long
	// the storm's taint is tolerated.
	Placements, Tolerations Mix
	// Startup is how long a copy takes to become healthy, by the fleet's time.
	Startup time.Duration
	Seed    uint64
}

// TaintKey is the key of the taint that a failed cluster gets, where no manifest says otherwise.
const TaintKey = "leeward.dev/storm"

// replicas are those of every workload that is built, each on at most spread clusters.
const (
	replicas = 3
	spread   = 2
)

var placements = map[string]func() *api.ReplicaSchedulingStrategy{
	"duplicated": func() *api.ReplicaSchedulingStrategy { return nil },
	"static": func() *api.ReplicaSchedulingStrategy {
		return &api.ReplicaSchedulingStrategy{ReplicaSchedulingType: api.Divided, ReplicaDivisionPreference: api.Weighted}
	},
	"dynamic": func() *api.ReplicaSchedulingStrategy {
		return &api.ReplicaSchedulingStrategy{
			ReplicaSchedulingType: api.Divided, ReplicaDivisionPreference: api.Weighted,
			WeightPreference: &api.WeightPreference{DynamicWeight: api.DynamicByAvailableReplicas},
		}
	},
	"aggregated": func() *api.ReplicaSchedulingStrategy {
		return &api.ReplicaSchedulingStrategy{ReplicaSchedulingType: api.Divided, ReplicaDivisionPreference: api.Aggregated}
	},
}

// Placements are the kinds of placement that a fleet may mix.
func Placements() []string { return []string{"duplicated", "static", "dynamic", "aggregated"} }

// IsPlacement returns an error for what is no kind of placement.
func IsPlacement(kind string) error {
	if placements[kind] == nil {
		return fmt.Errorf("%q is no placement: want %s", kind, strings.Join(Placements(), ", "))
	}
	return nil
}

// The tolerations that have no length.
const (
	tolerateNothing = "none"
	tolerateForever = "forever"
)

// IsToleration returns an error for what is no kind of toleration.
func IsToleration(kind string) error {
	if kind == tolerateNothing || kind == tolerateForever {
		return nil
	}
	if d, err := time.ParseDuration(kind); err != nil || d < time.Second || d%time.Second != 0 {
		return fmt.Errorf("%q is no toleration: want none, forever or whole seconds such as 30s or 5m", kind)
	}
	return nil
}

// Validate returns everything that is wrong with a fleet.
func (f *Fleet) Validate() error {
	var problems []error
	atLeast := func(what string, n, least int) {
		if n < least {
			problems = append(problems, fmt.Errorf("%s must be %d or more, not %d", what, least, n))
		}
	}
	atLeast("clusters", f.Clusters, 2)
	atLeast("bindings", f.Bindings, 1)
	atLeast("regions", f.Regions, 1)
	if f.Regions > f.Clusters {
		problems = append(problems, fmt.Errorf("%d regions are more than there are clusters (%d)", f.Regions, f.Clusters))
	}
	return errors.Join(problems...)
}

// build gives a world the fleet. Workloads are no objects of it: a million would take more memory than their
// actors.
func (f *Fleet) build(w *world.World) error {
	for i := range f.Clusters {
		if err := w.Apply(f.cluster(i)); err != nil {
			return fmt.Errorf("build the fleet: %w", err)
		}
	}
	if err := w.Apply(taintPolicy()); err != nil {
		return fmt.Errorf("build the fleet: %w", err)
	}
	for _, p := range f.Placements {
		for _, t := range f.Tolerations {
			if err := w.Apply(policy(p.Kind, t.Kind)); err != nil {
				return fmt.Errorf("build the fleet: %w", err)
			}
		}
	}
	random := rand.New(rand.NewPCG(f.Seed, 1))
	each := &api.ReplicaRequirements{ResourceRequest: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}}
	labels := f.labels()
	for i := range f.Bindings {
		p, t := f.Placements.pick(random.Uint64()), f.Tolerations.pick(random.Uint64())
		w.AdmitWorkload(workload(i, labels[p*len(f.Tolerations)+t], each))
	}
	return nil
}

// each visits the fleet's objects, its workloads among them.
func (f *Fleet) each(visit func(api.Object)) {
	for i := range f.Clusters {
		visit(f.cluster(i))
	}
	visit(taintPolicy())
	for _, p := range f.Placements {
		for _, t := range f.Tolerations {
			visit(policy(p.Kind, t.Kind))
		}
	}
	random := rand.New(rand.NewPCG(f.Seed, 1))
	labels := f.labels()
	for i := range f.Bindings {
		p, t := f.Placements.pick(random.Uint64()), f.Tolerations.pick(random.Uint64())
		visit(deployment(i, labels[p*len(f.Tolerations)+t]))
	}
}

// members is how the fleet's members behave.
func (f *Fleet) members() map[messages.ClusterName]messages.MemberBehaviour {
	if f.Startup == 0 {
		return nil
	}
	all := make(map[messages.ClusterName]messages.MemberBehaviour, f.Clusters)
	for i := range f.Clusters {
		all[messages.ClusterName(clusterName(i))] = messages.MemberBehaviour{StartupMin: f.Startup, StartupMax: f.Startup, Health: api.Healthy}
	}
	return all
}

func clusterName(i int) string { return fmt.Sprintf("member%04d", i+1) }

// cluster has capacity for four times what it would get if all had the same, so that most of the fleet may fail.
func (f *Fleet) cluster(i int) *api.Cluster {
	share := int64(f.Bindings) * replicas * spread / int64(f.Clusters)
	capacity := max(1000, 4*share)
	return &api.Cluster{
		TypeMeta:   metav1.TypeMeta{APIVersion: api.ClusterGroupVersion, Kind: "Cluster"},
		ObjectMeta: metav1.ObjectMeta{Name: clusterName(i)},
		Spec:       api.ClusterSpec{SyncMode: api.Pull, Region: fmt.Sprintf("region%d", i*f.Regions/f.Clusters+1)},
		Status: api.ClusterStatus{
			Conditions: []metav1.Condition{{Type: api.ConditionReady, Status: metav1.ConditionTrue, Reason: "ClusterReady"}},
			ResourceSummary: &api.ResourceSummary{Allocatable: corev1.ResourceList{
				corev1.ResourceCPU:  *resource.NewMilliQuantity(capacity*100, resource.DecimalSI),
				corev1.ResourcePods: *resource.NewQuantity(capacity, resource.DecimalSI),
			}},
		},
	}
}

// taintPolicy taints a cluster for as long as it is not Ready.
func taintPolicy() *api.ClusterTaintPolicy {
	ready := func(op api.MatchOperator) []api.MatchCondition {
		return []api.MatchCondition{{ConditionType: api.ConditionReady, Operator: op, StatusValues: []metav1.ConditionStatus{metav1.ConditionTrue}}}
	}
	return &api.ClusterTaintPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: api.PolicyGroupVersion, Kind: "ClusterTaintPolicy"},
		ObjectMeta: metav1.ObjectMeta{Name: "storm"},
		Spec: api.ClusterTaintPolicySpec{
			AddOnConditions: ready(api.MatchNotIn), RemoveOnConditions: ready(api.MatchIn),
			Taints: []api.PolicyTaint{{Key: TaintKey, Effect: corev1.TaintEffectNoExecute}},
		},
	}
}

// policy sends the workloads that are labelled for it to two clusters, in its way.
func policy(placement, toleration string) *api.ClusterPropagationPolicy {
	name := policyName(placement, toleration)
	return &api.ClusterPropagationPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: api.PolicyGroupVersion, Kind: "ClusterPropagationPolicy"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: api.PropagationSpec{
			ResourceSelectors: []api.ResourceSelector{{
				APIVersion: "apps/v1", Kind: "Deployment",
				LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{policyLabel: name}},
			}},
			Placement: api.Placement{
				ClusterTolerations: tolerations(toleration),
				SpreadConstraints:  []api.SpreadConstraint{{SpreadByField: api.SpreadByCluster, MinGroups: spread, MaxGroups: spread}},
				ReplicaScheduling:  placements[placement](),
			},
		},
	}
}

// policyLabel says on a workload which policy is to have it.
const policyLabel = "leeward.dev/storm-policy"

func policyName(placement, toleration string) string {
	return "storm-" + placement + "-" + toleration
}

func tolerations(kind string) []corev1.Toleration {
	t := corev1.Toleration{Key: TaintKey, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}
	switch kind {
	case tolerateNothing:
		return nil
	case tolerateForever:
	default:
		d, err := time.ParseDuration(kind)
		if err != nil {
			panic(fmt.Sprintf("storm: toleration %q was not validated", kind))
		}
		t.TolerationSeconds = new(int64(d / time.Second))
	}
	return []corev1.Toleration{t}
}

// labels are those by which each policy knows its workloads, which share them.
func (f *Fleet) labels() []map[string]string {
	var all []map[string]string
	for _, p := range f.Placements {
		for _, t := range f.Tolerations {
			all = append(all, map[string]string{policyLabel: policyName(p.Kind, t.Kind)})
		}
	}
	return all
}

// deployment is one workload of the fleet, as people would write it.
func deployment(i int, labels map[string]string) *appsv1.Deployment {
	name, n := workloadName(i), int32(replicas)
	d := &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: labels},
	}
	d.Spec.Replicas = &n
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
	d.Spec.Template.Labels = d.Spec.Selector.MatchLabels
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "app", Image: "registry.example/app:1", Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")},
	}}}
	return d
}

func workloadName(i int) string { return fmt.Sprintf("app%07d", i+1) }

// workload is one Deployment of the fleet, as machines know it.
func workload(i int, labels map[string]string, each *api.ReplicaRequirements) *messages.Workload {
	name := workloadName(i)
	return &messages.Workload{
		Binding:    messages.BindingName("default/" + propagation.BindingName("Deployment", name)),
		APIVersion: "apps/v1", Kind: "Deployment", Namespace: "default", Name: name, Labels: labels,
		Replicas: replicas, Requirements: each, HasReplicas: true,
	}
}

// Mix is what a fleet's workloads are of, each kind with its weight: "dynamic=3,duplicated=1", or one kind alone.
type Mix []Part

// Part is one kind of a mix.
type Part struct {
	Kind   string
	Weight int
}

// ParseMix reads a mix of kinds that are known. The error names the part.
func ParseMix(text string, known func(kind string) error) (Mix, error) {
	var m Mix
	for part := range strings.SplitSeq(text, ",") {
		kind, weight, weighted := strings.Cut(part, "=")
		if err := known(kind); err != nil {
			return nil, err
		}
		p := Part{Kind: kind, Weight: 1}
		if weighted {
			n, err := strconv.Atoi(weight)
			if err != nil || n < 1 || n > mostWeight {
				return nil, fmt.Errorf("the weight of %s must be a whole number from 1 to %d, not %q", kind, mostWeight, weight)
			}
			p.Weight = n
		}
		m = append(m, p)
	}
	return m, nil
}

const mostWeight = 1_000_000

// String returns the mix as ParseMix reads it.
func (m Mix) String() string {
	parts := make([]string, len(m))
	for i, p := range m {
		parts[i] = p.Kind
		if p.Weight != 1 {
			parts[i] += "=" + strconv.Itoa(p.Weight)
		}
	}
	return strings.Join(parts, ",")
}

// pick returns the index of the part that a number, any number, falls to.
func (m Mix) pick(n uint64) int {
	sum := 0
	for _, p := range m {
		sum += p.Weight
	}
	rest := int(n % uint64(sum))
	for i, p := range m {
		if rest -= p.Weight; rest < 0 {
			return i
		}
	}
	panic(fmt.Sprintf("storm: %d falls to no part of %s", n, m))
}
