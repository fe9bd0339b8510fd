package agent_test

import (
	"testing"
	"time"

	"leeward/actors/actorstest"
	"leeward/actors/agent"
	"leeward/messages"
	"leeward/messages/api"
)

var (
	web      = messages.Address{Kind: messages.KindBinding, Name: "web"}
	home     = messages.Address{Kind: messages.KindCluster, Name: "m1"}
	settings = messages.Settings{ClusterLeaseDuration: 40 * time.Second, ClusterMonitorGracePeriod: 30 * time.Second}
	removed  = &messages.CopyRemoved{Cluster: "m1"}
)

type driver = actorstest.Driver[messages.ToAgent]

func drive(t *testing.T) *driver {
	t.Helper()
	return actorstest.Drive[messages.ToAgent](t, agent.New("m1", settings))
}

func run(replicas int32, placement int64) *messages.RunCopy {
	return &messages.RunCopy{Binding: "web", Replicas: replicas, Placement: placement}
}

func wanted(replicas int32, placement int64) *messages.CopyWanted {
	return &messages.CopyWanted{Binding: "web", Cluster: "m1", Replicas: replicas, Placement: placement}
}

func written(placement, generation int64) *messages.WorkWritten {
	return &messages.WorkWritten{Binding: "web", Placement: placement, Generation: generation}
}

// says is the word of the cluster's agent on a generation of the Work.
func says(generation int64, h api.ResourceHealth, ready int32) *messages.WorkObserved {
	return &messages.WorkObserved{
		Binding: "web", Generation: max(1, generation), Report: &messages.WorkReport{Generation: generation, Health: h, Ready: ready},
	}
}

func reported(h api.ResourceHealth, ready int32, placement int64) *messages.CopyReported {
	return &messages.CopyReported{Cluster: "m1", Health: h, Ready: ready, ForPlacement: placement}
}

// running returns an agent whose Work of generation 1 asks for two replicas, which serve.
func running(t *testing.T) *driver {
	t.Helper()
	d := drive(t)
	d.Tell(run(2, 1)).Recorded(wanted(2, 1)).Told(web)
	d.Tell(written(1, 1)).Quiet()
	d.Tell(says(1, api.Healthy, 2)).Told(web, reported(api.Healthy, 2, 1))
	return d
}

func TestACopyIsAWorkAndItsStatusTheReport(t *testing.T) {
	running(t).Sleeps()
}

func TestAReportOfAnOlderGenerationIsNotBelievedAboutTheNewWish(t *testing.T) {
	d := running(t)
	d.Tell(run(3, 2)).Recorded(wanted(3, 2))
	d.Tell(says(1, api.Healthy, 2)).Told(web, reported(api.Healthy, 2, 1))
	d.Tell(written(2, 2)).Told(web, reported(api.Healthy, 2, 1))
	d.Tell(says(1, api.Healthy, 2)).Told(web, reported(api.Healthy, 2, 1))
	d.Tell(says(2, api.Healthy, 3)).Told(web, reported(api.Healthy, 3, 2))
}

func TestAReportThatComesBeforeItsWorkIsKnownCountsOnceItIs(t *testing.T) {
	d := running(t)
	d.Tell(run(3, 2))
	d.Tell(says(2, api.Healthy, 3)).Told(web, reported(api.Healthy, 3, 1))
	d.Tell(written(2, 2)).Told(web, reported(api.Healthy, 3, 2))
}

func TestAnAgentThatNamesNoGenerationMeansTheNewest(t *testing.T) {
	d := running(t)
	d.Tell(run(3, 2))
	d.Tell(written(2, 2))
	d.Tell(says(0, api.Healthy, 3)).Told(web, reported(api.Healthy, 3, 2))
}

// TestAWishForWhatExistsNeedsNoNewReport shows an engine that lost its memory: its wish has another number, and the
// Work stays as it is.
func TestAWishForWhatExistsNeedsNoNewReport(t *testing.T) {
	d := drive(t)
	d.Tell(says(4, api.Healthy, 2)).Quiet()
	adopted := run(2, 1)
	adopted.Adopt = true
	d.Tell(adopted).Recorded(wanted(2, 1))
	d.Tell(written(1, 4)).Told(web, reported(api.Healthy, 2, 1))
}

func TestWhatIsToStayAsItIsIsReportedAndNotWritten(t *testing.T) {
	d := running(t)
	asIs := run(9, 2)
	asIs.Adopt, asIs.AsIs = true, true
	d.Tell(asIs).Recorded().Told(web, reported(api.Healthy, 2, 2))
}

func TestAnOlderAnswerIsNotTakenForTheNewWish(t *testing.T) {
	d := running(t)
	d.Tell(run(3, 2), run(4, 3)).Recorded(wanted(3, 2), wanted(4, 3))
	d.Tell(written(2, 2)).Quiet()
	d.Tell(written(3, 3)).Told(web, reported(api.Healthy, 2, 1))
}

func TestOnlyHealthyReplicasAreReady(t *testing.T) {
	d := running(t)
	d.Tell(says(1, api.Unhealthy, 2)).Told(web, reported(api.Unhealthy, 0, 1))
}

func TestWhatAClusterRefusesIsReported(t *testing.T) {
	d := running(t)
	refused := says(1, api.Unknown, 0)
	refused.Report.Refused = "no quota"
	want := reported(api.Unknown, 0, 1)
	want.Refused = "no quota"
	d.Tell(refused).Told(web, want)
	d.Tell(says(1, api.Healthy, 2)).Told(web, reported(api.Healthy, 2, 1))
}

func TestReplicasWithoutCapacityAreReported(t *testing.T) {
	d := running(t)
	o := says(1, api.Unhealthy, 0)
	o.Report.Unschedulable = 2
	want := reported(api.Unhealthy, 0, 1)
	want.Unschedulable, want.Full = 2, true
	d.Tell(o).Told(web, want)
}

func TestACopyIsGoneWhenItsWorkIs(t *testing.T) {
	d := running(t)
	d.Tell(&messages.RemoveCopy{Binding: "web", Preserve: true}).
		Recorded(&messages.CopyUnwanted{Binding: "web", Cluster: "m1", Preserved: true}).Told(web)
	d.Tell(says(1, api.Healthy, 2)).Quiet()
	d.Tell(&messages.WorkGone{Binding: "web"}).Recorded().Told(web, removed)
}

func TestACopyThatIsWantedAgainBeforeItsWorkGoesIsHeard(t *testing.T) {
	d := running(t)
	d.Tell(&messages.RemoveCopy{Binding: "web"}).Recorded(&messages.CopyUnwanted{Binding: "web", Cluster: "m1"})
	d.Tell(run(2, 1)).Recorded(wanted(2, 1)).Told(web)
	d.Tell(written(1, 1)).Told(web, reported(api.Healthy, 2, 1))
}

func TestACopyThatNeverWasIsGoneImmediately(t *testing.T) {
	drive(t).Tell(&messages.RemoveCopy{Binding: "web"}).Recorded().Told(web, removed)
}

func TestAWorkThatAUserDeletesComesBack(t *testing.T) {
	d := running(t)
	d.Tell(&messages.WorkGone{Binding: "web"}).Recorded(wanted(2, 1)).Told(web, reported(api.Unhealthy, 0, 0))
	d.Tell(written(1, 1)).Quiet()
	d.Tell(says(1, api.Healthy, 2)).Told(web, reported(api.Healthy, 2, 1))
}

func TestAGoneClusterRunsNothing(t *testing.T) {
	d := running(t)
	d.Tell(&messages.ClusterDismissed{}).
		Recorded(&messages.CopyUnwanted{Binding: "web", Cluster: "m1"}).Told(web, removed)
	d.Tell(&messages.ClusterDismissed{}).Quiet()
}

func renewed(at time.Time) *messages.LeaseRenewed { return &messages.LeaseRenewed{At: at} }

// silent returns an agent with a copy that serves, and that has been silent since the start.
func silent(t *testing.T) (d *driver, since time.Time) {
	t.Helper()
	d, since = running(t), actorstest.Start
	d.Tell(renewed(since)).Quiet().WakesIn(30 * time.Second)
	d.QuietFor(30*time.Second - 1)
	d.Advance(1).Told(home, &messages.ContactLost{At: since, RenewedAt: since}).Sleeps()
	return d, since
}

func TestAnAgentThatNeverRenewedIsNotWatched(t *testing.T) {
	drive(t).Sleeps()
}

func TestAnAgentThatCeasesToRenewIsSilent(t *testing.T) {
	d, since := silent(t)
	d.Tell(&messages.EngineRestarted{}).Told(home, &messages.ContactLost{At: since, RenewedAt: since})
	d.Tell(renewed(since)).Quiet()
	d.Tell(renewed(since.Add(time.Minute))).Told(home, &messages.ContactRestored{}).WakesIn(60 * time.Second)
	d.Tell(&messages.EngineRestarted{}).Quiet()
}

func TestAnotherGracePeriodCountsImmediately(t *testing.T) {
	d := running(t)
	d.Tell(renewed(actorstest.Start)).WakesIn(30 * time.Second)
	longer := settings
	longer.ClusterMonitorGracePeriod = time.Hour
	d.Tell(&messages.SettingsChanged{Settings: longer}).WakesIn(40 * time.Second)
}

// TestASilentAgentIsAskedBeforeItsCopyGoes shows a copy that may take its place back: its Work stays until the
// agent has spoken, and what it said before its silence does not count.
func TestASilentAgentIsAskedBeforeItsCopyGoes(t *testing.T) {
	d, since := silent(t)
	d.Tell(&messages.RemoveCopy{Binding: "web", Ask: true}).Quiet()
	d.Tell(renewed(since.Add(time.Minute))).Told(web)
	kept := reported(api.Healthy, 2, 1)
	kept.Kept = true
	d.Tell(says(1, api.Healthy, 2)).Recorded().Told(web, kept)
	d.Tell(&messages.RemoveCopy{Binding: "web"}).Recorded(&messages.CopyUnwanted{Binding: "web", Cluster: "m1"})
}

// A workload that is deleted and made again begins with the first version of its pod template again.
func TestACopyThatIsAskedForAgainRunsTheVersionThatIsAskedForThen(t *testing.T) {
	d := drive(t)
	first := run(2, 5)
	first.Revision = 3
	d.Tell(first)
	d.Tell(written(5, 1)).Quiet()
	d.Tell(&messages.RemoveCopy{Binding: "web"})
	again := run(2, 1)
	again.Revision = 1
	want := wanted(2, 1)
	want.Revision = 1
	d.Tell(again).Recorded(want)
	d.Tell(written(1, 2)).Quiet()
	serves := reported(api.Healthy, 2, 1)
	serves.Revision = 1
	d.Tell(says(2, api.Healthy, 2)).Told(web, serves)
}
