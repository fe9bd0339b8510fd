package nodes

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/manifest"
	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/world"
	"leeward/runtime/kernel"
)

// phase is what a recording does not tell: how far the script is behind the passes of the health check, and what is random.
type phase struct {
	behind time.Duration
	// beat is how far the renewals of Leases are behind the first pass.
	beat time.Duration
	// apart is set where each kubelet renews its Lease at an instant of its own, which the seed says.
	apart bool
	seed  uint64
}

// run is one replay of a recording.
type run struct {
	t *testing.T
	*recording
	world *world.World
	// begins is when the script does.
	begins time.Time
	// pods are the names that pods have here, by those of the recording: of each owner in the order of their creation.
	pods    map[string][]messages.PodName
	phase   phase
	seen    int
	refused []refusal
}

// replayed runs a recording in a phase.
func (r *recording) replayed(t *testing.T, p phase) *account {
	t.Helper()
	settings := r.settings(t)
	kubelet := messages.KubeletBehaviour{LeasePeriod: seconds(r.Script.Kubelet.LeaseRenewSeconds), LeasePhase: p.apart}
	kubelets := map[messages.NodeName]messages.KubeletBehaviour{}
	for _, n := range r.Script.Nodes {
		kubelets[messages.NodeName(n.Name)] = kubelet
	}
	for i := range r.Script.Events {
		if n := r.Script.Events[i].NewNode; n != nil {
			kubelets[messages.NodeName(n.Name)] = kubelet
		}
	}
	start := world.Start.Add(-p.beat) // Leases are renewed at whole periods of the clock, passes count from the start
	w := world.New(world.Config{Settings: settings, Start: start, Seed: p.seed, Order: kernel.Seeded, Nodes: true, Kubelets: kubelets})
	defer w.Close()
	begins := start.Add(2*settings.NodeMonitorPeriod + p.behind)
	x := &run{t: t, recording: r, world: w, begins: begins, phase: p, pods: map[string][]messages.PodName{}}
	x.prepare()
	x.until(begins)
	for i := range r.Script.Events {
		e := &r.Script.Events[i]
		x.until(begins.Add(seconds(e.AtSeconds)))
		x.do(e)
	}
	x.until(begins.Add(seconds(r.Script.EndSeconds)))
	return x.account()
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// until lets time pass to an instant, whose requests are served.
func (x *run) until(to time.Time) {
	x.settle(x.world.Now())
	for next, more := x.world.Next(); more && !next.After(to); next, more = x.world.Next() {
		x.settle(next)
	}
	x.settle(to)
}

func (x *run) settle(at time.Time) {
	require.NoError(x.t, x.world.Settle(at))
	for _, e := range x.world.Journal().Since(x.seen) {
		x.seen++
		if f, is := e.Fact.(*messages.PodCreated); is {
			owner := x.ownerOf(f.Pod, f.Owner)
			x.pods[owner] = append(x.pods[owner], f.Pod)
		}
	}
}

// ownerOf is what a recording calls pods: by their owner, or by their own name where they have one.
func (x *run) ownerOf(pod messages.PodName, owner messages.OwnerName) string {
	_, name := pod.Split()
	kind, _, _ := strings.Cut(string(owner), "/")
	if owner == "" || kind == "statefulset" {
		return name
	}
	return string(owner[strings.LastIndex(string(owner), "/")+1:])
}

// pod finds the pod that a recording names: p, web/0 or p#2.
func (x *run) pod(recorded string) messages.PodName {
	name, ordinal := recorded, 0
	if owner, number, owned := strings.Cut(recorded, "/"); owned {
		name = owner
		_, err := fmt.Sscan(number, &ordinal)
		require.NoError(x.t, err)
	} else if base, number, again := strings.Cut(recorded, "#"); again {
		name = base
		_, err := fmt.Sscan(number, &ordinal)
		require.NoError(x.t, err)
		ordinal--
	} else {
		ordinal = len(x.pods[name]) - 1
	}
	require.Greater(x.t, len(x.pods[name]), ordinal, "there is no pod %s yet", recorded)
	return x.pods[name][ordinal]
}

// prepare makes everything as it was when the script began.
func (x *run) prepare() {
	for _, n := range x.Script.Nodes {
		require.NoError(x.t, x.world.Nodes().Settle(x.node(&n)))
	}
	owners := map[string]api.Object{}
	for _, data := range x.Script.Objects {
		o := x.decode(data)
		if _, is := o.(*corev1.Pod); !is {
			owners[o.GetName()] = o
			x.apply(o)
			if d, is := o.(*appsv1.Deployment); is {
				x.apply(recordedSet(d))
			}
		}
	}
	for i := range x.Observed.InitialPods {
		require.NoError(x.t, x.world.Nodes().Settle(x.initialPod(&x.Observed.InitialPods[i], owners)))
	}
}

func (x *run) apply(o api.Object) { require.NoError(x.t, x.world.Apply(api.Copy(o))) }

// decode reads a manifest; its namespace is default.
func (x *run) decode(data json.RawMessage) api.Object {
	docs, problems := manifest.NewDecoder(manifest.FleetKinds()).Decode("script.json", data)
	require.Empty(x.t, problems)
	o := docs[0].Object
	if o.GetNamespace() == "" && o.GetObjectKind().GroupVersionKind().Kind != "Namespace" {
		o.SetNamespace(metav1.NamespaceDefault)
	}
	return o
}

// node is a node as it was at first, with the taints that it had then.
func (x *run) node(n *scriptNode) *corev1.Node {
	seen := x.Observed.InitialNodes[n.Name]
	o := newNode(n)
	o.Spec.Unschedulable = seen.Unschedulable
	for _, text := range seen.Taints {
		changes, err := taint.Parse([]string{strings.TrimSuffix(text, "@timeAdded")})
		require.NoError(x.t, err)
		t := changes.Add[0]
		if strings.HasSuffix(text, "@timeAdded") {
			t.TimeAdded = &metav1.Time{Time: x.world.Now()}
		}
		o.Spec.Taints = append(o.Spec.Taints, t)
	}
	for _, text := range seen.Conditions {
		kind, status, _ := strings.Cut(text, "=")
		o.Status.Conditions = append(o.Status.Conditions, corev1.NodeCondition{Type: corev1.NodeConditionType(kind), Status: corev1.ConditionStatus(status)})
	}
	return o
}

// newNode is a node without taints and conditions.
func newNode(n *scriptNode) *corev1.Node {
	o := &corev1.Node{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}, ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: maps.Clone(n.Labels)}}
	if o.Labels == nil {
		o.Labels = map[string]string{}
	}
	o.Labels[corev1.LabelHostname] = n.Name
	o.Status.Allocatable = corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("32"), corev1.ResourceMemory: resource.MustParse("128Gi"), corev1.ResourcePods: resource.MustParse("1100"),
	}
	for name, amount := range n.Capacity {
		o.Status.Allocatable[corev1.ResourceName(name)] = resource.MustParse(amount)
	}
	o.Status.Capacity = o.Status.Allocatable
	return o
}

// initialPod is a pod as it was at first: of an owner, or of its own.
func (x *run) initialPod(s *sighting, owners map[string]api.Object) *corev1.Pod {
	name, ordinal, owned := strings.Cut(s.Name, "/")
	var p *corev1.Pod
	switch owner := owners[x.ownerNamed(s.Name, owners)]; {
	case owner != nil:
		p = x.podOf(owner, name)
		if owned {
			p.Name += "-initial-" + ordinal
		}
	default:
		p = x.ownPod(name)
	}
	p.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
	p.Namespace, p.UID = metav1.NamespaceDefault, types.UID(s.Name)
	p.Spec.NodeName = s.Node
	p.Spec.Tolerations = x.tolerations(s)
	if s.Node != "" {
		p.Status.Phase = corev1.PodPhase(s.Phase)
		since := metav1.Time{Time: x.world.Now().Add(-time.Duration(x.draw(s.Name)) * time.Second)} // who was ready first is not recorded
		p.CreationTimestamp = since
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: since}}
		if s.Ready {
			p.Status.Conditions[0].Status = corev1.ConditionTrue
		}
	}
	return p
}

// draw is a number of chance for a word, the same every time.
func (x *run) draw(word string) uint64 {
	h := sha256.Sum256(fmt.Appendf(nil, "%v %s", x.phase, word))
	return uint64(h[0])
}

// ownerNamed is the owner of a pod of a recording: web of web/0, db of db-0.
func (x *run) ownerNamed(pod string, owners map[string]api.Object) string {
	if name, _, owned := strings.Cut(pod, "/"); owned {
		return strings.TrimSuffix(name, "-RS")
	}
	if i := strings.LastIndex(pod, "-"); i > 0 && owners[pod[:i]] != nil && owners[pod[:i]].GetObjectKind().GroupVersionKind().Kind == "StatefulSet" {
		return pod[:i]
	}
	return ""
}

// tolerations are those that a pod was seen with.
func (x *run) tolerations(s *sighting) []corev1.Toleration {
	if s.TolerationsAs == "" {
		return s.Tolerations
	}
	i := slices.IndexFunc(x.Observed.InitialPods, func(o sighting) bool { return o.Name == s.TolerationsAs })
	require.GreaterOrEqual(x.t, i, 0)
	return x.Observed.InitialPods[i].Tolerations
}

// podOf is a pod of an owner's template.
func (x *run) podOf(owner api.Object, name string) *corev1.Pod {
	data, err := json.Marshal(owner)
	require.NoError(x.t, err)
	var o struct {
		Spec struct{ Template corev1.PodTemplateSpec }
	}
	require.NoError(x.t, json.Unmarshal(data, &o))
	yes, kind := true, owner.GetObjectKind().GroupVersionKind().Kind
	ref := metav1.OwnerReference{APIVersion: "apps/v1", Kind: kind, Name: owner.GetName(), UID: "recorded", Controller: &yes}
	labels := maps.Clone(o.Spec.Template.Labels)
	if d, is := owner.(*appsv1.Deployment); is {
		set := recordedSet(d)
		ref.Kind, ref.Name, labels = messages.KindNameReplicaSet, set.Name, set.Spec.Template.Labels
		name = set.Name
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, Finalizers: o.Spec.Template.Finalizers, OwnerReferences: []metav1.OwnerReference{ref}},
		Spec:       o.Spec.Template.Spec,
	}
}

// recordedSet is the ReplicaSet that a Deployment had at first. A recording does not tell its hash.
func recordedSet(d *appsv1.Deployment) *appsv1.ReplicaSet {
	yes := true
	s := &appsv1.ReplicaSet{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: messages.KindNameReplicaSet}, ObjectMeta: metav1.ObjectMeta{
		Namespace: d.Namespace, Name: d.Name + "-recorded",
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: messages.KindNameDeployment, Name: d.Name, UID: "recorded", Controller: &yes}},
	}}
	d.Spec.Template.DeepCopyInto(&s.Spec.Template)
	s.Spec.Template.Labels[appsv1.DefaultDeploymentUniqueLabelKey] = "recorded"
	s.Spec.Selector = &metav1.LabelSelector{MatchLabels: s.Spec.Template.Labels}
	return s
}

// ownPod is a pod of the script.
func (x *run) ownPod(name string) *corev1.Pod {
	for _, data := range x.Script.Objects {
		if p, is := x.decode(data).(*corev1.Pod); is && p.Name == name {
			return p
		}
	}
	require.Fail(x.t, "the script has no pod "+name)
	return nil
}

// do does one thing of the script.
func (x *run) do(e *event) {
	tier := x.world.Nodes()
	edit := func(m messages.EditNode) {
		m.Node, m.By = messages.NodeName(e.Node), "by a user"
		require.NoError(x.t, tier.Edit(&m))
	}
	yes, no := true, false
	switch e.Action {
	case "taint":
		edit(messages.EditNode{Taint: []corev1.Taint{*e.Taint}})
	case "untaint":
		edit(messages.EditNode{Untaint: []corev1.Taint{*e.Taint}})
	case "cordon":
		edit(messages.EditNode{Unschedulable: &yes})
	case "uncordon":
		edit(messages.EditNode{Unschedulable: &no})
	case "condition":
		require.NoError(x.t, tier.Report(messages.NodeName(e.Node), corev1.NodeCondition{Type: corev1.NodeConditionType(e.Condition), Status: corev1.ConditionStatus(e.Status)}))
	case "stopHeartbeat":
		for _, n := range e.Nodes {
			require.NoError(x.t, tier.Stop(messages.NodeName(n)))
		}
	case "startHeartbeat":
		for _, n := range e.Nodes {
			require.NoError(x.t, tier.Start(messages.NodeName(n)))
		}
	case "setTaints":
		n := *tier.Node(messages.NodeName(e.Node))
		n.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}
		n.Spec.Taints = e.Taints
		x.attempt(e, &n)
	case "createPod", "createObject", "replaceObject":
		x.attempt(e, x.decode(e.Object))
	case "setTolerations":
		p := *tier.Pod(x.pod(e.Pod))
		p.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
		p.Spec.Tolerations = e.Tolerations
		x.attempt(e, &p)
	case "deletePod":
		tier.DeletePod(x.pod(e.Pod), e.Grace)
	case "scale":
		require.NoError(x.t, x.world.Scale(api.Key{APIVersion: "apps/v1", Kind: e.Kind, Namespace: metav1.NamespaceDefault, Name: e.Name}, e.Replicas))
	case "restartControllerManager":
		x.settle(x.world.Now())
		x.world.StopControllers()
		x.startControllers()
	case "startControllerManager":
		x.startControllers()
	case "stopControllerManager":
		x.settle(x.world.Now())
		x.world.StopControllers()
	case "createNode":
		x.register(e.NewNode)
	case "deleteNode":
		require.True(x.t, x.world.Delete(api.Key{APIVersion: "v1", Kind: "Node", Name: e.Node}))
	case "labelNode":
		label(e, edit)
	case "deleteObject":
		require.True(x.t, x.world.Delete(api.Key{APIVersion: "apps/v1", Kind: e.Kind, Namespace: metav1.NamespaceDefault, Name: e.Name}))
	default:
		require.Fail(x.t, "unknown action "+e.Action)
	}
}

// startControllers starts the controllers, which takes them some tenths of a second.
func (x *run) startControllers() {
	x.until(x.world.Now().Add(time.Duration(x.draw("controllers")) * 2 * time.Millisecond))
	x.world.Restart()
}

// register has a kubelet register its node, and post its status. A silent one says nothing of Ready, and no more.
func (x *run) register(n *scriptNode) {
	o := newNode(n)
	o.Spec.Taints = n.Taints
	silent := n.Posts == "silent"
	of, status := corev1.NodeReady, corev1.ConditionStatus(cmp.Or(n.Ready, "True"))
	if silent {
		of, status = corev1.NodeNetworkUnavailable, corev1.ConditionFalse
	}
	o.Status.Conditions = []corev1.NodeCondition{{Type: of, Status: status}}
	x.apply(o)
	if x.settle(x.world.Now()); silent {
		require.NoError(x.t, x.world.Nodes().Stop(messages.NodeName(n.Name)))
	}
}

// label changes the labels of a node.
func label(e *event, edit func(messages.EditNode)) {
	m := messages.EditNode{Label: map[string]string{}}
	for key, value := range e.Labels {
		if value == nil {
			m.Unlabel = append(m.Unlabel, key)
		} else {
			m.Label[key] = *value
		}
	}
	edit(m)
}

// attempt applies an object, which may be refused.
func (x *run) attempt(e *event, o api.Object) {
	x.settle(x.world.Now())
	var rejected *world.Rejected
	err := x.world.Apply(api.Copy(o))
	if !errors.As(err, &rejected) {
		require.NoError(x.t, err)
		return
	}
	reasons := make([]string, len(rejected.Problems))
	for i, p := range rejected.Problems {
		reasons[i] = p.Error()
	}
	why := reasons[0]
	if len(reasons) > 1 {
		why = "[" + strings.Join(reasons, ", ") + "]"
	}
	x.refused = append(x.refused, refusal{e.AtSeconds, why})
}

// settings are those of Kubernetes, with the flags of the recording.
func (r *recording) settings(t *testing.T) messages.Settings {
	settings, err := config.Profile("kubernetes")
	require.NoError(t, err)
	fields := map[string]string{
		"node-monitor-period": "nodeMonitorPeriod", "node-monitor-grace-period": "nodeMonitorGracePeriod", "node-startup-grace-period": "nodeStartupGracePeriod",
		"node-eviction-rate": "nodeEvictionRate", "secondary-node-eviction-rate": "secondaryNodeEvictionRate",
		"large-cluster-size-threshold": "largeClusterSizeThreshold", "unhealthy-zone-threshold": "unhealthyZoneThreshold",
		"default-not-ready-toleration-seconds": "podNotReadyTolerationSeconds", "default-unreachable-toleration-seconds": "podUnreachableTolerationSeconds",
		"kube-api-qps": "kubeAPIQPS", "kube-api-burst": "kubeAPIBurst",
	}
	for _, component := range slices.Sorted(maps.Keys(r.Script.Flags)) {
		for _, flag := range r.Script.Flags[component] {
			name, value, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
			if field := fields[name]; field != "" {
				require.NoError(t, config.Set(&settings, field, value), flag)
			} else if name == "feature-gates" {
				settings.NumericTolerations = strings.Contains(value, "TaintTolerationComparisonOperators=true")
			} else if name == "enable-admission-plugins" {
				settings.PodTolerationRestriction = strings.Contains(value, "PodTolerationRestriction")
				settings.ExtendedResourceToleration = strings.Contains(value, "ExtendedResourceToleration")
			}
		}
	}
	return settings
}

// account tells what happened since the script began.
func (x *run) account() *account {
	a := &account{nodes: map[string]history{}, refused: x.refused}
	taints := map[string][]corev1.Taint{}
	lives, order := map[types.UID]*life{}, []types.UID{}
	current := map[messages.PodName]types.UID{}
	count := map[string]int{}
	for _, e := range x.world.Journal().Entries() {
		at := max(0, e.At.Sub(x.begins).Seconds())
		x.follow(a, taints, at, e.Fact)
		f, is := e.Fact.(messages.AboutPod)
		if !is {
			continue
		}
		if c, is := f.(*messages.PodCreated); is {
			owner := x.ownerOf(c.Pod, c.Owner)
			count[owner]++
			id := types.UID(fmt.Sprint(len(order)))
			current[c.Pod], order = id, append(order, id)
			if _, local := c.Pod.Split(); owner == local && count[owner] > 1 {
				owner += fmt.Sprintf("#%d", count[owner])
			}
			lives[id] = &life{owner: owner, created: at, bound: never, running: never, condemned: never, gone: never, phase: "Pending"}
			if c.Node != "" {
				lives[id].bound, lives[id].node = at, string(c.Node)
			}
			if initial := x.initial(c.Pod); initial != nil && !e.At.After(x.begins) && initial.Phase == "Running" {
				lives[id].running, lives[id].phase, lives[id].ready = at, "Running", initial.Ready
			}
		}
		lives[current[f.AboutPod()]].follow(at, e.Fact)
	}
	for _, id := range order {
		a.pods = append(a.pods, *lives[id])
	}
	return a
}

// initial is what was first seen of a pod, nil for one that came later.
func (x *run) initial(pod messages.PodName) *sighting {
	_, name := pod.Split()
	for i := range x.Observed.InitialPods {
		s := &x.Observed.InitialPods[i]
		owner, ordinal, owned := strings.Cut(s.Name, "/")
		if s.Name == name || owned && (name == owner+"-initial-"+ordinal || name == owner+"-recorded-initial-"+ordinal) {
			return s
		}
	}
	return nil
}

// follow takes one fact into a life.
func (l *life) follow(at float64, f messages.Fact) {
	switch f := f.(type) {
	case *messages.PodBound:
		l.bound, l.node = at, string(f.Node)
	case *messages.PodUnschedulable:
		l.unschedulable = true
	case *messages.PodPhaseChanged:
		l.ready = f.Ready
		if l.phase = string(f.Phase); l.phase == "Running" && l.running == never {
			l.running = at
		}
		if strings.HasSuffix(f.Reason, string(messages.NodeMissing)) {
			l.condemned, l.why = at, "DeletionByPodGC"
		}
	case *messages.PodEvicted:
		l.condemned, l.why = cmp.Or(max(l.condemned, 0), at), "DeletionByTaintManager"
	case *messages.PodDeleted:
		l.gone = at
	}
}

// registeredWith are the taints that a node registered with: one that came after the beginning counts as not ready as yet.
func (x *run) registeredWith(name string, at float64) []corev1.Taint {
	for i := range x.Script.Events {
		if n := x.Script.Events[i].NewNode; n != nil && n.Name == name && at > 0 {
			return append(slices.Clone(n.Taints), corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule})
		}
	}
	for _, n := range x.Script.Nodes {
		if n.Name == name {
			return x.node(&n).Spec.Taints
		}
	}
	return nil
}

// follow takes the taints of nodes from a fact.
func (x *run) follow(a *account, taints map[string][]corev1.Taint, at float64, f messages.Fact) {
	var node string
	switch f := f.(type) {
	case *messages.NodeRegistered:
		node = string(f.Node)
		taints[node] = x.registeredWith(node, at)
	case *messages.NodeTaintAdded:
		node = string(f.Node)
		taints[node], _ = taint.Add(taints[node], f.Taint)
	case *messages.NodeTaintRemoved:
		node = string(f.Node)
		taints[node], _ = taint.Remove(taints[node], f.Taint.Key, f.Taint.Effect)
	default:
		return
	}
	texts := make([]string, len(taints[node]))
	for i, t := range taints[node] {
		texts[i] = taint.String(&t)
		if t.TimeAdded != nil {
			texts[i] += "@timeAdded"
		}
	}
	a.nodes[node] = a.nodes[node].settle(at, inOrder(texts))
}
