package live

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages/api"
)

func TestAWorkThatItsClusterRefusesShowsAtTheBinding(t *testing.T) {
	f := running(t)
	refuses := func(why string) {
		edit(f, work("m1"), func(w *api.Work) {
			w.Status = api.WorkStatus{Conditions: []metav1.Condition{{
				Type: api.ConditionApplied, Status: metav1.ConditionFalse, Reason: "AppliedFailed", Message: why, ObservedGeneration: w.Generation,
			}}}
		})
		require.NoError(t, f.step())
	}
	applied := func() string {
		c := meta.FindStatusCondition(get(f, binding()).Status.Conditions, api.ConditionFullyApplied)
		return string(c.Status) + ": " + c.Message
	}
	require.Equal(t, "True: every cluster has applied its copy", applied())
	refuses("exceeded quota: cpu")
	require.Equal(t, "False: m1 did not apply its copy: exceeded quota: cpu", applied())
	item := get(f, binding()).Status.AggregatedStatus[0]
	require.False(t, item.Applied)
	require.Equal(t, "exceeded quota: cpu", item.AppliedMessage)
	told := func() (n int) {
		for _, e := range f.events(binding()) {
			if strings.HasPrefix(e, "HealthChanged: ") && strings.Contains(e, "exceeded quota: cpu") {
				n++
			}
		}
		return n
	}
	require.Equal(t, 1, told(), f.events(binding()))
	f.restart()
	require.Equal(t, "False: m1 did not apply its copy: exceeded quota: cpu", applied())
	require.Equal(t, 1, told(), "a start tells nothing twice")
	refuses("denied by a webhook")
	require.Equal(t, "False: m1 did not apply its copy: denied by a webhook", applied())
	f.serves("m1", 2)
	require.Equal(t, "True: every cluster has applied its copy", applied())
}
