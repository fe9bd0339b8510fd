package incident_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/runtime/scenario/incident"
)

// manager is under which name a Karmada writes.
const manager = "karmada-controller-manager"

// evicting is a binding that is being evicted from m1 since a second, and runs on m2 with a health there; empty: it runs
// nowhere. More goes into its task, and into its spec.
func evicting(name string, since int, health, task, spec string) string {
	clusters, status := `[]`, `{}`
	if health != "" {
		clusters, status = `[{"name": "m2", "replicas": 1}]`, fmt.Sprintf(`{"aggregatedStatus": [{"clusterName": "m2", "health": %q}]}`, health)
	}
	created := began.Add(time.Duration(since) * time.Second).Format(time.RFC3339)
	return fmt.Sprintf(`{"apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding", "metadata": {"namespace": "shop", "name": %q},
		"spec": {"resource": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web"}, "clusters": %s,
			"gracefulEvictionTasks": [{"fromCluster": "m1", "reason": "TaintUntolerated", "producer": "TaintManager", "creationTimestamp": %q%s}]%s}, "status": %s}`,
		name, clusters, created, task, spec, status)
}

// evicted is the same, once it is over.
func evicted(name string) string {
	return fmt.Sprintf(`{"apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding", "metadata": {"namespace": "shop", "name": %q}, "spec": {"resource": {"apiVersion": "apps/v1", "kind": "Deployment"}}}`, name)
}

// silentSince is a recording of an agent that was heard last at a second, and of its cluster, which became Unknown at another.
func silentSince(heard, unknown int) []string {
	return []string{
		line(incident.Stood, 0, cluster("m1", "", ready("True", "ClusterReady")), manager),
		line(incident.Modified, float64(heard), lease(heard)),
		line(incident.Modified, float64(unknown), cluster("m1", "", ready("Unknown", "ClusterStatusUnknown")), manager),
	}
}

// burst is a recording of evictions for taints, so many of them in a second.
func burst(n int) (lines []string) {
	for i := range n {
		lines = append(lines, line(incident.Modified, 10+float64(i)/float64(n), evicting(fmt.Sprintf("b%d", i), 10, "Healthy", "", ""), manager))
	}
	return lines
}

// From what was seen of a Karmada that does not say with which flags it ran follows with which it is replayed.
func TestSettingsOfAKarmadaAreInferredFromWhatItDid(t *testing.T) {
	m1 := line(incident.Stood, 0, cluster("m1", "", ready("False", "")), manager)
	eviction := []string{line(incident.Modified, 10, evicting("web", 10, "Healthy", "", ""), manager)}
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"nothing happened":                      {[]string{m1}, "karmada"},
		"an eviction":                           {eviction, "karmada enableNoExecuteTaintEviction=true"},
		"a policy with NoExecute":               {[]string{line(incident.Stood, 0, failedPolicy, manager)}, "karmada allowNoExecuteTaintPolicy=true"},
		"a purge mode that no policy asks for":  {[]string{line(incident.Modified, 10, evicting("web", 10, "Healthy", `, "purgeMode": "Directly"`, ""), manager)}, "karmada enableNoExecuteTaintEviction=true noExecuteTaintEvictionPurgeMode=Directly"},
		"a purge mode that the policy asks for": {[]string{line(incident.Modified, 10, evicting("web", 10, "Healthy", `, "purgeMode": "Directly"`, `, "failover": {"cluster": {"purgeMode": "Directly"}}`), manager)}, "karmada enableNoExecuteTaintEviction=true"},
		"a task that only time can have ended":  {[]string{line(incident.Modified, 10, evicting("web", 10, "", "", ""), manager), line(incident.Modified, 100.4, evicted("web"), manager)}, "karmada enableNoExecuteTaintEviction=true gracefulEvictionTimeout=1m30s"},
		"a task that ended by health":           {[]string{line(incident.Modified, 10, evicting("web", 10, "Healthy", "", ""), manager), line(incident.Modified, 100.4, evicted("web"), manager)}, "karmada enableNoExecuteTaintEviction=true"},
		"a task with a period of its own":       {[]string{line(incident.Modified, 10, evicting("web", 10, "", `, "gracePeriodSeconds": 90`, ""), manager), line(incident.Modified, 100.4, evicted("web"), manager)}, "karmada enableNoExecuteTaintEviction=true"},
		"a task that goes on":                   {[]string{line(incident.Modified, 10, evicting("web", -300, "Unhealthy", "", ""), manager)}, "karmada enableNoExecuteTaintEviction=true gracefulEvictionTimeout=15m0s"},
		"three evictions, one of each worker":   {burst(3), "karmada enableNoExecuteTaintEviction=true"},
		"thirty evictions in a second":          {burst(30), "karmada enableNoExecuteTaintEviction=true resourceEvictionRate=10"},
		"an agent that was silent for 41 s":     {silentSince(10, 51), "karmada"},
		"an agent that was silent for 20 s":     {silentSince(10, 30), "karmada clusterMonitorGracePeriod=17.5s"},
		"state that was taken along":            {[]string{line(incident.Modified, 10, evicting("web", 10, "Healthy", `, "preservedLabelState": {"a": "b"}`, ""), manager)}, "karmada enableNoExecuteTaintEviction=true statefulFailoverInjection=true"},
		"a system that evicts by itself": {[]string{m1,
			line(incident.Modified, 10, cluster("m1", tainted("cluster.karmada.io/not-ready", "NoSchedule"), ready("False", "")), manager),
			line(incident.Modified, 70.2, cluster("m1", tainted("cluster.karmada.io/not-ready", "NoExecute"), ready("False", "")), manager),
		}, "karmada-legacy failoverEvictionTimeout=1m0s"},
		"a Karmada's agent at another server": {[]string{line(incident.Stood, 0, cluster("m1", "", ready("True", "")), "karmada-agent")}, "leeward"},
		"nothing that says what it is":        {[]string{line(incident.Stood, 0, cluster("m1", "", ready("True", "")), "kubectl")}, "leeward"},
	} {
		t.Run(name, func(t *testing.T) {
			i := recorded(t, c.lines...)
			s := i.Scenario(incident.Under{})
			require.Equal(t, c.want, strings.Join(append([]string{s.Profile}, fields(s.Config)...), " "))
			lines := i.Assumed().Lines()
			require.Len(t, lines, len(s.Config)+2, "each is told")
			require.Contains(t, lines[0], s.Profile)
		})
	}
}

func TestNothingIsAssumedWhereAUserSaysIt(t *testing.T) {
	i := recorded(t, line(incident.Stood, 0, runsWith("karmada", "gracefulEvictionTimeout=5m")), line(incident.Stood, 0, failedPolicy, manager))
	require.Nil(t, i.Assumed(), "the Governor does")
	i = recorded(t, line(incident.Stood, 0, failedPolicy, manager))
	i.Profile = "leeward"
	require.Nil(t, i.Assumed(), "the header does")
	require.Empty(t, i.Assumed().Lines())
}
