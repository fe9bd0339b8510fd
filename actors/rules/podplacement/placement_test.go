package podplacement_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/podplacement"
)

const (
	noSchedule = corev1.TaintEffectNoSchedule
	noExecute  = corev1.TaintEffectNoExecute
	prefer     = corev1.TaintEffectPreferNoSchedule
)

type (
	node  = podplacement.Node
	rules = podplacement.Rules
	edit  func(*podplacement.Pod)
)

func amounts(pairs ...string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		list[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return list
}

// worker is a node of 4 cpus, 8 GiB and 110 pods.
func worker(name string, edits ...func(*node)) *node {
	n := &node{Name: name, Labels: map[string]string{corev1.LabelHostname: name}, Allocatable: amounts("cpu", "4", "memory", "8Gi", "pods", "110")}
	for _, edit := range edits {
		edit(n)
	}
	return n
}

func taints(key, value string, effect corev1.TaintEffect) func(*node) {
	return func(n *node) { n.Taints = append(n.Taints, corev1.Taint{Key: key, Value: value, Effect: effect}) }
}

func label(key, value string) func(*node) { return func(n *node) { n.Labels[key] = value } }
func has(name, amount string) func(*node) {
	return func(n *node) { n.Allocatable[corev1.ResourceName(name)] = resource.MustParse(amount) }
}
func cordoned(n *node) { n.Unschedulable = true }

func pod(edits ...edit) *podplacement.Pod {
	p := &podplacement.Pod{Namespace: "default", Labels: map[string]string{"app": "web"}, Spec: &corev1.PodSpec{Containers: []corev1.Container{{Name: "c"}}}}
	for _, edit := range edits {
		edit(p)
	}
	return p
}

func asks(pairs ...string) edit {
	return func(p *podplacement.Pod) { p.Spec.Containers[0].Resources.Requests = amounts(pairs...) }
}

func tolerates(key string, effect corev1.TaintEffect, seconds ...int64) edit {
	return func(p *podplacement.Pod) {
		t := corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: effect}
		if len(seconds) > 0 {
			t.TolerationSeconds = &seconds[0]
		}
		p.Spec.Tolerations = append(p.Spec.Tolerations, t)
	}
}

// compares is a toleration with an operator and a value.
func compares(key string, operator corev1.TolerationOperator, value string, effect corev1.TaintEffect) edit {
	return func(p *podplacement.Pod) {
		p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{Key: key, Operator: operator, Value: value, Effect: effect})
	}
}

func selects(key, value string) edit {
	return func(p *podplacement.Pod) { p.Spec.NodeSelector = map[string]string{key: value} }
}

// onNode is the affinity of a daemon pod.
func onNode(name string) edit {
	return requires(corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: "In", Values: []string{name}}}})
}

func requires(term corev1.NodeSelectorTerm) edit {
	return func(p *podplacement.Pod) {
		p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{term}},
		}}
	}
}

func prefers(key, value string) edit {
	return func(p *podplacement.Pod) {
		p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Weight: 10, Preference: corev1.NodeSelectorTerm{
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: "In", Values: []string{value}}},
			}}},
		}}
	}
}

func spreads(key string, edits ...func(*corev1.TopologySpreadConstraint)) edit {
	return func(p *podplacement.Pod) {
		c := corev1.TopologySpreadConstraint{TopologyKey: key, MaxSkew: 1, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}
		for _, edit := range edits {
			edit(&c)
		}
		p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, c)
	}
}

func honoringTaints(c *corev1.TopologySpreadConstraint) {
	honor := corev1.NodeInclusionPolicyHonor
	c.NodeTaintsPolicy = &honor
}

func atLeast(domains int32) func(*corev1.TopologySpreadConstraint) {
	return func(c *corev1.TopologySpreadConstraint) { c.MinDomains = &domains }
}

func owned(p *podplacement.Pod) { p.Peers = &metav1.LabelSelector{MatchLabels: p.Labels} }

// world is a fleet with its planner, in a test.
type world struct {
	t testing.TB
	*podplacement.Fleet
	*podplacement.Planner
	pods int
}

func with(t testing.TB, r rules, nodes ...*node) *world {
	f := podplacement.NewFleet()
	for _, n := range nodes {
		f.Put(n)
	}
	return &world{t: t, Fleet: f, Planner: podplacement.NewPlanner(f, r, 1)}
}

func (w *world) shape(p *podplacement.Pod) *podplacement.Shape {
	w.t.Helper()
	s, err := w.Shape(p)
	require.NoError(w.t, err)
	return s
}

// runs has pods on a node.
func (w *world) runs(name string, pods ...*podplacement.Pod) *world {
	w.t.Helper()
	for _, p := range pods {
		w.Bind(name, w.shape(p))
	}
	return w
}

// place places one more pod, and binds it. What is explained before is what is decided: of some pods, for it takes long.
func (w *world) place(p *podplacement.Pod) podplacement.Decision {
	w.t.Helper()
	s := w.shape(p)
	w.pods++
	name := fmt.Sprintf("pod-%d", w.pods)
	var x *podplacement.Explanation
	if w.pods%5 == 1 {
		asked := w.Explain(s, name)
		w.explains(s, &asked)
		x = &asked
	}
	d := w.Place(s, name)
	if x != nil {
		require.Equal(w.t, d, x.Decision, "explained is what is decided")
	}
	if d.Node != "" {
		w.Bind(d.Node, s)
	}
	return d
}

// explains holds what is explained of each node to what filters and scores say.
func (w *world) explains(s *podplacement.Shape, x *podplacement.Explanation) {
	w.t.Helper()
	require.Len(w.t, x.Nodes, w.Len())
	var chosen, best int64
	for _, n := range x.Nodes {
		refused, _ := w.Refusal(s, n.Name)
		require.Equal(w.t, refused, n.Refused)
		require.Equal(w.t, n.Name == x.Node, n.Chosen)
		require.False(w.t, n.Compared && len(refused) > 0)
		if n.Compared {
			best = max(best, n.Score.Total())
		}
		if n.Chosen {
			chosen = n.Score.Total()
		}
	}
	require.Equal(w.t, best, chosen, "the node with the highest score is chosen")
}

// goes is where one more pod of a kind goes, whatever its name: the same for many names.
func (w *world) goes(p *podplacement.Pod) string {
	w.t.Helper()
	s := w.shape(p)
	node := w.Place(s, "pod").Node
	for i := range 20 {
		require.Equal(w.t, node, w.Place(s, fmt.Sprint("pod", i)).Node, "chance decided")
	}
	return node
}

// The strings are those of the recordings a11, b22, r01 and r15 of a real kube-scheduler, and of its source.
func TestExplanation(t *testing.T) {
	ssd, gpu := "disktype", "example.com/gpu"
	for _, c := range []struct {
		name  string
		rules rules
		world func(*world)
		pod   *podplacement.Pod
		nodes []*node
		want  string
	}{
		{name: "no nodes", want: "no nodes available to schedule pods", pod: pod()},
		{
			name: "recording b22: the only node is tainted", pod: pod(), nodes: []*node{worker("n1", taints("k", "v", noExecute))},
			want: "0/1 nodes are available: 1 node(s) had untolerated taint(s). preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
		},
		{
			name: "recording r15: a cordoned node is unschedulable before it is tainted", pod: pod(),
			nodes: []*node{worker("n1", taints("k", "v", noSchedule)), worker("n2", cordoned, taints(corev1.TaintNodeUnschedulable, "", noSchedule))},
			want:  "0/2 nodes are available: 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.",
		},
		{
			name: "recording a11: preemption could help only where the resource is in use", pod: pod(asks(gpu, "1")),
			nodes: []*node{worker("n1", taints(ssd, "ssd", noSchedule), has(gpu, "2")), worker("n2", taints(ssd, "ssd", prefer), has(gpu, "2")), worker("n3")},
			world: func(w *world) { w.runs("n2", pod(asks(gpu, "1")), pod(asks(gpu, "1"))) },
			want:  "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient example.com/gpu. preemption: 0/3 nodes are available: 1 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling.",
		},
		{
			name: "the taint is named where that is asked for", rules: rules{NameTaints: true}, pod: pod(asks("cpu", "8")),
			nodes: []*node{worker("n1", taints("dedicated", "gpu", noSchedule)), worker("n2", taints("dedicated", "gpu", noSchedule)), worker("n3"), worker("n4"), worker("n5", taints("spot", "", noExecute))},
			want: "0/5 nodes are available: 1 node(s) had untolerated taint {spot: }, 2 Insufficient cpu, 2 node(s) had untolerated taint {dedicated: gpu}. " +
				"preemption: 0/5 nodes are available: 5 Preemption is not helpful for scheduling.",
		},
		{
			name: "all that a node lacks is told", pod: pod(asks("cpu", "1", "memory", "1Gi", "ephemeral-storage", "1Gi")),
			nodes: []*node{worker("n1", has("pods", "1"), has("ephemeral-storage", "2Gi"))},
			world: func(w *world) {
				w.runs("n1", pod(asks("cpu", "3500m", "memory", "7.5Gi", "ephemeral-storage", "1.5Gi")))
			},
			want: "0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient ephemeral-storage, 1 Insufficient memory, 1 Too many pods. " +
				"preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
		},
		{
			name: "a pod that never preempts", pod: pod(asks("cpu", "5"), func(p *podplacement.Pod) {
				never := corev1.PreemptNever
				p.Spec.PreemptionPolicy = &never
			}), nodes: []*node{worker("n1")},
			want: "0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to preemptionPolicy=Never.",
		},
		{
			name: "a node selector", pod: pod(selects("disk", "ssd")), nodes: []*node{worker("n1")},
			want: "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
		},
		{
			name: "a daemon pod asks for one node: the others are not looked at", pod: pod(onNode("n2")),
			nodes: []*node{worker("n1"), worker("n2", taints("k", "", noSchedule)), worker("n3", taints("k", "", noSchedule))},
			want: "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 node(s) didn't satisfy plugin(s) [NodeAffinity]. " +
				"preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.",
		},
		{
			name: "another node's name", pod: pod(func(p *podplacement.Pod) { p.Spec.NodeName = "n9" }), nodes: []*node{worker("n1")},
			want: "0/1 nodes are available: 1 node(s) didn't match the requested node name. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
		},
		{
			name: "counts are sorted as text", pod: pod(asks("cpu", "5")), nodes: append(tainted(2), workers(10)...),
			want: "0/12 nodes are available: 10 Insufficient cpu, 2 node(s) had untolerated taint(s). preemption: 0/12 nodes are available: 12 Preemption is not helpful for scheduling.",
		},
		{
			name: "topology spread", pod: pod(spreads("zone")), nodes: []*node{worker("n1", label("zone", "a")), worker("n2", label("zone", "b"), taints("k", "", noSchedule)), worker("n3")},
			world: func(w *world) { w.runs("n1", pod()) },
			want: "0/3 nodes are available: 1 node(s) didn't match pod topology spread constraints, 1 node(s) didn't match pod topology spread constraints (missing required label), " +
				"1 node(s) had untolerated taint(s). preemption: 0/3 nodes are available: 1 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling.",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := with(t, c.rules, c.nodes...)
			if c.world != nil {
				c.world(w)
			}
			require.Equal(t, podplacement.Decision{Why: c.want}, w.place(c.pod))
			require.Equal(t, c.want, w.place(c.pod).Why, "told again")
		})
	}
}

func workers(n int) (nodes []*node) {
	for i := range n {
		nodes = append(nodes, worker(fmt.Sprintf("w%04d", i)))
	}
	return nodes
}

func tainted(n int) (nodes []*node) {
	for i := range n {
		nodes = append(nodes, worker(fmt.Sprintf("t%04d", i), taints("k", "v", noSchedule)))
	}
	return nodes
}

func TestFilters(t *testing.T) {
	expression := func(key string, op corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: op, Values: values}}}
	}
	for _, c := range []struct {
		name string
		node *node
		pod  *podplacement.Pod
		runs []*podplacement.Pod
		fits bool
	}{
		{name: "a plain node takes a plain pod", node: worker("n"), pod: pod(), fits: true},
		{name: "an untolerated NoSchedule taint refuses", node: worker("n", taints("k", "v", noSchedule)), pod: pod()},
		{name: "an untolerated NoExecute taint refuses", node: worker("n", taints("k", "v", noExecute)), pod: pod()},
		{name: "PreferNoSchedule refuses nobody", node: worker("n", taints("k", "v", prefer)), pod: pod(), fits: true},
		{name: "a tolerated taint lets in", node: worker("n", taints("k", "v", noSchedule)), pod: pod(tolerates("k", noSchedule)), fits: true},
		{name: "a toleration of another effect does not", node: worker("n", taints("k", "v", noSchedule)), pod: pod(tolerates("k", noExecute))},
		{name: "a NoExecute taint tolerated for 30 s lets in", node: worker("n", taints("k", "v", noExecute)), pod: pod(tolerates("k", noExecute, 30)), fits: true},
		{name: "one of two taints tolerated refuses", node: worker("n", taints("k", "v", noSchedule), taints("l", "", noSchedule)), pod: pod(tolerates("k", ""))},
		{name: "a cordoned node refuses", node: worker("n", cordoned), pod: pod()},
		{name: "a cordoned node takes what tolerates that", node: worker("n", cordoned), pod: pod(tolerates(corev1.TaintNodeUnschedulable, noSchedule)), fits: true},
		{name: "the node selector matches", node: worker("n", label("disk", "ssd")), pod: pod(selects("disk", "ssd")), fits: true},
		{name: "an expression matches", node: worker("n", label("disk", "ssd")), pod: pod(requires(expression("disk", "Exists"))), fits: true},
		{name: "an expression does not match", node: worker("n", label("disk", "ssd")), pod: pod(requires(expression("disk", "NotIn", "ssd")))},
		{name: "an empty term matches nothing", node: worker("n"), pod: pod(requires(corev1.NodeSelectorTerm{}))},
		{name: "by name", node: worker("n"), pod: pod(onNode("n")), fits: true},
		{name: "by another name", node: worker("n"), pod: pod(onNode("m"))},
		{name: "exactly what is left", node: worker("n"), pod: pod(asks("cpu", "1")), runs: []*podplacement.Pod{pod(asks("cpu", "3"))}, fits: true},
		{name: "a little more than is left", node: worker("n"), pod: pod(asks("cpu", "1001m")), runs: []*podplacement.Pod{pod(asks("cpu", "3"))}},
		{name: "no request needs no cpu left", node: worker("n"), pod: pod(), runs: []*podplacement.Pod{pod(asks("cpu", "4"))}, fits: true},
		{name: "pods are counted", node: worker("n", has("pods", "1")), pod: pod(), runs: []*podplacement.Pod{pod()}},
		{name: "a node without the extended resource", node: worker("n"), pod: pod(asks("x.io/y", "1"))},
		{name: "a node with the extended resource", node: worker("n", has("x.io/y", "1")), pod: pod(asks("x.io/y", "1")), fits: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := with(t, rules{}, c.node).runs("n", c.runs...)
			reasons, _ := w.Refusal(w.shape(c.pod), "n")
			require.Equal(t, c.fits, len(reasons) == 0, reasons)
			require.Equal(t, c.fits, w.place(c.pod).Node == "n")
		})
	}
}

// TestTaintsThatValuesTolerate has which taints let a pod in: with the operators Lt and Gt allowed, and without.
func TestTaintsThatValuesTolerate(t *testing.T) {
	above, below := compares("load", corev1.TolerationOpGt, "60", ""), compares("load", corev1.TolerationOpLt, "90", noSchedule)
	team := compares("team", corev1.TolerationOpEqual, "red", noSchedule)
	for _, c := range []struct {
		name          string
		node          *node
		pod           *podplacement.Pod
		fits, numeric bool
	}{
		{"the value", worker("n", taints("team", "red", noSchedule)), pod(team), true, true},
		{"another value", worker("n", taints("team", "blue", noSchedule)), pod(team), false, false},
		{"no operator is Equal", worker("n", taints("team", "red", noSchedule)), pod(compares("team", "", "red", noSchedule)), true, true},
		{"no effect is every effect", worker("n", taints("team", "red", noSchedule), taints("team", "red", noExecute)), pod(compares("team", "Equal", "red", "")), true, true},
		{"PreferNoSchedule is not NoSchedule", worker("n", taints("team", "red", noSchedule)), pod(compares("team", "Equal", "red", prefer)), false, false},
		{"each of two taints by another toleration", worker("n", taints("team", "red", noSchedule), taints("k", "v", noSchedule)), pod(team, tolerates("k", noSchedule)), true, true},
		{"another value of a taint that only asks", worker("n", taints("team", "blue", prefer)), pod(team), true, true},
		{"a number that is greater", worker("n", taints("load", "61", noSchedule)), pod(above), false, true},
		{"a number that is greater, to evict", worker("n", taints("load", "61", noExecute)), pod(above), false, true},
		{"a number that is equal", worker("n", taints("load", "60", noSchedule)), pod(above), false, false},
		{"a number that is less", worker("n", taints("load", "89", noSchedule)), pod(below), false, true},
		{"a number that is not less", worker("n", taints("load", "90", noSchedule)), pod(below), false, false},
		{"a number that two tolerations take", worker("n", taints("load", "75", noSchedule)), pod(above, below), false, true},
		{"a word is no number", worker("n", taints("load", "heavy", noSchedule)), pod(above), false, false},
		{"a value, and a number that nothing asks for", worker("n", taints("team", "red", noSchedule)), pod(team, above), true, true},
		{"a value and a number", worker("n", taints("team", "red", noSchedule), taints("load", "61", noSchedule)), pod(team, above), false, true},
		{"a value, and a number that is missed", worker("n", taints("team", "red", noSchedule), taints("load", "50", noSchedule)), pod(team, above), false, false},
		{"a number that only asks", worker("n", taints("load", "50", prefer)), pod(above), true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			for numeric, fits := range map[bool]bool{false: c.fits, true: c.numeric} {
				w := with(t, rules{Numeric: numeric}, c.node)
				reasons, _ := w.Refusal(w.shape(c.pod), "n")
				require.Equal(t, fits, len(reasons) == 0, "numbers %t: %v", numeric, reasons)
			}
		})
	}
}

// TestSoftTaintsAreScoredInProportion: what the nodes n1, n2, … get for their PreferNoSchedule taints, of three times 100.
func TestSoftTaintsAreScoredInProportion(t *testing.T) {
	ssd, arm := taints("disk", "ssd", prefer), taints("cpu", "arm", prefer)
	bySSD, byARM := compares("disk", "Equal", "ssd", prefer), compares("cpu", "Equal", "arm", prefer)
	for _, c := range []struct {
		name  string
		pod   *podplacement.Pod
		nodes [][]func(*node)
		want  []int64
	}{
		{"one that is tolerated does not count", pod(bySSD), [][]func(*node){{ssd}, {taints("disk", "hdd", prefer)}}, []int64{300, 0}},
		{"nor do several", pod(bySSD, byARM), [][]func(*node){nil, {ssd}, {ssd, arm}}, []int64{300, 300, 300}},
		{"the more are not tolerated, the less", pod(compares("team", "Equal", "red", prefer)), [][]func(*node){nil, {ssd}, {ssd, arm}}, []int64{300, 150, 0}},
		{"tolerations of NoSchedule do not count for them", pod(compares("disk", "Equal", "ssd", noSchedule)), [][]func(*node){nil, {taints("disk", "ssd", noSchedule)}, {ssd}}, []int64{300, 300, 0}},
		{"those without an effect do", pod(compares("disk", "Equal", "ssd", "")), [][]func(*node){{ssd}, {arm}}, []int64{300, 0}},
		{"a greater number", pod(compares("load", "Gt", "60", prefer)), [][]func(*node){{taints("load", "50", prefer)}, {taints("load", "70", prefer)}}, []int64{0, 300}},
		{"a lesser number", pod(compares("load", "Lt", "60", prefer)), [][]func(*node){{taints("load", "70", prefer)}, {taints("load", "50", prefer)}}, []int64{0, 300}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := with(t, rules{Numeric: true})
			for i, edits := range c.nodes {
				w.Put(worker(fmt.Sprint("n", i+1), edits...))
			}
			x := w.Explain(w.shape(c.pod), "pod")
			got := make([]int64, len(c.want))
			for _, n := range x.Nodes {
				got[n.Name[1]-'1'] = n.Score.Taints
			}
			require.Equal(t, c.want, got)
		})
	}
}

func TestScores(t *testing.T) {
	zone := func(name string) func(*node) { return label(corev1.LabelTopologyZone, name) }
	for _, c := range []struct {
		name  string
		pod   *podplacement.Pod
		nodes []*node
		world func(*world)
		want  string
	}{
		{name: "recording a07: PreferNoSchedule is avoided", pod: pod(), nodes: []*node{worker("n1", taints("k", "v", prefer)), worker("n2")}, want: "n2"},
		{name: "fewer PreferNoSchedule taints are better", pod: pod(), nodes: []*node{worker("n1", taints("k", "v", prefer), taints("l", "", prefer)), worker("n2", taints("k", "v", prefer))}, want: "n2"},
		{
			name: "PreferNoSchedule outweighs a busy node", pod: pod(asks("cpu", "1", "memory", "2Gi")), nodes: []*node{worker("n1", taints("k", "v", prefer)), worker("n2")}, want: "n2",
			world: func(w *world) { w.runs("n2", pod(asks("cpu", "3", "memory", "6Gi"))) },
		},
		{
			name: "the node with the most left", pod: pod(asks("cpu", "1", "memory", "2Gi")), nodes: []*node{worker("n1"), worker("n2")}, want: "n2",
			world: func(w *world) { w.runs("n1", pod(asks("cpu", "1", "memory", "2Gi"))) },
		},
		{
			name: "pods without requests count, too", pod: pod(), nodes: []*node{worker("n1"), worker("n2")}, want: "n2",
			world: func(w *world) { w.runs("n1", pod()) },
		},
		{name: "preferred affinity", pod: pod(prefers("disk", "ssd")), nodes: []*node{worker("n1"), worker("n2", label("disk", "ssd"))}, want: "n2"},
		{
			name: "pods of one owner are spread over zones", pod: pod(owned), nodes: []*node{worker("n1", zone("a")), worker("n2", zone("a")), worker("n3", zone("b"))}, want: "n3",
			world: func(w *world) { w.runs("n1", pod(owned)).runs("n3", pod(func(p *podplacement.Pod) { p.Labels = nil })) },
		},
		{
			name: "pods of one owner are spread over nodes", pod: pod(owned), nodes: []*node{worker("n1"), worker("n2")}, want: "n2",
			world: func(w *world) {
				other := pod(func(p *podplacement.Pod) { p.Labels = map[string]string{"app": "other"} })
				w.runs("n1", pod(owned)).runs("n2", other)
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := with(t, rules{}, c.nodes...)
			if c.world != nil {
				c.world(w)
			}
			require.Equal(t, c.want, w.goes(c.pod))
		})
	}
}

func TestTimedTolerationsAreAvoidedWhereAsked(t *testing.T) {
	bounded := pod(tolerates("k", noExecute, 30))
	n1, n2 := worker("n1", taints("k", "v", noExecute)), worker("n2", func(n *node) { n.Allocatable = amounts("cpu", "200m", "memory", "1Gi", "pods", "1") })
	t.Run("kube-scheduler chooses the emptier node, whatever its taint", func(t *testing.T) {
		w := with(t, rules{}, n1, n2)
		require.Equal(t, "n1", w.goes(bounded))
	})
	t.Run("leeward chooses the other while it has capacity", func(t *testing.T) {
		w := with(t, rules{AvoidTimed: true}, n1, n2)
		require.Equal(t, podplacement.Decision{Node: "n2"}, w.place(bounded))
		require.Equal(t, podplacement.Decision{Node: "n1", Timed: true}, w.place(bounded))
	})
	t.Run("a toleration without seconds beside it counts", func(t *testing.T) {
		w := with(t, rules{AvoidTimed: true}, n1, n2)
		require.Equal(t, "n1", w.goes(pod(tolerates("k", noExecute, 30), tolerates("k", noExecute))))
	})
}

func TestTopologySpread(t *testing.T) {
	zones := func(edits ...func(*node)) []*node {
		c := worker("n3", append([]func(*node){label("zone", "c")}, edits...)...)
		return []*node{worker("n1", label("zone", "a")), worker("n2", label("zone", "b")), c}
	}
	t.Run("pods go round", func(t *testing.T) {
		w := with(t, rules{}, zones()...)
		on := map[string]int{}
		for range 9 {
			on[w.place(pod(spreads("zone"))).Node]++
		}
		require.Equal(t, map[string]int{"n1": 3, "n2": 3, "n3": 3}, on)
	})
	t.Run("recording a25: a tainted zone counts unless taints are honoured", func(t *testing.T) {
		w := with(t, rules{}, zones(taints("k", "", noSchedule))...)
		require.NotEmpty(t, w.place(pod(spreads("zone"))).Node)
		require.NotEmpty(t, w.place(pod(spreads("zone"))).Node)
		require.Empty(t, w.place(pod(spreads("zone"))).Node)
		require.NotEmpty(t, w.place(pod(spreads("zone", honoringTaints))).Node)
	})
	t.Run("fewer domains than there must be", func(t *testing.T) {
		w := with(t, rules{}, zones()...)
		for range 3 {
			require.NotEmpty(t, w.place(pod(spreads("zone", atLeast(4)))).Node)
		}
		require.Empty(t, w.place(pod(spreads("zone", atLeast(4)))).Node)
		w.Put(worker("n4", label("zone", "d")))
		require.Equal(t, "n4", w.place(pod(spreads("zone", atLeast(4)))).Node)
	})
	t.Run("a terminating pod does not count", func(t *testing.T) {
		w := with(t, rules{}, zones()[:2]...).runs("n1", pod())
		w.Terminate("n1", w.shape(pod()))
		w.runs("n2", pod())
		require.Equal(t, "n1", w.goes(pod(spreads("zone"))))
		w.Remove("n1", w.shape(pod()), true)
		w.Remove("n2", w.shape(pod()), false)
		w.runs("n1", pod())
		require.Equal(t, "n2", w.goes(pod(spreads("zone"))))
	})
}

func TestRefusesABrokenSelector(t *testing.T) {
	f := podplacement.NewFleet()
	_, err := f.Shape(pod(spreads("zone", func(c *corev1.TopologySpreadConstraint) {
		c.LabelSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Bogus"}}}
	})))
	require.ErrorContains(t, err, `spec.topologySpreadConstraints[0].labelSelector: "Bogus" is not a valid label selector operator`)
	_, err = f.Shape(pod(requires(corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "a", Operator: "Bogus"}}})))
	require.ErrorContains(t, err, "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution: ")
	require.ErrorContains(t, err, "Bogus")
}

// A decision never goes to a node that a filter refuses, finds a node where there is one, and does not depend on the order in which
// nodes and pods became known.
func TestNeverBindsWhatAFilterRefuses(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var nodes []*node
		for i := range 1 + rng.IntN(150) {
			n := worker(fmt.Sprint("n", i), label("zone", fmt.Sprint(rng.IntN(4))))
			for _, key := range []string{"a", "b"} {
				if rng.IntN(3) == 0 {
					effects := []corev1.TaintEffect{noSchedule, noExecute, prefer}
					taints(key, "", effects[rng.IntN(3)])(n)
				}
			}
			n.Unschedulable = rng.IntN(8) == 0
			if rng.IntN(10) == 0 {
				delete(n.Labels, "zone")
			}
			nodes = append(nodes, n)
		}
		var kinds []*podplacement.Pod
		for range 5 {
			p := pod(asks("cpu", fmt.Sprint(rng.IntN(3))), func(p *podplacement.Pod) { p.Labels = map[string]string{"app": fmt.Sprint(rng.IntN(2))} })
			for _, maybe := range []edit{tolerates("a", ""), tolerates("b", noExecute, 5), selects("zone", "1"), spreads("zone"), owned, onNode("n0")} {
				if rng.IntN(3) == 0 {
					maybe(p)
				}
			}
			kinds = append(kinds, p)
		}
		r := rules{AvoidTimed: rng.IntN(2) == 0, NameTaints: rng.IntN(2) == 0}
		one := with(t, r, nodes...)
		rng.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
		other := with(t, r, nodes...)
		for i := range 40 {
			p := kinds[rng.IntN(len(kinds))]
			s := one.shape(p)
			refused := 0
			free := map[string]bool{}
			for _, n := range nodes {
				reasons, _ := one.Refusal(s, n.Name)
				free[n.Name] = len(reasons) == 0
				if len(reasons) > 0 {
					refused++
				}
			}
			d := one.place(p)
			require.Equal(t, d, other.place(p), "seed %d, pod %d: the order of nodes decided", seed, i)
			if d.Node == "" {
				require.Equal(t, len(nodes), refused, "seed %d, pod %d: %s", seed, i, d.Why)
				require.Contains(t, d.Why, fmt.Sprintf("0/%d nodes are available: ", len(nodes)))
			} else {
				require.True(t, free[d.Node], "seed %d, pod %d on %s", seed, i, d.Node)
			}
			if i%7 == 6 && d.Node != "" {
				for _, w := range []*world{one, other} {
					w.Remove(d.Node, w.shape(p), false)
				}
			}
		}
	}
}

func TestScoresAreExplainedByTheirParts(t *testing.T) {
	w := with(t, rules{}, worker("busy"), worker("free"), worker("soft", taints("a", "", prefer)), worker("tainted", taints("a", "", noSchedule)))
	w.runs("busy", pod(asks("cpu", "2", "memory", "1Gi")))
	x := w.Explain(w.shape(pod(asks("cpu", "1", "memory", "2Gi"), prefers(corev1.LabelHostname, "free"))), "pod")
	require.Equal(t, "free", x.Node)
	by := map[string]podplacement.NodeExplained{}
	for _, n := range x.Nodes {
		by[n.Name] = n
	}
	require.Equal(t, []string{"node(s) had untolerated taint(s)"}, by["tainted"].Refused)
	require.False(t, by["tainted"].Compared)
	require.Equal(t, podplacement.Score{Taints: 300, Affinity: 200, Free: 75, Balanced: 100}, by["free"].Score)
	require.Equal(t, podplacement.Score{Taints: 0, Free: 75, Balanced: 100}, by["soft"].Score)
	require.Less(t, by["busy"].Score.Free, by["free"].Score.Free)
	require.Less(t, by["busy"].Score.Balanced, by["free"].Score.Balanced)
	require.Equal(t, "no nodes available to schedule pods", with(t, rules{}).Explain(&podplacement.Shape{}, "pod").Why)
}

func TestADroppedNodeIsNotChosenAndItsPodsAreRemembered(t *testing.T) {
	w := with(t, rules{}, worker("n1", has("pods", "1")), worker("n2", has("pods", "1")))
	w.runs("n1", pod())
	require.Equal(t, "n2", w.place(pod()).Node)
	w.Drop("n1")
	require.Equal(t, 1, w.Len())
	require.False(t, w.Has("n1"))
	require.Empty(t, w.place(pod()).Node)
	w.Put(worker("n1", has("pods", "1")))
	require.Empty(t, w.place(pod()).Node, "the pod still runs there")
	w.Remove("n1", w.shape(pod()), false)
	require.Equal(t, "n1", w.place(pod()).Node)
}

// 5,000 nodes in 3 zones, a tenth of them tainted, 150,000 pods of 500 Deployments.
func BenchmarkPlace(b *testing.B) {
	for _, c := range []struct {
		name string
		pod  edit
	}{
		{"plain", func(*podplacement.Pod) {}},
		{"owned", owned},
		{"toleration", tolerates("k", "")},
		{"selector", selects(corev1.LabelTopologyZone, "1")},
		{"spread", spreads(corev1.LabelTopologyZone)},
		{"daemon", onNode("w2500")},
		{"impossible", asks("cpu", "100")},
	} {
		b.Run(c.name, func(b *testing.B) {
			w := with(b, rules{AvoidTimed: true})
			for i := range 5000 {
				n := worker(fmt.Sprintf("w%04d", i), label(corev1.LabelTopologyZone, fmt.Sprint(i%3)), has("cpu", "32"), has("memory", "64Gi"))
				if i%10 == 0 {
					taints("k", "", noExecute)(n)
				}
				w.Put(n)
			}
			var shapes []*podplacement.Shape
			for i := range 500 {
				p := pod(asks("cpu", "100m", "memory", "128Mi"), func(p *podplacement.Pod) { p.Labels = map[string]string{"app": fmt.Sprint("app", i)} }, c.pod)
				for j := range p.Spec.TopologySpreadConstraints {
					p.Spec.TopologySpreadConstraints[j].LabelSelector.MatchLabels = p.Labels
				}
				shapes = append(shapes, w.shape(p))
			}
			plain := w.shape(pod(asks("cpu", "100m", "memory", "128Mi")))
			for i := range 150_000 {
				s := shapes[i%500]
				if c.name == "daemon" || c.name == "impossible" {
					s = plain
				}
				w.Bind(fmt.Sprintf("w%04d", (i/500+i*7)%5000), s)
			}
			i := 0
			for b.Loop() {
				s := shapes[i/100%500]
				d := w.Place(s, "pod")
				if d.Node != "" {
					w.Bind(d.Node, s)
					w.Remove(d.Node, s, false)
				}
				i++
			}
		})
	}
}

func TestANodeWhoseTaintIsToleratedNoLongerTakesNothing(t *testing.T) {
	added := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	timed := func(n *node) {
		n.Taints = append(n.Taints, corev1.Taint{Key: "k", Effect: noExecute, TimeAdded: &added})
	}
	for name, c := range map[string]struct {
		rules rules
		after time.Duration
		edits []edit
		want  string
	}{
		"its time is not over":     {rules{Exact: true}, 29 * time.Second, []edit{tolerates("k", noExecute, 30)}, "n1"},
		"its time is over":         {rules{Exact: true}, 30 * time.Second, []edit{tolerates("k", noExecute, 30)}, ""},
		"another one ends before":  {rules{Exact: true}, 5 * time.Second, []edit{tolerates("k", noExecute, 30), tolerates("", "", 5)}, ""},
		"it has no time":           {rules{Exact: true}, 0, []edit{tolerates("k", noExecute, 0)}, ""},
		"it is tolerated for good": {rules{Exact: true}, time.Hour, []edit{tolerates("k", noExecute)}, "n1"},
		"Kubernetes does not look": {rules{}, time.Hour, []edit{tolerates("k", noExecute, 30)}, "n1"},
	} {
		t.Run(name, func(t *testing.T) {
			f := podplacement.NewFleet()
			f.Put(worker("n1", timed))
			p := podplacement.NewPlanner(f, c.rules, 1)
			s, err := f.Shape(pod(c.edits...))
			require.NoError(t, err)
			p.At(added.Time) // what it found then counts no longer
			p.Takes(s, "n1")
			p.At(added.Add(c.after))
			d := p.Place(s, "p")
			require.Equal(t, c.want, d.Node)
			require.Equal(t, c.want != "", p.Takes(s, "n1"))
			if c.want == "" {
				require.Contains(t, d.Why, "1 node(s) had taint(s) that were tolerated until now")
			}
		})
	}
}
