package incident_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/manifest"
	"leeward/runtime/fleet/config"
	"leeward/runtime/scenario/incident"
)

const (
	failedPolicy = `{"apiVersion": "policy.karmada.io/v1alpha1", "kind": "ClusterTaintPolicy", "metadata": {"name": "p"}, "spec": {"taints": [{"key": "failed", "effect": "NoExecute"}]}}`
	quotaBefore  = `{"apiVersion": "policy.karmada.io/v1alpha1", "kind": "FederatedResourceQuota", "metadata": {"namespace": "shop", "name": "q"}, "spec": {"overall": {"cpu": "1"}}}`
	quotaStatus  = `{"apiVersion": "policy.karmada.io/v1alpha1", "kind": "FederatedResourceQuota", "metadata": {"namespace": "shop", "name": "q"}, "spec": {"overall": {"cpu": "1"}}, "status": {"overallUsed": {"cpu": "1"}}}`
	quotaAfter   = `{"apiVersion": "policy.karmada.io/v1alpha1", "kind": "FederatedResourceQuota", "metadata": {"namespace": "shop", "name": "q"}, "spec": {"overall": {"cpu": "2"}}}`
	quotaGoing   = `{"apiVersion": "policy.karmada.io/v1alpha1", "kind": "FederatedResourceQuota", "metadata": {"namespace": "shop", "name": "q", "deletionTimestamp": "2026-11-21T12:00:05Z"}, "spec": {"overall": {"cpu": "1"}}}`
	event        = `{"apiVersion": "v1", "kind": "Event", "metadata": {"namespace": "shop", "name": "e"}}`
	governor     = `{"apiVersion": "leeward.dev/v1alpha1", "kind": "Governor", "metadata": {"name": "fleet"}}`
	paused       = `{"apiVersion": "leeward.dev/v1alpha1", "kind": "Governor", "metadata": {"name": "fleet"}, "spec": {"pause": {"reason": "the network is rebuilt", "until": "2026-11-21T13:00:00Z"}}}`
	labelled     = `{"apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster", "metadata": {"name": "m1", "labels": {"tier": "gold"}}, "spec": {"region": "eu"}}`
	drained      = `{"apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster", "metadata": {"name": "m1", "annotations": {"leeward.dev/drain": "", "leeward.dev/hold-evictions": "rack"}}}`
	going        = `{"apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster", "metadata": {"name": "m1", "deletionTimestamp": "2026-11-21T12:00:05Z"}}`
)

// Every row is what existed at the start, and one change after five seconds.
func TestWhatUsersAndAgentsDidIsDoneAgainAndWhatWasDecidedIsNot(t *testing.T) {
	plain := cluster("m1", "", ready("True", ""))
	notReady := tainted("cluster.karmada.io/not-ready", "NoSchedule")
	failed := tainted("failed", "NoExecute")
	for name, c := range map[string]struct {
		existing []string
		now      string
		by       []string
		want     []string
	}{
		"an agent reports a condition":              {[]string{plain}, cluster("m1", "", ready("False", "ClusterNotReachable")), nil, []string{"5s m1 Ready=False"}},
		"an agent reports resources":                {[]string{plain}, cluster("m1", "", ready("True", "")+`, "resourceSummary": {"allocatable": {"cpu": "1"}}`), nil, []string{"5s m1 resources"}},
		"a silence that no lease tells":             {[]string{plain}, cluster("m1", "", ready("Unknown", "ClusterStatusUnknown")), nil, []string{"5s m1 Ready=Unknown"}},
		"a silence that a lease tells":              {[]string{plain, lease(0)}, cluster("m1", "", ready("Unknown", "ClusterStatusUnknown")), nil, []string{"0s m1 silent, renewed at 0s"}},
		"a user adds a taint":                       {[]string{plain}, cluster("m1", failed, ready("True", "")), nil, []string{"5s m1 failed:NoExecute"}},
		"a user removes a taint":                    {[]string{cluster("m1", failed, "")}, cluster("m1", "", ""), nil, []string{"5s m1 failed:NoExecute-"}},
		"the system adds its taint":                 {[]string{plain}, cluster("m1", notReady, ready("True", "")), nil, nil},
		"a user cordons":                            {[]string{plain}, cluster("m1", tainted("cluster.karmada.io/unschedulable", "NoSchedule"), ready("True", "")), nil, []string{"5s m1 cluster.karmada.io/unschedulable:NoSchedule"}},
		"a policy's taint":                          {[]string{plain, failedPolicy}, cluster("m1", failed, ready("True", "")), nil, nil},
		"a policy's taint goes":                     {[]string{cluster("m1", failed, ""), failedPolicy}, cluster("m1", "", ""), nil, nil},
		"kubectl writes a policy's taint":           {[]string{plain, failedPolicy}, cluster("m1", failed, ready("True", "")), []string{"kubectl-taint"}, []string{"5s m1 failed:NoExecute"}},
		"Karmada writes a taint of its own":         {[]string{plain}, cluster("m1", failed, ready("True", "")), []string{"karmada-controller-manager"}, nil},
		"an agent's status says nothing of taints":  {[]string{plain, failedPolicy}, cluster("m1", failed, ready("True", "")), []string{"agent/status"}, nil},
		"a cause says that it is a policy's":        {[]string{plain}, cluster("m1", failed, ready("True", "")+", "+caused("failed", "NoExecute", "policy")), nil, nil},
		"a cause says that it is a user's":          {[]string{plain, failedPolicy}, cluster("m1", failed, ready("True", "")+", "+caused("failed", "NoExecute", "user")), nil, []string{"5s m1 failed:NoExecute"}},
		"a taint only gets its time":                {[]string{cluster("m1", failed, "")}, cluster("m1", `"taints": [{"key": "failed", "effect": "NoExecute", "timeAdded": "2026-11-21T12:00:05Z"}]`, ""), nil, nil},
		"labels and region":                         {[]string{cluster("m1", "", "")}, labelled, nil, []string{"5s m1 region eu labels map[tier:gold] taints 0"}},
		"labels, beside a taint of the system":      {[]string{cluster("m1", notReady, "")}, labelled, []string{"karmada-x"}, []string{"5s m1 region eu labels map[tier:gold] taints 0"}},
		"a drain and a hold":                        {[]string{cluster("m1", "", "")}, drained, nil, []string{"5s m1 drain", `5s hold m1 for "rack" until 0s`}},
		"a cluster joins":                           {nil, cluster("m2", failed, ready("True", "")), nil, []string{"5s apply Cluster m2"}},
		"a cluster is to go":                        {[]string{plain}, going, nil, []string{"5s delete Cluster m1"}},
		"a quota's spec":                            {[]string{quotaBefore}, quotaAfter, nil, []string{"5s apply FederatedResourceQuota q"}},
		"a quota's status":                          {[]string{quotaBefore}, quotaStatus, nil, nil},
		"a quota that waits for finalizers is gone": {[]string{quotaBefore}, quotaGoing, nil, []string{"5s delete FederatedResourceQuota shop/q"}},
		"a placement":                               {[]string{binding("", []string{"m1:2"}, nil)}, binding("", []string{"m2:2"}, []string{"m1"}), nil, nil},
		"a hold of a binding":                       {[]string{binding("", []string{"m1:2"}, nil)}, binding(`, "annotations": {"leeward.dev/hold-evictions": "backup"}`, []string{"m1:2"}, nil), nil, []string{`5s hold shop/web-deployment for "backup" until 0s`}},
		"a release of a binding":                    {[]string{binding("", []string{"m1:2"}, nil)}, binding(`, "annotations": {"leeward.dev/release-evictions": "now"}`, []string{"m1:2"}, nil), nil, []string{`5s release shop/web-deployment for "now"`}},
		"a new binding":                             {nil, binding("", []string{"m1:2"}, nil), nil, nil},
		"a pause":                                   {[]string{governor}, paused, nil, []string{`5s hold  for "the network is rebuilt" until 1h0m0s`}},
		"a Governor that the daemon made":           {nil, governor, nil, nil},
		"a setting is changed":                      {[]string{runsWith("leeward", "gracefulEvictionTimeout=5m")}, runsWith("leeward", "keepLastCopy=false"), nil, []string{"5s set gracefulEvictionTimeout=10m keepLastCopy=false"}},
		"an engine that says what it runs with":     {nil, runsWith("leeward", "gracefulEvictionTimeout=5m"), nil, []string{"5s set gracefulEvictionTimeout=5m"}},
		"a setting that is not known":               {[]string{runsWith("leeward")}, runsWith("leeward", "warpFactor=9"), nil, nil},
		"an event":                                  {nil, event, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var lines []string
			for _, o := range c.existing {
				lines = append(lines, line(incident.Stood, 0, o))
			}
			lines = append(lines, about(incident.Listed, 0, "clusters.cluster.karmada.io"))
			s := recorded(t, append(lines, line(incident.Modified, 5, c.now, c.by...))...).Scenario(incident.Under{})
			require.Equal(t, c.want, told(s))
			for i := range s.Timeline {
				require.True(t, s.Timeline[i].Recorded)
			}
		})
	}
}

func TestWhatIsGoneIsDeletedOnce(t *testing.T) {
	s := recorded(t,
		line(incident.Stood, 0, cluster("m1", "", "")), line(incident.Stood, 0, quotaBefore), line(incident.Stood, 0, failedPolicy),
		line(incident.Modified, 5, going), line(incident.Deleted, 6, going),
		line(incident.Modified, 7, quotaGoing), line(incident.Deleted, 8, quotaGoing),
		line(incident.Deleted, 9, failedPolicy), line(incident.Deleted, 10, failedPolicy),
	).Scenario(incident.Under{})
	require.Equal(t, []string{"5s delete Cluster m1", "7s delete FederatedResourceQuota shop/q", "9s delete ClusterTaintPolicy p"}, told(s))
}

func TestAScenarioBeginsWithWhatExisted(t *testing.T) {
	placed := `{"apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding", "metadata": {"namespace": "shop", "name": "web-deployment"},
		"spec": {"resource": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web"},
			"clusters": [{"name": "m1", "replicas": 2}, {"name": "m2", "replicas": 1}], "gracefulEvictionTasks": [{"fromCluster": "m3", "replicas": 3, "reason": "r", "producer": "p"}]},
		"status": {"aggregatedStatus": [{"clusterName": "m1", "health": "Unhealthy"}, {"clusterName": "m3"}]}}`
	i := recorded(t, line(incident.Stood, 0, cluster("m1", "", "")), line(incident.Stood, 0, placed), line(incident.Stood, 0, lease(-100)), line(incident.Stood, 0, work(1, 1, "Healthy")))
	s := i.Scenario(incident.Under{})
	require.Equal(t, began, s.Began.At)
	require.Equal(t, 10*time.Minute+incident.Apart, s.Duration)
	require.Equal(t, "outage", s.Name)
	require.Len(t, s.Began.Objects, 2) // those of a world
	var words []string
	for _, said := range s.Began.Inputs {
		words = append(words, action(said))
	}
	require.Equal(t, []string{"m1 shop/web-deployment is Unhealthy, runs 2 of shop/web-deployment", "m3 shop/web-deployment is Healthy, runs 3 of shop/web-deployment"}, words)
	require.Equal(t, []string{"0s m1 silent, renewed at -1m40s"}, told(s))
}

func TestAScenarioBeginsWithWhatTheEngineRanWith(t *testing.T) {
	existing := line(incident.Stood, 0, runsWith("karmada", "gracefulEvictionTimeout=5m"))
	s := recorded(t, existing).Scenario(incident.Under{})
	require.Equal(t, "karmada", s.Profile)
	require.Equal(t, []string{"gracefulEvictionTimeout=5m"}, fields(s.Config))

	i := recorded(t, existing)
	i.Profile = "leeward"
	s = i.Scenario(incident.Under{})
	require.Equal(t, "leeward", s.Profile, "who recorded it knew better")
	require.Empty(t, s.Config)
}

func TestASettingThatIsFixedDoesNotChange(t *testing.T) {
	i := recorded(t, line(incident.Stood, 0, runsWith("leeward")), line(incident.Modified, 5, runsWith("leeward", "gracefulEvictionTimeout=5m", "failover=false")))
	require.Equal(t, []string{"5s set failover=false"}, told(i.Scenario(incident.Under{Set: []config.Override{{Field: "gracefulEvictionTimeout", Value: "1m"}}})))
}

func TestCopiesTakeAsLongToServeAsTheyTook(t *testing.T) {
	s := recorded(t,
		line(incident.Stood, 0, cluster("m1", "", "")), line(incident.Stood, 0, cluster("m2", "", "")),
		line(incident.Added, 10, work(1, 0, "")), line(incident.Modified, 11, work(1, 1, "Unhealthy")), line(incident.Modified, 14, work(1, 1, "Healthy")),
		line(incident.Modified, 30, work(2, 1, "Healthy")), line(incident.Modified, 36, work(2, 2, "Healthy")),
		line(incident.Modified, 50, work(3, 2, "Healthy")), line(incident.Modified, 56, work(3, 3, "Healthy")),
	).Scenario(incident.Under{})
	six := messages.MemberBehaviour{StartupMin: 6 * time.Second, StartupMax: 6 * time.Second, Health: api.Healthy}
	require.Equal(t, map[messages.ClusterName]messages.MemberBehaviour{"m1": six, "m2": six}, s.Members, "the median; of m2 nothing is known but what others took")
	require.Empty(t, told(s))
}

func TestHealthIsAsAgentsReportedIt(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		want  []string
	}{
		"one that became unhealthy and recovered": {
			[]string{line(incident.Added, 10, work(1, 1, "Healthy")), line(incident.Modified, 20, work(1, 1, "Unhealthy")), line(incident.Modified, 25, work(1, 1, "Unhealthy")), line(incident.Modified, 30, work(1, 1, "Healthy"))},
			[]string{"20s m1 shop/web-deployment is Unhealthy", "30s m1 shop/web-deployment is Healthy"},
		},
		"one that never served": {
			[]string{line(incident.Added, 10, work(1, 0, "")), line(incident.Modified, 20, work(1, 1, "Unhealthy"))},
			[]string{"10s m1 shop/web-deployment is Unhealthy"},
		},
		"one that never served, and the next that did": {
			[]string{line(incident.Added, 10, work(1, 1, "Unhealthy")), line(incident.Deleted, 20, work(1, 1, "Unhealthy")), line(incident.Added, 30, work(1, 1, "Healthy"))},
			[]string{"10s m1 shop/web-deployment is Unhealthy", "30s m1 shop/web-deployment is Healthy"},
		},
		"one that was not heard of": {
			[]string{line(incident.Added, 10, work(1, 0, "")), line(incident.Deleted, 20, work(1, 0, "")), line(incident.Deleted, 21, work(1, 0, ""))}, nil,
		},
		"one that was unhealthy before": {
			[]string{line(incident.Stood, 0, work(1, 1, "Unhealthy")), line(incident.Modified, 30, work(1, 1, "Healthy"))},
			[]string{"0s m1 shop/web-deployment is Unhealthy", "30s m1 shop/web-deployment is Healthy"},
		},
	} {
		require.Equal(t, c.want, told(recorded(t, c.lines...).Scenario(incident.Under{})), name)
	}
}

func TestCapacityIsAsAgentsReportedIt(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		want  []string
	}{
		"some cannot start": {
			[]string{line(incident.Added, 10, crowded(1, 3, 0)), line(incident.Modified, 20, crowded(1, 3, 1)), line(incident.Modified, 21, crowded(1, 3, 1))},
			[]string{"20s m1 room for 2 of shop/web-deployment"},
		},
		"they start later": {
			[]string{line(incident.Added, 10, crowded(1, 3, 3)), line(incident.Modified, 20, crowded(1, 3, 0))},
			[]string{"10s m1 room for 0 of shop/web-deployment", "20s m1 room for -1 of shop/web-deployment"},
		},
		"they are given up: no more capacity is known": {
			[]string{line(incident.Added, 10, crowded(1, 3, 1)), line(incident.Modified, 20, crowded(2, 2, 0))},
			[]string{"10s m1 room for 2 of shop/web-deployment"},
		},
		"and then there is more": {
			[]string{line(incident.Added, 10, crowded(1, 3, 1)), line(incident.Modified, 20, crowded(2, 2, 0)), line(incident.Modified, 30, crowded(3, 4, 0))},
			[]string{"10s m1 room for 2 of shop/web-deployment", "30s m1 room for -1 of shop/web-deployment"},
		},
		"it is not known how many replicas there are": {
			[]string{line(incident.Added, 10, strings.ReplaceAll(crowded(1, 3, 1), "Deployment", "Widget"))}, nil,
		},
	} {
		require.Equal(t, c.want, told(recorded(t, c.lines...).Scenario(incident.Under{})), name)
	}
}

// TestReplicasThatWaitedGoOnWaiting shows some that could not start before the recording began: the capacity is known before the
// copy runs, so that they do not wait again.
func TestReplicasThatWaitedGoOnWaiting(t *testing.T) {
	stored := strings.Replace(binding("", []string{"m1:3"}, nil), `"spec"`, `"status": {"aggregatedStatus": [{"clusterName": "m1"}]}, "spec"`, 1)
	s := recorded(t, line(incident.Stood, 0, stored), line(incident.Stood, 0, crowded(1, 3, 1))).Scenario(incident.Under{})
	var words []string
	for _, said := range s.Began.Inputs {
		words = append(words, action(said))
	}
	require.Equal(t, []string{"m1 room for 2 of shop/web-deployment", "m1 shop/web-deployment is Healthy, runs 3 of shop/web-deployment"}, words)
}

func TestASilenceIsWhatALeaseDidNotHoldFor(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		want  []string
	}{
		"a lease that is renewed in time": {[]string{line(incident.Stood, 0, lease(0)), line(incident.Modified, 20, lease(20)), line(incident.Modified, 585, lease(585))}, []string{"20s m1 silent, renewed at 20s", "9m45s m1 back"}},
		"a lease that runs out":           {[]string{line(incident.Stood, 0, lease(0)), line(incident.Modified, 20, lease(20))}, []string{"20s m1 silent, renewed at 20s"}},
		"a lease that says nothing new":   {[]string{line(incident.Modified, 20, lease(20)), line(incident.Modified, 580, lease(20))}, []string{"20s m1 silent, renewed at 20s"}},
		"leases could not be followed":    {[]string{line(incident.Stood, 0, lease(0)), about(incident.Lost, 5, "leases.coordination.k8s.io")}, nil},
	} {
		require.Equal(t, c.want, told(recorded(t, c.lines...).Scenario(incident.Under{})), name)
	}
}

func TestWhatIsGivenWithARecordingExistsFromItsBeginning(t *testing.T) {
	with, problems := manifest.Decode("p.yaml", []byte(failedPolicy))
	require.Empty(t, problems)
	lines := []string{line(incident.Stood, 0, failedPolicy), line(incident.Deleted, 10, failedPolicy)}
	s := recorded(t, lines...).Scenario(incident.Under{With: with})
	require.Equal(t, with, s.Objects)
	require.Empty(t, told(s))
	require.Len(t, told(recorded(t, lines...).Scenario(incident.Under{})), 1)
}
