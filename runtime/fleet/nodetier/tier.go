// Package nodetier runs the nodes and pods of one Kubernetes cluster in a kernel that others may use, too: the API server that keeps
// them, the kubelets, the controllers of nodes and pods, the owners of pods, and the scheduler. Objects and edits go in as users would
// apply them; facts come out.
package nodetier

import (
	"fmt"
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"

	"leeward/actors/apiclient"
	"leeward/actors/apiserver"
	"leeward/actors/kubelet"
	"leeward/actors/node"
	"leeward/actors/nodelifecycle"
	"leeward/actors/podeviction"
	"leeward/actors/podgc"
	"leeward/actors/podscheduler"
	"leeward/actors/rules/draw"
	"leeward/actors/rules/nodelife"
	"leeward/actors/rules/podplacement"
	"leeward/actors/zone"
	"leeward/messages"
	"leeward/messages/admission"
	"leeward/runtime/kernel"
)

// Tier is the nodes and pods of one cluster. It belongs to the goroutine of its kernel, which must have one lane: machines are hosted when the
// facts of their objects come, before anything is sent to them.
type Tier struct {
	kernel   *kernel.Kernel
	settings *messages.Settings
	seed     uint64
	kubelets map[messages.NodeName]messages.KubeletBehaviour
	follows  bool
	server   *apiserver.Server
	// scheduler is the machine of its address, for ExplainPod.
	scheduler *podscheduler.PodScheduler
	owners    map[messages.OwnerName]*messages.OwnerSpec
	// sets are the ReplicaSets of Deployments that are known as objects.
	sets map[messages.OwnerName][]*appsv1.ReplicaSet
	// rolled are the owners whose template was replaced.
	rolled map[messages.OwnerName]bool
	// machines are those of nodes that no MachineSet made here.
	machines map[messages.NodeName]machine
	// budgets are the PodDisruptionBudgets that there are.
	budgets map[messages.PodBudgetName]bool
	// classes are the PriorityClasses.
	classes map[string]*schedulingv1.PriorityClass
	// zones are those that have an actor; ended are the actors to stop once the running instant is settled.
	zones map[messages.ZoneName]bool
	ended map[messages.Address]bool
	// epoch is when the controllers started last: passes and polls count from it.
	epoch time.Time
	// down: the controllers are.
	down bool
	// annotations are those of each namespace.
	annotations map[string]map[string]string
}

// Config is how a tier runs.
type Config struct {
	Settings *messages.Settings
	// Seed picks what Kubernetes leaves to chance.
	Seed uint64
	// Start is when the controllers start.
	Start time.Time
	// Kubelets says how kubelets behave; those that it does not name have the zero value.
	Kubelets map[messages.NodeName]messages.KubeletBehaviour
	// Follows is set where the objects are those of another API server, and kubelets are real: see apiserver.Rules.
	Follows bool
}

// New starts a tier without nodes and pods.
func New(k *kernel.Kernel, c Config) *Tier {
	t := &Tier{
		kernel: k, settings: c.Settings, seed: c.Seed, kubelets: c.Kubelets, follows: c.Follows, epoch: c.Start,
		owners: map[messages.OwnerName]*messages.OwnerSpec{}, rolled: map[messages.OwnerName]bool{}, sets: map[messages.OwnerName][]*appsv1.ReplicaSet{}, zones: map[messages.ZoneName]bool{}, ended: map[messages.Address]bool{},
		machines:    map[messages.NodeName]machine{},
		annotations: map[string]map[string]string{}, budgets: map[messages.PodBudgetName]bool{}, classes: map[string]*schedulingv1.PriorityClass{},
	}
	t.server = apiserver.New(apiserver.Rules{
		AdmitNode:   func(n *corev1.Node) { admission.AdmitNode(n, t.settings) },
		AdmitPod:    func(p *corev1.Pod) error { return t.Admit(p, true) },
		StampTaints: t.settings.ExactPodDeadlines, Follows: c.Follows,
	})
	host[messages.ToAPIServer](t, serverAt, t.server)
	t.scheduler = podscheduler.New(podplacement.Rules{
		NameTaints: t.settings.SchedulerNamesTaints, AvoidTimed: t.settings.AvoidTimedTolerations, Exact: t.settings.ExactPodDeadlines, Numeric: t.settings.NumericTolerations,
	}, t.seed)
	host[messages.ToPodScheduler](t, messages.Address{Kind: messages.KindPodScheduler}, t.scheduler)
	s := t.settings
	host[messages.ToNodeLifecycle](t, at(messages.KindNodeLifecycle, ""), nodelifecycle.New(nodelifecycle.Rules{
		Period: s.NodeMonitorPeriod, Epoch: t.epoch, Lasts: t.passLasts(), Starts: t.firstPassLasts(), QPS: s.KubeAPIQPS, Burst: s.KubeAPIBurst,
		Limits: nodelife.Limits{
			Rate: s.NodeEvictionRate, SecondaryRate: s.SecondaryNodeEvictionRate, LargeCluster: s.LargeClusterSizeThreshold,
			Threshold: float32(s.UnhealthyZoneThreshold),
		},
	}))
	t.hostClient()
	t.hostPodGC()
	return t
}

var serverAt = messages.Address{Kind: messages.KindAPIServer}

// client is the user agent of the controller that evicts pods.
const client messages.ClientName = "taint-eviction-controller"

func host[M messages.Message](t *Tier, at messages.Address, m kernel.Machine[M]) {
	if err := kernel.Host(t.kernel, at, m); err != nil {
		panic(fmt.Sprintf("node tier: %v", err)) // it never uses an address twice
	}
}

func at(kind messages.Kind, name string) messages.Address {
	return messages.Address{Kind: kind, Name: name}
}

// hostClient starts the client of the controller that evicts pods.
func (t *Tier) hostClient() {
	host[messages.ToAPIClient](t, at(messages.KindAPIClient, string(client)), apiclient.New(apiclient.Limits{QPS: t.settings.KubeAPIQPS, Burst: t.settings.KubeAPIBurst}))
}

// hostPodGC starts the pod garbage collector.
func (t *Tier) hostPodGC() {
	host[messages.ToPodGC](t, at(messages.KindPodGC, ""), podgc.New(podgc.Rules{Period: t.settings.PodGCPeriod, Epoch: t.epoch}))
}

// Record takes a fact of the tier: whatever it makes gets an actor, and what it ends loses it once the instant is settled.
func (t *Tier) Record(f messages.Fact) {
	switch f := f.(type) {
	case *messages.NodeRegistered:
		t.nodeRegistered(f)
	case *messages.NodeLabelsChanged:
		if n := t.server.Node(f.Node); n != nil { // it may have been deleted in the same step
			t.ensureZone(messages.ZoneName(nodelife.ZoneOf(n.Labels).String()))
		}
	case *messages.NodeDeleted:
		t.ended[at(messages.KindNode, string(f.Node))] = true
		t.ended[at(messages.KindKubelet, string(f.Node))] = true
	case *messages.PodCreated:
		if t.down {
			return
		}
		t.revive(at(messages.KindPodEviction, string(f.Pod)), func(a messages.Address) {
			host[messages.ToPodEviction](t, a, podeviction.New(f.Pod, podeviction.RulesOf(t.settings, client)))
		})
	case *messages.PodDeleted:
		t.ended[at(messages.KindPodEviction, string(f.Pod))] = true
	}
}

// revive has an actor not end, or starts it where there is none.
func (t *Tier) revive(a messages.Address, start func(messages.Address)) {
	delete(t.ended, a)
	if !t.kernel.Has(a) {
		start(a)
	}
}

func (t *Tier) nodeRegistered(f *messages.NodeRegistered) {
	t.ensureZone(f.Zone)
	t.revive(at(messages.KindNode, string(f.Node)), func(a messages.Address) {
		host[messages.ToNode](t, a, t.node(f.Node))
		t.stayDown(a)
	})
	if t.follows {
		return
	}
	t.revive(at(messages.KindKubelet, string(f.Node)), func(a messages.Address) {
		host[messages.ToKubelet](t, a, kubelet.New(f.Node, t.seed))
		t.kernel.Post(a, &messages.KubeletConfigured{Behaviour: t.kubelets[f.Node]})
	})
	n := t.server.Node(f.Node)
	if n == nil {
		return // it was deleted in the same step
	}
	conditions := n.Status.Conditions
	if len(conditions) == 0 {
		conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", Message: "kubelet is posting ready status"}}
	}
	t.kernel.Post(at(messages.KindKubelet, string(f.Node)), &messages.ConditionsObserved{Conditions: conditions})
}

// stayDown has a controller that is made while they are down wait for the others.
func (t *Tier) stayDown(a messages.Address) {
	if t.down {
		t.kernel.Post(a, &messages.ControllersStopped{})
	}
}

func (t *Tier) node(name messages.NodeName) *node.Node {
	s := t.settings
	return node.New(name, node.Rules{
		AtPasses: s.NodeMonitorPeriod > 0, Grace: s.NodeMonitorGracePeriod, StartupGrace: s.NodeStartupGracePeriod,
		KeepTaintsOverRestart: s.NodeTaintsSurviveRestart,
	})
}

// ensureZone starts a zone that has no actor yet.
func (t *Tier) ensureZone(name messages.ZoneName) {
	if t.zones[name] {
		return
	}
	t.zones[name] = true
	rules := zone.Rules{Rate: t.settings.NodeEvictionRate, Epoch: t.epoch, Sticky: !t.settings.ZoneRateRecovers}
	if t.settings.NodeMonitorPeriod > 0 {
		rules.Poll, rules.Write, rules.Epoch = poll, write, t.epoch.Add(poll/2)
		rules.Shuffled, rules.Seed = true, t.seed
		rules.Behind = poll/2 + time.Duration(draw.Hash(t.seed, string(name))%2)*write
	}
	a := at(messages.KindZone, string(name))
	host[messages.ToZone](t, a, zone.New(name, rules))
	t.stayDown(a)
}

// poll is how often Kubernetes looks at the queue of a zone; polls are at no fixed distance behind health passes there, and at half a period
// here. Source: nodeEvictionPeriod of the node lifecycle controller.
const poll = 100 * time.Millisecond

// write is how long a request of a controller takes. Source: the recordings of a control plane on one machine.
const write = 10 * time.Millisecond

// passLasts is how long a health pass takes. Kubernetes writes a status for each node that is silent, which takes some hundredths of a second here
// and there: for one seed in four a zone looks at its queue meanwhile, once or more often, and taints nodes although all zones are about to count
// as disrupted. The hash is mixed: of one that is not, the low bits say how the first pass of a restart goes, too.
func (t *Tier) passLasts() time.Duration {
	chance := draw.Mix(draw.Hash(t.seed, "health passes"))
	if t.settings.NodeMonitorPeriod <= 0 || chance%4 != 0 {
		return 0
	}
	return poll/2 + write<<(chance/4%6)
}

// firstPassLasts is how long the first pass of controllers that restarted takes: for three seeds in four so long that zones look at their queues
// before they are assessed, some or all of them. Recorded, too: nearly every start beside disrupted zones taints a node.
func (t *Tier) firstPassLasts() time.Duration {
	switch draw.Hash(t.seed, "first health pass") % 4 {
	case 0:
		return 0
	case 1:
		return poll
	default:
		return poll/2 + write/2
	}
}

// Settled ends the actors of what does not exist any more. The host calls it when an instant is settled.
func (t *Tier) Settled() {
	for a := range t.ended { // order-free: each only ends
		t.kernel.Stop(a)
	}
	clear(t.ended)
}

// StopControllers has the controllers do nothing until Restart. The API server, the kubelets and the scheduler go on.
func (t *Tier) StopControllers() {
	t.down = true
	t.kernel.Stop(at(messages.KindAPIClient, string(client)))
	t.kernel.Stop(at(messages.KindPodGC, ""))
	for _, name := range t.server.Pods() {
		t.kernel.Stop(at(messages.KindPodEviction, string(name)))
	}
	stopped := &messages.ControllersStopped{}
	t.tellNodes(stopped)
	t.kernel.Post(at(messages.KindNodeLifecycle, ""), stopped)
	t.tellZonesAndOwners(stopped)
}

func (t *Tier) tellNodes(m messages.ToNode) {
	for _, name := range t.server.Nodes() {
		t.kernel.Post(at(messages.KindNode, string(name)), m)
	}
}

func (t *Tier) tellZonesAndOwners(m *messages.ControllersStopped) {
	for _, name := range slices.Sorted(maps.Keys(t.zones)) {
		t.kernel.Post(at(messages.KindZone, string(name)), m)
	}
	for _, name := range slices.Sorted(maps.Keys(t.owners)) {
		t.kernel.Post(at(messages.KindOwner, string(name)), m)
	}
}

// Restart has the controllers lose their memory, or begin again where they were stopped. The API server, the kubelets and the scheduler go on.
func (t *Tier) Restart(now time.Time) {
	if t.down {
		t.tellZonesAndOwners(&messages.ControllersStopped{Over: true})
	}
	t.epoch, t.down = now, false
	t.kernel.Stop(at(messages.KindAPIClient, string(client)))
	t.hostClient()
	t.kernel.Stop(at(messages.KindPodGC, ""))
	t.hostPodGC()
	for _, name := range t.server.Pods() {
		a := at(messages.KindPodEviction, string(name))
		t.kernel.Stop(a)
		host[messages.ToPodEviction](t, a, podeviction.New(name, podeviction.RulesOf(t.settings, client)))
	}
	restarted := &messages.ControllersRestarted{}
	t.kernel.Post(at(messages.KindNodeLifecycle, ""), restarted)
	t.tellNodes(restarted)
	t.kernel.Post(serverAt, restarted)
}

// ExplainPod is what the scheduler would decide now on a pending pod, and why; nil: the pod is not pending. It changes nothing. It is for
// the goroutine of the kernel: between instants, or from a listener of AttendPods.
func (t *Tier) ExplainPod(now time.Time, pod messages.PodName) *podplacement.Explanation {
	return t.scheduler.Explain(now, pod)
}

// AttendPods has a listener hear of each pod immediately before the scheduler decides on it.
func (t *Tier) AttendPods(listener func(at time.Time, pod messages.PodName)) {
	t.scheduler.Attend(listener)
}

// Down reports whether the controllers of nodes and pods are stopped.
func (t *Tier) Down() bool { return t.down }
