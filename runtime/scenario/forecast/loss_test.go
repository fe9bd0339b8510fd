package forecast

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
)

// fleet has a cluster in each of two zones of eu, and one in us that is called as a region is.
func fleet() []*api.Cluster {
	cluster := func(name, region, zone string) *api.Cluster {
		c := &api.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
		c.Spec.Region, c.Spec.Zone, c.Spec.Provider = region, zone, "p1"
		return c
	}
	return []*api.Cluster{cluster("eu-2", "eu", "b"), cluster("eu-1", "eu", "a"), cluster("asia", "us", "a")}
}

func TestWhatALossNames(t *testing.T) {
	for text, want := range map[string][]messages.ClusterName{
		"eu-1": {"eu-1"}, "cluster=eu-2": {"eu-2"}, "asia": {"asia"}, "eu-2,eu-1": {"eu-2", "eu-1"}, "region=eu": {"eu-1", "eu-2"},
		"zone=eu/b": {"eu-2"}, "zone=a": {"asia", "eu-1"}, "provider=p1": {"asia", "eu-1", "eu-2"}, "region=us,eu": {"asia", "eu-1", "eu-2"},
	} {
		losses, err := ParseLosses(text)
		require.NoError(t, err, text)
		var all []messages.ClusterName
		for _, l := range losses {
			clusters, err := l.Clusters(fleet())
			require.NoError(t, err, text)
			all = append(all, clusters...)
		}
		require.Equal(t, want, all, text)
	}
}

func TestWhatNamesNothingIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 `cluster: must have a name`,
		"region=":                          `region: must have a name`,
		"eu-1,":                            `cluster: must have a name`,
		"moon=eu":                          `kind: must be one of cluster, zone, region, provider`,
		strings.Repeat("a,", mostLosses):   `cluster: has 1001 names, more than 1000`,
		"region=mars":                      `there is no region "mars"; there are eu, us`,
		"eu":                               `there is no cluster "eu"; did you mean region=eu?`,
		"eu-3":                             `there is no cluster "eu-3"; did you mean eu-1 or eu-2?`,
		"zone=q9":                          `there is no zone "q9"; there are eu/a, eu/b, us/a`,
		"provider=p":                       `there is no provider "p"; did you mean p1?`,
		"region=" + strings.Repeat("x", 9): `there is no region "xxxxxxxxx"; there are eu, us`,
	} {
		losses, err := ParseLosses(text)
		if err == nil {
			_, err = losses[0].Clusters(fleet())
		}
		require.ErrorContains(t, err, want, text)
	}
	_, err := Loss{KindRegion, "eu"}.Clusters(nil)
	require.EqualError(t, err, `there is no region "eu"; the fleet names none`)
}

func FuzzLosses(f *testing.F) {
	f.Add("region=eu,us")
	f.Add("eu-1")
	f.Fuzz(func(t *testing.T, text string) {
		losses, err := ParseLosses(text)
		if err != nil {
			require.Empty(t, losses)
			return
		}
		require.LessOrEqual(t, len(losses), mostLosses)
		for _, l := range losses {
			require.Contains(t, Kinds(), l.Kind)
			require.NotEmpty(t, l.Name)
			again, err := ParseLosses(l.Kind + "=" + l.Name)
			require.NoError(t, err)
			require.Equal(t, []Loss{l}, again)
		}
	})
}
