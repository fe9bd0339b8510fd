package binding_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors/actorstest"
	"leeward/messages"
	"leeward/messages/api"
)

func TestABindingConsidersTaintsThatItDoesNotHave(t *testing.T) {
	added := actorstest.Start
	off := func(s *messages.Settings) { s.EnableNoExecuteTaintEviction = false }
	for title, c := range map[string]struct {
		settings    messages.Settings
		tolerations []corev1.Toleration
		has         []string
		cluster     messages.ClusterName
		want        bool
	}{
		"it would leave for one that it does not tolerate": {settings(), nil, nil, "m1", true},
		"in time, for one that it tolerates for a while":   {settings(), []corev1.Toleration{tolerates("down", 300)}, nil, "m1", true},
		"it tolerates it for good":                         {settings(), []corev1.Toleration{{Key: "down", Operator: "Exists"}}, nil, "m1", false},
		"it leaves anyway":                                 {settings(), nil, []string{"other"}, "m1", false},
		"no copy is evicted":                               {settings(off), nil, nil, "m1", false},
		"it does not run there":                            {settings(), nil, nil, "m2", false},
	} {
		t.Run(title, func(t *testing.T) {
			s := placed(t, c.settings, duplicated(c.tolerations...), "m1")
			if c.has != nil {
				s.tell(tainted("m1", added, c.has...))
			}
			question := &messages.ConsiderTaints{Cluster: c.cluster, Policy: "p", Taints: []corev1.Taint{noExecute("down", added.Add(time.Second))}}
			answer := &messages.TaintsConsidered{Binding: name, Policy: "p", Leaves: c.want}
			s.tell(question).Recorded().Told(clusterAt(string(c.cluster)), answer)
		})
	}
}

func TestABindingThatWasAskedSaysWhenItsTolerationsChange(t *testing.T) {
	b := placed(t, settings(), duplicated(), "m1", "m2")
	b.tell(claim("default/p", duplicated(fiveMinutes))).Told(clusterAt("m1"))
	b.tell(&messages.ConsiderTaints{Cluster: "m1", Policy: "p", Taints: []corev1.Taint{noExecute("down", b.Now())}})
	changed := &messages.AnswerChanged{Binding: name}
	b.tell(claim("default/p", duplicated(tolerates("down", -1)))).Told(clusterAt("m1"), changed).Told(clusterAt("m2"), changed)
}

func TestABindingThatWasAskedSaysWhenItsHealthChangesTheAnswer(t *testing.T) {
	changed := &messages.AnswerChanged{Binding: name}
	b := placed(t, settings(), toleratingUnhealthy(60, api.PurgeNever), "m1", "m2")
	b.tell(unhealthyOn("m1")).Told(clusterAt("m1"))
	b.tell(report("m1", api.Healthy, 2, 1))
	ask := &messages.ConsiderTaints{Cluster: "m1", Policy: "p", Taints: []corev1.Taint{noExecute("down", b.Now())}}
	b.tell(ask).Told(clusterAt("m1"), &messages.TaintsConsidered{Binding: name, Policy: "p", Leaves: true})

	b.tell(unhealthyOn("m1")).Told(clusterAt("m1"), changed).Told(clusterAt("m2"))
	b.tell(ask).Told(clusterAt("m1"), &messages.TaintsConsidered{Binding: name, Policy: "p"})
	b.tell(unhealthyOn("m1")).Told(clusterAt("m1"))
	b.tell(report("m1", api.Healthy, 2, 1)).Told(clusterAt("m1"), changed)
	b.tell(unhealthyOn("m1"))
	b.advance(time.Minute).Told(clusterAt("m1"), changed)
}
