package quota_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"leeward/actors/rules/quota"
	"leeward/messages/api"
)

// amounts reads pairs of a resource and a quantity.
func amounts(pairs ...string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		list[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return list
}

func requesting(pairs ...string) *api.ReplicaRequirements {
	return &api.ReplicaRequirements{ResourceRequest: amounts(pairs...)}
}

// on is a placement of so many replicas on one cluster.
func on(replicas int32) []api.TargetCluster {
	return []api.TargetCluster{{Name: "m1", Replicas: replicas}}
}

func requireAmounts(t *testing.T, want, got any) {
	t.Helper()
	text := func(v any) string {
		s, err := json.Marshal(v)
		require.NoError(t, err)
		return string(s)
	}
	require.Equal(t, text(want), text(got))
}

func TestUsageIsReplicasTimesRequests(t *testing.T) {
	for name, c := range map[string]struct {
		targets []api.TargetCluster
		each    *api.ReplicaRequirements
		want    corev1.ResourceList
	}{
		"replicas of all clusters count": {
			[]api.TargetCluster{{Name: "m1", Replicas: 2}, {Name: "m2", Replicas: 3}}, requesting("cpu", "500m", "memory", "1Gi"),
			amounts("cpu", "2500m", "memory", "5Gi"),
		},
		"what is not placed uses nothing":    {nil, requesting("cpu", "1"), amounts()},
		"what requests nothing uses nothing": {on(3), nil, amounts()},
		"nor does a request of zero":         {on(3), requesting("cpu", "0"), amounts()},
		"what has no replicas uses nothing":  {on(0), requesting("cpu", "1"), amounts()},
	} {
		t.Run(name, func(t *testing.T) { requireAmounts(t, c.want, quota.Of(c.targets, c.each, nil)) })
	}
}

func TestComponentsAreChargedAsListed(t *testing.T) {
	set := []api.Component{
		{Name: "head", Replicas: 1, ReplicaRequirements: requesting("cpu", "2")},
		{Name: "workers", Replicas: 3, ReplicaRequirements: requesting("cpu", "4", "memory", "1Gi")},
		{Name: "proxy", Replicas: 1},
	}
	whole := &api.TargetComponents{{Name: "head", Replicas: 1}, {Name: "workers", Replicas: 3}, {Name: "proxy", Replicas: 1}}
	for name, c := range map[string]struct {
		targets []api.TargetCluster
		want    corev1.ResourceList
	}{
		"each with its own requests":                {[]api.TargetCluster{{Name: "m1", Components: whole}}, amounts("cpu", "14", "memory", "3Gi")},
		"on every cluster":                          {[]api.TargetCluster{{Name: "m1", Components: whole}, {Name: "m2", Components: whole}}, amounts("cpu", "28", "memory", "6Gi")},
		"as many as run, not as many as are wanted": {[]api.TargetCluster{{Name: "m1", Components: &api.TargetComponents{{Name: "workers", Replicas: 1}}}}, amounts("cpu", "4", "memory", "1Gi")},
		"one that is no more uses nothing":          {[]api.TargetCluster{{Name: "m1", Components: &api.TargetComponents{{Name: "cache", Replicas: 9}}}}, amounts()},
		"a cluster that lists none uses nothing":    {on(0), amounts()},
	} {
		t.Run(name, func(t *testing.T) { requireAmounts(t, c.want, quota.Of(c.targets, nil, set)) })
	}
}

func TestSumsDoNotDependOnOrder(t *testing.T) {
	requests := []string{"1", "500m", "1Gi", "1500M", "3n", "9223372036854775807", "7E", "100000k", "0.1"}
	limits := amounts("cpu", "4", "memory", "8Gi")
	var first corev1.ResourceList
	for range 50 {
		rand.Shuffle(len(requests), func(i, j int) { requests[i], requests[j] = requests[j], requests[i] })
		sum, gone := quota.Usage{}, quota.Of(on(7), requesting("cpu", "3", "memory", "1Gi"), nil)
		sum.Add(gone)
		for _, r := range requests {
			sum.Add(quota.Of(on(3), requesting("cpu", r, "memory", r), nil))
		}
		sum.Sub(gone)
		if first == nil {
			first = sum.Against(limits)
		}
		requireAmounts(t, first, sum.Against(limits))
	}
}

func TestWhatIsTakenAwayLeavesNothing(t *testing.T) {
	sum, web := quota.Usage{}, quota.Of(on(2), requesting("cpu", "7E", "memory", "1Gi"), nil)
	sum.Add(web)
	sum.Add(web)
	sum.Sub(web)
	requireAmounts(t, web, sum)
	sum.Sub(web)
	require.Empty(t, sum)
}

func TestAQuotaShowsWhatItLimits(t *testing.T) {
	used := quota.Of(on(4), requesting("memory", "536870912", "example.com/gpu", "1"), nil)
	requireAmounts(t, amounts("cpu", "0", "memory", "2Gi"), used.Against(amounts("cpu", "4", "memory", "8Gi")))
}

func TestLessIsLessOfAnyResource(t *testing.T) {
	two := quota.Of(on(2), requesting("cpu", "1", "memory", "1Gi"), nil)
	for name, c := range map[string]struct {
		now  quota.Usage
		less bool
	}{
		"as much":              {quota.Of(on(1), requesting("cpu", "2", "memory", "2Gi"), nil), false},
		"more":                 {quota.Of(on(3), requesting("cpu", "1", "memory", "1Gi"), nil), false},
		"less of one resource": {quota.Of(on(2), requesting("cpu", "2", "memory", "512Mi"), nil), true},
		"nothing of another":   {quota.Of(on(2), requesting("memory", "1Gi"), nil), true},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.less, c.now.Less(two)) })
	}
}

func TestAPlacementMayNotExceedWhatRemains(t *testing.T) {
	limits := amounts("memory", "8Gi", "cpu", "5")
	each := requesting("cpu", "1", "memory", "1Gi")
	for name, c := range map[string]struct {
		others, before, after []api.TargetCluster
		want                  string
	}{
		"within the limit":                                 {others: on(3), after: on(1)},
		"up to the limit":                                  {others: on(3), after: on(2)},
		"over the limit":                                   {others: on(3), after: on(3), want: "3 more cpu asked for, 3 of 5 taken"},
		"only what comes on top is asked for":              {others: on(3), before: on(2), after: on(3), want: "1 more cpu asked for, 5 of 5 taken"},
		"as much elsewhere, with the quota full":           {others: on(3), before: on(2), after: []api.TargetCluster{{Name: "m2", Replicas: 2}}},
		"as much elsewhere, above a limit that was cut":    {others: on(9), before: on(2), after: []api.TargetCluster{{Name: "m2", Replicas: 2}}},
		"less than before, though still above the limit":   {others: on(9), before: on(2), after: on(1)},
		"of several resources the first by name is named":  {others: on(8), after: on(1), want: "1 more cpu asked for, 8 of 5 taken"},
		"every cluster counts that runs a copy of its own": {before: on(3), after: []api.TargetCluster{{Name: "m1", Replicas: 3}, {Name: "m2", Replicas: 3}}, want: "3 more cpu asked for, 3 of 5 taken"},
	} {
		t.Run(name, func(t *testing.T) {
			before := quota.Of(c.before, each, nil)
			used := quota.Of(c.others, each, nil)
			used.Add(before)
			excess, exceeds := quota.Exceeds(limits, used, before, quota.Of(c.after, each, nil))
			require.Equal(t, c.want != "", exceeds)
			if exceeds {
				require.Equal(t, c.want, excess.String())
			}
		})
	}
	_, exceeds := quota.Exceeds(amounts("example.com/gpu", "0"), quota.Usage{}, quota.Usage{}, quota.Of(on(9), each, nil))
	require.False(t, exceeds, "what is not limited")
	_, exceeds = quota.Exceeds(nil, quota.Usage{}, quota.Usage{}, quota.Of(on(9), each, nil))
	require.False(t, exceeds, "no limits at all")
}
