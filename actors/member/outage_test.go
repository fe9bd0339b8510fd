package member_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/actorstest"
	"leeward/actors/member"
	"leeward/messages"
	"leeward/messages/api"
)

// observe returns a member that records how many replicas serve, too, and runs two of web, which took 5 s to start.
func observe(t *testing.T) *driver {
	t.Helper()
	d := actorstest.Drive(t, member.New("m1", lease, 1))
	d.Tell(behave(5*time.Second, 5*time.Second), run("web", 2, 1)).Recorded(started("web", 2)).Told(web, unhealthy(0))
	d.Advance(5*time.Second).Recorded(serves("web", 0, 2)).Told(web, healthy(2, 1))
	return d
}

func serves(b messages.BindingName, before, now int32) *messages.AvailabilityChanged {
	return &messages.AvailabilityChanged{Binding: b, Cluster: "m1", Available: now, Before: before}
}

// loses is what an outage of power takes.
func loses(b messages.BindingName, before int32) *messages.AvailabilityChanged {
	f := serves(b, before, 0)
	f.Outage = messages.OutagePower
	return f
}

func outages(power, network, apiServer bool) *messages.OutagesSet {
	return &messages.OutagesSet{Outages: messages.Outages{Power: power, Network: network, APIServer: apiServer}}
}

func TestWithoutPowerCopiesDieAndStartUpAgain(t *testing.T) {
	d := observe(t)
	d.Advance(5 * time.Second)
	d.Tell(outages(true, false, false)).Recorded(loses("web", 2)).Told(web).Told(home, &messages.ContactLost{At: d.Now(), RenewedAt: d.Now()})
	d.Tell(run("shop", 3, 1), &messages.Rebooted{}).Quiet()
	d.QuietFor(time.Hour)
	d.Tell(outages(false, false, false)).
		Recorded(started("shop", 3)).
		Told(home, &messages.ContactRestored{}).
		Told(web, unhealthy(1)).
		Told(shop, unhealthy(0))
	d.Advance(5*time.Second).Recorded(serves("shop", 0, 3), serves("web", 0, 2)).Told(web, healthy(2, 1)).Told(shop, healthy(3, 1)).Sleeps()
}

func TestACopyThatStartsWhenPowerFailsStartsAgain(t *testing.T) {
	d := observe(t)
	d.Tell(run("web", 4, 2))
	d.Advance(time.Second)
	d.Tell(outages(true, false, false)).Recorded(loses("web", 2))
	d.Tell(outages(false, false, false)).Recorded()
	d.QuietFor(5*time.Second - 1)
	d.Advance(1).Recorded(serves("web", 0, 4)).Told(web, healthy(4, 2))
}

func TestWithoutNetworkCopiesServeOnUnseen(t *testing.T) {
	d := observe(t)
	d.Tell(outages(false, true, false)).Recorded().Told(web)
	d.Tell(remove("web")).Quiet()
	d.Tell(outages(false, false, false)).Recorded(serves("web", 2, 0), stopped("web")).Told(web, healthy(2, 1), removed)
}

func TestPowerMayFailWhileTheNetworkDoes(t *testing.T) {
	d := observe(t)
	d.Tell(outages(false, true, false))
	d.Tell(outages(true, true, false)).Recorded(loses("web", 2)).Told(home)
	d.Tell(outages(false, true, false)).Recorded().Told(home).Told(web)
	d.Advance(5 * time.Second).Recorded(serves("web", 0, 2)).Told(web)
	d.Tell(outages(false, false, false)).Recorded().Told(home, &messages.ContactRestored{}).Told(web, healthy(2, 1))
}

// apiServer is what an agent says of its API server.
func apiServer(status metav1.ConditionStatus, reason, message string, observed bool) *messages.ConditionReported {
	return &messages.ConditionReported{Type: api.ConditionReady, Status: status, Reason: reason, Message: message, Observed: observed}
}

func TestWithoutAPIServerTheClusterIsNotReadyAndCopiesServeOn(t *testing.T) {
	const failed, answers = "the cluster's API server does not answer", "cluster is healthy and ready to accept workloads"
	d := observe(t)
	d.Tell(outages(false, false, true)).Recorded().Told(web).Told(home, apiServer("False", "ClusterNotHealthy", failed, true))
	d.Tell(run("web", 4, 2), force("web", api.Unknown)).Quiet()
	d.Tell(outages(false, false, false)).
		Recorded(scaled("web", 2, 4)).
		Told(home, apiServer("True", "ClusterReady", answers, true)).
		Told(web, &messages.CopyReported{Cluster: "m1", Health: api.Unknown, ForPlacement: 1})

	d.Tell(outages(false, false, true))
	d.Tell(outages(false, true, true)).Told(home, &messages.ContactLost{At: d.Now(), RenewedAt: actorstest.Start})
	d.Tell(outages(false, true, false)).Quiet()
	d.Tell(outages(false, false, false)).Told(home, &messages.ContactRestored{}, apiServer("True", "ClusterReady", answers, false))
}

func TestWhatServesIsNotWhatIsReported(t *testing.T) {
	d := observe(t)
	d.Tell(force("web", api.Unknown)).Recorded().Told(web, &messages.CopyReported{Cluster: "m1", Health: api.Unknown, ForPlacement: 1})
	d.Tell(force("web", api.Unhealthy)).Recorded(serves("web", 2, 0))
	d.Tell(force("web", api.Healthy)).Recorded(serves("web", 0, 2))
	d.Tell(capacity("web", 1)).Recorded(serves("web", 2, 1))
	d.Tell(capacity("web", -1)).Recorded(serves("web", 1, 2))
	d.Tell(run("web", 1, 2)).Recorded(scaled("web", 2, 1), serves("web", 2, 1))
	d.Tell(&messages.Rebooted{}).Recorded(serves("web", 1, 0))
	d.Advance(5 * time.Second).Recorded(serves("web", 0, 1))
	d.Tell(&messages.ClusterDismissed{}).Recorded(serves("web", 1, 0))
}
