package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	extensions "k8s.io/apiextensions-apiserver/pkg/apiserver"
	generated "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/request/anonymous"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/endpoints/openapi"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/util/compatibility"
	"k8s.io/client-go/rest"

	"leeward/messages/api"
	"leeward/runtime/client"
	"leeward/runtime/client/install"
	"leeward/runtime/daemon/etcd/etcdtest"
	"leeward/runtime/fleet/catalog"
)

// inEtcd keeps objects of any kind in an etcd, as kube-apiserver does.
type inEtcd struct{ *storagebackend.Config }

// GetRESTOptions says where a resource is kept.
func (k inEtcd) GetRESTOptions(resource schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	return generic.RESTOptions{
		StorageConfig: k.ForResource(resource), Decorator: generic.UndecoratedStorage, DeleteCollectionWorkers: 1,
		ResourcePrefix: resource.Group + "/" + resource.Resource, CountMetricPollPeriod: time.Minute,
	}, nil
}

// keptIn keeps objects in an etcd, written by a codec.
func keptIn(address string, codec runtime.Codec) inEtcd {
	kept := storagebackend.NewDefaultConfig("/registry", codec)
	kept.Transport.ServerList = []string{address}
	return inEtcd{kept}
}

// definitionsServer is Kubernetes' own server of custom kinds, on an etcd, with nothing of ours: all that it serves are definitions, and objects
// of what they define.
func definitionsServer(t *testing.T) *client.Client {
	t.Helper()
	var serves atomic.Pointer[server.APIServerHandler]
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serves.Load().ServeHTTP(w, r) }))
	t.Cleanup(s.Close)
	address, own := etcdtest.Start(t), server.NewRecommendedConfig(extensions.Codecs)
	own.LoopbackClientConfig, own.ExternalAddress = &rest.Config{Host: s.URL}, s.Listener.Addr().String()
	own.Authentication.Authenticator, own.Authorization.Authorizer = anonymous.NewAuthenticator(nil), authorizerfactory.NewAlwaysAllowAuthorizer()
	own.EffectiveVersion = compatibility.DefaultBuildEffectiveVersion()
	own.RESTOptionsGetter = keptIn(address, extensions.Codecs.LegacyCodec(v1.SchemeGroupVersion))
	own.MergedResourceConfig = extensions.DefaultAPIResourceConfigSource()
	namer := openapi.NewDefinitionNamer(extensions.Scheme)
	own.OpenAPIConfig = server.DefaultOpenAPIConfig(generated.GetOpenAPIDefinitions, namer)
	own.OpenAPIV3Config = server.DefaultOpenAPIV3Config(generated.GetOpenAPIDefinitions, namer)
	c := extensions.Config{GenericConfig: own, ExtraConfig: extensions.ExtraConfig{CRDRESTOptionsGetter: keptIn(address, unstructured.UnstructuredJSONScheme), MasterCount: 1}}
	served, err := c.Complete().New(server.NewEmptyDelegate())
	require.NoError(t, err)
	serves.Store(served.GenericAPIServer.Handler)
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(func() {
		stop()
		served.GenericAPIServer.Destroy()
	})
	_, _, err = served.GenericAPIServer.PrepareRun().NonBlockingRunWithContext(ctx, time.Second)
	require.NoError(t, err)
	asks, err := client.New(&rest.Config{Host: s.URL}, io.Discard)
	require.NoError(t, err)
	return asks
}

// TestTheKindsThatAreInstalledAreThoseOfKubernetesServer applies the definitions of leeward attach install, and what it makes of their kinds, at
// Kubernetes' own server of custom kinds, twice, and creates of each kind an object that it admits and such as it refuses.
func TestTheKindsThatAreInstalledAreThoseOfKubernetesServer(t *testing.T) {
	t.Parallel()
	objects := definitionsServer(t)
	choice := install.Choice{Role: install.Act, Server: install.Karmada, Namespace: install.DefaultNamespace}
	all, err := choice.Manifests()
	require.NoError(t, err)
	all = slices.DeleteFunc(all, func(o *unstructured.Unstructured) bool {
		return o.GetKind() != catalog.Definitions.Kind.Kind && o.GetAPIVersion() != api.LeewardGroupVersion
	})
	require.Len(t, all, 4)
	for _, want := range []string{"created", "unchanged"} {
		i := install.Installation{Client: objects, Tell: func(s *install.Step) error {
			require.Equal(t, want, s.Did, s.Name())
			return nil
		}}
		require.NoError(t, i.Install(t.Context(), all))
	}
	for _, c := range []struct {
		kind, namespace string
		good            map[string]any
		bad             map[string]map[string]any // by what the server says of it
	}{
		{"EvictionBudget", "shop", map[string]any{"minAvailable": "50%", "perWorkload": true, "maxMoved": map[string]any{"replicas": int64(2), "windowSeconds": int64(60)}}, map[string]map[string]any{
			`spec.perWorkload: Invalid value: "string"`:      {"perWorkload": "yes"},
			"spec.maxMoved.windowSeconds: Required value":    {"maxMoved": map[string]any{"replicas": int64(2)}},
			`spec.workloads.namespaces: Invalid value: "str`: {"workloads": map[string]any{"namespaces": "shop"}},
		}},
		{"ClusterEvictionBudget", "", map[string]any{"maxUnavailable": int64(1), "workloads": map[string]any{"minPriority": int64(10)}}, map[string]map[string]any{
			`spec.workloads.minPriority: Invalid value: "str`: {"workloads": map[string]any{"minPriority": "high"}},
		}},
		{"Governor", "", map[string]any{"pause": map[string]any{"reason": "release day"}}, map[string]map[string]any{
			"spec.pause.reason: Required value": {"pause": map[string]any{}},
		}},
	} {
		about := map[string]any{"name": "of-users"}
		if c.namespace != "" {
			about["namespace"] = c.namespace
		}
		of := func(spec map[string]any) *unstructured.Unstructured {
			return &unstructured.Unstructured{Object: map[string]any{"apiVersion": api.LeewardGroupVersion, "kind": c.kind, "metadata": about, "spec": spec}}
		}
		r := catalog.Of(api.KeyOf(of(nil)))
		for says, spec := range c.bad {
			_, err := objects.Create(t.Context(), r, of(spec))
			require.ErrorContains(t, err, says)
			require.True(t, apierrors.IsInvalid(err) || apierrors.IsBadRequest(err), err)
		}
		_, err := objects.Create(t.Context(), r, of(c.good))
		require.NoError(t, err)
		kept, err := objects.Get(t.Context(), r, c.namespace, "of-users")
		require.NoError(t, err)
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(kept)
		require.NoError(t, err)
		require.Equal(t, c.good, fields["spec"], "nothing of it is pruned")
	}
}
