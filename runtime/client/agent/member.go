package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"leeward/messages/api"
	"leeward/messages/lists"
)

// member is the API server of the cluster.
type member struct {
	config    *Config
	border    *border
	objects   dynamic.Interface
	core      rest.Interface
	leases    rest.Interface
	discovery *discovery
	served    atomic.Pointer[served]
	// capacity is followed once the member was found to serve nodes and pods.
	capacity  atomic.Pointer[capacity]
	following sync.WaitGroup
	// waits is told which workload has a pod that waits, or waited, for a node.
	waits func(identity)
}

// capacity follows what a cluster has, and what is used of it.
type capacity struct{ nodes, pods cache.SharedIndexInformer }

// served is what the member serves.
type served struct {
	kinds       map[schema.GroupVersionKind]*meta.RESTMapping
	resources   map[schema.GroupVersionResource]bool
	enablements []api.APIEnablement
	version     string
	// incomplete is why some groups are not known; nil: all are.
	incomplete error
}

func newMember(c *Config) (*member, error) {
	own := unlimited(c.Member)
	m := &member{config: c}
	var err error
	if m.objects, err = dynamic.NewForConfig(own); err != nil {
		return nil, err
	}
	if m.core, err = clientOf(own, corev1.SchemeGroupVersion); err != nil {
		return nil, err
	}
	if m.leases, err = clientOf(own, coordinationv1.SchemeGroupVersion); err != nil {
		return nil, err
	}
	own.Timeout = c.Timeout // nothing is watched by this one
	asked, err := clientOf(own, corev1.SchemeGroupVersion)
	if err != nil {
		return nil, err
	}
	m.discovery = newDiscovery(asked)
	return m, nil
}

// id is what tells a cluster from all others. Source: Karmada.
func (m *member) id(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, m.config.Timeout)
	defer cancel()
	n, err := ask(ctx, m.core.Get().Resource("namespaces").Name(metav1.NamespaceSystem), &corev1.Namespace{})
	if err != nil {
		return "", fmt.Errorf("read the namespace %s: %w", metav1.NamespaceSystem, err)
	}
	return string(n.UID), nil
}

// probe asks the member how it is.
func (m *member) probe(ctx context.Context) probe {
	code, err := m.ask(ctx, "/readyz")
	if code == http.StatusNotFound {
		code, err = m.ask(ctx, "/healthz")
	}
	switch code {
	case http.StatusOK:
		return healthy
	case http.StatusUnauthorized, http.StatusForbidden:
		return probe{unhealthy.status, unhealthy.reason, "the member refuses the agent's credentials: " + err.Error()}
	case 0:
		return unanswered(err)
	}
	return unhealthy
}

// ask returns the code of an answer; 0: there was none.
func (m *member) ask(ctx context.Context, path string) (code int, err error) {
	r := m.discovery.server.Get().AbsPath(path).MaxRetries(0).Do(ctx)
	r.StatusCode(&code)
	return code, r.Error()
}

// errNotReady is why not all groups are known of a member that begins: it may serve custom kinds later than all others.
var errNotReady = errors.New("the member is not ready")

// discover asks the member what it serves, and reports whether that changed. What cannot be read now is as it was, and so is all
// that is known of a member that is not ready.
func (m *member) discover(ctx context.Context, ready bool) bool {
	if !ready && m.served.Load() != nil {
		return false
	}
	f, err := m.discovery.all(ctx)
	if err != nil {
		return false
	}
	s := servedOf(f)
	if !ready {
		s.incomplete = errors.Join(f.incomplete, errNotReady)
	}
	before := m.served.Load()
	var v version.Info
	if text, err := m.discovery.server.Get().AbsPath("/version").Do(ctx).Raw(); err == nil && json.Unmarshal(text, &v) == nil {
		s.version = v.GitVersion
	} else if before != nil {
		s.version = before.version
	}
	m.served.Store(s)
	if m.capacity.Load() == nil && m.serves(corev1.SchemeGroupVersion.WithResource("nodes")) && m.serves(corev1.SchemeGroupVersion.WithResource("pods")) {
		m.followCapacity(ctx)
	}
	return before == nil || !equality.Semantic.DeepEqual(before.enablements, s.enablements) || (before.incomplete == nil) != (s.incomplete == nil)
}

// The bounds of what is reported of kinds, within those of the daemon (docs/api.md).
const (
	mostGroupVersions = 2000
	mostKinds         = 10000
)

// servedOf is what discovery found.
func servedOf(f *found) *served {
	s := &served{kinds: map[schema.GroupVersionKind]*meta.RESTMapping{}, resources: map[schema.GroupVersionResource]bool{}, incomplete: f.incomplete}
	for _, k := range f.kinds {
		s.kinds[k.GroupVersionKind], s.resources[k.Resource] = k, true
	}
	s.enablements = enablementsOf(f.kinds)
	return s
}

// enablementsOf are the kinds that the member serves, as they are reported.
func enablementsOf(kinds []*meta.RESTMapping) (all []api.APIEnablement) {
	sorted := slices.SortedFunc(slices.Values(kinds), func(a, b *meta.RESTMapping) int {
		return cmp.Or(strings.Compare(a.GroupVersionKind.GroupVersion().String(), b.GroupVersionKind.GroupVersion().String()), strings.Compare(a.Resource.Resource, b.Resource.Resource))
	})
	for _, k := range sorted[:min(len(sorted), mostKinds)] {
		version := k.GroupVersionKind.GroupVersion().String()
		if len(all) == 0 || all[len(all)-1].GroupVersion != version {
			if len(all) == mostGroupVersions {
				break
			}
			all = append(all, api.APIEnablement{GroupVersion: version})
		}
		last := &all[len(all)-1]
		last.Resources = append(last.Resources, api.APIResource{Name: k.Resource.Resource, Kind: k.GroupVersionKind.Kind})
	}
	return all
}

// errNotServed is what a manifest of an unknown kind gets.
type errNotServed struct {
	kind schema.GroupVersionKind
	// certain is set where the member said all that it serves.
	certain bool
}

func (e *errNotServed) Error() string {
	if !e.certain {
		return fmt.Sprintf("the member has not said that it serves %s: some of its API groups do not answer", e.kind)
	}
	return fmt.Sprintf("the member does not serve %s", e.kind)
}

// mapping is where objects of a kind are in the member.
func (m *member) mapping(kind schema.GroupVersionKind) (*meta.RESTMapping, error) {
	s := m.served.Load()
	if s == nil {
		return nil, errPending // each Work is looked at when the member has told
	}
	if mapping := s.kinds[kind]; mapping != nil {
		return mapping, nil
	}
	return nil, &errNotServed{kind: kind, certain: s.incomplete == nil}
}

func (m *member) serves(r schema.GroupVersionResource) bool {
	s := m.served.Load()
	return s != nil && (s.resources[r] || s.incomplete != nil)
}

// in are the objects of a kind in a namespace, or those of the cluster.
func (m *member) in(r *meta.RESTMapping, namespace string) dynamic.ResourceInterface {
	if r.Scope.Name() == meta.RESTScopeNameRoot {
		return m.objects.Resource(r.Resource)
	}
	return m.objects.Resource(r.Resource).Namespace(namespace)
}

// get reads one object; nil: there is none.
func (m *member) get(ctx context.Context, r *meta.RESTMapping, id identity) (*unstructured.Unstructured, error) {
	ctx, cancel := context.WithTimeout(ctx, m.config.Timeout)
	defer cancel()
	o, err := m.in(r, id.namespace).Get(ctx, id.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return o, err
}

// createNamespace creates a namespace that a manifest is in. It is of no Work, and remains.
func (m *member) createNamespace(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, m.config.Timeout)
	defer cancel()
	n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	_, err := ask(ctx, m.core.Post().Resource("namespaces").Param("fieldManager", fieldManager).Body(n), n.DeepCopy())
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create the namespace %s: %w", name, err)
	}
	return nil
}

// podsByWorkload indexes pods by the workload that they are of.
const podsByWorkload = "workload"

func workloadKey(id identity) string { return id.kind + "/" + id.namespace + "/" + id.name }

func indexByWorkload(o any) []string {
	p, is := o.(*podShare)
	if !is || p.workload.kind == "" {
		return nil
	}
	return []string{workloadKey(p.workload)}
}

// lean drops the bookkeeping of an object that nothing here reads, to save memory.
func lean(o any) (any, error) {
	switch o := o.(type) {
	case *corev1.Pod:
		return shareOf(o), nil
	case *corev1.Node:
		return leanNode(o), nil
	case *unstructured.Unstructured:
		o.SetManagedFields(slices.DeleteFunc(o.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool { return !byAutoscaler(e) }))
	case metav1.Object:
		o.SetManagedFields(nil)
	}
	return o, nil
}

// followCapacity follows the nodes and pods of the member until the context ends.
func (m *member) followCapacity(ctx context.Context) {
	nodes := cache.NewSharedIndexInformer(cache.NewListWatchFromClient(m.core, "nodes", "", fields.Everything()), &corev1.Node{}, 0, cache.Indexers{})
	pods := cache.NewSharedIndexInformer(cache.NewListWatchFromClient(m.core, "pods", "", fields.Everything()), &corev1.Pod{}, 0,
		cache.Indexers{podsByWorkload: m.border.index(indexByWorkload)})
	_, err := pods.AddEventHandler(m.border.handlers(m.podChanged, func(before, now any) { m.podChanged(before); m.podChanged(now) }, m.podChanged))
	if err = errors.Join(err, nodes.SetTransform(m.border.lean), pods.SetTransform(m.border.lean)); err != nil {
		panic(err) // they do not run yet
	}
	m.capacity.Store(&capacity{nodes, pods})
	m.following.Go(func() { nodes.RunWithContext(ctx) })
	m.following.Go(func() { pods.RunWithContext(ctx) })
}

// podChanged tells of the workload of a pod that waits, or waited, for a node.
func (m *member) podChanged(o any) {
	if p, is := o.(*podShare); is && !p.waits.IsZero() && p.workload.kind != "" {
		m.waits(p.workload)
	}
}

// unschedulable counts the pods of a workload that no node takes.
func (m *member) unschedulable(id identity) (n int) {
	c := m.capacity.Load()
	if c == nil {
		return 0
	}
	pods, err := c.pods.GetIndexer().ByIndex(podsByWorkload, workloadKey(id))
	if err != nil {
		panic(err) // the index exists
	}
	now := m.config.Clock.Now()
	for _, o := range pods {
		if p, is := o.(*podShare); is && p.unschedulable(now) {
			n++
		}
	}
	return n
}

// summary is what nodes and pods of the member add up to.
type summary struct {
	nodes     *api.NodeSummary
	resources *api.ResourceSummary
	topology  *api.NodeTopology
}

// summary sums up the member; nil: it is not known.
func (m *member) summary(grades []api.ResourceModel) *summary {
	c := m.capacity.Load()
	if c == nil || !c.nodes.HasSynced() || !c.pods.HasSynced() {
		return nil
	}
	nodes := lists.Of(c.nodes.GetStore().List(), func(o interface{}) *corev1.Node { return o.(*corev1.Node) })
	pods := lists.Of(c.pods.GetStore().List(), func(o interface{}) *podShare { return o.(*podShare) })
	s := &summary{topology: topologyOf(nodes)}
	s.nodes, s.resources = capacityOf(nodes, pods, grades)
	return s
}
