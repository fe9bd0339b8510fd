package binding_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors/actorstest"
	"leeward/messages"
)

func TestABindingConsidersTaintsThatItDoesNotHave(t *testing.T) {
	added := actorstest.Start
	off := func(s *messages.Settings) { s.EnableNoExecuteTaintEviction = false }
	for title, c := range map[string]struct {
		settings messages.Settings
		bears    []corev1.Toleration
		has      []string
		cluster  messages.ClusterName
		want     bool
	}{
		"it would leave for one that it does not tolerate": {settings(), nil, nil, "m1", true},
		"in time, for one that it tolerates for a while":   {settings(), []corev1.Toleration{tolerates("down", 300)}, nil, "m1", true},
		"it tolerates it for good":                         {settings(), []corev1.Toleration{{Key: "down", Operator: "Exists"}}, nil, "m1", false},
		"it leaves anyway":                                 {settings(), nil, []string{"other"}, "m1", false},
		"nobody is evicted":                                {settings(off), nil, nil, "m1", false},
		"it does not run there":                            {settings(), nil, nil, "m2", false},
	} {
		t.Run(title, func(t *testing.T) {
			s := placed(t, c.settings, duplicated(c.bears...), "m1")
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
	changed := &messages.TolerationsChanged{Binding: name}
	b.tell(claim("default/p", duplicated(tolerates("down", -1)))).Told(clusterAt("m1"), changed).Told(clusterAt("m2"), changed)
}
