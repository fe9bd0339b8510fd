package placement_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/actorstest"
	"leeward/actors/rules/placement"
	"leeward/messages"
	"leeward/messages/api"
)

var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// units is an amount as the estimators count it.
func units(name corev1.ResourceName, q resource.Quantity) int64 {
	if name == corev1.ResourceCPU {
		return q.MilliValue()
	}
	return q.Value()
}

// dice makes random fleets and requests: small enough that ties, shortages and empty choices are
// common.
type dice struct{ *rand.Rand }

func (d dice) oneIn(n int) bool { return d.IntN(n) == 0 }

func pick[T any](d dice, values ...T) T { return values[d.IntN(len(values))] }

func (d dice) name(clusters int) string { return fmt.Sprintf("m%02d", d.IntN(clusters+1)) }

func (d dice) view(name string) *messages.ClusterView {
	v := &messages.ClusterView{
		Name:     messages.ClusterName(name),
		Region:   pick(d, "", "eu", "eu", "us", "us", "as", "af"),
		Provider: pick(d, "", "p1", "p2", "p2"),
		Zones:    pick(d, nil, []string{"a"}, []string{"a", "b"}),
		Labels:   map[string]string{"tier": pick(d, "gold", "iron"), "rack": pick(d, "", "r1", "r2", "r3", "r4")},
		Deleting: d.oneIn(12),
	}
	for d.oneIn(3) {
		v.Taints = append(v.Taints, corev1.Taint{
			Key: pick(d, "k1", "k2"), Value: pick(d, "", "v"), TimeAdded: &metav1.Time{Time: noon.Add(-time.Duration(d.IntN(9)) * time.Second)},
			Effect: pick(d, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute, corev1.TaintEffectPreferNoSchedule),
		})
	}
	if d.oneIn(3) {
		v.APIs = []api.APIEnablement{{GroupVersion: pick(d, "apps/v1", "v1"), Resources: []api.APIResource{{Kind: pick(d, "Deployment", "Job")}}}}
		v.Conditions = []metav1.Condition{{Type: api.ConditionCompleteAPIEnablements, Status: pick(d, metav1.ConditionTrue, metav1.ConditionFalse)}}
	}
	if d.oneIn(4) {
		v.Conditions = append(v.Conditions, metav1.Condition{Type: api.ConditionReady, Status: pick(d, metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown)})
	}
	if !d.oneIn(9) {
		v.Resources = &api.ResourceSummary{Allocatable: d.resources(12), Allocated: d.resources(3), Allocating: d.resources(2)}
	}
	if d.oneIn(4) && v.Resources != nil {
		cpus, memory := []int64{0, 1, 2, 4}, []int64{0, 1, 3, 8}
		for i := range cpus {
			v.Models = append(v.Models, api.ResourceModel{Grade: uint(i), Ranges: []api.ResourceModelRange{
				{Name: corev1.ResourceCPU, Min: *resource.NewQuantity(cpus[i], resource.DecimalSI)},
				{Name: corev1.ResourceMemory, Min: *resource.NewQuantity(memory[i]<<30, resource.BinarySI)},
			}})
			v.Resources.AllocatableModelings = append(v.Resources.AllocatableModelings, api.AllocatableModeling{Grade: uint(i), Count: d.IntN(3)})
		}
	}
	return v
}

func (d dice) resources(most int) corev1.ResourceList {
	list := corev1.ResourceList{corev1.ResourcePods: *resource.NewQuantity(int64(d.IntN(2*most)), resource.DecimalSI)}
	if !d.oneIn(6) {
		list[corev1.ResourceCPU] = *resource.NewMilliQuantity(int64(d.IntN(most*10))*100, resource.DecimalSI)
	}
	if !d.oneIn(4) {
		list[corev1.ResourceMemory] = *resource.NewQuantity(int64(d.IntN(most))<<30, resource.BinarySI)
	}
	return list
}

func (d dice) requirements() *api.ReplicaRequirements {
	if d.oneIn(4) {
		return nil
	}
	r := &api.ReplicaRequirements{ResourceRequest: corev1.ResourceList{}}
	if !d.oneIn(4) {
		r.ResourceRequest[corev1.ResourceCPU] = resource.MustParse(pick(d, "1", "500m", "0"))
	}
	if d.oneIn(3) {
		r.ResourceRequest[corev1.ResourceMemory] = resource.MustParse(pick(d, "1Gi", "700Mi"))
	}
	if d.oneIn(30) {
		r.ResourceRequest["example.com/gpu"] = resource.MustParse("1")
	}
	return r
}

func (d dice) affinity(clusters int) api.ClusterAffinity {
	a := api.ClusterAffinity{}
	if d.oneIn(3) {
		a.LabelSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"tier": pick(d, "gold", "iron")}}
	}
	if d.oneIn(4) {
		a.FieldSelector = &api.FieldSelector{MatchExpressions: []corev1.NodeSelectorRequirement{{
			Key: pick(d, "region", "zone", "nonsense"), Operator: pick(d, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn), Values: []string{pick(d, "eu", "a")},
		}}}
	}
	for d.oneIn(3) {
		a.ExcludeClusters = append(a.ExcludeClusters, d.name(clusters))
	}
	if d.oneIn(3) {
		for range 1 + clusters/2 {
			a.ClusterNames = append(a.ClusterNames, d.name(clusters))
		}
	}
	return a
}

func (d dice) placement(clusters int) *api.Placement {
	p := &api.Placement{ReplicaScheduling: d.strategy(clusters)}
	switch d.IntN(3) {
	case 0:
		a := d.affinity(clusters)
		p.ClusterAffinity = &a
	case 1:
		for i := range 1 + d.IntN(3) {
			term := api.ClusterAffinityTerm{AffinityName: fmt.Sprintf("t%d", i), ClusterAffinity: d.affinity(clusters)}
			for j := range d.IntN(2) * d.IntN(3) {
				term.OverflowAffinities = append(term.OverflowAffinities, api.OverflowAffinity{AffinityName: fmt.Sprint(j), ClusterAffinity: d.affinity(clusters)})
			}
			p.ClusterAffinities = append(p.ClusterAffinities, term)
		}
	}
	for d.oneIn(2) {
		seconds := int64(d.IntN(9))
		p.ClusterTolerations = append(p.ClusterTolerations, corev1.Toleration{
			Key: pick(d, "", "k1", "k2", api.TaintNotReady), Operator: corev1.TolerationOpExists, TolerationSeconds: pick(d, nil, &seconds),
		})
	}
	if d.oneIn(2) {
		fields := pick(d,
			[]api.SpreadField{api.SpreadByCluster}, []api.SpreadField{api.SpreadByCluster}, []api.SpreadField{""},
			[]api.SpreadField{api.SpreadByRegion, api.SpreadByCluster}, []api.SpreadField{api.SpreadByCluster, api.SpreadByRegion},
			[]api.SpreadField{api.SpreadByRegion}, []api.SpreadField{api.SpreadByZone}, []api.SpreadField{api.SpreadByProvider, api.SpreadByCluster},
			[]api.SpreadField{api.SpreadByRegion, api.SpreadByZone, api.SpreadByCluster},
		)
		for _, field := range fields {
			least := d.IntN(4)
			p.SpreadConstraints = append(p.SpreadConstraints, api.SpreadConstraint{SpreadByField: field, MinGroups: least, MaxGroups: max(0, least+d.IntN(4)-d.IntN(2))})
		}
		if d.oneIn(4) {
			p.SpreadConstraints = append(p.SpreadConstraints, api.SpreadConstraint{SpreadByLabel: "rack", MinGroups: d.IntN(4), MaxGroups: d.IntN(2) * 3})
		}
	}
	return p
}

func (d dice) strategy(clusters int) *api.ReplicaSchedulingStrategy {
	divided := func(preference api.ReplicaDivisionPreference, w *api.WeightPreference) *api.ReplicaSchedulingStrategy {
		return &api.ReplicaSchedulingStrategy{ReplicaSchedulingType: api.Divided, ReplicaDivisionPreference: preference, WeightPreference: w}
	}
	switch d.IntN(10) {
	case 0:
		return nil
	case 1:
		return &api.ReplicaSchedulingStrategy{ReplicaSchedulingType: api.Duplicated}
	case 2:
		return divided(api.Weighted, pick(d, nil, &api.WeightPreference{}))
	case 3:
		w := &api.WeightPreference{}
		for range 1 + d.IntN(3) {
			w.StaticWeightList = append(w.StaticWeightList, api.StaticClusterWeight{TargetCluster: d.affinity(clusters), Weight: 1 + int64(d.IntN(3))})
		}
		return divided(api.Weighted, w)
	case 4, 5, 6:
		return divided(api.Weighted, &api.WeightPreference{DynamicWeight: api.DynamicByAvailableReplicas})
	case 7, 8:
		return divided(api.Aggregated, nil)
	default:
		return divided("", nil)
	}
}

func (d dice) request(p *api.Placement, clusters int) *placement.Request {
	r := &placement.Request{
		Placement: p, APIVersion: "apps/v1", Kind: "Deployment", Workload: !d.oneIn(6), UID: pick(d, "", "a", "b", "c"),
		Requirements: d.requirements(), Fresh: d.oneIn(5), Affinity: pick(d, "", "t0", "t1", "t2"),
	}
	if r.Workload {
		r.Replicas = d.Int32N(pick[int32](d, 1, 8, 40))
	}
	for d.oneIn(3) {
		r.Evicting = append(r.Evicting, messages.ClusterName(d.name(clusters)))
	}
	for d.oneIn(4) {
		r.Leaving = append(r.Leaving, messages.ClusterName(d.name(clusters)))
	}
	for d.oneIn(4) {
		r.Cooling = append(r.Cooling, messages.ClusterName(d.name(clusters)))
	}
	for d.oneIn(4) {
		r.Busy = append(r.Busy, placement.BusyCluster{Cluster: messages.ClusterName(d.name(clusters)), Most: d.name(clusters)})
	}
	for d.oneIn(4) {
		r.Untold = append(r.Untold, d.name(clusters))
	}
	for d.oneIn(4) {
		r.Together = append(r.Together, messages.ClusterName(d.name(clusters)))
	}
	for d.oneIn(4) {
		r.Apart = append(r.Apart, messages.ClusterName(d.name(clusters)))
	}
	for i := range clusters {
		if d.oneIn(4) {
			r.Previous = append(r.Previous, api.TargetCluster{Name: fmt.Sprintf("m%02d", i), Replicas: d.Int32N(6)})
		}
	}
	d.Shuffle(len(r.Previous), func(i, j int) { r.Previous[i], r.Previous[j] = r.Previous[j], r.Previous[i] })
	return r
}

// twins are a planner and the reference over the same clusters.
type twins struct {
	dice
	fleet    *placement.Fleet
	planner  *placement.Planner
	naive    reference
	clusters int
}

func newTwins(seed uint64) *twins {
	d := dice{rand.New(rand.NewPCG(seed, 7))}
	s := messages.Settings{
		NumericTolerations: d.oneIn(2), PlacementHonoursDeadlines: d.oneIn(2),
		TolerationMatch: pick(d, messages.MatchFirst, messages.MatchMinimum),
		DivisionMethod:  pick(d, messages.DivideWebster, messages.DivideWebster, messages.DivideFloor),
	}
	s.TargetsNeedTheirAPI, s.TemporaryDestinationsLast = d.oneIn(2), d.oneIn(2)
	w := &twins{dice: d, fleet: placement.NewFleet(), clusters: d.IntN(pick(d, 14, 14, 40))}
	s.PartialPlacement, s.ScaleUpNeedsReady, s.PreferNoSchedule = d.oneIn(2), d.oneIn(2), d.oneIn(2)
	if s.ExactSpread = d.oneIn(2); s.ExactSpread {
		w.clusters = min(w.clusters, 8) // the reference walks through all subsets
	}
	w.planner = placement.NewPlanner(w.fleet, &s, seed)
	w.naive = reference{settings: s, seed: seed, reserved: make(map[messages.ClusterName][]reservation)}
	for i := range w.clusters {
		w.put(w.view(fmt.Sprintf("m%02d", i)))
	}
	return w
}

func (w *twins) put(v *messages.ClusterView) {
	w.fleet.Put(v)
	at, known := slices.BinarySearchFunc(w.naive.clusters, v.Name, byName)
	if known {
		w.naive.clusters[at] = v
		return
	}
	w.naive.clusters = slices.Insert(w.naive.clusters, at, v)
}

func byName(v *messages.ClusterView, name messages.ClusterName) int {
	switch {
	case v.Name < name:
		return -1
	case v.Name > name:
		return 1
	default:
		return 0
	}
}

// disturb changes the fleet in one way or another.
func (w *twins) disturb() {
	name := w.name(w.clusters)
	switch w.IntN(6) {
	case 0, 1:
		w.put(w.view(name))
	case 2:
		w.fleet.Drop(messages.ClusterName(name))
		if at, known := slices.BinarySearchFunc(w.naive.clusters, messages.ClusterName(name), byName); known {
			w.naive.clusters = slices.Delete(w.naive.clusters, at, at+1)
		}
	default:
		r := reservation{int64(w.IntN(5) - 2), w.requirements()}
		w.fleet.Reserve(messages.ClusterName(name), int32(r.replicas), r.requirements)
		w.naive.reserved[messages.ClusterName(name)] = append(w.naive.reserved[messages.ClusterName(name)], r)
	}
}

// compare asks both, several times over the same placements, and demands the same answers.
func compare(t *testing.T, seed uint64) {
	t.Helper()
	w := newTwins(seed)
	placements := []*api.Placement{nil, w.placement(w.clusters), w.placement(w.clusters)}
	for i := range 10 {
		r := w.request(pick(w.dice, placements...), w.clusters)
		want, got := w.naive.plan(noon, r), w.planner.Plan(noon, r)
		says := func() string {
			return fmt.Sprintf("seed %d request %d: %+v\nplacement %+v\nwant %+v", seed, i, r, r.Placement, want)
		}
		if want.Reason != api.ReasonNoClusterFit {
			want.Message, got.Message = "", ""
		}
		got.Rejections = nil
		require.Equal(t, want, got, "%s", lazily(says))
		w.disturb()
	}
}

// lazily is a message that is made only when it is printed.
type lazily func() string

func (l lazily) String() string { return l() }

func TestPlanEqualsReference(t *testing.T) {
	for seed := range actorstest.Cases(3000) {
		compare(t, seed)
	}
}

func FuzzPlan(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(1_000_000 + seed)
	}
	f.Fuzz(compare)
}
