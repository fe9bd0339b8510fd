package propagation_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/actors"
	"leeward/actors/actorstest"
	"leeward/actors/propagation"
	rules "leeward/actors/rules/propagation"
	"leeward/messages"
	"leeward/messages/api"
)

func bindingAt(name string) messages.Address {
	return messages.Address{Kind: messages.KindBinding, Name: name}
}

// selecting is a spec that selects Deployments by name.
func selecting(names ...string) *api.PropagationSpec {
	spec := &api.PropagationSpec{}
	for _, n := range names {
		spec.ResourceSelectors = append(spec.ResourceSelectors, api.ResourceSelector{APIVersion: "apps/v1", Kind: "Deployment", Name: n})
	}
	return spec
}

// offer is a Deployment of namespace default.
func offer(name string) *messages.WorkloadOffered {
	return &messages.WorkloadOffered{Workload: &messages.Workload{
		Binding: messages.BindingName(name), APIVersion: "apps/v1", Kind: "Deployment", Namespace: "default", Name: name,
	}}
}

func drive(t *testing.T, spec *api.PropagationSpec) *actorstest.Driver[messages.ToPropagation] {
	t.Helper()
	d := actorstest.Drive(t, propagation.New("default/p", 1))
	d.Tell(&messages.PropagationApplied{Spec: spec}).Quiet()
	return d
}

func TestAPolicyClaimsWhatItSelects(t *testing.T) {
	spec := selecting("web")
	spec.Priority, spec.Preemption = new(int32(3)), api.PreemptAlways
	d := drive(t, spec)
	d.Tell(offer("web")).Recorded().Told(bindingAt("web"), &messages.ClaimMade{
		Policy: "default/p", Life: 1, Priority: 3, Rank: int(rules.MatchName), Preempts: true, Spec: spec,
	})
	d.Tell(offer("api")).Quiet()
}

func TestWhatAPolicyDoesNotSayStaysZero(t *testing.T) {
	spec := &api.PropagationSpec{ResourceSelectors: []api.ResourceSelector{{APIVersion: "apps/v1", Kind: "Deployment"}}}
	d := drive(t, spec)
	d.Tell(offer("web")).Told(bindingAt("web"), &messages.ClaimMade{Policy: "default/p", Life: 1, Rank: int(rules.MatchKind), Spec: spec})
}

func TestAClusterPropagationPolicyClaimsInAnyNamespace(t *testing.T) {
	spec := selecting("web")
	d := actorstest.Drive(t, propagation.New("everywhere", 1))
	d.Tell(&messages.PropagationApplied{Spec: spec})
	d.Tell(offer("web")).Told(bindingAt("web"), &messages.ClaimMade{
		Policy: "everywhere", Life: 1, ClusterScoped: true, Rank: int(rules.MatchName), Spec: spec,
	})
}

func TestAPropagationPolicyStaysInItsNamespace(t *testing.T) {
	d := actorstest.Drive(t, propagation.New("shop/p", 1))
	d.Tell(&messages.PropagationApplied{Spec: selecting("web")})
	d.Tell(offer("web")).Quiet()
}

func TestAnEditedPolicyClaimsAgainAndLetsGoWhatItNoLongerSelects(t *testing.T) {
	d := drive(t, selecting("web", "api"))
	d.Tell(offer("web"), offer("api"))
	next := selecting("web")
	d.Tell(&messages.PropagationApplied{Spec: next}, offer("web"), offer("api")).
		Told(bindingAt("web"), &messages.ClaimMade{Policy: "default/p", Life: 1, Rank: int(rules.MatchName), Spec: next}).
		Told(bindingAt("api"), &messages.ClaimWithdrawn{Policy: "default/p", Life: 1})
	d.Tell(offer("api")).Quiet()
}

func TestADeletedPolicyWithdrawsEachClaimOnce(t *testing.T) {
	d := drive(t, selecting("web", "api"))
	d.Tell(offer("web"), offer("api"), offer("web"))
	withdrawn := &messages.ClaimWithdrawn{Policy: "default/p", Life: 1}
	n := d.Tell(&messages.PropagationDeleted{}).Told(bindingAt("web"), withdrawn).Told(bindingAt("api"), withdrawn)
	require.Equal(t, []actors.Mail{{To: bindingAt("web"), Message: withdrawn}, {To: bindingAt("api"), Message: withdrawn}}, n.Mail(), "in the order of the claims")
	d.Tell(&messages.PropagationDeleted{}).Quiet()
}

func TestNeitherSettingsNorTimeMatter(t *testing.T) {
	d := drive(t, selecting("web"))
	d.Tell(&messages.SettingsChanged{}, &messages.Woken{}).Quiet().Sleeps()
}

func TestAStrangeMessageIsABrokenInvariant(t *testing.T) {
	require.PanicsWithValue(t, "propagation default/p: unknown message <nil>", func() {
		propagation.New("default/p", 1).Receive(actorstest.Start, nil, &actors.Outbox{})
	})
}

func TestAPolicySaysOnceWhichOverridesItWaitsFor(t *testing.T) {
	spec := selecting("web")
	d := drive(t, spec)
	missing := []string{"OverridePolicy default/o"}
	waits := &messages.PropagationApplied{Spec: spec, Absent: missing}
	d.Tell(waits).Recorded(&messages.OverridesAwaited{Policy: "default/p", Overrides: missing})
	d.Tell(waits, offer("web")).Recorded().Told(bindingAt("web"), &messages.ClaimMade{Policy: "default/p", Life: 1, Rank: int(rules.MatchName), Waits: true, Spec: spec})
	d.Tell(&messages.PropagationApplied{Spec: spec}, offer("web")).Recorded(&messages.OverridesAwaited{Policy: "default/p"}).
		Told(bindingAt("web"), &messages.ClaimMade{Policy: "default/p", Life: 1, Rank: int(rules.MatchName), Spec: spec})
}
