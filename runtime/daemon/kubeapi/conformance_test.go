package kubeapi

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/apis/example"
	examplev1 "k8s.io/apiserver/pkg/apis/example/v1"
	"k8s.io/apiserver/pkg/storage"
	storagetesting "k8s.io/apiserver/pkg/storage/testing"
	"k8s.io/apiserver/pkg/storage/value"
	"k8s.io/apiserver/pkg/storage/value/encrypt/identity"

	"leeward/runtime/daemon/engine"
	"leeward/runtime/daemon/etcd"
	"leeward/runtime/daemon/etcd/etcdtest"
)

// conforming is the storage under test, as Kubernetes' tests want it: they write their keys without the group.
type conforming struct {
	storage.Interface
	engine *engine.Engine
}

// above is where the keys of the tests lie: "/pods/" is that of an object, to them.
const above = "/core/things"

var (
	things = schema.GroupResource{Resource: "things"}
	// elsewhere is a table that only moves the version on.
	elsewhere = schema.GroupResource{Resource: "configmaps"}
)

func (c conforming) Create(ctx context.Context, key string, o, out runtime.Object, ttl uint64) error {
	return c.Interface.Create(ctx, prefixed(key), o, out, ttl)
}

func (c conforming) Get(ctx context.Context, key string, opts storage.GetOptions, out runtime.Object) error {
	return c.Interface.Get(ctx, prefixed(key), opts, out)
}

func (c conforming) GetList(ctx context.Context, key string, opts storage.ListOptions, list runtime.Object) error {
	return c.Interface.GetList(ctx, prefixed(key), opts, list)
}

func (c conforming) Watch(ctx context.Context, key string, opts storage.ListOptions) (watch.Interface, error) {
	return c.Interface.Watch(ctx, prefixed(key), opts)
}

func (c conforming) Delete(ctx context.Context, key string, out runtime.Object, p *storage.Preconditions,
	validate storage.ValidateObjectFunc, cached runtime.Object, opts storage.DeleteOptions) error {
	return c.Interface.Delete(ctx, prefixed(key), out, p, validate, cached, opts)
}

func (c conforming) GuaranteedUpdate(ctx context.Context, key string, out runtime.Object, ignoreNotFound bool,
	p *storage.Preconditions, update storage.UpdateFunc, cached runtime.Object) error {
	return c.Interface.GuaranteedUpdate(ctx, prefixed(key), out, ignoreNotFound, p, update, cached)
}

func prefixed(key string) string {
	if len(key) > 1 && key[0] == '/' {
		return above + key
	}
	return key
}

// UpdatePrefixTransformer changes nothing: objects are kept as they are, so that nothing is transformed.
func (c conforming) UpdatePrefixTransformer(storagetesting.PrefixTransformerModifier) func() {
	return func() {}
}

// UpdateTransformer changes nothing, either.
func (c conforming) UpdateTransformer(func(value.Transformer) value.Transformer) func() {
	return func() {}
}

func newConforming(t *testing.T, shared engine.Shared) conforming {
	t.Helper()
	e, err := engine.Open(engine.Config{Clock: clock.New(), Shared: shared, Resources: []engine.Resource{
		{Name: things, New: func() engine.Object { return &example.Pod{} }},
		{Name: elsewhere, New: func() engine.Object { return &corev1.ConfigMap{} }},
	}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	s := &tableStorage{
		limits: newLimits(),
		engine: e, table: e.Table(things), prefix: above + "/pods/",
		fresh: func() engine.Object { return &example.Pod{} }, clock: clock.New(),
	}
	c := conforming{s, e}
	c.moveOn(t.Context(), t) // no version is 0
	return c
}

func podCodec(t *testing.T) runtime.Codec {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, example.AddToScheme(scheme))
	require.NoError(t, examplev1.AddToScheme(scheme))
	return serializer.NewCodecFactory(scheme).LegacyCodec(examplev1.SchemeGroupVersion)
}

// moveOn raises the version by one, and returns it.
func (c conforming) moveOn(_ context.Context, t *testing.T) int64 {
	t.Helper()
	name := fmt.Sprintf("at-%d", c.engine.Version())
	require.NoError(t, c.engine.Commit(engine.Create(engine.Key(elsewhere, "", name), &corev1.ConfigMap{})))
	return c.engine.Version()
}

// compact forgets what is older than a version, as etcd does on request; like there it takes a version.
func (c conforming) compact(ctx context.Context, t *testing.T, version string) {
	t.Helper()
	floor, err := strconv.ParseInt(version, 10, 64)
	require.NoError(t, err)
	c.engine.Table(things).Forget(floor)
	c.moveOn(ctx, t)
}

// TestStorageConforms runs the tests that Kubernetes has for a storage. Left out are those whose subject is a stored text
// that cannot be read any more when a request asks for it, or is read again: RunTestTransformationFailure,
// RunTestGuaranteedUpdateChecksStoredData, RunTestGetListWithErrorAggregation and WithoutErrorAggregation, RunTestWatchError,
// RunWatchErrorIsBlockingFurtherEvents, RunTestWatchWithUnsafeDelete, RunTestDeleteExpectedTransformOrDecodeError and
// WithConflictAndMissingExpectedTransformOrDecodeError. They break the text in between. Here texts are read once, at the start,
// which fails of one that is damaged, and requests are answered of the objects.
func TestStorageConforms(t *testing.T) {
	for name := range conformance(conforming{}) {
		t.Run(name, func(t *testing.T) {
			c := newConforming(t, nil)
			conformance(c)[name](t.Context(), t, c)
		})
	}
}

// countsByOne are tests that add one to a version, or name version 1: in etcd, versions are farther apart, and a server
// has no history from before its start.
var countsByOne = []string{"list", "list at the latest version", "watch from everywhere"}

// TestStorageConformsOnEtcd runs the same tests where etcd keeps the objects.
func TestStorageConformsOnEtcd(t *testing.T) {
	server := etcdtest.Start(t)
	for name := range conformance(conforming{}) {
		if slices.Contains(countsByOne, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			shared, err := etcd.Open(etcd.Config{Servers: []string{server}, Prefix: "/" + t.Name(), Clock: clock.New()})
			require.NoError(t, err)
			c := newConforming(t, shared)
			conformance(c)[name](t.Context(), t, c)
		})
	}
}

// conformance are Kubernetes' tests, by what they are about.
func conformance(c conforming) map[string]func(context.Context, *testing.T, storage.Interface) {
	reads := func(*testing.T, uint64, uint64) {}
	stored := func(context.Context, *testing.T, string) {}
	return map[string]func(context.Context, *testing.T, storage.Interface){
		"create with a time to live":  storagetesting.RunTestCreateWithTTL,
		"create what is there":        storagetesting.RunTestCreateWithKeyExist,
		"get":                         storagetesting.RunTestGet,
		"delete":                      storagetesting.RunTestUnconditionalDelete,
		"delete on conditions":        storagetesting.RunTestConditionalDelete,
		"delete what is suggested":    storagetesting.RunTestDeleteWithSuggestion,
		"delete what is outdated":     storagetesting.RunTestDeleteWithSuggestionAndConflict,
		"delete in a conflict":        storagetesting.RunTestDeleteWithConflict,
		"delete what is deleted":      storagetesting.RunTestDeleteWithSuggestionOfDeletedObject,
		"validate a deletion":         storagetesting.RunTestValidateDeletionWithSuggestion,
		"validate what is suggested":  storagetesting.RunTestValidateDeletionWithOnlySuggestionValid,
		"preconditions of a deletion": storagetesting.RunTestPreconditionalDeleteWithSuggestion,
		"preconditions that pass":     storagetesting.RunTestPreconditionalDeleteWithOnlySuggestionPass,
		"list by prefix":              storagetesting.RunTestGetListRecursivePrefix,
		"list in pages":               storagetesting.RunTestListPaging,
		"list a namespace":            storagetesting.RunTestNamespaceScopedList,
		"keys":                        storagetesting.RunTestKeySchema,
		"update":                      storagetesting.RunTestGuaranteedUpdateWithConflict,
		"update a time to live":       storagetesting.RunTestGuaranteedUpdateWithTTL,
		"update what is outdated":     storagetesting.RunTestGuaranteedUpdateWithSuggestionAndConflict,
		"watch":                       storagetesting.RunTestWatch,
		"watch the cluster":           storagetesting.RunTestClusterScopedWatch,
		"watch a namespace":           storagetesting.RunTestNamespaceScopedWatch,
		"watch a deletion":            storagetesting.RunTestDeleteTriggerWatch,
		"watch from a version":        storagetesting.RunTestWatchFromNonZero,
		"watch late":                  storagetesting.RunTestDelayedWatchDelivery,
		"watch and cancel":            storagetesting.RunTestWatchContextCancel,
		"watch without reading":       storagetesting.RunTestWatcherTimeout,
		"watch a deletion's version":  storagetesting.RunTestWatchDeleteEventObjectHaveLatestRV,
		"watch and say so":            storagetesting.RunTestWatchInitializationSignal,
		"watch bookmarks' versions":   storagetesting.RunTestOptionalWatchBookmarksWithCorrectResourceVersion,
		"watch as old clients do":     storagetesting.RunSendInitialEventsBackwardCompatibility,
		"watch from everywhere":       storagetesting.RunWatchSemantics,
		"watch what is there":         storagetesting.RunWatchSemanticInitialEventsExtended,
		"watch one of many":           storagetesting.RunWatchListMatchSingle,
		"list by version": func(ctx context.Context, t *testing.T, _ storage.Interface) {
			storagetesting.RunTestListResourceVersionMatch(ctx, t, c)
		},
		"delete what can be read": func(ctx context.Context, t *testing.T, s storage.Interface) {
			storagetesting.RunTestDeleteWithSuggestionAndMissingExpectedTransformOrDecodeError(ctx, t, s)
		},
		"watch progress": func(ctx context.Context, t *testing.T, s storage.Interface) {
			storagetesting.RunOptionalTestProgressNotify(ctx, t, s, c.moveOn)
		},
		"create": func(ctx context.Context, t *testing.T, s storage.Interface) {
			storagetesting.RunTestCreate(ctx, t, s, stored)
		},
		"list": func(ctx context.Context, t *testing.T, s storage.Interface) {
			storagetesting.RunTestList(ctx, t, s, c.compact, false, nil)
		},
		"list at the latest version": func(ctx context.Context, t *testing.T, s storage.Interface) {
			storagetesting.RunTestConsistentList(ctx, t, s, c.moveOn, false, true, false)
		},
		"list one key": func(ctx context.Context, t *testing.T, s storage.Interface) {
			storagetesting.RunTestGetListNonRecursive(ctx, t, c.moveOn, s)
		},
		"continue a list": func(ctx context.Context, t *testing.T, s storage.Interface) {
			storagetesting.RunTestListContinuation(ctx, t, s, reads)
		},
		"continue to a few": func(ctx context.Context, t *testing.T, s storage.Interface) {
			storagetesting.RunTestListPaginationRareObject(ctx, t, s, reads)
		},
		"continue filtered": func(ctx context.Context, t *testing.T, s storage.Interface) {
			storagetesting.RunTestListContinuationWithFilter(ctx, t, s, reads)
		},
		"continue too late": func(ctx context.Context, t *testing.T, s storage.Interface) {
			storagetesting.RunTestListInconsistentContinuation(ctx, t, s, c.compact)
		},
		"statistics": func(ctx context.Context, t *testing.T, s storage.Interface) {
			storagetesting.RunTestStats(ctx, t, s, podCodec(t), identity.NewEncryptCheckTransformer(), false)
		},
		"watch from 0": func(ctx context.Context, t *testing.T, s storage.Interface) {
			storagetesting.RunTestWatchFromZero(ctx, t, s, c.compact)
		},
		"watch with bookmarks": func(ctx context.Context, t *testing.T, s storage.Interface) {
			storagetesting.RunTestWatchDispatchBookmarkEvents(ctx, t, s, true)
		},
		"update unless unchanged": func(ctx context.Context, t *testing.T, _ storage.Interface) {
			storagetesting.RunTestGuaranteedUpdate(ctx, t, c, stored)
		},
		"compaction": func(ctx context.Context, t *testing.T, s storage.Interface) {
			storagetesting.RunTestCompactRevision(ctx, t, s, c.moveOn, c.compact)
		},
	}
}
