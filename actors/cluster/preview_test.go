package cluster_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"leeward/actors/actorstest"
	"leeward/actors/cluster"
	"leeward/messages"
	"leeward/messages/api"
)

// reports is the verdict of a policy that only reports and would add down:NoExecute.
func reports(policy messages.PolicyName, generation uint64) *messages.VerdictGiven {
	return &messages.VerdictGiven{
		Policy: policy, Generation: generation, Selects: true, ReportOnly: true, Add: true, AddCause: "X=True",
		Taints: []api.PolicyTaint{{Key: "down", Effect: "NoExecute"}},
	}
}

// previewed is the fact that policy a would add down:NoExecute, since an instant.
func previewed(since time.Time, evicts int32) *messages.TaintsPreviewed {
	return &messages.TaintsPreviewed{Cluster: name, TaintPreview: api.TaintPreview{
		Policy: "a", Add: []corev1.Taint{parsed("down:NoExecute", since)}, Because: "X=True", WouldEvict: evicts,
	}}
}

func ended(policy string) *messages.TaintsPreviewed {
	return &messages.TaintsPreviewed{Cluster: name, TaintPreview: api.TaintPreview{Policy: policy}}
}

func considered(binding messages.BindingName, leaves bool) *messages.TaintsConsidered {
	return &messages.TaintsConsidered{Binding: binding, Policy: "a", Leaves: leaves}
}

func TestAPreviewTaintsNothingAndAsksTheBindings(t *testing.T) {
	d := drive(t, nil, listed("a")...)
	d.Tell(&messages.BindingPlaced{Binding: "web"}, &messages.BindingPlaced{Binding: "db"}).Quiet()
	at := d.Now()
	question := &messages.ConsiderTaints{Cluster: name, Policy: "a", Taints: []corev1.Taint{parsed("down:NoExecute", at)}}
	n := d.Tell(reports("a", 1), considered("web", true), considered("db", false))
	n.Recorded(previewed(at, 1)).Told(bindingAt("web"), question).Told(bindingAt("db"), question)
	d.Tell(&messages.BindingPlaced{Binding: "late"}).Told(bindingAt("late"), question)
	d.Tell(considered("late", true)).Recorded(previewed(at, 2))
	d.Tell(considered("late", true), considered("stranger", false)).Quiet()
	n = d.Tell(&messages.AnswerChanged{Binding: "db"}, considered("db", true))
	n.Recorded(previewed(at, 3)).Told(bindingAt("db"), question).Told(bindingAt("web"))
	d.Tell(&messages.AnswerChanged{Binding: "db"}, considered("db", false)).Recorded(previewed(at, 2))
	d.Tell(&messages.BindingLeft{Binding: "late"}).Recorded(previewed(at, 1))
}

func TestAPreviewThatEvictsNothingAsksNoBinding(t *testing.T) {
	d := drive(t, nil, listed("a")...)
	d.Tell(&messages.BindingPlaced{Binding: "web"})
	soft := reports("a", 1)
	soft.Taints[0].Effect = corev1.TaintEffectNoSchedule
	d.Tell(soft).Told(bindingAt("web"))
	d.Tell(&messages.AnswerChanged{Binding: "web"}).Told(bindingAt("web"))
}

// A real NoExecute taint is a new question: who leaves for it would not leave for the preview.
func TestAPreviewFollowsTheTaints(t *testing.T) {
	d := drive(t, nil, listed("a")...)
	d.Tell(&messages.BindingPlaced{Binding: "web"})
	at := d.Now()
	d.Tell(reports("a", 1), considered("web", true)).Recorded(previewed(at, 1))
	n := d.Tell(edit("other:NoExecute"), considered("web", false))
	n.Recorded(tainted("other:NoExecute", at, byHand), previewed(at, 0))
	d.Tell(edit("down:NoExecute")).Recorded(tainted("down:NoExecute", at, byHand), ended("a"))
}

func TestAPreviewEnds(t *testing.T) {
	acts := adds("a", 2, "other")
	deselects := &messages.VerdictGiven{Policy: "a", Generation: 2, ReportOnly: true}
	for name, c := range map[string]struct {
		change messages.ToCluster
		answer *messages.VerdictGiven
		want   []messages.Fact
	}{
		"with its policy":                          {&messages.PolicyDropped{Name: "a"}, abstains("a", 1), []messages.Fact{ended("a")}},
		"when its policy acts":                     {&messages.PolicyListed{Name: "a", Targeted: true}, acts, []messages.Fact{tainted("other:NoSchedule", actorstest.Start, byPolicy("a", "X=True")), ended("a")}},
		"where a policy that cleans up is no more": {&messages.PolicyListed{Name: "a", Cleanup: api.CleanupOnChange}, deselects, []messages.Fact{ended("a")}},
		"not where a policy is no more":            {&messages.PolicyListed{Name: "a", Targeted: true}, deselects, nil},
	} {
		t.Run(name, func(t *testing.T) {
			d := drive(t, nil, listed("a")...)
			d.Tell(reports("a", 1)).Recorded(previewed(actorstest.Start, 0))
			facts := slices.Clone(d.Tell(c.change).Facts())
			require.Equal(t, c.want, append(facts, d.Tell(c.answer).Facts()...))
		})
	}
}

// A restart neither repeats a preview nor forgets it.
func TestAPreviewSurvivesARestart(t *testing.T) {
	o := ready("True")
	stored := previewed(actorstest.Start.Add(-time.Hour), 1).TaintPreview
	o.Status.TaintPreviews = []api.TaintPreview{stored}
	d := actorstest.Drive(t, cluster.New(name, settings(nil), 0))
	d.Tell(joined(o, listed("a")...), &messages.BindingPlaced{Binding: "web"}, considered("web", true)).Recorded()
	d.Tell(reports("a", 1), considered("web", true)).Recorded()
	quiet := reports("a", 2)
	quiet.Add, quiet.Remove, quiet.RemoveCause = false, true, "X=False"
	d.Tell(report("X", "False"))
	d.Tell(quiet).Recorded(ended("a"))
}

func TestAPreviewSaysWhatItWouldSpare(t *testing.T) {
	o := ready("True")
	o.Spec.Taints = []corev1.Taint{parsed("down:NoExecute", actorstest.Start)}
	asks := reports("a", 1)
	asks.Add, asks.Remove, asks.RemoveCause = false, true, "X=False"
	preview := &messages.TaintsPreviewed{Cluster: name, TaintPreview: api.TaintPreview{Policy: "a", Spared: o.Spec.Taints, Because: "X=False"}}
	d := actorstest.Drive(t, cluster.New(name, settings(own), 0))
	d.Tell(joined(o, listed("a")...))
	d.Tell(asks).Recorded(preview)
	d.Tell(edit("other:NoSchedule")).Recorded(tainted("other:NoSchedule", time.Time{}, byHand))
	d.Tell(edit("down:NoExecute-")).Recorded(untainted("down:NoExecute", actorstest.Start, byHand), ended("a"))
}
