package cluster_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors"
	"leeward/actors/actorstest"
	"leeward/actors/cluster"
	"leeward/messages"
	"leeward/messages/api"
)

func TestAClusterShowsItselfWhenItJoins(t *testing.T) {
	o := ready("True")
	o.Labels = map[string]string{"tier": "gold"}
	o.Spec = api.ClusterSpec{Provider: "p", Region: "r", Zones: []string{"a"}, Taints: []corev1.Taint{parsed("spot:NoSchedule", time.Time{})}}
	o.Status.APIEnablements = []api.APIEnablement{{GroupVersion: "apps/v1"}}
	o.Status.ResourceSummary = capacity("8")
	d := actorstest.Drive(t, cluster.New(name, settings(nil), 0))
	d.Tell(joined(o)).Recorded().Told(scheduler, &messages.ClusterViewed{SpecChanged: true, View: &messages.ClusterView{
		Name: name, Labels: o.Labels, Provider: "p", Region: "r", Zones: o.Spec.Zones, Taints: o.Spec.Taints,
		Conditions: o.Status.Conditions, APIs: o.Status.APIEnablements, Resources: o.Status.ResourceSummary,
	}})
}

func TestCausesOutliveARestart(t *testing.T) {
	o := ready("True")
	o.Spec.Taints = []corev1.Taint{parsed("down:NoExecute", actorstest.Start), parsed("theirs:NoExecute", actorstest.Start)}
	cause := byPolicy("p", "X=True")
	cause.Key, cause.Effect = "down", "NoExecute"
	o.Status.TaintCauses = []api.TaintCause{cause}
	d := actorstest.Drive(t, cluster.New(name, settings(nil), 0))
	d.Tell(joined(o))
	told := actorstest.MailTo(d.Tell(&messages.BindingPlaced{Binding: "web"}).Mail(), bindingAt("web"))
	require.Equal(t, []api.TaintCause{cause, {Key: "theirs", Effect: "NoExecute", By: "user"}}, told[0].(*messages.TaintsChanged).Causes)
}

func TestLabelsAreSetAndRemovedAndNoPolicyIsAsked(t *testing.T) {
	gold, blue := "gold", "blue"
	d := drive(t, nil, listed("p")...)
	d.Tell(&messages.LabelsEdited{Labels: map[string]*string{"tier": &gold, "team": &blue}}).
		Recorded(&messages.LabelsChanged{Cluster: name, Labels: map[string]string{"tier": "gold", "team": "blue"}}).
		Told(policyAt("p"))
	n := d.Tell(&messages.LabelsEdited{Labels: map[string]*string{"tier": nil}}).
		Recorded(&messages.LabelsChanged{Cluster: name, Labels: map[string]string{"team": "blue"}})
	require.True(t, actorstest.MailTo(n.Mail(), scheduler)[0].(*messages.ClusterViewed).SpecChanged)
	d.Tell(&messages.LabelsEdited{Labels: map[string]*string{"tier": nil, "team": &blue}}).Quiet()
}

func TestViewsThatWereShownStayAsTheyAre(t *testing.T) {
	d := drive(t, nil)
	first := actorstest.MailTo(d.Tell(edit("a=1:NoSchedule", "b:NoSchedule")).Mail(), scheduler)[0].(*messages.ClusterViewed).View
	d.Tell(edit("a=2:NoSchedule", "b-", "c:NoSchedule"))
	d.Tell(report("Ready", "False"))
	require.Equal(t, []corev1.Taint{parsed("a=1:NoSchedule", time.Time{}), parsed("b:NoSchedule", time.Time{})}, first.Taints)
	require.Equal(t, metav1.ConditionTrue, first.Condition("Ready").Status)
}

func TestAManifestChangesLabelsPlaceAndTaints(t *testing.T) {
	o := &api.Cluster{}
	o.Labels = map[string]string{"tier": "gold"}
	o.Spec = api.ClusterSpec{Provider: "p", Region: "r", Zones: []string{"a"}, Taints: []corev1.Taint{parsed("spot:NoSchedule", time.Time{})}}
	d := drive(t, nil)
	d.Tell(&messages.ClusterEdited{Object: o}).Recorded(
		&messages.LabelsChanged{Cluster: name, Labels: o.Labels},
		&messages.ClusterSpecChanged{Cluster: name, Provider: "p", Region: "r", Zones: []string{"a"}},
		tainted("spot:NoSchedule", time.Time{}, byHand))
	d.Tell(&messages.ClusterEdited{Object: o}).Quiet()
}

func TestAManifestTakesBackWhatUsersAddedAndNothingElse(t *testing.T) {
	d := drive(t, nil, listed("p")...)
	d.Tell(abstains("p", 1))
	d.Tell(edit("theirs:NoSchedule"), report("Ready", "False"))
	d.Tell(adds("p", 2, "x"))
	d.Tell(&messages.ClusterEdited{Object: &api.Cluster{}}).Recorded(untainted("theirs:NoSchedule", time.Time{}, byHand))
}

func capacity(cpu string) *api.ResourceSummary {
	return &api.ResourceSummary{Allocatable: corev1.ResourceList{"cpu": resource.MustParse(cpu)}}
}

func TestOnlyNewCapacityIsNews(t *testing.T) {
	d := drive(t, nil)
	n := d.Tell(&messages.ResourcesReported{Summary: capacity("8")}).
		Recorded(&messages.CapacityChanged{Cluster: name, Summary: capacity("8")})
	require.False(t, actorstest.MailTo(n.Mail(), scheduler)[0].(*messages.ClusterViewed).SpecChanged)
	d.Tell(&messages.ResourcesReported{Summary: capacity("8000m")}).Quiet()
	d.Tell(&messages.ResourcesReported{}).Recorded(&messages.CapacityChanged{Cluster: name})
}

func TestOtherGradesOfNodesAreNewsOnce(t *testing.T) {
	d := drive(t, nil)
	graded := func() *messages.ClusterEdited {
		return &messages.ClusterEdited{Object: &api.Cluster{Spec: api.ClusterSpec{ResourceModels: []api.ResourceModel{{Grade: 1}}}}}
	}
	n := d.Tell(graded()).Recorded(&messages.ResourceModelsChanged{Cluster: name, Models: []api.ResourceModel{{Grade: 1}}})
	require.IsType(t, &messages.ClusterViewed{}, actorstest.MailTo(n.Mail(), scheduler)[0])
	d.Tell(graded()).Quiet()
}

func TestWhatAClusterServesIsNewsOnce(t *testing.T) {
	d := drive(t, nil)
	apps := []api.APIEnablement{{GroupVersion: "apps/v1", Resources: []api.APIResource{{Name: "deployments", Kind: "Deployment"}}}}
	n := d.Tell(&messages.EnablementsReported{APIs: apps}).Recorded(&messages.EnablementsChanged{Cluster: name, APIs: apps})
	viewed := actorstest.MailTo(n.Mail(), scheduler)[0].(*messages.ClusterViewed)
	require.Equal(t, apps, viewed.View.APIs)
	require.False(t, viewed.SpecChanged, "as in Karmada, it moves nothing that has a place")
	d.Tell(&messages.EnablementsReported{APIs: apps}).Quiet()
	d.Tell(&messages.EnablementsReported{}).Recorded(&messages.EnablementsChanged{Cluster: name})
	d.Tell(&messages.EnablementsReported{APIs: []api.APIEnablement{}}).Quiet()
}

func TestADeletedClusterWaitsForItsLastBinding(t *testing.T) {
	d := drive(t, nil)
	d.Tell(&messages.BindingPlaced{Binding: "a"}, &messages.BindingPlaced{Binding: "b"})
	n := d.Tell(&messages.ClusterDeleted{}).Recorded(&messages.ClusterLeaving{Cluster: name})
	require.True(t, actorstest.MailTo(n.Mail(), scheduler)[0].(*messages.ClusterViewed).View.Deleting)
	d.Tell(&messages.ClusterDeleted{}).Quiet()
	d.Tell(&messages.BindingLeft{Binding: "a"}).Quiet()
	d.Tell(&messages.BindingLeft{Binding: "b"}).
		Recorded(&messages.ClusterRemoved{Cluster: name}).
		Told(scheduler, &messages.ClusterGone{Name: name})
	d.Tell(&messages.BindingLeft{Binding: "b"}).Quiet()
}

func TestAnEmptyClusterDisappearsImmediately(t *testing.T) {
	drive(t, nil).Tell(&messages.ClusterDeleted{}).
		Recorded(&messages.ClusterLeaving{Cluster: name}, &messages.ClusterRemoved{Cluster: name})
}

func TestALeavingClusterLeavesAfterARestartToo(t *testing.T) {
	o := ready("True")
	o.DeletionTimestamp = &metav1.Time{Time: actorstest.Start}
	d := actorstest.Drive(t, cluster.New(name, settings(nil), 0))
	d.Tell(joined(o), &messages.BindingPlaced{Binding: "web"}).Recorded()
	d.Tell(&messages.BindingLeft{Binding: "web"}).Recorded(&messages.ClusterRemoved{Cluster: name})
}

func TestAStrangeMessageIsABrokenInvariant(t *testing.T) {
	require.PanicsWithValue(t, "cluster member1: unknown message <nil>", func() {
		cluster.New(name, settings(nil), 0).Receive(actorstest.Start, nil, &actors.Outbox{})
	})
}

func TestGradesOfNodesAreShownWhereTheirGateIsOn(t *testing.T) {
	o := ready("True")
	o.Spec.ResourceModels = []api.ResourceModel{{Grade: 0}}
	gate := func(on bool) messages.Settings {
		return settings(func(s *messages.Settings) { s.CustomizedClusterResourceModeling = on })
	}
	shown := func(n *actorstest.Network) []api.ResourceModel {
		return actorstest.MailTo(n.Mail(), scheduler)[0].(*messages.ClusterViewed).View.Models
	}
	d := actorstest.Drive(t, cluster.New(name, gate(true), 0))
	require.Equal(t, o.Spec.ResourceModels, shown(d.Tell(joined(o))))
	require.Empty(t, shown(d.Tell(&messages.SettingsChanged{Settings: gate(false)})))
}

// Another cluster of the name stays, without the drain and the taint of the one that was to leave.
func TestAClusterThatIsMadeAgainStays(t *testing.T) {
	d := drive(t, func(s *messages.Settings) { s.TaintTerminatingClusters = true })
	at := d.Now()
	d.Tell(placedOn("web")...)
	d.Tell(&messages.DrainRequested{}, &messages.ClusterDeleted{})
	n := d.Tell(&messages.ClusterRecreated{Object: &api.Cluster{Spec: api.ClusterSpec{Region: "eu"}}}).Recorded(
		&messages.DrainEnded{Cluster: name}, untainted(cordon, at, drainEnded), untainted(draining, at, drainEnded),
		untainted("cluster.karmada.io/terminating:NoExecute", at, bySystem("the cluster was made again")),
		&messages.ClusterSpecChanged{Cluster: name, Region: "eu"})
	views := actorstest.MailTo(n.Mail(), scheduler)
	require.False(t, views[len(views)-1].(*messages.ClusterViewed).View.Deleting)
	d.Tell(&messages.BindingLeft{Binding: "web"}).Recorded()
}
