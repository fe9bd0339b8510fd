package journal

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func after(d time.Duration) time.Time { return start.Add(d) }

func seconds(n int64) *int64 { return &n }

var (
	notReady = corev1.Taint{Key: api.TaintNotReady, Effect: corev1.TaintEffectNoExecute}
	failed   = corev1.Taint{Key: "failed", Value: "yes", Effect: corev1.TaintEffectNoExecute}

	byUser   = api.TaintCause{Key: "failed", Effect: corev1.TaintEffectNoExecute, By: "user"}
	bySystem = api.TaintCause{By: "system", Because: "Ready=False"}
	byPolicy = api.TaintCause{By: "policy", Policy: "down", Because: "Ready=False (NetworkDown: link lost)"}

	untolerated = messages.Grounds{Reason: api.EvictionReasonTaintUntolerated, Taint: &failed, Cause: &byUser}
	forFive     = messages.Grounds{
		Reason: api.EvictionReasonTaintUntolerated, Taint: &notReady, Cause: &bySystem, Deadline: after(5 * time.Minute),
		Toleration: &corev1.Toleration{Key: api.TaintNotReady, Operator: corev1.TolerationOpExists,
			Effect: corev1.TaintEffectNoExecute, TolerationSeconds: seconds(300)},
	}
	byAll = messages.Grounds{
		Reason: api.EvictionReasonTaintUntolerated, Taint: &failed, Deadline: after(30 * time.Second),
		Toleration: &corev1.Toleration{Operator: corev1.TolerationOpExists, TolerationSeconds: seconds(30)},
	}
	forGood = messages.Grounds{
		Reason: api.EvictionReasonTaintUntolerated, Taint: &failed,
		Toleration: &corev1.Toleration{Key: "failed", Operator: corev1.TolerationOpExists},
	}
	unhealthy = messages.Grounds{Reason: api.EvictionReasonApplicationFailure, Deadline: after(time.Minute)}
)

func on(words ...string) []api.TargetCluster {
	var clusters []api.TargetCluster
	for _, w := range words {
		name, n, _ := strings.Cut(w, ":")
		replicas, _ := strconv.Atoi(n)
		clusters = append(clusters, api.TargetCluster{Name: name, Replicas: int32(replicas)})
	}
	return clusters
}

// told has every kind of fact, in the turns that its words can take, with its cells in a transcript
// and with its line in the log less seq and at. A fact without a row here fails TestEveryFactIsTold.
var told = []struct {
	name  string
	fact  messages.Fact
	words string
	log   string
}{
	{"a condition with its reason",
		&messages.ConditionChanged{Cluster: "m1", Type: "Ready", Status: "False", Reason: "NetworkDown", Message: "link lost"},
		"m1|reports|Ready=False|NetworkDown: link lost",
		`{"level":"info","cluster":"m1","to":"Ready=False","because":"NetworkDown: link lost","message":"condition changed"}`},
	{"a condition that the cluster does not report itself",
		&messages.ConditionChanged{Cluster: "m1", Type: "Ready", Status: "Unknown", Reason: "ClusterStatusUnknown", By: "monitor"},
		"m1|seen as|Ready=Unknown|by monitor (ClusterStatusUnknown)",
		`{"level":"info","cluster":"m1","to":"Ready=Unknown","because":"by monitor (ClusterStatusUnknown)","message":"condition changed"}`},
	{"a condition that is gone",
		&messages.ConditionRemoved{Cluster: "m1", Type: "Net"},
		"m1|reports|no Net|",
		`{"level":"info","cluster":"m1","message":"condition removed"}`},
	{"a taint by a policy, with the condition that asked for it",
		&messages.TaintAdded{Cluster: "m1", Taint: notReady, Cause: byPolicy},
		"m1|tainted|cluster.karmada.io/not-ready:NoExecute|by policy down because Ready=False (NetworkDown: link lost)",
		`{"level":"info","cluster":"m1","taint":"cluster.karmada.io/not-ready:NoExecute","policy":"down","because":"by policy down because Ready=False (NetworkDown: link lost)","message":"taint added"}`},
	{"a taint with a value, by hand",
		&messages.TaintAdded{Cluster: "m1", Taint: failed, Cause: byUser},
		"m1|tainted|failed=yes:NoExecute|by user",
		`{"level":"info","cluster":"m1","taint":"failed=yes:NoExecute","policy":"","because":"by user","message":"taint added"}`},
	{"a taint removed by the system",
		&messages.TaintRemoved{Cluster: "m1", Taint: notReady, Cause: bySystem},
		"m1|untainted|cluster.karmada.io/not-ready:NoExecute|by system because Ready=False",
		`{"level":"info","cluster":"m1","taint":"cluster.karmada.io/not-ready:NoExecute","policy":"","because":"by system because Ready=False","message":"taint removed"}`},
	{"a taint that another policy stands for now",
		&messages.TaintAdopted{Cluster: "m1", Taint: notReady, Cause: byPolicy},
		"m1|adopted|cluster.karmada.io/not-ready:NoExecute|by policy down because Ready=False (NetworkDown: link lost)",
		`{"level":"info","cluster":"m1","taint":"cluster.karmada.io/not-ready:NoExecute","policy":"down","because":"by policy down because Ready=False (NetworkDown: link lost)","message":"taint adopted"}`},
	{"a preview says that it is one",
		&messages.TaintsPreviewed{Cluster: "m1", TaintPreview: api.TaintPreview{Policy: "down", Add: []corev1.Taint{notReady, failed}, Because: "X=True", WouldEvict: 2}},
		"m1|preview|would taint cluster.karmada.io/not-ready:NoExecute failed=yes:NoExecute|by policy down because X=True; 2 bindings would leave; nothing is changed",
		`{"level":"info","cluster":"m1","policy":"down","because":"by policy down because X=True; 2 bindings would leave; nothing is changed","message":"taints previewed"}`},
	{"a preview of both, with one binding",
		&messages.TaintsPreviewed{Cluster: "m1", TaintPreview: api.TaintPreview{Policy: "down", Add: []corev1.Taint{notReady}, Remove: []corev1.Taint{failed}, WouldEvict: 1}},
		"m1|preview|would taint cluster.karmada.io/not-ready:NoExecute and untaint failed=yes:NoExecute|by policy down; 1 binding would leave; nothing is changed",
		`{"level":"info","cluster":"m1","policy":"down","because":"by policy down; 1 binding would leave; nothing is changed","message":"taints previewed"}`},
	{"a preview of what is spared",
		&messages.TaintsPreviewed{Cluster: "m1", TaintPreview: api.TaintPreview{Policy: "down", Spared: []corev1.Taint{failed}}},
		"m1|preview|would spare failed=yes:NoExecute, which no policy added|by policy down; nothing is changed",
		`{"level":"info","cluster":"m1","policy":"down","because":"by policy down; nothing is changed","message":"taints previewed"}`},
	{"a preview that ends",
		&messages.TaintsPreviewed{Cluster: "m1", TaintPreview: api.TaintPreview{Policy: "down"}},
		"m1|preview|ends|policy down would change nothing now",
		`{"level":"info","cluster":"m1","policy":"down","because":"policy down would change nothing now","message":"taints previewed"}`},
	{"what a probe found and does not count yet",
		&messages.ReadyObserved{Cluster: "m1", Status: "False", Reason: "NetworkDown", Deadline: after(130 * time.Second)},
		"m1|observed|Ready=False|NetworkDown; counts at 00:02:10 if it lasts",
		`{"level":"info","cluster":"m1","to":"Ready=False","because":"NetworkDown; counts at 2026-01-01T00:02:10Z if it lasts","message":"ready observed"}`},
	{"what a probe found as it is",
		&messages.ReadyObserved{Cluster: "m1", Status: "True"},
		"m1|observed|Ready=True again|",
		`{"level":"debug","cluster":"m1","to":"Ready=True","message":"ready observed"}`},
	{"a taint that stays against a policy's will",
		&messages.TaintSpared{Cluster: "m1", Taint: failed, Cause: byUser, Policy: "tidy", Because: "Ready=True"},
		"m1|keeps|failed=yes:NoExecute|by user; policy tidy asks for it to go because Ready=True; policies remove only what policies added",
		`{"level":"info","cluster":"m1","taint":"failed=yes:NoExecute","policy":"tidy","because":"by user; policy tidy asks for it to go because Ready=True; policies remove only what policies added","message":"taint spared"}`},
	{"what policies cannot do",
		&messages.TaintingFailed{Cluster: "m1", Add: []corev1.Taint{notReady}, Remove: []corev1.Taint{failed}, Policies: []messages.PolicyName{"a", "b"}, Problems: []string{"spec.taints[1].key: Invalid value"}},
		"m1|cannot|taint cluster.karmada.io/not-ready:NoExecute and untaint failed=yes:NoExecute|asked by policy a b; spec.taints[1].key: Invalid value; nothing is changed",
		`{"level":"warn","cluster":"m1","because":"asked by policy a b; spec.taints[1].key: Invalid value; nothing is changed","message":"tainting failed"}`},
	{"a drain begins",
		&messages.DrainProgressed{Cluster: "m1", Drain: api.Drain{Bindings: 2, Left: 2, Deadline: &metav1.Time{Time: after(130 * time.Second)}}},
		"m1|drains|2 bindings left|to be empty by 00:02:10",
		`{"level":"info","cluster":"m1","because":"to be empty by 2026-01-01T00:02:10Z","message":"drain progressed"}`},
	{"a drain goes on",
		&messages.DrainProgressed{Cluster: "m1", Drain: api.Drain{Bindings: 2, Left: 1}},
		"m1|drains|1 binding left|of 2",
		`{"level":"info","cluster":"m1","because":"of 2","message":"drain progressed"}`},
	{"a drain is done",
		&messages.DrainProgressed{Cluster: "m1", Drain: api.Drain{Bindings: 2}},
		"m1|drained|empty|",
		`{"level":"info","cluster":"m1","message":"drain progressed"}`},
	{"a drain is late",
		&messages.DrainMissed{Cluster: "m1", Waiting: []messages.BindingName{"a/x", "b/y"}},
		"m1|overdue|2 bindings left|a/x b/y; the drain goes on",
		`{"level":"warn","cluster":"m1","because":"a/x b/y; the drain goes on","message":"drain missed"}`},
	{"a drain is called off",
		&messages.DrainEnded{Cluster: "m1"},
		"m1|drain|ended|",
		`{"level":"info","cluster":"m1","message":"drain ended"}`},
	{"labels in the order of their keys",
		&messages.LabelsChanged{Cluster: "m1", Labels: map[string]string{"z": "1", "a": "2"}},
		"m1|labelled|a=2 z=1|",
		`{"level":"info","cluster":"m1","message":"labels changed"}`},
	{"no labels any more",
		&messages.LabelsChanged{Cluster: "m1"},
		"m1|labelled|with nothing|",
		`{"level":"info","cluster":"m1","message":"labels changed"}`},
	{"a place",
		&messages.ClusterSpecChanged{Cluster: "m1", Provider: "p1", Region: "eu", Zones: []string{"a", "b"}},
		"m1|located|provider=p1 region=eu zones=a,b|",
		`{"level":"info","cluster":"m1","message":"cluster spec changed"}`},
	{"no place",
		&messages.ClusterSpecChanged{Cluster: "m1"},
		"m1|located|nowhere|",
		`{"level":"info","cluster":"m1","message":"cluster spec changed"}`},
	{"capacity and what is used of it",
		&messages.CapacityChanged{Cluster: "m1", Summary: &api.ResourceSummary{
			Allocatable: corev1.ResourceList{"memory": resource.MustParse("4Gi"), "cpu": resource.MustParse("10")},
			Allocated:   corev1.ResourceList{"cpu": resource.MustParse("2")}}},
		"m1|offers|cpu=10 memory=4Gi|of which in use: cpu=2",
		`{"level":"info","cluster":"m1","because":"of which in use: cpu=2","message":"capacity changed"}`},
	{"capacity that is no longer reported",
		&messages.CapacityChanged{Cluster: "m1"},
		"m1|offers|anything|it reports no capacity",
		`{"level":"info","cluster":"m1","because":"it reports no capacity","message":"capacity changed"}`},
	{"other grades of nodes",
		&messages.ResourceModelsChanged{Cluster: "m1", Models: make([]api.ResourceModel, 2)},
		"m1|grades|2 of nodes|",
		`{"level":"info","cluster":"m1","message":"resource models changed"}`},
	{"what a cluster serves",
		&messages.EnablementsChanged{Cluster: "m1", APIs: []api.APIEnablement{
			{GroupVersion: "apps/v1", Resources: []api.APIResource{{Kind: "Deployment"}, {Kind: "StatefulSet"}}}, {GroupVersion: "batch/v1", Resources: []api.APIResource{{Kind: "Job"}}}}},
		"m1|serves|Deployment StatefulSet Job|",
		`{"level":"info","cluster":"m1","message":"enablements changed"}`},
	{"a cluster that serves a lot",
		&messages.EnablementsChanged{Cluster: "m1", APIs: []api.APIEnablement{{GroupVersion: "v1", Resources: make([]api.APIResource, 9)}}},
		"m1|serves|9 kinds|",
		`{"level":"info","cluster":"m1","message":"enablements changed"}`},
	{"a cluster that no longer says what it serves",
		&messages.EnablementsChanged{Cluster: "m1"},
		"m1|serves|anything|it does not say what",
		`{"level":"info","cluster":"m1","because":"it does not say what","message":"enablements changed"}`},
	{"silence, and what it leads to",
		&messages.HeartbeatStopped{Cluster: "m1", RenewedAt: after(90 * time.Second), Deadline: after(130 * time.Second)},
		"m1|silent|since 00:01:30|Unknown at 00:02:10 unless its agent returns",
		`{"level":"warn","cluster":"m1","because":"Unknown at 2026-01-01T00:02:10Z unless its agent returns","message":"heartbeat stopped"}`},
	{"a cluster without an agent that does not answer",
		&messages.HeartbeatStopped{Cluster: "m1", RenewedAt: after(90 * time.Second), Deadline: after(130 * time.Second), Probed: true},
		"m1|silent|since 00:01:30|Ready=False at 00:02:10 unless it answers probes",
		`{"level":"warn","cluster":"m1","because":"Ready=False at 2026-01-01T00:02:10Z unless it answers probes","message":"heartbeat stopped"}`},
	{"and one that will answer",
		&messages.HeartbeatReturned{Cluster: "m1", Probed: true},
		"m1|heard|again|it answers the next probe",
		`{"level":"info","cluster":"m1","because":"it answers the next probe","message":"heartbeat returned"}`},
	{"an agent that is back",
		&messages.HeartbeatReturned{Cluster: "m1"},
		"m1|heard|again|its agent reports",
		`{"level":"info","cluster":"m1","because":"its agent reports","message":"heartbeat returned"}`},
	{"a cluster on its way out",
		&messages.ClusterLeaving{Cluster: "m1"},
		"m1|deleted||goes when its last binding has left",
		`{"level":"info","cluster":"m1","because":"goes when its last binding has left","message":"cluster leaving"}`},
	{"a cluster that is gone",
		&messages.ClusterRemoved{Cluster: "m1"},
		"m1|gone||",
		`{"level":"info","cluster":"m1","message":"cluster removed"}`},
	{"a fleet that fares normally",
		&messages.GovernorChanged{State: "Normal", Message: "1 of 4 clusters are unhealthy"},
		"fleet|state|Normal|1 of 4 clusters are unhealthy",
		`{"level":"info","object":"fleet","because":"1 of 4 clusters are unhealthy","message":"governor changed"}`},
	{"a region that is slowed down for a while",
		&messages.GovernorChanged{
			Region: "eu", State: "Cooldown", Message: "1 of 4 clusters are unhealthy: nothing is evicted", EvictionsPerSecond: new(float64), Until: after(time.Minute),
		},
		"region eu|state|Cooldown|1 of 4 clusters are unhealthy: nothing is evicted, until 00:01:00",
		`{"level":"warn","object":"region eu","because":"1 of 4 clusters are unhealthy: nothing is evicted, until 2026-01-01T00:01:00Z","message":"governor changed"}`},
	{"a breaker that opens",
		&messages.BreakerChanged{State: "Open", Message: "50 of 100 copies leave within 10m: nothing more is evicted", Moved: 50, Copies: 100, Until: after(time.Minute)},
		"fleet|breaker|Open|50 of 100 copies leave within 10m: nothing more is evicted, until 00:01:00",
		`{"level":"warn","object":"fleet","because":"50 of 100 copies leave within 10m: nothing more is evicted, until 2026-01-01T00:01:00Z","message":"breaker changed"}`},
	{"the breaker of a region on trial",
		&messages.BreakerChanged{Region: "eu", State: "HalfOpen", Message: "3 may go on trial"},
		"region eu|breaker|HalfOpen|3 may go on trial",
		`{"level":"warn","object":"region eu","because":"3 may go on trial","message":"breaker changed"}`},
	{"the breaker of a priority that closes",
		&messages.BreakerChanged{Priority: new(int32), State: "Closed", Message: "3 of 3 on trial serve"},
		"priority 0|breaker|Closed|3 of 3 on trial serve",
		`{"level":"info","object":"priority 0","because":"3 of 3 on trial serve","message":"breaker changed"}`},
	{"starts that fail",
		&messages.StartsCounted{StartBackoff: api.StartBackoff{Cluster: "m1", Failed: make([]metav1.MicroTime, 2)}},
		"m1|starts|fail|2 of late",
		`{"level":"debug","cluster":"m1","because":"2 of late","message":"starts counted"}`},
	{"a cluster that backs off",
		&messages.StartsCounted{StartBackoff: api.StartBackoff{Cluster: "m1", Most: 1, Message: "5 starts failed within 2m", Until: &metav1.MicroTime{Time: after(time.Minute)}}, Limits: true},
		"m1|starts|no more than 1 at a time|5 starts failed within 2m, until 00:01:00",
		`{"level":"warn","cluster":"m1","because":"5 starts failed within 2m, until 2026-01-01T00:01:00Z","message":"starts counted"}`},
	{"its end",
		&messages.StartsCounted{StartBackoff: api.StartBackoff{Cluster: "m1", Message: "a start succeeded"}, Limits: true},
		"m1|starts|as many as before|a start succeeded",
		`{"level":"info","cluster":"m1","because":"a start succeeded","message":"starts counted"}`},
	{"permits that count",
		&messages.EvictionsPermitted{Permits: []messages.Permit{{Binding: "d/web", Cluster: "m1"}, {Binding: "d/db", Cluster: "m2"}}},
		"governor|permits|d/web from m1, d/db from m2|",
		`{"level":"debug","object":"governor","message":"evictions permitted"}`},
	{"permits that nobody could use",
		&messages.EvictionsPermitted{Permits: []messages.Permit{{Binding: "d/db", Cluster: "m2"}}, Returned: []messages.Permit{{Binding: "d/web", Cluster: "m1"}}},
		"governor|permits|d/db from m2|without a destination: d/web from m1",
		`{"level":"debug","object":"governor","because":"without a destination: d/web from m1","message":"evictions permitted"}`},
	{"a pause of all evictions",
		&messages.HoldPlaced{Reason: "the network is rebuilt", Until: after(time.Hour)},
		"fleet|paused|until 01:00:00|the network is rebuilt",
		`{"level":"warn","object":"fleet","because":"the network is rebuilt","message":"hold placed"}`},
	{"its end",
		&messages.HoldEnded{Reason: messages.HoldExpired},
		"fleet|resumed||its time is over",
		`{"level":"info","object":"fleet","because":"its time is over","message":"hold ended"}`},
	{"a cluster on hold",
		&messages.HoldPlaced{HoldScope: messages.HoldScope{Cluster: "m1"}, Reason: "its rack is moved"},
		"m1|on hold||its rack is moved",
		`{"level":"warn","object":"m1","because":"its rack is moved","message":"hold placed"}`},
	{"a workload off hold",
		&messages.HoldEnded{HoldScope: messages.HoldScope{Binding: "d/web"}, Reason: messages.HoldLifted},
		"d/web|off hold||it was lifted",
		`{"level":"info","object":"d/web","because":"it was lifted","message":"hold ended"}`},
	{"a workload that waits for nothing",
		&messages.ReleaseGranted{HoldScope: messages.HoldScope{Binding: "d/web"}, Reason: "a customer waits"},
		"d/web|released|from all limits|a customer waits",
		`{"level":"info","object":"d/web","because":"a customer waits","message":"release granted"}`},
	{"and does again",
		&messages.ReleaseEnded{HoldScope: messages.HoldScope{Binding: "d/web"}},
		"d/web|bound|by all limits again|",
		`{"level":"info","object":"d/web","message":"release ended"}`},
	{"a budget that nothing waits for",
		&messages.BudgetChanged{Budget: "d/gold", Status: api.EvictionBudgetStatus{
			ExpectedWorkloads: 1, ExpectedReplicas: 3, CurrentHealthy: 3, DesiredHealthy: 2, DisruptionsAllowed: 1,
		}},
		"budget d/gold|allows|1 more|3 of 3 replicas serve, 2 have to",
		`{"level":"debug","object":"budget d/gold","because":"3 of 3 replicas serve, 2 have to","message":"budget changed"}`},
	{"a budget that something waits for",
		&messages.BudgetChanged{Budget: "gold", Status: api.EvictionBudgetStatus{
			ExpectedWorkloads: 1, ExpectedReplicas: 3, CurrentHealthy: 2, DesiredHealthy: 2, Waiting: 4, Moved: []api.BudgetMove{{Replicas: 5}, {Replicas: 6}},
		}},
		"budget gold|allows|0 more|2 of 3 replicas serve, 2 have to, 11 moved; 4 evictions wait",
		`{"level":"warn","object":"budget gold","because":"2 of 3 replicas serve, 2 have to, 11 moved; 4 evictions wait","message":"budget changed"}`},
	{"a budget that is exceeded",
		&messages.BudgetExceeded{Budget: "d/gold", Binding: "d/web", Cluster: "m1", AllowedBy: "its resource", Reason: "ticket 7", Message: "all have to serve"},
		"d/web|exceeds|budget d/gold on m1|allowed by its resource: ticket 7; all have to serve",
		`{"level":"warn","binding":"d/web","cluster":"m1","because":"allowed by its resource: ticket 7; all have to serve","message":"budget exceeded"}`},
	{"a taint policy without effect",
		&messages.PolicyIgnored{Policy: "down", Reason: "the feature gate Failover is off"},
		"policy down|ignored||the feature gate Failover is off",
		`{"level":"warn","object":"policy down","policy":"down","because":"the feature gate Failover is off","message":"policy ignored"}`},

	{"a claim",
		&messages.BindingCreated{Binding: "d/web", Policy: "PropagationPolicy d/web", Replicas: 1},
		"d/web|claimed|by PropagationPolicy d/web|1 replica",
		`{"level":"info","binding":"d/web","because":"1 replica","message":"binding created"}`},
	{"a change of what is asked for",
		&messages.BindingUpdated{Binding: "d/web", Policy: "PropagationPolicy d/web", Changed: []string{"replicas", "placement"}, Replicas: 3},
		"d/web|updated|replicas, placement|by PropagationPolicy d/web, 3 replicas",
		`{"level":"info","binding":"d/web","because":"by PropagationPolicy d/web, 3 replicas","message":"binding updated"}`},
	{"a policy that waits for its resource to change",
		&messages.ActivationDeferred{Binding: "d/web", Policy: "PropagationPolicy d/web"},
		"d/web|waits|for a change|by PropagationPolicy d/web, which is Lazy: it counts when the resource changes",
		`{"level":"info","binding":"d/web","because":"by PropagationPolicy d/web, which is Lazy: it counts when the resource changes","message":"activation deferred"}`},
	{"a binding's end",
		&messages.BindingDeleted{Binding: "d/web"},
		"d/web|deleted||",
		`{"level":"info","binding":"d/web","message":"binding deleted"}`},
	{"a first placement",
		&messages.Scheduled{Binding: "d/web", Clusters: on("m1", "m2"), Affinity: "primary"},
		"d/web|scheduled|m1 m2|by affinity primary",
		`{"level":"info","binding":"d/web","from":"","to":"m1 m2","because":"by affinity primary","message":"scheduled"}`},
	{"a new placement, the old one and why",
		&messages.Scheduled{Binding: "d/web", Clusters: on("m1:2", "m3:2"), Before: on("m1:2"), Trigger: "replicas changed"},
		"d/web|scheduled|m1:2 m3:2 (was m1:2)|because replicas changed",
		`{"level":"info","binding":"d/web","from":"m1:2","to":"m1:2 m3:2","because":"because replicas changed","message":"scheduled"}`},
	{"a placement that was asked for and is the one there was",
		&messages.Scheduled{Binding: "d/web", Clusters: on("m1:2"), Before: on("m1:2"), Trigger: "placement changed"},
		"d/web|scheduled|m1:2, as before|because placement changed",
		`{"level":"info","binding":"d/web","from":"m1:2","to":"m1:2","because":"because placement changed","message":"scheduled"}`},
	{"a placement of no replica",
		&messages.Scheduled{Binding: "d/web"},
		"d/web|scheduled|nowhere|",
		`{"level":"info","binding":"d/web","from":"","to":"","message":"scheduled"}`},
	{"no placement, the old one stays",
		&messages.ScheduleFailed{Binding: "d/web", Reason: "NoClusterFit", Message: "0/3 clusters are available.", Before: on("m1:2"), Trigger: "cluster changed"},
		"d/web|unplaced|NoClusterFit|0/3 clusters are available; because cluster changed; stays on m1:2",
		`{"level":"warn","binding":"d/web","from":"m1:2","err":"NoClusterFit","because":"0/3 clusters are available; because cluster changed; stays on m1:2","message":"schedule failed"}`},
	{"no placement, and the old one is void",
		&messages.ScheduleFailed{Binding: "d/web", Reason: "NoClusterFit", Cleared: true, Before: on("m1:2")},
		"d/web|unplaced|NoClusterFit|no longer on m1:2",
		`{"level":"warn","binding":"d/web","from":"m1:2","err":"NoClusterFit","because":"no longer on m1:2","message":"schedule failed"}`},
	{"a countdown: taint, toleration, cause and deadline",
		&messages.CountdownStarted{Binding: "d/web", Cluster: "m1", Grounds: forFive},
		"d/web|will leave|m1|at 00:05:00: cluster.karmada.io/not-ready:NoExecute is tolerated for 300s; tainted by system because Ready=False",
		`{"level":"info","binding":"d/web","cluster":"m1","because":"at 2026-01-01T00:05:00Z: cluster.karmada.io/not-ready:NoExecute is tolerated for 300s; tainted by system because Ready=False","message":"countdown started"}`},
	{"a countdown by a toleration of everything",
		&messages.CountdownStarted{Binding: "d/web", Cluster: "m1", Grounds: byAll},
		"d/web|will leave|m1|at 00:00:30: failed=yes:NoExecute is tolerated for 30s by *:*",
		`{"level":"info","binding":"d/web","cluster":"m1","because":"at 2026-01-01T00:00:30Z: failed=yes:NoExecute is tolerated for 30s by *:*","message":"countdown started"}`},
	{"a countdown of an unhealthy application",
		&messages.CountdownStarted{Binding: "d/web", Cluster: "m1", Grounds: unhealthy},
		"d/web|will leave|m1|at 00:01:00: unhealthy until then",
		`{"level":"info","binding":"d/web","cluster":"m1","because":"at 2026-01-01T00:01:00Z: unhealthy until then","message":"countdown started"}`},
	{"a countdown that ends well",
		&messages.CountdownStopped{Binding: "d/web", Cluster: "m1", Reason: "the taint is gone"},
		"d/web|may stay|on m1|the taint is gone",
		`{"level":"info","binding":"d/web","cluster":"m1","because":"the taint is gone","message":"countdown stopped"}`},
	{"an eviction that may not begin",
		&messages.EvictionHeld{Binding: "d/web", Cluster: "m1", Reason: "NoDestination", Message: "no cluster fits.", Grounds: untolerated},
		"d/web|held|on m1|NoDestination: no cluster fits; failed=yes:NoExecute is not tolerated; tainted by user",
		`{"level":"warn","binding":"d/web","cluster":"m1","because":"NoDestination: no cluster fits; failed=yes:NoExecute is not tolerated; tainted by user","message":"eviction held"}`},
	{"an eviction by a taint that is not tolerated",
		&messages.EvictionStarted{Binding: "d/web", Cluster: "m1", Grounds: untolerated},
		"d/web|leaves|m1|failed=yes:NoExecute is not tolerated; tainted by user",
		`{"level":"info","binding":"d/web","cluster":"m1","because":"failed=yes:NoExecute is not tolerated; tainted by user","message":"eviction started"}`},
	{"an eviction when a toleration has run out",
		&messages.EvictionStarted{Binding: "d/web", Cluster: "m1", Grounds: forFive, Task: api.GracefulEvictionTask{PurgeMode: api.PurgeDirectly}},
		"d/web|leaves|m1 at once|cluster.karmada.io/not-ready:NoExecute was tolerated for 300s; tainted by system because Ready=False",
		`{"level":"info","binding":"d/web","cluster":"m1","because":"cluster.karmada.io/not-ready:NoExecute was tolerated for 300s; tainted by system because Ready=False","message":"eviction started"}`},
	{"an eviction whose copy a person must release",
		&messages.EvictionStarted{Binding: "d/web", Cluster: "m1", Grounds: unhealthy, Task: api.GracefulEvictionTask{PurgeMode: api.PurgeNever}},
		"d/web|leaves|m1 when told|unhealthy until 00:01:00",
		`{"level":"info","binding":"d/web","cluster":"m1","because":"unhealthy until 2026-01-01T00:01:00Z","message":"eviction started"}`},
	{"an eviction on grounds that name no taint",
		&messages.EvictionStarted{Binding: "d/web", Cluster: "m1", Grounds: messages.Grounds{Reason: "TaintUntolerated"}},
		"d/web|leaves|m1|TaintUntolerated",
		`{"level":"info","binding":"d/web","cluster":"m1","because":"TaintUntolerated","message":"eviction started"}`},
	{"an eviction that time will let begin",
		&messages.EvictionHeld{Binding: "d/web", Cluster: "m1", Reason: "HopLimit", Message: "too many", Grounds: unhealthy, Until: after(time.Hour)},
		"d/web|held|on m1|HopLimit: too many, until 01:00:00; unhealthy until 00:01:00",
		`{"level":"warn","binding":"d/web","cluster":"m1","because":"HopLimit: too many, until 2026-01-01T01:00:00Z; unhealthy until 2026-01-01T00:01:00Z","message":"eviction held"}`},
	{"an eviction held by a toleration without seconds, of every effect",
		&messages.EvictionHeld{Binding: "d/web", Cluster: "m1", Reason: "Paused", Grounds: forGood},
		"d/web|held|on m1|Paused; failed=yes:NoExecute was tolerated by failed:*",
		`{"level":"warn","binding":"d/web","cluster":"m1","because":"Paused; failed=yes:NoExecute was tolerated by failed:*","message":"eviction held"}`},
	{"a hand-over that ends well",
		&messages.EvictionEnded{Binding: "d/web", Cluster: "m1", Reason: messages.EndedHealthy, After: 90 * time.Second},
		"d/web|left|m1|after 1m30s: healthy where it is placed now",
		`{"level":"info","binding":"d/web","cluster":"m1","after":"1m30s","because":"after 1m30s: healthy where it is placed now","message":"eviction ended"}`},
	{"a hand-over that takes too long",
		&messages.EvictionEnded{Binding: "d/web", Cluster: "m1", Reason: messages.EndedTimeout, After: 10 * time.Minute},
		"d/web|left|m1|after 10m: the grace period is over",
		`{"level":"info","binding":"d/web","cluster":"m1","after":"10m0s","because":"after 10m: the grace period is over","message":"eviction ended"}`},
	{"a copy that a person released",
		&messages.EvictionEnded{Binding: "d/web", Cluster: "m1", Reason: messages.EndedUnsuppressed, After: 2 * time.Hour},
		"d/web|left|m1|after 2h: its deletion is no longer suppressed",
		`{"level":"info","binding":"d/web","cluster":"m1","after":"2h0m0s","because":"after 2h: its deletion is no longer suppressed","message":"eviction ended"}`},
	{"a hand-over that people end",
		&messages.EvictionEnded{Binding: "d/web", Cluster: "m1", Reason: messages.EndedDeleted, After: time.Minute},
		"d/web|left|m1|after 1m: its task was deleted",
		`{"level":"info","binding":"d/web","cluster":"m1","after":"1m0s","because":"after 1m: its task was deleted","message":"eviction ended"}`},
	{"a hand-over that ends for a reason of its own",
		&messages.EvictionEnded{Binding: "d/web", Cluster: "m1", Reason: "the cluster is gone"},
		"d/web|left|m1|after 0s: the cluster is gone",
		`{"level":"info","binding":"d/web","cluster":"m1","after":"0s","because":"after 0s: the cluster is gone","message":"eviction ended"}`},
	{"an eviction taken back",
		&messages.EvictionWithdrawn{Binding: "d/web", Cluster: "m1", Reason: "the taint is gone", Clusters: on("m1:2", "m2:2")},
		"d/web|returns|to m1|the taint is gone; runs on m1:2 m2:2",
		`{"level":"info","binding":"d/web","cluster":"m1","because":"the taint is gone; runs on m1:2 m2:2","message":"eviction withdrawn"}`},
	{"a copy that is left gradually",
		&messages.EvictionStarted{Binding: "d/web", Cluster: "m1", Task: api.GracefulEvictionTask{Handover: api.HandoverGradual}, Grounds: untolerated},
		"d/web|leaves|m1 gradually|failed=yes:NoExecute is not tolerated; tainted by user",
		`{"level":"info","binding":"d/web","cluster":"m1","because":"failed=yes:NoExecute is not tolerated; tainted by user","message":"eviction started"}`},
	{"replicas that others serve for",
		&messages.ReplicasReleased{Binding: "d/web", Cluster: "m1", Before: 3, Replicas: 1, Reason: "5 of 6 replicas serve where it is placed now"},
		"d/web|hands over|from m1|3 to 1 replicas; 5 of 6 replicas serve where it is placed now",
		`{"level":"info","binding":"d/web","cluster":"m1","because":"3 to 1 replicas; 5 of 6 replicas serve where it is placed now","message":"replicas released"}`},
	{"an old copy that must stay",
		&messages.ReleaseHeld{Binding: "d/web", Cluster: "m1", Message: "no healthy copy runs elsewhere"},
		"d/web|kept|on m1|no healthy copy runs elsewhere",
		`{"level":"warn","binding":"d/web","cluster":"m1","because":"no healthy copy runs elsewhere","message":"release held"}`},
	{"a copy that its substitute no longer waits for",
		&messages.PurgeOvertaken{Binding: "d/web", Cluster: "m1", After: time.Minute},
		"d/web|waits no more|for m1|after 1m: its copy may still run there",
		`{"level":"warn","binding":"d/web","cluster":"m1","after":"1m0s","because":"after 1m: its copy may still run there","message":"purge overtaken"}`},
	{"a copy that starts",
		&messages.CopyStarted{Binding: "d/web", Cluster: "m1", Replicas: 2},
		"d/web|starts|on m1|2 replicas",
		`{"level":"debug","binding":"d/web","cluster":"m1","because":"2 replicas","message":"copy started"}`},
	{"a copy that scales",
		&messages.CopyScaled{Binding: "d/web", Cluster: "m1", Before: 2, Replicas: 3},
		"d/web|scales|on m1|2 to 3 replicas",
		`{"level":"debug","binding":"d/web","cluster":"m1","because":"2 to 3 replicas","message":"copy scaled"}`},
	{"a copy whose pods are made anew",
		&messages.CopyUpdated{Binding: "d/web", Cluster: "m1", Revision: 2},
		"d/web|rolls out|on m1|revision 2",
		`{"level":"debug","binding":"d/web","cluster":"m1","because":"revision 2","message":"copy updated"}`},
	{"a copy that is left to itself",
		&messages.CopyPreserved{Binding: "d/web", Cluster: "m1"},
		"d/web|stays behind|on m1|its policy preserves what runs, and nobody looks after it",
		`{"level":"info","binding":"d/web","cluster":"m1","because":"its policy preserves what runs, and nobody looks after it","message":"copy preserved"}`},
	{"a copy that is looked after again",
		&messages.CopyAdopted{Binding: "d/web", Cluster: "m1", Replicas: 2},
		"d/web|taken over|on m1|2 replicas, which ran on by themselves",
		`{"level":"info","binding":"d/web","cluster":"m1","because":"2 replicas, which ran on by themselves","message":"copy adopted"}`},
	{"a copy that stops",
		&messages.CopyStopped{Binding: "d/web", Cluster: "m1"},
		"d/web|stops|on m1|",
		`{"level":"debug","binding":"d/web","cluster":"m1","message":"copy stopped"}`},
	{"a copy that a real cluster is asked for",
		&messages.CopyWanted{Binding: "d/web", Cluster: "m1", Replicas: 2, Labels: map[string]string{"step": "7"}},
		"d/web|asks for|a copy on m1|2 replicas with step=7",
		`{"level":"debug","binding":"d/web","cluster":"m1","because":"2 replicas with step=7","message":"copy wanted"}`},
	{"a copy that a real cluster is asked to remove",
		&messages.CopyUnwanted{Binding: "d/web", Cluster: "m1"},
		"d/web|removes|its copy on m1|",
		`{"level":"debug","binding":"d/web","cluster":"m1","message":"copy unwanted"}`},
	{"a copy that a real cluster may keep",
		&messages.CopyUnwanted{Binding: "d/web", Cluster: "m1", Preserved: true},
		"d/web|removes|its copy on m1|what runs is preserved",
		`{"level":"debug","binding":"d/web","cluster":"m1","because":"what runs is preserved","message":"copy unwanted"}`},
	{"a healthy copy",
		&messages.HealthChanged{Binding: "d/web", Cluster: "m1", Health: api.Healthy, Ready: 2},
		"d/web|healthy|on m1|2 replicas ready",
		`{"level":"debug","binding":"d/web","cluster":"m1","because":"2 replicas ready","message":"health changed"}`},
	{"a healthy copy of an edited template",
		&messages.HealthChanged{Binding: "d/web", Cluster: "m1", Health: api.Healthy, Ready: 2, Revision: 3},
		"d/web|healthy|on m1|2 replicas ready of revision 3",
		`{"level":"debug","binding":"d/web","cluster":"m1","because":"2 replicas ready of revision 3","message":"health changed"}`},
	{"an unhealthy copy",
		&messages.HealthChanged{Binding: "d/web", Cluster: "m1", Health: api.Unhealthy, Since: after(time.Second)},
		"d/web|unhealthy|on m1|since 00:00:01",
		`{"level":"warn","binding":"d/web","cluster":"m1","because":"since 2026-01-01T00:00:01Z","message":"health changed"}`},
	{"a new copy that does not serve yet",
		&messages.HealthChanged{Binding: "d/web", Cluster: "m1", Health: api.Unhealthy, Since: after(time.Second), Starting: after(time.Second)},
		"d/web|unhealthy|on m1|starting since 00:00:01",
		`{"level":"debug","binding":"d/web","cluster":"m1","because":"starting since 2026-01-01T00:00:01Z","message":"health changed"}`},
	{"replicas that a cluster cannot start",
		&messages.UnschedulableChanged{Binding: "d/web", Cluster: "m1", Replicas: 2},
		"d/web|lacks room|on m1|for 2 replicas",
		`{"level":"warn","binding":"d/web","cluster":"m1","because":"for 2 replicas","message":"unschedulable changed"}`},
	{"a cluster that can start all replicas again",
		&messages.UnschedulableChanged{Binding: "d/web", Cluster: "m1"},
		"d/web|has room|on m1|",
		`{"level":"debug","binding":"d/web","cluster":"m1","message":"unschedulable changed"}`},
	{"a share that is lowered",
		&messages.BindingDescheduled{Binding: "d/web", Cluster: "m1", Before: 4, Replicas: 2, Since: after(time.Minute)},
		"d/web|gives up|on m1|4 to 2 replicas: no room for the others since 00:01:00",
		`{"level":"info","binding":"d/web","cluster":"m1","because":"4 to 2 replicas: no room for the others since 2026-01-01T00:01:00Z","message":"binding descheduled"}`},
	{"a placement that the scheduler looked at and kept",
		&messages.PlacementConfirmed{Binding: "d/web"},
		"d/web|stays|where it is|",
		`{"level":"debug","binding":"d/web","message":"placement confirmed"}`},
	{"what a copy says of itself",
		&messages.StatusChanged{Binding: "d/web", Cluster: "m1", Status: []byte(`{"step":7}`)},
		`d/web|says|on m1|{"step":7}`,
		`{"level":"debug","binding":"d/web","cluster":"m1","because":"{\"step\":7}","message":"status changed"}`},
	{"a copy that takes over where another was",
		&messages.CopyStarted{Binding: "d/web", Cluster: "m1", Replicas: 2, Labels: map[string]string{"step": "7"}},
		"d/web|starts|on m1|2 replicas with step=7",
		`{"level":"debug","binding":"d/web","cluster":"m1","because":"2 replicas with step=7","message":"copy started"}`},
	{"a copy that is not heard of any more",
		&messages.HealthForgotten{Binding: "d/web", Cluster: "m1"},
		"d/web|no copy|on m1|",
		`{"level":"debug","binding":"d/web","cluster":"m1","message":"health forgotten"}`},
	{"a wish for a fresh placement",
		&messages.RescheduleRequested{Binding: "d/web", By: "WorkloadRebalancer again"},
		"d/web|reschedule|asked|by WorkloadRebalancer again",
		`{"level":"info","binding":"d/web","because":"by WorkloadRebalancer again","message":"reschedule requested"}`},

	{"a new object",
		&messages.ObjectApplied{Object: "Deployment d/web", Created: true},
		"Deployment d/web|created||",
		`{"level":"info","object":"Deployment d/web","message":"object applied"}`},
	{"a changed object",
		&messages.ObjectApplied{Object: "Deployment d/web"},
		"Deployment d/web|applied||",
		`{"level":"info","object":"Deployment d/web","message":"object applied"}`},
	{"a deleted object",
		&messages.ObjectDeleted{Object: "Deployment d/web"},
		"Deployment d/web|deleted||",
		`{"level":"info","object":"Deployment d/web","message":"object deleted"}`},
	{"a binding that a workload needs",
		&messages.BindingCreated{Binding: "d/config"},
		"d/config|attached||",
		`{"level":"info","binding":"d/config","message":"binding created"}`},
	{"what a workload needs",
		&messages.RequirementChanged{Binding: "d/config", By: "d/web", Clusters: on("m1:2", "m2:2")},
		"d/config|needed|on m1 m2|by d/web",
		`{"level":"info","binding":"d/config","because":"by d/web","message":"requirement changed"}`},
	{"what no workload needs any more",
		&messages.RequirementChanged{Binding: "d/config", By: "d/web"},
		"d/config|not needed|any more|by d/web",
		`{"level":"info","binding":"d/config","because":"by d/web","message":"requirement changed"}`},
	{"a return to come",
		&messages.ReturnPlanned{Binding: "d/web", Affinity: "home", At: after(time.Minute)},
		"d/web|will return|to home|at 00:01:00 if it can take the workload until then",
		`{"level":"info","binding":"d/web","because":"at 2026-01-01T00:01:00Z if it can take the workload until then","message":"return planned"}`},
	{"a return that is put off",
		&messages.ReturnDropped{Binding: "d/web"},
		"d/web|stays|away|no earlier affinity group can take the workload",
		`{"level":"info","binding":"d/web","because":"no earlier affinity group can take the workload","message":"return dropped"}`},
	{"a cluster that is left for an earlier group",
		&messages.EvictionStarted{Binding: "d/web", Cluster: "m2", Grounds: messages.Grounds{Reason: api.EvictionReasonFailback}},
		"d/web|leaves|m2|the workload returns",
		`{"level":"info","binding":"d/web","cluster":"m2","because":"the workload returns","message":"eviction started"}`},
	{"a copy whose dispatch is suspended",
		&messages.DispatchSuspended{Binding: "d/web", Cluster: "m1"},
		"d/web|suspended|for m1|it hears of its copy when dispatching is resumed",
		`{"level":"info","binding":"d/web","cluster":"m1","because":"it hears of its copy when dispatching is resumed","message":"dispatch suspended"}`},
	{"a copy that is dispatched after all",
		&messages.DispatchResumed{Binding: "d/web", Cluster: "m1"},
		"d/web|resumed|for m1|",
		`{"level":"info","binding":"d/web","cluster":"m1","message":"dispatch resumed"}`},
	{"a copy that goes before it was dispatched",
		&messages.DispatchResumed{Binding: "d/web", Cluster: "m1", Gone: true},
		"d/web|suspended|no more|the copy for m1 is gone",
		`{"level":"info","binding":"d/web","cluster":"m1","because":"the copy for m1 is gone","message":"dispatch resumed"}`},
	{"a return",
		&messages.ReturnStarted{Binding: "d/web", Affinity: "home"},
		"d/web|returns|to home|it has been able to take the workload for long enough",
		`{"level":"info","binding":"d/web","because":"it has been able to take the workload for long enough","message":"return started"}`},
	{"a return to single clusters",
		&messages.ReturnStarted{Binding: "d/web", Clusters: on("m1:2")},
		"d/web|returns|to m1:2|able to take it for long enough",
		`{"level":"info","binding":"d/web","because":"able to take it for long enough","message":"return started"}`},
	{"a workload that is away from home",
		&messages.HomeChanged{Binding: "d/web", Clusters: on("m1:2", "m2:2")},
		"d/web|away|from m1:2 m2:2|where it may return to",
		`{"level":"debug","binding":"d/web","because":"where it may return to","message":"home changed"}`},
	{"a workload that is at home",
		&messages.HomeChanged{Binding: "d/web"},
		"d/web|at home||nothing is to return",
		`{"level":"debug","binding":"d/web","because":"nothing is to return","message":"home changed"}`},
	{"a share that is to return",
		&messages.ShareReturnPlanned{Binding: "d/web", Cluster: "m1", At: after(time.Minute)},
		"d/web|will return|to m1|at 00:01:00 if it can take its share until then",
		`{"level":"info","binding":"d/web","cluster":"m1","because":"at 2026-01-01T00:01:00Z if it can take its share until then","message":"share return planned"}`},
	{"a share that is not to return yet",
		&messages.ShareReturnDropped{Binding: "d/web", Cluster: "m1"},
		"d/web|stays|away|m1 cannot take its share",
		`{"level":"info","binding":"d/web","cluster":"m1","because":"m1 cannot take its share","message":"share return dropped"}`},
	{"an old copy that is back",
		&messages.OriginalKept{Binding: "d/web", Cluster: "m1"},
		"d/web|back|on m1|its old copy runs on until it is judged",
		`{"level":"info","binding":"d/web","cluster":"m1","because":"its old copy runs on until it is judged","message":"original kept"}`},
	{"an old copy that is not taken back",
		&messages.OriginalReleased{Binding: "d/web", Cluster: "m1", Message: "it is Unhealthy"},
		"d/web|not back|on m1|it is Unhealthy",
		`{"level":"info","binding":"d/web","cluster":"m1","because":"it is Unhealthy","message":"original released"}`},
	{"a cluster that runs on with more than its share",
		&messages.ShrinkHeld{Binding: "d/web", Reason: api.EvictionReasonFailback, Clusters: on("m1:4")},
		"d/web|keeps|m1:4|until the others serve",
		`{"level":"info","binding":"d/web","because":"until the others serve","message":"shrink held"}`},
	{"a cluster that shrinks to its share",
		&messages.ShrinkReleased{Binding: "d/web", Reason: messages.EndedHealthy, After: time.Minute},
		"d/web|shrinks|to its shares|after 1m: healthy where it is placed now",
		`{"level":"info","binding":"d/web","because":"after 1m: healthy where it is placed now","message":"shrink released"}`},
	{"an object whose work is done",
		&messages.ObjectExpired{Object: "WorkloadRebalancer again", After: time.Minute},
		"WorkloadRebalancer again|expired||1m after it was done",
		`{"level":"info","object":"WorkloadRebalancer again","because":"1m after it was done","message":"object expired"}`},
	{"a policy that waits for overrides",
		&messages.OverridesAwaited{Policy: "d/web", Overrides: []string{"OverridePolicy d/a", "OverridePolicy d/b"}},
		"policy d/web|waits|for OverridePolicy d/a, OverridePolicy d/b|it gives nothing before these overrides exist",
		`{"level":"info","object":"policy d/web","because":"it gives nothing before these overrides exist","message":"overrides awaited"}`},
	{"a policy that waits for overrides no more",
		&messages.OverridesAwaited{Policy: "d/web"},
		"policy d/web|waits|no more|all overrides that it depends on exist",
		`{"level":"info","object":"policy d/web","because":"all overrides that it depends on exist","message":"overrides awaited"}`},
	{"a refused object with every reason",
		&messages.ObjectRejected{Object: "Cluster m1", Problems: []string{"bad key", "bad value"}},
		"Cluster m1|rejected||bad key; bad value",
		`{"level":"warn","object":"Cluster m1","because":"bad key; bad value","message":"object rejected"}`},
	{"a workload scaled by people",
		&messages.Scaled{Object: "Deployment d/web", Before: 2, Replicas: 0},
		"Deployment d/web|scaled|2 to 0 replicas|",
		`{"level":"info","object":"Deployment d/web","from":2,"to":0,"message":"scaled"}`},
	{"a setting",
		&messages.SettingChanged{Field: "gracefulEvictionTimeout", From: "10m", To: "20s"},
		"gracefulEvictionTimeout|set to|20s|was 10m",
		`{"level":"info","object":"gracefulEvictionTimeout","from":"10m","to":"20s","because":"was 10m","message":"setting changed"}`},
	{"a crash",
		&messages.Crashed{},
		"engine|crashed||what was on its way is lost",
		`{"level":"warn","object":"engine","because":"what was on its way is lost","message":"crashed"}`},
	{"a clock that is set ahead",
		&messages.ClockStepped{By: 30 * time.Second},
		"clock|stepped|ahead by 30s|what would have been due meanwhile is due at once",
		`{"level":"warn","object":"clock","because":"what would have been due meanwhile is due at once","message":"clock stepped"}`},
	{"a clock that is set back",
		&messages.ClockStepped{By: -time.Minute},
		"clock|stepped|back by 1m|time stands still until then",
		`{"level":"warn","object":"clock","because":"time stands still until then","message":"clock stepped"}`},
	{"a restart",
		&messages.Restarted{},
		"engine|restarted||recovers from its objects",
		`{"level":"warn","object":"engine","because":"recovers from its objects","message":"restarted"}`},
}

func TestFactsAreToldInWords(t *testing.T) {
	for _, c := range told {
		t.Run(c.name, func(t *testing.T) {
			p := teller{start}.tell(c.fact)
			require.Equal(t, c.words, strings.Join([]string{p.subject, p.verb, p.what, p.why}, "|"))
		})
	}
}

func TestFactsAreLoggedInFields(t *testing.T) {
	for _, c := range told {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			log := zerolog.New(&out)
			Tell(time.Time{}, c.fact).Log(&log, &Entry{Seq: 7, At: after(time.Second), Fact: c.fact})
			line := strings.Replace(out.String(), `"seq":7,"at":"2026-01-01T00:00:01Z",`, "", 1)
			require.Equal(t, c.log+"\n", line)
		})
	}
}

func TestFactsAreJSONThatKeepsItsKeys(t *testing.T) {
	for _, c := range told {
		t.Run(c.name, func(t *testing.T) {
			text, err := AppendJSON(nil, start, &Entry{At: after(1500 * time.Millisecond), Fact: c.fact})
			require.NoError(t, err)
			require.True(t, bytes.HasPrefix(text, []byte(`{"at":1.5,"kind":"`+c.fact.Kind()+`","actor":"user"`)), string(text))
			require.True(t, json.Valid(text), string(text))

			var own map[string]any
			fields, err := json.Marshal(c.fact)
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(fields, &own))
			for _, taken := range []string{"at", "kind", "actor"} {
				require.NotContains(t, own, taken, "a fact's field hides the entry's")
			}
		})
	}
}

// TestEveryFactIsTold fails when package messages has a fact that the table above does not know.
func TestEveryFactIsTold(t *testing.T) {
	known := map[string]bool{}
	for _, c := range told {
		require.NotEmpty(t, teller{start}.tell(c.fact).verb, "%s has no words", c.fact.Kind())
		known[c.fact.Kind()] = true
	}
	kinds := factsOf(t, filepath.Join("..", "..", "messages"))
	require.NotEmpty(t, kinds)
	for _, kind := range kinds {
		require.True(t, known[kind], "messages.%s has no row in the table told", kind)
	}
}

// factsOf returns the receivers of all methods Kind() string in a package's source.
func factsOf(t *testing.T, dir string) (kinds []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	for _, name := range files {
		source, err := os.ReadFile(name)
		require.NoError(t, err)
		file, err := parser.ParseFile(token.NewFileSet(), name, source, 0)
		require.NoError(t, err)
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil && f.Name.Name == "Kind" {
				kinds = append(kinds, f.Recv.List[0].Type.(*ast.StarExpr).X.(*ast.Ident).Name)
			}
		}
	}
	return kinds
}
