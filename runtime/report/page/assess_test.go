package page

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/runtime/fleet/span"
	"leeward/runtime/scenario/assess"
)

// weakFleet is an assessment of a fleet that does not survive the loss of eu.
func weakFleet() *assess.Assessment {
	after := span.Seconds(90 * time.Second)
	never := assess.Contingency{Name: "region eu", Kind: "region", Of: []string{"eu"}, Clusters: []string{"eu-1", "eu-2"}}
	return &assess.Assessment{
		Prediction: true, Profile: "leeward", Seed: 1, Outage: messages.OutagePower, By: assess.ByNamespace,
		Fleet: assess.Shape{Clusters: 3, Regions: 2, Workloads: 4, Replicas: 12, Groups: 2},
		Contingencies: []*assess.Outcome{
			{Contingency: never, Lost: assess.Count{Workloads: 3, Replicas: 9}, Evicted: assess.Count{Workloads: 1, Replicas: 3},
				Unavailable: assess.Count{Workloads: 1, Replicas: 2}, Lowest: 0.25,
				Groups:    []assess.Share{{Group: "pay", Workloads: 1, Lowest: 0.5}, {Group: "shop", Workloads: 2, Unavailable: 1, Lowest: 0.1}},
				Troubles:  []assess.Trouble{{Workload: "shop/<b>", Missing: 2, Kind: assess.Unschedulable, Reason: "no capacity"}},
				Overflows: []assess.Overflow{{Cluster: "us-1", Resource: "cpu", Requested: "12", Has: "10"}}, Breakers: []string{"breaker fleet Open"}},
			{Contingency: assess.Contingency{Name: "provider p", Kind: "provider", Of: []string{"p"}, Clusters: never.Clusters}, SameAs: "region eu",
				Lost: assess.Count{Workloads: 3}, Unavailable: assess.Count{Workloads: 1}, Lowest: 0.25},
			{Contingency: assess.Contingency{Name: "cluster eu-1", Kind: "cluster", Of: []string{"eu-1"}, Clusters: []string{"eu-1"}}, AvailableAfter: &after,
				Lost: assess.Count{Workloads: 1}, Lowest: 0.4, Groups: []assess.Share{{Group: "pay", Workloads: 1, Lowest: 1}, {Group: "shop", Workloads: 1, Lowest: 0.4}}},
			{Contingency: assess.Contingency{Name: "cluster us-1", Kind: "cluster", Of: []string{"us-1"}, Clusters: []string{"us-1"}}, Lowest: 1},
		},
		Advice: []assess.Advice{{Change: "add capacity", Where: []string{"policy web, fleet.yaml:12"}, Evidence: []string{"losing region eu leaves 2 cpu too little"}, Workloads: []messages.BindingName{"shop/<b>"}}},
	}
}

func assessmentPageOf(t *testing.T, a *assess.Assessment) document {
	t.Helper()
	var out strings.Builder
	require.NoError(t, WriteAssessment(&out, a, "leeward assess -f fleet.yaml"))
	d := parse(t, out.String())
	d.needsNothing(t)
	return d
}

func TestAnAssessmentIsOnePage(t *testing.T) {
	d := assessmentPageOf(t, weakFleet())
	require.Equal(t, []string{"What each outage would do"}, d.texts("h1"))
	require.Contains(t, d.texts("p")[0], "All of this is a prediction")
	require.Equal(t, []string{"4", "2", "25 %", "1"}, d.texts(".tile .value"))
	require.Equal(t, []string{"region eu", "cluster eu-1"}, d.texts("text.row-name"), "the same clusters have one row, and what changes nothing has none")
	require.Equal(t, []string{"shop", "pay"}, d.texts("text.column-name"), "the worst first")
	require.Equal(t, []string{"50 %", "10 %", "100 %", "40 %"}, d.texts(".cell > text"))
	require.Len(t, d.all("g.lost"), 1)
	require.Len(t, d.all("g.dips"), 1)
	require.Len(t, d.all("g.kept"), 1)
	require.Len(t, d.all("g.sinks"), 1)
	require.Equal(t, "slight", cell(0, &assess.Outcome{}, &assess.Share{Lowest: 0.9}).Class)
	require.Contains(t, d.texts(".cell > title")[1], "predicted: losing region eu, shop: 2 workloads hit, lowest availability 10 %, 1 unavailable in the end")
	require.Len(t, d.all("details.run"), 2, "each contingency can be opened")
	require.Contains(t, strings.Join(d.texts("td"), "|"), "unschedulable|no capacity")
	require.Contains(t, strings.Join(d.texts("th"), "|"), "shop/<b>")
	require.Contains(t, strings.Join(d.texts("p"), "|"), "Cluster us-1 overflows: 12 of 10 cpu requested.")
	require.Contains(t, strings.Join(d.texts("li"), "|"), "predicted: losing region eu leaves 2 cpu too little")
	require.Equal(t, []string{"leeward assess -f fleet.yaml"}, d.texts(".command"))
}

func TestAMapThatCannotBeReadIsCutAndSaysSo(t *testing.T) {
	a := weakFleet()
	a.Contingencies = nil
	for i := range 70 {
		o := &assess.Outcome{Lost: assess.Count{Workloads: 1}, Lowest: 0.5}
		o.Name = fmt.Sprintf("cluster %s%02d", strings.Repeat("long", 10), i)
		for j := range 35 {
			o.Groups = append(o.Groups, assess.Share{Group: fmt.Sprintf("%s-%02d", strings.Repeat("ü", 20), j), Lowest: 0.5})
		}
		a.Contingencies = append(a.Contingencies, o)
	}
	d := assessmentPageOf(t, a)
	require.Len(t, d.all("text.row-name"), 60)
	require.Len(t, d.all("text.column-name"), 30)
	for _, name := range append(d.texts("text.row-name"), d.texts("text.column-name")...) {
		require.LessOrEqual(t, len([]rune(name)), 30)
	}
	require.Contains(t, strings.Join(d.texts("p"), "|"), "10 that would hurt less have no row here. 5 columns are omitted.")
}

func TestAnAssessmentWithoutAdviceSaysSo(t *testing.T) {
	d := assessmentPageOf(t, &assess.Assessment{By: "tier"})
	require.Contains(t, strings.Join(d.texts("p"), "|"), "Nothing: all workloads would be available again after each contingency.")
	require.Equal(t, []string{"0", "0", "100 %", "0"}, d.texts(".tile .value"))
}
