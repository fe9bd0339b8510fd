package nodeinvariant_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/nodeinvariant"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// cluster has the objects of a history.
type cluster struct {
	nodes    map[messages.NodeName]*corev1.Node
	pods     map[messages.PodName]*corev1.Pod
	replicas map[messages.OwnerName]int
	budget   *policyv1.PodDisruptionBudget
}

func (c *cluster) Budgets() []messages.PodBudgetName { return []messages.PodBudgetName{"d/b"} }
func (c *cluster) Budget(messages.PodBudgetName) *policyv1.PodDisruptionBudget {
	return c.budget
}

func (c *cluster) Node(name messages.NodeName) *corev1.Node { return c.nodes[name] }
func (c *cluster) Pod(name messages.PodName) *corev1.Pod    { return c.pods[name] }
func (c *cluster) Fewer(messages.OwnerName) int             { return 0 }

func (c *cluster) Replicas(name messages.OwnerName) (int, bool) {
	n, known := c.replicas[name]
	return n, known
}

// step is an instant: what its objects become, and what happens.
type step struct {
	at     time.Duration
	become []metav1.Object
	gone   messages.PodName
	facts  []messages.Fact
}

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }

// node is a node of zone a, or of the zone that an option gives it.
func node(name string, options ...func(*corev1.Node)) *corev1.Node {
	n := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelTopologyZone: "a"}},
		Status: corev1.NodeStatus{
			Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
			Allocatable: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("1"), corev1.ResourceCPU: resource.MustParse("2")},
		},
	}
	for _, o := range options {
		o(n)
	}
	return n
}

func tainted(key string, effect corev1.TaintEffect, at time.Duration) func(*corev1.Node) {
	return func(n *corev1.Node) { n.Spec.Taints = append(n.Spec.Taints, taintOf(key, effect, at)) }
}

func taintOf(key string, effect corev1.TaintEffect, at time.Duration) corev1.Taint {
	return corev1.Taint{Key: key, Effect: effect, TimeAdded: &metav1.Time{Time: start.Add(at)}}
}

// ready gives the Ready condition a status, and the node the taint that it asks for.
func ready(status corev1.ConditionStatus) func(*corev1.Node) {
	return func(n *corev1.Node) {
		n.Status.Conditions[0].Status = status
		if status == corev1.ConditionUnknown {
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoSchedule})
		}
	}
}

func cordoned(n *corev1.Node) {
	n.Spec.Unschedulable = true
	n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
}

func pod(name, on string, options ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: name}, Spec: corev1.PodSpec{NodeName: on}, Status: corev1.PodStatus{Phase: corev1.PodRunning}}
	for _, o := range options {
		o(p)
	}
	return p
}

func tolerates(key string, forSeconds ...int64) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		t := corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists}
		if len(forSeconds) > 0 {
			t.TolerationSeconds = &forSeconds[0]
		}
		p.Spec.Tolerations = append(p.Spec.Tolerations, t)
	}
}

func terminating(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: start} }
func done(p *corev1.Pod)        { p.Status.Phase = corev1.PodSucceeded }
func mirror(p *corev1.Pod) {
	p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "1"}
}

func registered(names ...messages.NodeName) (facts []messages.Fact) {
	for _, n := range names {
		facts = append(facts, &messages.NodeRegistered{Node: n})
	}
	return facts
}

func created(name messages.PodName, owner messages.OwnerName) *messages.PodCreated {
	return &messages.PodCreated{Pod: name, Owner: owner}
}

func taints(n messages.NodeName, key string, effect corev1.TaintEffect, at time.Duration, because string) *messages.NodeTaintAdded {
	return &messages.NodeTaintAdded{Node: n, Taint: taintOf(key, effect, at), Because: because}
}

func evicted(name messages.PodName, key string, deadline time.Duration) *messages.PodEvicted {
	return &messages.PodEvicted{Pod: name, Node: "n1", Deadline: start.Add(deadline), Taint: taintOf(key, corev1.TaintEffectNoExecute, 0)}
}

// broken runs a history under a profile and returns the invariants that it breaks.
func broken(t *testing.T, settings *messages.Settings, replicas map[messages.OwnerName]int, history []step) (names []nodeinvariant.Name) {
	t.Helper()
	c := &cluster{nodes: map[messages.NodeName]*corev1.Node{}, pods: map[messages.PodName]*corev1.Pod{}, replicas: replicas}
	m := nodeinvariant.New(settings, c)
	for _, s := range history {
		for _, o := range s.become {
			switch o := o.(type) {
			case *corev1.Node:
				c.nodes[messages.NodeName(o.Name)] = o
			case *corev1.Pod:
				c.pods[messages.NamePod(o.Namespace, o.Name)] = o
			case *policyv1.PodDisruptionBudget:
				c.budget = o
			}
		}
		delete(c.pods, s.gone)
		entries := make([]journal.Entry, len(s.facts))
		for i, f := range s.facts {
			entries[i] = journal.Entry{At: start.Add(s.at), Fact: f}
		}
		m.Settled(start.Add(s.at), entries)
	}
	for _, v := range m.Violations() {
		names = append(names, v.Invariant)
	}
	return names
}

const (
	noExecute  = corev1.TaintEffectNoExecute
	noSchedule = corev1.TaintEffectNoSchedule
	failure    = corev1.TaintNodeUnreachable
	web        = messages.OwnerName("deployment/d/web")
)

// Each invariant objects to the histories that break it, and to nothing in those that do not.
func TestEachInvariantObjectsToWhatBreaksIt(t *testing.T) {
	var (
		running  = step{become: []metav1.Object{node("n1"), pod("p", "n1")}, facts: append(registered("n1"), created("d/p", ""))}
		limited  = step{become: []metav1.Object{node("n1"), pod("p", "n1", tolerates("k", 5))}, facts: append(registered("n1"), created("d/p", ""))}
		daemon   = step{become: []metav1.Object{node("n1"), pod("p", "n1", tolerates(failure))}, facts: append(registered("n1"), created("d/p", "daemonset/d/p"))}
		soonGone = step{become: []metav1.Object{node("n1"), pod("p", "n1", tolerates(failure, 5))}, facts: append(registered("n1"), created("d/p", "daemonset/d/p"))}
		gets     = func(at int, options ...func(*corev1.Node)) step {
			return step{at: seconds(at), become: []metav1.Object{node("n1", append(options, tainted("k", noExecute, seconds(at)))...)},
				facts: []messages.Fact{taints("n1", "k", noExecute, seconds(at), "by a user")}}
		}
		loses = func(at int) step {
			return step{at: seconds(at), become: []metav1.Object{node("n1")}, facts: []messages.Fact{&messages.NodeTaintRemoved{Node: "n1", Taint: taintOf("k", noExecute, 0)}}}
		}
		crashes  = func(at int) step { return step{at: seconds(at), facts: []messages.Fact{&messages.Crashed{}}} }
		restarts = func(at int) step { return step{at: seconds(at), facts: []messages.Fact{&messages.Restarted{}}} }
		leaves   = func(at int, deadline int, options ...func(*corev1.Pod)) step {
			return step{at: seconds(at), become: []metav1.Object{pod("p", "n1", append(options, terminating)...)}, facts: []messages.Fact{evicted("d/p", "k", seconds(deadline))}}
		}
		binds = func(n *corev1.Node, options ...func(*corev1.Pod)) []step {
			pending := func(p *corev1.Pod) { p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "g"}} }
			return []step{
				{become: []metav1.Object{n, pod("p", "", pending)}, facts: append(registered("n1"), created("d/p", ""))},
				{at: 1, become: []metav1.Object{pod("p", "n1", options...)}, facts: []messages.Fact{&messages.PodBound{Pod: "d/p", Node: "n1"}}},
			}
		}
		waits = func(n *corev1.Node, options ...func(*corev1.Pod)) []step {
			return []step{{become: []metav1.Object{n, pod("p", "", options...)}, facts: append(registered("n1"), created("d/p", ""))}}
		}
		asks = func(cpu string) func(*corev1.Pod) {
			return func(p *corev1.Pod) {
				p.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}}}
			}
		}
		two    = step{become: []metav1.Object{node("n1"), pod("p", "n1"), pod("q", "n1")}, facts: append(registered("n1"), created("d/p", web), created("d/q", web))}
		fails  = func(name string, at time.Duration) step { return failsAs(node(name), at) }
		silent = func(name string, at time.Duration) step {
			return step{at: at, become: []metav1.Object{node(name, ready(corev1.ConditionUnknown))}, facts: []messages.Fact{&messages.NodeConditionChanged{Node: messages.NodeName(name)}}}
		}
		five = step{
			become: []metav1.Object{node("n1"), node("n2"), node("n3"), node("n4"), node("n5"), node("n6"), node("n7"), node("n8"), node("n9")},
			facts:  registered("n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8", "n9"),
		}
		swapped = step{at: seconds(1), become: []metav1.Object{node("n1", tainted(corev1.TaintNodeNotReady, noExecute, seconds(1)), func(n *corev1.Node) {
			n.Status.Conditions[0].Status = corev1.ConditionFalse
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: noSchedule})
		})}, facts: []messages.Fact{
			&messages.NodeConditionChanged{Node: "n1"}, taints("n1", corev1.TaintNodeNotReady, noExecute, seconds(1), "Ready=False"),
			&messages.NodeTaintRemoved{Node: "n1", Taint: taintOf(failure, noExecute, 0)},
		}}
	)
	for name, c := range map[string]struct {
		profile string
		set     func(*messages.Settings)
		history []step
		want    nodeinvariant.Name
	}{
		"a pod leaves at its deadline":                               {history: []step{limited, gets(1), leaves(6, 6, tolerates("k", 5))}},
		"a pod leaves a second early":                                {history: []step{limited, gets(1), leaves(5, 5, tolerates("k", 5))}, want: nodeinvariant.NeverEarly},
		"a pod leaves before the deadline that it names":             {profile: "kubernetes", history: []step{limited, gets(1), leaves(5, 6, tolerates("k", 5))}, want: nodeinvariant.NeverEarly},
		"the timers of Kubernetes are its own":                       {profile: "kubernetes", history: []step{limited, gets(1), leaves(5, 5, tolerates("k", 5))}},
		"a pod leaves for a taint that it tolerates":                 {history: []step{running, gets(1, tainted("o", noExecute, 0)), leaves(1, 0, tolerates("k"))}, want: nodeinvariant.NeverEarly},
		"a pod leaves for a taint that there is not":                 {history: []step{running, leaves(1, 0)}, want: nodeinvariant.NeverEarly},
		"a pod stays a second too long":                              {history: []step{limited, gets(1), {at: seconds(7)}}, want: nodeinvariant.NeverLate},
		"a pod stays, and its deadline has not come":                 {history: []step{limited, gets(1), {at: seconds(5)}}},
		"a pod stays that does not tolerate the taint":               {history: []step{running, gets(1)}, want: nodeinvariant.NeverLate},
		"a pod is being deleted":                                     {history: []step{running, {at: 1, become: []metav1.Object{pod("p", "n1", terminating)}, facts: []messages.Fact{&messages.PodDeletionRequested{Pod: "d/p"}}}, gets(1)}},
		"a pod has finished":                                         {history: []step{running, {at: 1, become: []metav1.Object{pod("p", "n1", done)}, facts: []messages.Fact{&messages.PodPhaseChanged{Pod: "d/p"}}}, gets(1)}},
		"a mirror pod stays":                                         {history: []step{{become: []metav1.Object{node("n1"), pod("p", "n1", mirror)}, facts: running.facts}, gets(1)}},
		"a pod stays under Kubernetes' timers":                       {profile: "kubernetes", history: []step{running, gets(1)}},
		"a request was refused until later":                          {history: []step{limited, gets(1), {at: seconds(6), facts: []messages.Fact{&messages.PodEvictionFailed{Pod: "d/p", Retry: start.Add(seconds(8))}}}}},
		"a refused request is not tried again":                       {history: []step{limited, gets(1), {at: seconds(6), facts: []messages.Fact{&messages.PodEvictionFailed{Pod: "d/p", Retry: start.Add(seconds(8))}}}, {at: seconds(8)}}, want: nodeinvariant.NeverLate},
		"a pod waits for requests":                                   {set: slow, history: []step{running, gets(1), {at: seconds(4)}}},
		"a pod waits for those of another that is deleted meanwhile": {set: slow, history: []step{running, gets(1), {at: seconds(2), facts: []messages.Fact{&messages.PodDeletionRequested{Pod: "d/other", Cause: "by a user"}}}, {at: seconds(5)}}},
		"a pod waits for those of an eviction that was withdrawn":    {set: slow, history: []step{running, gets(1), {at: seconds(2), facts: []messages.Fact{&messages.PodEvictionCancelled{Pod: "d/other"}}}, {at: seconds(5)}}},
		"a pod waits longer than its requests take":                  {set: slow, history: []step{running, gets(1), {at: seconds(5)}}, want: nodeinvariant.NeverLate},
		"its taint was removed while the controllers were down":      {set: slow, history: []step{running, gets(1), crashes(2), loses(3), restarts(4), {at: seconds(20)}}},
		"it was tainted while the controllers were down":             {history: []step{running, crashes(1), gets(2)}},
		"it was tainted meanwhile, and stays when they are back":     {history: []step{running, crashes(1), gets(2), restarts(3)}, want: nodeinvariant.NeverLate},
		"a daemon pod is evicted from a failed node":                 {history: []step{daemon, fails("n1", 1), {at: 1, facts: []messages.Fact{evicted("d/p", failure, 0)}}}, want: nodeinvariant.DaemonsSpared},
		"a daemon pod tolerates failure for a time":                  {profile: "kubernetes", history: []step{soonGone, fails("n1", 1), {at: seconds(6), facts: []messages.Fact{evicted("d/p", failure, 0)}}}},
		"a pod is bound where it tolerates nothing":                  {history: binds(node("n1", tainted("k", noSchedule, 0))), want: nodeinvariant.BoundTolerates},
		"a pod is bound where it tolerates everything":               {history: binds(node("n1", tainted("k", noSchedule, 0)), tolerates("k"))},
		"a pod is bound where it is preferred not to be":             {history: binds(node("n1", tainted("k", corev1.TaintEffectPreferNoSchedule, 0)))},
		"a pod is bound to a cordoned node":                          {history: binds(node("n1", cordoned)), want: nodeinvariant.BoundTolerates},
		"a pod is bound that tolerates the cordon":                   {history: binds(node("n1", cordoned), tolerates(corev1.TaintNodeUnschedulable))},
		"a pod waits though a node can take it":                      {history: waits(node("n1")), want: nodeinvariant.NoneWaits},
		"a pod waits for a tainted node":                             {history: waits(node("n1", tainted("k", noSchedule, 0)))},
		"a pod waits for a cordoned node":                            {history: waits(node("n1", cordoned))},
		"a pod waits for a selected node":                            {history: waits(node("n1"), func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "ssd"} })},
		"a pod waits for resources":                                  {history: waits(node("n1"), asks("3"))},
		"a pod waits though there are resources":                     {history: waits(node("n1"), asks("2")), want: nodeinvariant.NoneWaits},
		"a pod waits where pods of one owner use unlike amounts": {history: []step{{
			become: []metav1.Object{node("n1", func(n *corev1.Node) { n.Status.Allocatable[corev1.ResourcePods] = resource.MustParse("3") }), pod("p", "n1", asks("500m")), pod("q", "n1", asks("1500m")), pod("r", "", asks("500m"))},
			facts:  append(registered("n1"), created("d/p", web), created("d/q", web), created("d/r", "")),
		}}},
		"a pod waits for the capacity of another": {history: []step{running, {at: 1, become: []metav1.Object{pod("q", "")}, facts: []messages.Fact{created("d/q", "")}}}},
		"a pod waits though another has left":     {history: []step{running, {at: 1, become: []metav1.Object{pod("q", "")}, facts: []messages.Fact{created("d/q", "")}}, {at: 2, gone: "d/p", facts: []messages.Fact{&messages.PodDeleted{Pod: "d/p"}}}}, want: nodeinvariant.NoneWaits},
		"a pod that leaves has no successor":      {history: []step{two, {at: 1, become: []metav1.Object{pod("p", "n1", terminating)}, facts: []messages.Fact{&messages.PodDeletionRequested{Pod: "d/p"}}}}, want: nodeinvariant.Replaced},
		"a pod that leaves has one":               {history: []step{two, {at: 1, become: []metav1.Object{pod("p", "n1", terminating), pod("r", "n1")}, facts: []messages.Fact{&messages.PodDeletionRequested{Pod: "d/p"}, created("d/r", web)}}}},
		"users want fewer pods":                   {history: []step{two, {at: 1, become: []metav1.Object{pod("p", "n1", terminating)}, facts: []messages.Fact{&messages.ObjectApplied{Object: "Deployment d/web"}, &messages.PodDeletionRequested{Pod: "d/p"}}}}},
		"nodes fail at the rate":                  {history: []step{five, fails("n1", seconds(1)), fails("n2", seconds(11))}},
		"nodes fail faster":                       {history: []step{five, fails("n1", seconds(1)), fails("n2", seconds(10))}, want: nodeinvariant.RatesKept},
		"nodes fail faster in Kubernetes":         {profile: "kubernetes", history: []step{five, fails("n1", seconds(1)), fails("n2", seconds(10))}, want: nodeinvariant.RatesKept},
		"a taint takes the place of another":      {history: []step{five, fails("n1", seconds(1)), swapped}},
		"a zone of nodes that do not count has a rate": {history: []step{
			{become: []metav1.Object{node("n1", excluded), node("n2", zoneB)}, facts: registered("n1", "n2")}, failsAs(node("n1", excluded), 1),
		}},
		"users taint nodes as they like":                    {profile: "kubernetes", history: []step{five, handMade("n1"), handMade("n2")}},
		"a zone is partially disrupted and stops":           {history: []step{five, silent("n1", 1), silent("n2", 1), silent("n3", 1), silent("n4", 1), silent("n5", 1), fails("n6", seconds(60))}, want: nodeinvariant.RatesKept},
		"Kubernetes lets some through":                      {profile: "kubernetes", history: []step{five, silent("n1", 1), silent("n2", 1), silent("n3", 1), silent("n4", 1), silent("n5", 1), fails("n6", seconds(60))}},
		"all zones are disrupted, and a node is tainted":    {history: []step{daemon, fails("n1", 1)}, want: nodeinvariant.NoneWhileDisrupted},
		"Kubernetes leaves stragglers":                      {profile: "kubernetes", history: []step{daemon, fails("n1", 1)}},
		"all zones are disrupted":                           {history: []step{running, silent("n1", 1)}},
		"a NoSchedule taint is missing":                     {history: []step{{become: []metav1.Object{node("n1", func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionFalse })}, facts: registered("n1")}}, want: nodeinvariant.TaintsFollow},
		"a NoSchedule taint is too much":                    {history: []step{{become: []metav1.Object{node("n1", tainted(corev1.TaintNodeDiskPressure, noSchedule, 0))}, facts: registered("n1")}}, want: nodeinvariant.TaintsFollow},
		"a cordon without its taint":                        {history: []step{{become: []metav1.Object{node("n1", func(n *corev1.Node) { n.Spec.Unschedulable = true })}, facts: registered("n1")}}, want: nodeinvariant.TaintsFollow},
		"a Ready node has a failure taint":                  {history: []step{{become: []metav1.Object{node("n1", tainted(failure, noExecute, 0))}, facts: registered("n1")}}, want: nodeinvariant.TaintsFollow},
		"a Ready node has one until the pass of Kubernetes": {profile: "kubernetes", history: []step{{become: []metav1.Object{node("n1", tainted(failure, noExecute, 0))}, facts: registered("n1")}}},
	} {
		t.Run(name, func(t *testing.T) {
			profile := c.profile
			if profile == "" {
				profile = "leeward"
			}
			settings, err := config.Profile(profile)
			require.NoError(t, err)
			settings.PodTolerationRestriction = false
			if c.set != nil {
				c.set(&settings)
			}
			got := broken(t, &settings, map[messages.OwnerName]int{web: 2}, c.history)
			if c.want == "" {
				require.Empty(t, got)
			} else {
				require.Contains(t, got, c.want)
			}
		})
	}
}

func excluded(n *corev1.Node) { n.Labels["node.kubernetes.io/exclude-disruption"] = "yes" }
func zoneB(n *corev1.Node)    { n.Labels[corev1.LabelTopologyZone] = "b" }

// failsAs has a node get its failure taint from the node lifecycle.
func failsAs(n *corev1.Node, at time.Duration) step {
	ready(corev1.ConditionUnknown)(n)
	tainted(failure, noExecute, at)(n)
	name := messages.NodeName(n.Name)
	return step{at: at, become: []metav1.Object{n}, facts: []messages.Fact{
		&messages.NodeConditionChanged{Node: name}, taints(name, failure, noExecute, at, "Ready=Unknown"),
	}}
}

// slow has the client make one request a second.
func slow(s *messages.Settings) { s.KubeAPIQPS, s.KubeAPIBurst = 1, 1 }

func handMade(name string) step {
	return step{at: seconds(1), become: []metav1.Object{node(name, tainted(failure, noExecute, seconds(1)))},
		facts: []messages.Fact{taints(messages.NodeName(name), failure, noExecute, seconds(1), "by a user")}}
}

func TestAViolationIsToldOnce(t *testing.T) {
	settings, err := config.Profile("leeward")
	require.NoError(t, err)
	bare := step{become: []metav1.Object{node("n1", func(n *corev1.Node) { n.Spec.Unschedulable = true })}, facts: registered("n1")}
	again := bare
	again.at, again.facts = seconds(1), []messages.Fact{&messages.NodeCordoned{Node: "n1"}}
	require.Equal(t, []nodeinvariant.Name{nodeinvariant.TaintsFollow}, broken(t, &settings, nil, []step{bare, again}))
	v := nodeinvariant.Violation{Invariant: nodeinvariant.NeverLate, Place: nodeinvariant.Place{Pod: "d/p"}, Detail: "it had to leave"}
	require.Equal(t, "no pod stays past its deadline and the wait for a permit: d/p: it had to leave", v.String())
}
