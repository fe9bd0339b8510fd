package client_test

import (
	"bytes"
	"context"
	"net/http"
	"testing"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"

	"leeward/messages/api"
	"leeward/runtime/client"
	"leeward/runtime/client/clienttest"
	"leeward/runtime/fleet/catalog"
)

const at = "/apis/cluster.karmada.io/v1alpha1/clusters"

func twoClusters(t *testing.T) *clienttest.Server {
	t.Helper()
	return clienttest.New(t, map[string]string{
		at + "/eu-1": `{"metadata": {"name": "eu-1", "labels": {"tier": "gold"}}, "spec": {"region": "eu"}}`,
		at + "/us-1": `{"metadata": {"name": "us-1"}}`,
	})
}

func TestObjectsAreReadAsWhatTheyAre(t *testing.T) {
	c := twoClusters(t).Client(&bytes.Buffer{})

	o, err := c.Get(t.Context(), catalog.Clusters, "", "eu-1")
	require.NoError(t, err)
	require.Equal(t, "eu", o.(*api.Cluster).Spec.Region)
	require.Equal(t, api.Key{APIVersion: api.ClusterGroupVersion, Kind: "Cluster", Name: "eu-1"}, api.KeyOf(o))

	all, version, err := c.List(t.Context(), catalog.Clusters, "", "")
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Equal(t, "2", version)

	gold, _, err := c.List(t.Context(), catalog.Clusters, "", "tier=gold")
	require.NoError(t, err)
	require.Len(t, gold, 1)

	_, err = c.Get(t.Context(), catalog.Clusters, "", "eu-7")
	require.True(t, apierrors.IsNotFound(err), "%v", err)
}

func TestWritesAreWhatKubectlWouldSend(t *testing.T) {
	s := twoClusters(t)
	c := s.Client(&bytes.Buffer{})
	o := &api.Cluster{}
	o.Name = "ap-1"
	stored, err := c.Create(t.Context(), catalog.Clusters, o)
	require.NoError(t, err)
	require.NotEmpty(t, stored.GetResourceVersion(), "what the server stored is returned")
	_, err = c.Create(t.Context(), catalog.Clusters, o)
	require.True(t, apierrors.IsAlreadyExists(err))
	body := map[string]any{"spec": map[string]any{"region": "ap"}}
	require.NoError(t, c.Patch(t.Context(), &client.Patch{Resource: catalog.Clusters, Name: "ap-1", Body: body, DryRun: true}))
	require.NoError(t, c.Patch(t.Context(), &client.Patch{Resource: catalog.Clusters, Name: "ap-1", Subresource: "status", Body: map[string]any{}}))
	require.NoError(t, c.Delete(t.Context(), catalog.Clusters, "", "us-1"))
	require.Equal(t, []string{
		`PATCH ` + at + `/ap-1?dryRun=All {"spec":{"region":"ap"}}`,
		`PATCH ` + at + `/ap-1/status {}`,
		`DELETE ` + at + `/us-1`,
	}, s.Requests()[2:])
}

func TestAFollowerIsToldOfEveryChangeAndStartsAgainWhereAWatchIsCut(t *testing.T) {
	s := twoClusters(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	told := make(chan string, 10)
	ended := make(chan error, 1)
	go func() {
		ended <- s.Client(&bytes.Buffer{}).Follow(ctx, &client.Watching{
			Resource: catalog.Clusters, Clock: clock.New(),
			Listed:  func(all []api.Object) { told <- "listed " + all[0].GetName() },
			Changed: func(kind watch.EventType, o api.Object) { told <- string(kind) + " " + o.GetName() },
			Lost:    func(error) { told <- "lost" },
		})
	}()
	require.Equal(t, "listed eu-1", <-told)
	s.Put(at+"/ap-1", `{"metadata": {"name": "ap-1"}}`)
	require.Equal(t, "ADDED ap-1", <-told)
	s.Remove(at + "/eu-1")
	require.Equal(t, "DELETED eu-1", <-told)
	s.Cut() // the next watch goes on where this one ended
	s.Cut()
	s.Put(at+"/ap-1", `{"metadata": {"name": "ap-1"}}`)
	for text := ""; text != "MODIFIED ap-1" && text != "listed ap-1"; {
		text = <-told
	}
	stop()
	require.NoError(t, <-ended)
}

func TestAListThatIsForbiddenEndsIt(t *testing.T) {
	s := twoClusters(t)
	s.Forbid(at)
	err := s.Client(&bytes.Buffer{}).Follow(t.Context(), &client.Watching{Resource: catalog.Clusters, Clock: clock.New()})
	require.True(t, apierrors.IsForbidden(err), "%v", err)
}

func TestAWatchThatIsForbiddenEndsItToo(t *testing.T) {
	s := twoClusters(t)
	s.Deaf(at, http.StatusForbidden)
	listed := 0
	err := s.Client(&bytes.Buffer{}).Follow(t.Context(), &client.Watching{
		Resource: catalog.Clusters, Clock: clock.New(), Listed: func([]api.Object) { listed++ },
	})
	require.True(t, apierrors.IsForbidden(err), "%v", err)
	require.Equal(t, 1, listed)
}

func TestOneWatchTellsOfChangesAndWhereItEnded(t *testing.T) {
	s := twoClusters(t)
	told := make(chan string, 10)
	versions := make(chan string, 1)
	go func() {
		version, err := s.Client(&bytes.Buffer{}).Watch(t.Context(), &client.Stretch{
			Resource: catalog.Clusters, Version: "2", Selector: "tier=gold",
			Changed: func(kind watch.EventType, o api.Object) { told <- string(kind) + " " + o.GetName() },
		})
		if err != nil {
			version = err.Error()
		}
		versions <- version
	}()
	s.Put(at+"/ap-1", `{"metadata": {"name": "ap-1"}}`)
	s.Put(at+"/ap-2", `{"metadata": {"name": "ap-2", "labels": {"tier": "gold"}}}`)
	require.Equal(t, "ADDED ap-2", <-told)
	s.Cut()
	require.Equal(t, "4", <-versions)

	s.Forget()
	_, err := s.Client(&bytes.Buffer{}).Watch(t.Context(), &client.Stretch{Resource: catalog.Clusters, Version: "2"})
	require.True(t, apierrors.IsResourceExpired(err), "%v", err)
}

func TestAServerSaysItsVersion(t *testing.T) {
	version, err := twoClusters(t).Client(&bytes.Buffer{}).ServerVersion(t.Context())
	require.NoError(t, err)
	require.Equal(t, "v1.0.0-test", version)
}

func TestAKubeconfigThatIsNotThereIsNamed(t *testing.T) {
	_, err := client.Load("nowhere/kubeconfig", "")
	require.ErrorContains(t, err, "nowhere/kubeconfig")
}
