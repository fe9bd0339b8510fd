package push

import (
	"context"
	"testing"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"

	"leeward/messages/api"
	"leeward/runtime/client/credentials"
)

// deciding is a pusher that decides and runs nothing.
func deciding(t *testing.T, most int) *Pusher {
	t.Helper()
	p := New(Config{Log: zerolog.Nop(), Pace: func() Pace { return Pace{} }, Most: most})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	p.begin(ended)
	t.Cleanup(p.running.Wait)
	return p
}

func pushed(name string) (*api.Cluster, *corev1.Secret) {
	c, m := &api.Cluster{}, &credentials.Member{Endpoint: "https://" + name, Token: "t"}
	c.Name = name
	m.Describe(c)
	return c, m.Secret(name)
}

func (p *Pusher) problem(name string) string {
	if s := p.sites[name]; s != nil && s.want != nil && s.want.problem != nil {
		return s.want.problem.Error()
	}
	return ""
}

func TestNothingIsDecidedBeforeTheSecretsAreKnown(t *testing.T) {
	p := deciding(t, 1)
	c, secret := pushed("a")
	p.listedClusters([]api.Object{c})
	require.Empty(t, p.sites)
	p.listedSecrets([]api.Object{secret})
	require.Len(t, p.sites, 1)
	require.Empty(t, p.problem("a"))
	p.secretChanged(watch.Deleted, secret)
	require.Contains(t, p.problem("a"), "the Secret karmada-cluster/a does not exist")
}

func TestAClusterThatIsBeingDeletedKeepsItsCredentials(t *testing.T) {
	p := deciding(t, 1)
	c, secret := pushed("a")
	p.listedSecrets([]api.Object{secret})
	p.clusterChanged(watch.Added, c)
	leaving := *c
	leaving.DeletionTimestamp = &c.CreationTimestamp
	p.clusterChanged(watch.Modified, &leaving)
	p.secretChanged(watch.Deleted, secret)
	require.Empty(t, p.problem("a"), "its Works must be deleted")
	p.clusterChanged(watch.Deleted, &leaving)
	require.Nil(t, p.sites["a"].want)
}

func TestAPlaceThatIsFreeGoesToAClusterThatWaits(t *testing.T) {
	p := deciding(t, 2)
	var clusters, secrets []api.Object
	for _, name := range []string{"a", "b", "c"} {
		c, s := pushed(name)
		clusters, secrets = append(clusters, c), append(secrets, s)
	}
	p.listedSecrets(secrets)
	p.listedClusters(clusters)
	require.Empty(t, p.problem("a")+p.problem("b"))
	require.Contains(t, p.problem("c"), "too many clusters")
	pull := *clusters[0].(*api.Cluster)
	pull.Spec.SyncMode = api.Pull
	p.clusterChanged(watch.Modified, &pull)
	require.Nil(t, p.sites["a"].want)
	require.Empty(t, p.problem("c"))
}
