package recorder_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"leeward/runtime/client"
	"leeward/runtime/client/clienttest"
	"leeward/runtime/client/recorder"
	"leeward/runtime/scenario/incident"
)

const (
	clusters    = "/apis/cluster.karmada.io/v1alpha1/clusters"
	secrets     = "/api/v1/namespaces/shop/secrets"
	deployments = "/apis/apps/v1/namespaces/shop/deployments"
	bindings    = "/apis/work.karmada.io/v1alpha2/namespaces/shop/resourcebindings"
	works       = "/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-m1/works"
	leases      = "/apis/coordination.k8s.io/v1/namespaces"
)

const member = `{"apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster", "metadata": {"name": "m1",
	"annotations": {"kubectl.kubernetes.io/last-applied-configuration": "twice", "a": "b"},
	"managedFields": [{"manager": "kubectl", "operation": "Update", "time": "2026-11-21T12:00:00Z", "fieldsV1": {"f:spec": {}}}, {"manager": "agent", "subresource": "status"}]},
	"spec": {"region": "eu", "notYetKnown": 7, "proxyHeader": {"authorization": "me"}}}`

// file is a recording that is being written. A caller that waits sees each line.
type file struct {
	mu    sync.Mutex
	text  bytes.Buffer
	lines chan *incident.Line
	fails bool
}

func (f *file) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fails {
		return 0, errors.New("the disk is full")
	}
	var l incident.Line
	if err := json.Unmarshal(p, &l); err != nil {
		return 0, err
	}
	f.lines <- &l
	return f.text.Write(p)
}

// until returns the lines until one of a type.
func (f *file) until(t *testing.T, last incident.Type) []*incident.Line {
	t.Helper()
	var all []*incident.Line
	for {
		select {
		case l := <-f.lines:
			if all = append(all, l); l.Type == last {
				return all
			}
		case <-t.Context().Done():
			t.Fatalf("no %s", last)
		}
	}
}

// session is a recording that goes on.
type session struct {
	*file
	t     *testing.T
	stop  func()
	ended chan error
}

// record records some kinds of a server until it is stopped.
func record(t *testing.T, s *clienttest.Server, change func(*recorder.Config), kinds ...string) *session {
	t.Helper()
	resources, err := recorder.Named(kinds)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	r := &session{&file{lines: make(chan *incident.Line, 100)}, t, stop, make(chan error, 1)}
	c := &recorder.Config{
		Client: s.Client(&bytes.Buffer{}), Clock: clock.New(), Out: r.file, Resources: resources,
		Leeward: "leeward test", Key: []byte("key"), Tell: func(int, int) {},
	}
	if change != nil {
		change(c)
	}
	go func() { r.ended <- recorder.Run(ctx, c) }()
	t.Cleanup(stop)
	return r
}

// end stops it and returns what it read as, and its last lines.
func (r *session) end() (*incident.Incident, []*incident.Line) {
	r.t.Helper()
	r.stop()
	require.NoError(r.t, <-r.ended)
	i, err := incident.Read("a.jsonl", r.text.Bytes())
	require.NoError(r.t, err)
	return i, r.until(r.t, incident.End)
}

// words tell lines: "STOOD m1".
func words(lines []*incident.Line) []string {
	var all []string
	for _, l := range lines {
		word := string(l.Type)
		if l.Object != nil {
			var o struct{ Metadata struct{ Name string } }
			if err := json.Unmarshal(l.Object, &o); err != nil {
				word += " " + err.Error()
			}
			word += " " + o.Metadata.Name
		}
		all = append(all, strings.TrimSpace(word+" "+l.Resource))
	}
	return all
}

func TestWhatExistsIsWrittenAndThenEachChange(t *testing.T) {
	s := clienttest.New(t, map[string]string{clusters + "/m1": member})
	told := make(chan string, 10)
	r := record(t, s, func(c *recorder.Config) {
		c.Profile, c.Settings = "karmada", []string{"gracefulEvictionTimeout=20s"}
		c.Tell = func(objects, changes int) { told <- fmt.Sprint(objects, changes) }
	}, "clusters")
	require.Equal(t, []string{"HEADER", "STOOD m1", "LISTED clusters.cluster.karmada.io"}, words(r.until(t, incident.Listed)))
	s.Put(clusters+"/m2", `{"metadata": {"name": "m2"}, "apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster"}`)
	require.Equal(t, []string{"ADDED m2"}, words(r.until(t, incident.Added)))
	s.Remove(clusters + "/m1")
	require.Equal(t, []string{"DELETED m1"}, words(r.until(t, incident.Deleted)))
	i, last := r.end()
	require.Equal(t, "it was interrupted", last[0].Reason)
	require.Equal(t, "v1.0.0-test", i.Server)
	require.Equal(t, "karmada", i.Profile)
	require.Len(t, i.Stood, 1)
	require.Len(t, i.Changes, 2)
	require.Equal(t, []string{"1 0", "1 1", "1 2"}, []string{<-told, <-told, <-told})
}

func TestAnObjectIsWrittenAsItIsButForWhoWroteIt(t *testing.T) {
	r := record(t, clienttest.New(t, map[string]string{clusters + "/m1": member}), nil, "clusters")
	l := r.until(t, incident.Stood)[1]
	require.JSONEq(t, `{"apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster", "metadata": {"name": "m1", "resourceVersion": "1", "annotations": {"a": "b"}},
		"spec": {"region": "eu", "notYetKnown": 7, "proxyHeader": {"authorization": "digest:RpSd8RxkxJsnp1pVOi9F6enkX58gISn3O2xnJAq21a4="}}}`, string(l.Object))
	require.Equal(t, []string{"kubectl ", "agent status"}, []string{
		l.Writers[0].Manager + " " + l.Writers[0].Subresource, l.Writers[1].Manager + " " + l.Writers[1].Subresource,
	})
}

func TestWhatSecretsHoldIsNeverWritten(t *testing.T) {
	const secret = `{"apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": "shop", "name": "s"}, "data": {"password": "aHVudGVyMg=="}, "stringData": {"plain": "hunter2"}}`
	const config = `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "shop", "name": "c"}, "data": {"password": "hunter2"}, "binaryData": {"raw": "aHVudGVyMg=="}}`
	r := record(t, clienttest.New(t, map[string]string{
		secrets + "/a": secret, "/api/v1/namespaces/shop/configmaps/c": config,
		works + "/w": `{"apiVersion": "work.karmada.io/v1alpha1", "kind": "Work", "metadata": {"namespace": "karmada-es-m1", "name": "w"}, "spec": {"workload": {"manifests": [` + secret + `, ` + config + `]}}}`,
	}), nil, "secrets", "configmaps", "works")
	for range 3 {
		r.until(t, incident.Listed)
	}
	i, _ := r.end()
	require.Len(t, i.Stood, 3)
	for _, hidden := range []string{"hunter2", "aHVudGVyMg=="} {
		require.NotContains(t, r.text.String(), hidden)
	}
}

func TestKindsThatAreNotThereOrNotShownAreNamedAndLeftOut(t *testing.T) {
	s := clienttest.New(t, map[string]string{clusters + "/m1": member})
	s.Forbid("/api/v1/secrets")
	r := record(t, s, nil, "clusters", "secrets")
	require.Equal(t, []string{"HEADER", "STOOD m1", "LISTED clusters.cluster.karmada.io", "ABSENT secrets"}, words(r.until(t, incident.Absent)))
	i, _ := r.end()
	require.Equal(t, []string{"secrets were not recorded: Forbidden"}, i.Notes)
}

func TestAServerThatShowsNothingIsNoFleet(t *testing.T) {
	s := clienttest.New(t, nil)
	s.Forbid("/api/v1/secrets")
	require.ErrorIs(t, <-record(t, s, nil, "secrets").ended, recorder.ErrNothing)
}

func TestAServerThatIsNotThereIsNamed(t *testing.T) {
	c, err := client.New(&rest.Config{Host: "http://127.0.0.1:1"}, &bytes.Buffer{})
	require.NoError(t, err)
	require.ErrorContains(t, recorder.Run(t.Context(), &recorder.Config{Client: c, Clock: clock.New()}), "ask the server for its version")
}

func TestAWatchThatIsCutGoesOnWhereItEnded(t *testing.T) {
	s := clienttest.New(t, map[string]string{clusters + "/m1": member})
	r := record(t, s, nil, "clusters")
	r.until(t, incident.Listed)
	s.Put(clusters+"/m1", member)
	r.until(t, incident.Modified)
	s.Cut()
	s.Put(clusters+"/m1", member)
	require.Equal(t, []string{"MODIFIED m1"}, words(r.until(t, incident.Modified)))
}

func TestAServerThatForgotIsListedAgainAndTheFileSaysSo(t *testing.T) {
	s := clienttest.New(t, map[string]string{clusters + "/m1": member})
	r := record(t, s, nil, "clusters")
	r.until(t, incident.Listed)
	s.Put(clusters+"/m2", strings.Replace(member, `"m1"`, `"m2"`, 1))
	r.until(t, incident.Added)
	s.Remove(clusters + "/m1")
	r.until(t, incident.Deleted)
	s.Forget()
	require.Equal(t, []string{"GAP clusters.cluster.karmada.io", "STOOD m2", "LISTED clusters.cluster.karmada.io"}, words(r.until(t, incident.Listed)))
	i, _ := r.end()
	require.Len(t, i.Notes, 1)
	require.Contains(t, i.Notes[0], "changes of clusters.cluster.karmada.io may be missing")
}

func TestAServerThatWillNotBeWatchedIsAskedAgain(t *testing.T) {
	s := clienttest.New(t, map[string]string{clusters + "/m1": member})
	s.Deaf(clusters, http.StatusInternalServerError)
	r := record(t, s, nil, "clusters")
	require.Equal(t, []string{"HEADER", "STOOD m1", "LISTED clusters.cluster.karmada.io", "LOST clusters.cluster.karmada.io"}, words(r.until(t, incident.Lost)))
	s.Put(clusters+"/m2", member)
	s.Deaf(clusters, 0)
	require.Equal(t, []string{"ADDED m1"}, words(r.until(t, incident.Added)))
	s.Tear()
	require.Equal(t, []string{"LOST clusters.cluster.karmada.io"}, words(r.until(t, incident.Lost)), "each time that it is lost")
}

func TestADiskThatIsFullEndsIt(t *testing.T) {
	s := clienttest.New(t, map[string]string{clusters + "/m1": member})
	r := record(t, s, nil, "clusters")
	r.until(t, incident.Listed)
	r.mu.Lock()
	r.fails = true
	r.mu.Unlock()
	s.Put(clusters+"/m1", member)
	require.EqualError(t, <-r.ended, "write the recording: the disk is full")
}

// workload is a Deployment of a namespace, its binding and its Work, by their paths.
func workload(namespace, name, labels string) map[string]string {
	in := func(path string) string {
		return strings.Replace(path, "/shop/", "/"+namespace+"/", 1) + "/" + namespace + name
	}
	return map[string]string{
		in(deployments): fmt.Sprintf(`{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"namespace": %q, "name": %q, "labels": {%s}}}`, namespace, name, labels),
		in(bindings): fmt.Sprintf(`{"apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding", "metadata": {"namespace": %q, "name": "%s-deployment"},
			"spec": {"resource": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": %[1]q, "name": %[2]q}}}`, namespace, name),
		in(works): fmt.Sprintf(`{"apiVersion": "work.karmada.io/v1alpha1", "kind": "Work", "metadata": {"namespace": "karmada-es-m1", "name": "%s-work",
			"annotations": {"resourcebinding.karmada.io/namespace": %q, "resourcebinding.karmada.io/name": "%[1]s-deployment"}}}`, name, namespace),
	}
}

func TestANamespaceAndASelectorLimitWhatIsWritten(t *testing.T) {
	objects := map[string]string{
		leases + "/karmada-cluster/leases/m1": `{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"namespace": "karmada-cluster", "name": "m1"}}`,
		leases + "/kube-system/leases/other":  `{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"namespace": "kube-system", "name": "other"}}`,
	}
	for _, of := range []map[string]string{workload("shop", "web", `"app": "web"`), workload("shop", "db", ""), workload("bank", "ledger", `"app": "web"`)} {
		for path, o := range of {
			objects[path] = o
		}
	}
	for name, c := range map[string]struct {
		namespace, selector string
		want                []string
	}{
		"all":            {"", "", []string{"ledger", "db", "web", "ledger-deployment", "db-deployment", "web-deployment", "ledger-work", "db-work", "web-work", "m1"}},
		"one namespace":  {"shop", "", []string{"db", "web", "db-deployment", "web-deployment", "db-work", "web-work", "m1"}},
		"some workloads": {"", "app=web", []string{"ledger", "web", "ledger-deployment", "web-deployment", "ledger-work", "web-work", "m1"}},
		"some of one":    {"shop", "app=web", []string{"web", "web-deployment", "web-work", "m1"}},
	} {
		r := record(t, clienttest.New(t, objects), func(conf *recorder.Config) { conf.Namespace, conf.Selector = c.namespace, c.selector },
			"leases", "works", "deployments", "resourcebindings")
		for range 4 {
			r.until(t, incident.Listed)
		}
		i, _ := r.end()
		var names []string
		for _, o := range i.Stood {
			names = append(names, o.GetName())
		}
		require.Equal(t, c.want, names, name)
	}
}

func TestResourcesGoByTheirNames(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"pods", "Deployment", "clusters.cluster.karmada.io"}, "[clusters deployments pods]"},
		{[]string{"nodes", "events"}, "[events nodes]"},
	} {
		all, err := recorder.Named(c.names)
		require.NoError(t, err)
		var plurals []string
		for _, r := range all {
			plurals = append(plurals, r.Plural)
		}
		require.Equal(t, c.want, fmt.Sprint(plurals))
	}
	_, err := recorder.Named([]string{"gadgets"})
	require.ErrorContains(t, err, `unknown resource "gadgets"; there are namespaces, priorityclasses, clusters`)
	usual, err := recorder.Named(nil)
	require.NoError(t, err)
	require.Len(t, usual, len(recorder.Names())-4, "all but Events, Namespaces, Nodes and Pods")
}
