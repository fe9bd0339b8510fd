package member_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
)

// disturb lets something become of the reports of the next minute.
func disturb(d *driver, fault messages.ReportFault, by time.Duration) {
	d.Tell(&messages.ReportsDisturbed{Fault: fault, Until: d.Now().Add(time.Minute), By: by})
}

func TestReportsThatAreLostAreSaidAgainInTheEnd(t *testing.T) {
	d := drive(t, 0)
	disturb(d, messages.ReportsLost, 0)
	d.Tell(run("web", 2, 1)).Recorded(started("web", 2)).Told(web).WakesIn(time.Minute)
	d.Tell(run("shop", 1, 1), force("web", api.Unhealthy), remove("shop")).Told(web).Told(shop)
	d.Advance(time.Minute).Told(web, unhealthy(1)).Told(shop, removed).Sleeps()
	d.Tell(force("web", api.Healthy)).Told(web, healthy(2, 1))
}

func TestReportsThatAreDelayedArriveLaterInTheirOrder(t *testing.T) {
	d := drive(t, 0)
	disturb(d, messages.ReportsDelayed, 10*time.Second)
	d.Tell(run("web", 2, 1), force("web", api.Unhealthy)).Told(web).WakesIn(10 * time.Second)
	d.Advance(10*time.Second).Told(web, healthy(2, 1), unhealthy(1))
}

func TestAReportThatWasOvertakenIsVoid(t *testing.T) {
	d := drive(t, 0)
	disturb(d, messages.ReportsDelayed, 10*time.Minute)
	d.Tell(run("web", 2, 1))
	d.Advance(time.Minute)
	d.Tell(force("web", api.Unhealthy)).Told(web, unhealthy(1))
	d.Advance(9 * time.Minute).Quiet().Sleeps()
}

func TestReportsThatAreRepeatedArriveTwice(t *testing.T) {
	d := drive(t, 0)
	disturb(d, messages.ReportsDuplicated, 10*time.Second)
	d.Tell(run("web", 2, 1)).Told(web, healthy(2, 1))
	d.Advance(10*time.Second).Told(web, healthy(2, 1))
	d.Tell(run("web", 3, 2)).Told(web, healthy(3, 2))
	d.Advance(5 * time.Second)
	d.Tell(run("web", 4, 3)).Told(web, healthy(4, 3))
	d.Advance(5 * time.Second).Quiet()
	d.Advance(5*time.Second).Told(web, healthy(4, 3))
}

func TestReportsThatAreShuffledOvertakeOneAnother(t *testing.T) {
	d := drive(t, 0)
	disturb(d, messages.ReportsReordered, 30*time.Second)
	var order []messages.Address
	for i := range int64(20) {
		d.Tell(run("web", 1, i), run("shop", 1, i))
		for _, mail := range d.Advance(time.Second).Mail() {
			order = append(order, mail.To)
		}
	}
	d.Advance(time.Minute)
	require.Contains(t, order, web)
	require.Contains(t, order, shop)
	require.Less(t, len(order), 40, "some were overtaken")
}

func TestWhatAClusterSaysOfItselfGoesTheSameWay(t *testing.T) {
	d := drive(t, 0)
	ready := &messages.ConditionReported{Type: api.ConditionReady, Status: metav1.ConditionTrue}
	capacity := &messages.ResourcesReported{Summary: &api.ResourceSummary{}}
	d.Tell(&messages.ClusterSays{Report: ready}).Told(home, ready)
	disturb(d, messages.ReportsLost, 0)
	d.Tell(&messages.ClusterSays{Report: ready}, &messages.ClusterSays{Report: capacity}).Quiet()
	d.Advance(time.Minute).Told(home, ready, capacity)
}

func TestNothingArrivesOfASilentMember(t *testing.T) {
	d := drive(t, 0)
	disturb(d, messages.ReportsDelayed, 10*time.Second)
	d.Tell(run("web", 2, 1))
	d.Tell(&messages.OutagesSet{Outages: messages.Outages{Network: true}})
	d.Advance(2 * time.Minute).Quiet()
	d.Tell(&messages.OutagesSet{}).Told(web, healthy(2, 1), healthy(2, 1))
}

func TestAMemberThatEndsKeepsNothingBack(t *testing.T) {
	d := drive(t, 0)
	disturb(d, messages.ReportsLost, 0)
	d.Tell(run("web", 2, 1), remove("web")).Told(web)
	d.Tell(&messages.ClusterDismissed{}).Told(web, removed).Sleeps()
}

func TestARebootStartsAllCopiesAgain(t *testing.T) {
	d := drive(t, 5*time.Second)
	d.Tell(run("web", 2, 1))
	d.Advance(5 * time.Second)
	d.Tell(&messages.Rebooted{}).Recorded().Told(web, unhealthy(1)).WakesIn(5 * time.Second)
	d.Advance(5*time.Second).Told(web, healthy(2, 1)).Sleeps()
}
