package live

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/kernel"
)

// hung is a fleet with two workloads on m1, of which a machine of the one does not return from what it hears next.
type hung struct {
	*fixture
	culprit        messages.Address
	armed          atomic.Bool
	begun, release chan struct{}
	facts          atomic.Int64 // that the fleet with the culprit told
	stuck          *Stuck
	ended          *Fleet // that was given up
}

var webBinding = messages.Address{Kind: messages.KindBinding, Name: "default/web-deployment"}

// hangs has a machine hang while a fleet runs that is guarded, once something happens, and returns when that fleet was given up.
func hangs(t *testing.T, culprit messages.Address, lanes int, something func(*hung)) *hung {
	t.Helper()
	h := &hung{fixture: newFixture(t), culprit: culprit, begun: make(chan struct{}), release: make(chan struct{})}
	h.apply(member("m1"), policy(), deployment(2, "nginx:1"), apiPolicy(), apiDeployment(2))
	h.apply(member("m2"))
	require.Equal(t, "m1:2", placed(h.fixture))
	require.Equal(t, "m1:2", apiPlaced(h.fixture))
	h.Close()
	guarded, err := Open(t.Context(), Config{
		Engine: h.engine, Settings: settings(t), Clock: h.clock, Log: zerolog.Nop(), Lanes: lanes, StepLimit: 10 * time.Second,
		Tamper: h.tamper, Hear: func(time.Time, messages.Fact, journal.Phrase) { h.facts.Add(1) },
	})
	require.NoError(t, err)
	h.armed.Store(true)
	ended := make(chan error, 1)
	go func() { ended <- guarded.Run(t.Context()) }()
	something(h)
	<-h.begun
	require.ErrorAs(t, h.givenUp(ended), &h.stuck)
	require.Equal(t, culprit, h.stuck.Address)
	h.ended = guarded
	return h
}

// givenUp lets time pass until a fleet has ended.
func (h *hung) givenUp(ended <-chan error) error {
	for {
		select {
		case err := <-ended:
			return err
		default:
			h.clock.Add(time.Second)
		}
	}
}

func (h *hung) tamper(_ time.Time, to messages.Address, m messages.Message) []messages.Message {
	if to == h.culprit && h.armed.CompareAndSwap(true, false) {
		close(h.begun)
		<-h.release
	}
	return []messages.Message{m}
}

// goOn opens a fleet without the machines in quarantine.
func (h *hung) goOn(without ...Quarantined) {
	h.t.Helper()
	var err error
	h.Fleet, err = Open(h.t.Context(), Config{Engine: h.engine, Settings: settings(h.t), Clock: h.clock, Log: zerolog.Nop(), Quarantine: without})
	require.NoError(h.t, err)
	require.NoError(h.t, h.step())
}

// quarantined is the machine that hung, to be tried again some time from now.
func (h *hung) quarantined(after time.Duration) Quarantined {
	return Quarantined{Machine: h.culprit, Since: h.clock.Now(), Step: h.stuck.Message, Heard: h.stuck.Heard, NotBefore: h.clock.Now().Add(after)}
}

// returns lets the machine return at last, and shows that nothing comes of that.
func (h *hung) returns() {
	h.t.Helper()
	version, facts := h.engine.Version(), h.facts.Load()
	close(h.release)
	require.ErrorIs(h.t, <-h.stuck.ended, kernel.ErrGivenUp)
	require.Equal(h.t, version, h.engine.Version(), "nothing was committed")
	require.Equal(h.t, facts, h.facts.Load(), "nothing was told")
}

func apiPolicy() *api.PropagationPolicy {
	p := policy()
	p.Name, p.Spec.ResourceSelectors[0].Name = "api", "api"
	return p
}

func apiDeployment(replicas int32) api.Object {
	d := deployment(replicas, "api:1")
	d.Name = "api"
	return d
}

func apiPlaced(f *fixture) string {
	b := get(f, named(&api.ResourceBinding{}, api.WorkGroupVersion, "ResourceBinding", "default", "api-deployment"))
	if b == nil || len(b.Spec.Clusters) != 1 {
		return fmt.Sprint(b)
	}
	return fmt.Sprintf("%s:%d", b.Spec.Clusters[0].Name, b.Spec.Clusters[0].Replicas)
}

func governor(f *fixture) *api.Governor {
	return get(f, named(&api.Governor{}, api.LeewardGroupVersion, "Governor", "", api.GovernorName))
}

func taintM1(h *hung) {
	edit(h.fixture, member("m1"), func(c *api.Cluster) { c.Spec.Taints = append(c.Spec.Taints, failed) })
}

func TestABindingThatDoesNotReturnIsTakenOutOfTheWayAndAllOthersGoOn(t *testing.T) {
	for _, lanes := range []int{1, 4} {
		t.Run(fmt.Sprintf("%d lanes", lanes), func(t *testing.T) {
			h := hangs(t, webBinding, lanes, taintM1)
			h.ended.feed.Take()
			h.write(named(&corev1.ConfigMap{}, "v1", "ConfigMap", "default", "other"))
			require.Empty(t, h.ended.feed.Take(), "nothing is kept for a fleet that was given up")
			require.ErrorContains(t, h.stuck, "the step of binding/default/web-deployment does not return from *messages.")
			require.ErrorContains(t, h.stuck, "within 10s")
			givenUp := h.clock.Now()
			h.goOn(h.quarantined(0))
			h.pass(10 * time.Minute)
			require.Equal(t, "m2:2", apiPlaced(h.fixture), "the others are evicted and placed")
			require.Equal(t, "m1:2", placed(h.fixture), "nothing is decided for the culprit")
			require.Contains(t, h.events(binding()), "MachineQuarantined: a step of binding/default/web-deployment did not return: nothing is decided for it until its object changes")
			shown := governor(h.fixture).Status
			require.Equal(t, int32(1), shown.QuarantinedCount)
			require.Equal(t, "ResourceBinding default/web-deployment", shown.Quarantined[0].Kind+" "+shown.Quarantined[0].Namespace+"/"+shown.Quarantined[0].Name)
			require.Contains(t, h.stuck.Error(), "*messages."+shown.Quarantined[0].Step+" ")
			require.Equal(t, givenUp.UTC(), shown.Quarantined[0].Since.UTC())
			require.Equal(t, givenUp.UTC(), shown.Quarantined[0].NotBefore.UTC())
			h.returns()

			h.write(apiDeployment(3))
			require.NoError(t, h.step(), "another object is not what the machine waits for")
			h.write(deployment(3, "nginx:1"))
			again := new(TryAgain)
			require.ErrorAs(t, h.step(), &again)
			require.Equal(t, webBinding, again.Machine)
			h.Close()
			h.goOn()
			h.pass(10 * time.Minute)
			require.Contains(t, placed(h.fixture), "m2:3")
			require.Zero(t, governor(h.fixture).Status.QuarantinedCount)
			require.Empty(t, governor(h.fixture).Status.Quarantined)
		})
	}
}

// What a cluster in quarantine runs stays there, also when the scheduler decides again.
func TestAClusterThatDoesNotReturnKeepsItsWorkloads(t *testing.T) {
	h := hangs(t, messages.Address{Kind: messages.KindCluster, Name: "m1"}, 1, taintM1)
	h.goOn(h.quarantined(0))
	h.write(apiDeployment(3))
	require.NoError(t, h.step())
	h.pass(10 * time.Minute)
	require.Equal(t, "m1:3", apiPlaced(h.fixture))
	require.Equal(t, "m1:2", placed(h.fixture))
	h.returns()
}

func TestAPolicyThatDoesNotReturnHoldsNoClusterUp(t *testing.T) {
	down := func(name string) *api.ClusterTaintPolicy {
		p := named(&api.ClusterTaintPolicy{}, api.PolicyGroupVersion, "ClusterTaintPolicy", "", name)
		p.Spec.AddOnConditions = []api.MatchCondition{{ConditionType: api.ConditionReady, Operator: "In", StatusValues: []metav1.ConditionStatus{metav1.ConditionFalse}}}
		p.Spec.Taints = []api.PolicyTaint{{Key: name, Effect: "NoSchedule"}}
		return p
	}
	culprit := messages.Address{Kind: messages.KindPolicy, Name: "broken"}
	h := hangs(t, culprit, 1, func(h *hung) { h.write(down("broken"), down("sound")) })
	h.goOn(h.quarantined(0))
	edit(h.fixture, member("m1"), func(c *api.Cluster) { c.Status.Conditions[0].Status = "False" })
	h.pass(10 * time.Minute)
	var keys []string
	for _, taint := range get(h.fixture, member("m1")).Spec.Taints {
		keys = append(keys, taint.Key)
	}
	require.Contains(t, keys, "sound")
	require.NotContains(t, keys, "broken")
	h.returns()
}

// Only the daemon says which machines it does not run, and it names a hundred of them.
func TestTheGovernorShowsABoundedListOfMachinesInQuarantine(t *testing.T) {
	h := &hung{fixture: running(t)}
	h.Close()
	var all []Quarantined
	for i := range 250 {
		all = append(all, Quarantined{
			Machine: messages.Address{Kind: messages.KindBinding, Name: fmt.Sprintf("default/b%03d", 249-i)}, Step: &messages.Woken{}, Since: h.clock.Now(),
		})
	}
	h.goOn(all...)
	shown := governor(h.fixture).Status
	require.Equal(t, int32(250), shown.QuarantinedCount)
	require.Len(t, shown.Quarantined, 100)
	require.Equal(t, []string{"b000", "b099"}, []string{shown.Quarantined[0].Name, shown.Quarantined[99].Name})

	edit(h.fixture, named(&api.Governor{}, api.LeewardGroupVersion, "Governor", "", api.GovernorName), func(g *api.Governor) {
		g.Status = api.GovernorStatus{Governance: api.Governance{State: "Normal"}, Quarantined: []api.QuarantinedMachine{{Kind: "Cluster", Name: "m1"}}}
	})
	require.NoError(t, h.step())
	require.Equal(t, shown.Quarantined, governor(h.fixture).Status.Quarantined, "a client changes nothing of it")
	h.Close()
	h.goOn()
	require.Empty(t, governor(h.fixture).Status.Quarantined)
}

func TestAStartThatDoesNotReturnIsGivenUp(t *testing.T) {
	h := &hung{fixture: running(t), culprit: webBinding, begun: make(chan struct{}), release: make(chan struct{})}
	h.Close()
	h.armed.Store(true)
	ended := make(chan error, 1)
	config := Config{Engine: h.engine, Settings: settings(t), Clock: h.clock, Log: zerolog.Nop(), StepLimit: 10 * time.Second, Tamper: h.tamper}
	go func() {
		_, err := Open(t.Context(), config)
		ended <- err
	}()
	<-h.begun
	require.ErrorAs(t, h.givenUp(ended), &h.stuck)
	h.goOn(h.quarantined(0))
	h.returns()
}

func TestAQuarantineLastsAMinuteHoweverOftenItsObjectChanges(t *testing.T) {
	h := hangs(t, webBinding, 1, taintM1)
	h.write(deployment(3, "nginx:1")) // before the next fleet listens
	h.goOn(h.quarantined(time.Minute))
	require.LessOrEqual(t, h.untilNext(), time.Minute)
	h.clock.Add(59 * time.Second)
	require.NoError(t, h.step())
	h.clock.Add(time.Second)
	require.ErrorAs(t, h.step(), new(*TryAgain))
	h.returns()
}

func TestAMachineDecidesOnItsObject(t *testing.T) {
	policies := func(kind, namespace, name string) api.Key {
		return api.Key{APIVersion: api.PolicyGroupVersion, Kind: kind, Namespace: namespace, Name: name}
	}
	for machine, want := range map[messages.Address]api.Key{
		{Kind: messages.KindCluster, Name: "m1"}:              {APIVersion: api.ClusterGroupVersion, Kind: "Cluster", Name: "m1"},
		{Kind: messages.KindMember, Name: "m1"}:               {APIVersion: api.ClusterGroupVersion, Kind: "Cluster", Name: "m1"},
		{Kind: messages.KindPolicy, Name: "taints"}:           policies("ClusterTaintPolicy", "", "taints"),
		{Kind: messages.KindBinding, Name: "default/web"}:     {APIVersion: api.WorkGroupVersion, Kind: "ResourceBinding", Namespace: "default", Name: "web"},
		{Kind: messages.KindPropagation, Name: "default/web"}: policies("PropagationPolicy", "default", "web"),
		{Kind: messages.KindPropagation, Name: "all"}:         policies("ClusterPropagationPolicy", "", "all"),
		{Kind: messages.KindGovernor}:                         {},
	} {
		require.Equal(t, want, ObjectOf(machine), machine)
	}
}

func TestTheFirstOfTheMachinesThatChangedIsTriedAgain(t *testing.T) {
	in := func(name string, after time.Duration) Quarantined {
		return Quarantined{Machine: messages.Address{Kind: messages.KindCluster, Name: name}, NotBefore: start.Add(after)}
	}
	q := quarantine{machines: []Quarantined{in("m1", 1), in("m2", 3), in("m3", 2), in("m4", 4)}, changed: []bool{false, true, true, true}}
	first, at := q.next()
	require.Equal(t, "m3", first.Name)
	require.Equal(t, start.Add(2), at)
}

func TestAChangeOfAnotherObjectTriesNoMachineAgain(t *testing.T) {
	f := running(t)
	f.quarantine = quarantine{machines: []Quarantined{{Machine: webBinding}, {Machine: messages.Address{Kind: messages.KindCluster, Name: "m2"}}}, changed: make([]bool, 2)}
	f.write(member("m3"))
	f.take()
	require.Equal(t, []bool{false, false}, f.quarantine.changed)
	f.write(deployment(3, "nginx:1"))
	f.take()
	require.Equal(t, []bool{true, false}, f.quarantine.changed)
	f.write(member("m3"))
	f.take()
	require.Equal(t, []bool{true, false}, f.quarantine.changed, "it stays so")
	f.quarantine = quarantine{}
}
