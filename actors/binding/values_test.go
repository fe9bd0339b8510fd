package binding_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/actorstest"
	"leeward/actors/binding"
	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
)

// The binding of these tests, and those that it writes to.
const name messages.BindingName = "default/web"

var (
	scheduler = messages.Address{Kind: messages.KindScheduler}
	governor  = messages.Address{Kind: messages.KindGovernor}
)

func memberAt(c string) messages.Address { return messages.Address{Kind: messages.KindMember, Name: c} }

func clusterAt(c string) messages.Address {
	return messages.Address{Kind: messages.KindCluster, Name: c}
}

// subject is a binding under test, with its last word to the scheduler.
type subject struct {
	*actorstest.Driver[messages.ToBinding]
	t     *testing.T
	asked *messages.PlaceBinding
	// settled is set where it needs no answer.
	settled bool
}

// drive returns a binding that was told nothing.
func drive(t *testing.T, s messages.Settings) *subject {
	return &subject{Driver: actorstest.Drive(t, binding.New(name, &s)), t: t}
}

// tell, advance and approach are steps.
func (s *subject) tell(ms ...messages.ToBinding) *actorstest.Network {
	s.t.Helper()
	return s.hear(s.Tell(ms...))
}

func (s *subject) advance(by time.Duration) *actorstest.Network {
	s.t.Helper()
	return s.hear(s.Advance(by))
}

func (s *subject) approach(by time.Duration) { s.hear(s.Approach(by)) }

// hear notes what the binding asked of the scheduler in a step.
func (s *subject) hear(n *actorstest.Network) *actorstest.Network {
	for _, m := range actorstest.MailTo(n.Mail(), scheduler) {
		switch m := m.(type) {
		case *messages.PlaceBinding:
			s.asked, s.settled = m, false
		case *messages.TasksEnded:
			asked := *s.asked
			asked.Request, asked.Targets, asked.Cooling, asked.Full, asked.Home = m.Request, m.Targets, m.Cooling, m.Full, m.Home
			asked.Evicting = nil
			s.asked, s.settled = &asked, true
		}
	}
	return n
}

// place returns the scheduler's choice of clusters, as the answer to the last word; a cluster is named
// "m1:2", or "m1" without replicas.
func (s *subject) place(clusters ...string) *messages.PlacementDecided {
	s.t.Helper()
	require.NotNil(s.t, s.asked, "the scheduler was asked nothing")
	return &messages.PlacementDecided{
		Request: s.asked.Request, Outcome: messages.PlacementChosen, Targets: targets(clusters...), Reason: api.ReasonSuccess,
	}
}

// replace is a choice that lets the binding leave some clusters.
func (s *subject) replace(leaving string, clusters ...string) *messages.PlacementDecided {
	s.t.Helper()
	p := s.place(clusters...)
	p.Leaving = []messages.ClusterName{messages.ClusterName(leaving)}
	return p
}

func (s *subject) keep() *messages.PlacementDecided {
	s.t.Helper()
	return &messages.PlacementDecided{Request: s.asked.Request, Outcome: messages.PlacementKept, Reason: api.ReasonSuccess}
}

var nowhereToGo = &messages.Obstacle{Reason: api.ReasonNoClusterFit, Message: "nowhere to go"}

// holdBack keeps the placement because the binding may not leave some clusters yet.
func (s *subject) holdBack(clusters ...messages.ClusterName) *messages.PlacementDecided {
	s.t.Helper()
	p := s.keep()
	p.Held, p.Obstacle = clusters, nowhereToGo
	return p
}

func (s *subject) fail(cleared bool) *messages.PlacementDecided {
	s.t.Helper()
	return &messages.PlacementDecided{
		Request: s.asked.Request, Outcome: messages.PlacementFailed, Cleared: cleared, Reason: api.ReasonNoClusterFit, Message: "nowhere to go",
	}
}

var targets = actorstest.Targets

// placed returns a binding that the policy placed on clusters, each of which reports a healthy copy.
func placed(t *testing.T, s messages.Settings, policy *api.PropagationSpec, clusters ...string) *subject {
	t.Helper()
	b := drive(t, s)
	b.tell(workload(2), claim("default/p", policy))
	b.tell(b.place(clusters...))
	for i, c := range targets(clusters...) {
		b.tell(report(c.Name, api.Healthy, c.Replicas, int64(i+1)))
	}
	return b
}

// settings are exact, and evict before they look for a destination.
func settings(changes ...func(*messages.Settings)) messages.Settings {
	s := messages.Settings{
		Failover: true, GracefulEviction: true, EnableTaintManager: true, EnableNoExecuteTaintEviction: true,
		NoExecuteTaintEvictionPurgeMode: api.PurgeGracefully, GracefulEvictionTimeout: 10 * time.Minute,
		HandoverHealth: messages.HealthOfPlacement, PersistentFailoverTimers: true,
		TolerationMatch: messages.MatchMinimum, TolerationSource: messages.SourcePlacement,
		PropagationPolicyPreemption: true, EvictionWorkers: 3,
	}
	for _, change := range changes {
		change(&s)
	}
	return s
}

func destinationFirst(s *messages.Settings) { s.EvictionNeedsDestination = true }
func unlimited(s *messages.Settings)        { s.EvictionWorkers = 0 }
func withdrawing(s *messages.Settings)      { s.WithdrawOnRecovery = true }
func keepLastCopy(s *messages.Settings)     { s.KeepLastCopy = true }
func relisting(s *messages.Settings)        { s.TaintRelistPeriod = 10 * time.Second }
func purgeDirectly(s *messages.Settings)    { s.NoExecuteTaintEvictionPurgeMode = api.PurgeDirectly }
func reportedHealth(s *messages.Settings)   { s.HandoverHealth = messages.HealthReported }
func fromAnnotation(s *messages.Settings)   { s.TolerationSource = messages.SourceAppliedPlacement }
func karmadasTimers(s *messages.Settings)   { s.PersistentFailoverTimers = false }
func wholeSeconds(s *messages.Settings)     { s.WholeSecondTaintTimes = true }

func workload(replicas int32) *messages.WorkloadApplied {
	return &messages.WorkloadApplied{Workload: &messages.Workload{
		Binding: name, APIVersion: "apps/v1", Kind: "Deployment", Namespace: "default", Name: "web", UID: "u", Replicas: replicas, HasReplicas: true,
	}}
}

func claim(policy messages.PropagationName, spec *api.PropagationSpec) *messages.ClaimMade {
	return &messages.ClaimMade{Policy: policy, Spec: spec}
}

// duplicated and divided are policies with some tolerations.
func duplicated(tolerations ...corev1.Toleration) *api.PropagationSpec {
	return &api.PropagationSpec{Placement: api.Placement{ClusterTolerations: tolerations}}
}

func divided(tolerations ...corev1.Toleration) *api.PropagationSpec {
	spec := duplicated(tolerations...)
	spec.Placement.ReplicaScheduling = &api.ReplicaSchedulingStrategy{ReplicaSchedulingType: api.Divided}
	return spec
}

// tolerates is a toleration of a key's NoExecute taints, for so many seconds unless negative.
func tolerates(key string, seconds int64) corev1.Toleration {
	t := corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}
	if seconds >= 0 {
		t.TolerationSeconds = &seconds
	}
	return t
}

// tainted is a cluster's word that NoExecute taints with some keys came, or are there, as of an instant.
func tainted(cluster messages.ClusterName, at time.Time, keys ...string) *messages.TaintsChanged {
	m := &messages.TaintsChanged{Cluster: cluster, Since: at, News: true}
	for _, key := range keys {
		m.Taints = append(m.Taints, noExecute(key, at))
		m.Causes = append(m.Causes, api.TaintCause{Key: key, Effect: corev1.TaintEffectNoExecute, By: "user"})
	}
	return m
}

func healed(cluster messages.ClusterName) *messages.TaintsChanged {
	return &messages.TaintsChanged{Cluster: cluster, News: true}
}

func noExecute(key string, at time.Time) corev1.Taint {
	changes, err := taint.Parse([]string{key + ":NoExecute"})
	if err != nil {
		panic(err)
	}
	t := changes.Add[0]
	t.TimeAdded = &metav1.Time{Time: at}
	return t
}

// untolerated and bearing are the reasons of an eviction for a taint.
func untolerated(key string, at time.Time) messages.Grounds {
	t := noExecute(key, at)
	return messages.Grounds{
		Reason: api.EvictionReasonTaintUntolerated, Taint: &t, Deadline: at,
		Cause: &api.TaintCause{Key: key, Effect: corev1.TaintEffectNoExecute, By: "user"},
	}
}

func bearing(toleration corev1.Toleration, key string, at time.Time) messages.Grounds {
	g := untolerated(key, at)
	g.Toleration, g.Deadline = &toleration, at.Add(time.Duration(*toleration.TolerationSeconds)*time.Second)
	return g
}

func counting(cluster messages.ClusterName, g messages.Grounds) *messages.EvictionScheduled {
	return &messages.EvictionScheduled{Binding: name, Cluster: cluster, Grounds: g}
}

func uncounted(cluster messages.ClusterName, reason string) *messages.EvictionCancelled {
	return &messages.EvictionCancelled{Binding: name, Cluster: cluster, Reason: reason}
}

const (
	noTaintLeft   = "no NoExecute taint remains"
	noLongerHolds = "the deadline no longer holds"
	notUnhealthy  = "it is no longer unhealthy"
)

// wish is the request for a permit, permit the answer.
func wish(cluster messages.ClusterName, since time.Time) *messages.RequestEviction {
	return &messages.RequestEviction{Binding: name, Cluster: cluster, Since: since}
}

func unwish(cluster messages.ClusterName) *messages.WithdrawRequest {
	return &messages.WithdrawRequest{Binding: name, Cluster: cluster}
}

func permit(cluster messages.ClusterName) *messages.EvictionPermitted {
	return &messages.EvictionPermitted{Cluster: cluster}
}

// evicted is the fact that a task for a taint was written.
func evicted(cluster string, replicas int32, at time.Time, mode api.PurgeMode, g messages.Grounds) *messages.EvictionStarted {
	task := api.GracefulEvictionTask{
		FromCluster: cluster, PurgeMode: mode, Reason: api.EvictionReasonTaintUntolerated,
		Producer: api.ProducerTaintManager, CreationTimestamp: &metav1.Time{Time: at},
	}
	if replicas > 0 {
		task.Replicas = &replicas
	}
	return &messages.EvictionStarted{Binding: name, Cluster: messages.ClusterName(cluster), Task: task, Grounds: g}
}

func ended(cluster messages.ClusterName, reason string, after time.Duration) *messages.EvictionEnded {
	return &messages.EvictionEnded{Binding: name, Cluster: cluster, Reason: reason, After: after}
}

func report(cluster string, h api.ResourceHealth, ready int32, placement int64) *messages.CopyReported {
	return &messages.CopyReported{Cluster: messages.ClusterName(cluster), Health: h, Ready: ready, ForPlacement: placement}
}

func health(cluster messages.ClusterName, h api.ResourceHealth, ready int32) *messages.HealthChanged {
	return &messages.HealthChanged{Binding: name, Cluster: cluster, Health: h, Ready: ready}
}

func run(replicas int32, placement int64) *messages.RunCopy {
	return &messages.RunCopy{Binding: name, Replicas: replicas, Placement: placement}
}

var (
	removal = &messages.RemoveCopy{Binding: name}
	here    = &messages.BindingPlaced{Binding: name}
	left    = &messages.BindingLeft{Binding: name}
)

// scheduled are the clusters of the one Scheduled fact in a step.
func scheduled(t *testing.T, n *actorstest.Network) []api.TargetCluster {
	t.Helper()
	facts := actorstest.FactsOf[*messages.Scheduled](n.Facts())
	require.Len(t, facts, 1)
	return facts[0].Clusters
}

// kinds are the names of the facts of a step.
func kinds(n *actorstest.Network) []string {
	list := []string{}
	for _, f := range n.Facts() {
		list = append(list, f.Kind())
	}
	return list
}

// clusterScoped is a ClusterResourceBinding.
func clusterScoped() *binding.Binding { return binding.New("web-deployment", new(settings())) }
