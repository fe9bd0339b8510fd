package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/taint"
	"leeward/messages/lists"
)

// TestTaintsAfterAnEdit edits a node with dedicated=a:NoSchedule, dedicated=a:PreferNoSchedule and rack=7:NoSchedule.
func TestTaintsAfterAnEdit(t *testing.T) {
	const there = " taint(s) with same effect(s) and --overwrite is false"
	for _, c := range []struct {
		name, specs string
		overwrite   bool
		did, after  string
		refused     string
	}{
		{name: "new ones come first, in their order", specs: "x:NoExecute w=1:NoSchedule", did: "tainted", after: "x:NoExecute w=1:NoSchedule dedicated=a:NoSchedule dedicated=a:PreferNoSchedule rack=7:NoSchedule"},
		{name: "another effect is another taint", specs: "rack=7:NoExecute", did: "tainted", after: "rack=7:NoExecute dedicated=a:NoSchedule dedicated=a:PreferNoSchedule rack=7:NoSchedule"},
		{name: "one that is there, with its value", specs: "rack=7:NoSchedule", refused: "node n already has rack" + there},
		{name: "two that are there, and one that is not", specs: "rack=8:NoSchedule x:NoExecute dedicated:PreferNoSchedule", refused: "node n already has rack,dedicated" + there},
		{name: "another value", specs: "rack=8:NoSchedule", overwrite: true, did: "modified", after: "rack=8:NoSchedule dedicated=a:NoSchedule dedicated=a:PreferNoSchedule"},
		{name: "its value again", specs: "rack=7:NoSchedule", overwrite: true, did: "modified", after: "rack=7:NoSchedule dedicated=a:NoSchedule dedicated=a:PreferNoSchedule"},
		{name: "a new one with overwrite", specs: "x:NoExecute", overwrite: true, did: "modified", after: "x:NoExecute dedicated=a:NoSchedule dedicated=a:PreferNoSchedule rack=7:NoSchedule"},
		{name: "one effect of two is removed", specs: "dedicated:NoSchedule-", did: "untainted", after: "dedicated=a:PreferNoSchedule rack=7:NoSchedule"},
		{name: "both effects are removed", specs: "dedicated-", did: "untainted", after: "rack=7:NoSchedule"},
		{name: "one is replaced, and another removed", specs: "dedicated- rack=8:NoSchedule", overwrite: true, did: "modified", after: "rack=8:NoSchedule"},
		{name: "one is added, and another removed", specs: "dedicated- x:NoExecute", did: "modified", after: "x:NoExecute rack=7:NoSchedule"},
		{name: "an effect that is not there", specs: "rack:NoExecute- dedicated-", refused: `taint "rack:NoExecute" not found`},
	} {
		t.Run(c.name, func(t *testing.T) {
			changes, err := taint.Parse(strings.Fields(c.specs))
			require.NoError(t, err)
			has, err := taint.Parse([]string{"dedicated=a:NoSchedule", "dedicated=a:PreferNoSchedule", "rack=7:NoSchedule"})
			require.NoError(t, err)
			has.Add[2].TimeAdded = &metav1.Time{Time: time.Unix(1, 0)}
			before := slices.Clone(has.Add)
			after, did, err := retaint(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Spec: corev1.NodeSpec{Taints: has.Add}}, changes, c.overwrite)
			require.Equal(t, before, has.Add, "the node stays as it is")
			if c.refused != "" {
				require.EqualError(t, err, c.refused)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.did, did)
			specs := lists.Of(after, func(t corev1.Taint) string { return taint.String(&t) })
			require.Equal(t, c.after, strings.Join(specs, " "))
			i := taint.Find(after, "rack", corev1.TaintEffectNoSchedule)
			require.Equal(t, i >= 0 && !strings.Contains(c.after, "rack=8"), i >= 0 && after[i].TimeAdded != nil, "its time goes with its value")
		})
	}
}
