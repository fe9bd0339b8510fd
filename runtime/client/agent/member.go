package agent

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/cache"

	"leeward/messages/api"
)

// member is the API server of the cluster.
type member struct {
	config    *Config
	border    *border
	objects   dynamic.Interface
	core      coreclient.CoreV1Interface
	leases    coordinationclient.CoordinationV1Interface
	discovery *discovery.DiscoveryClient
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
	mapper      meta.RESTMapper
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
	if m.core, err = coreclient.NewForConfig(own); err != nil {
		return nil, err
	}
	if m.leases, err = coordinationclient.NewForConfig(own); err != nil {
		return nil, err
	}
	own.Timeout = c.Timeout // nothing is watched by this one
	m.discovery, err = discovery.NewDiscoveryClientForConfig(own)
	return m, err
}

// id is what tells a cluster from all others. Source: Karmada.
func (m *member) id(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, m.config.Timeout)
	defer cancel()
	n, err := m.core.Namespaces().Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
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
		return unreachable
	}
	return unhealthy
}

// ask returns the code of an answer; 0: there was none.
func (m *member) ask(ctx context.Context, path string) (code int, err error) {
	r := m.discovery.RESTClient().Get().AbsPath(path).MaxRetries(0).Do(ctx)
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
	groups, lists, err := m.discovery.ServerGroupsAndResourcesWithContext(ctx)
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) {
		return false
	}
	s := &served{mapper: restmapper.NewDiscoveryRESTMapper(groupResources(groups, lists)), enablements: enablementsOf(lists), incomplete: err}
	if !ready {
		s.incomplete = errors.Join(err, errNotReady)
	}
	before := m.served.Load()
	if v, err := m.discovery.ServerVersionWithContext(ctx); err == nil {
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

// groupResources joins both answers of discovery.
func groupResources(groups []*metav1.APIGroup, lists []*metav1.APIResourceList) (all []*restmapper.APIGroupResources) {
	of := map[string][]metav1.APIResource{}
	for _, l := range lists {
		of[l.GroupVersion] = l.APIResources
	}
	for _, g := range groups {
		r := &restmapper.APIGroupResources{Group: *g, VersionedResources: map[string][]metav1.APIResource{}}
		for _, v := range g.Versions {
			if resources, known := of[v.GroupVersion]; known {
				r.VersionedResources[v.Version] = resources
			}
		}
		all = append(all, r)
	}
	return all
}

// The bounds of what is reported of kinds, within those of the daemon (docs/api.md).
const (
	mostGroupVersions = 2000
	mostKinds         = 10000
)

// enablementsOf are the kinds that the member serves, without subresources.
func enablementsOf(lists []*metav1.APIResourceList) (all []api.APIEnablement) {
	kinds := 0
	for _, l := range lists {
		e := api.APIEnablement{GroupVersion: l.GroupVersion}
		for i := range l.APIResources {
			if r := &l.APIResources[i]; !strings.Contains(r.Name, "/") && kinds < mostKinds {
				e.Resources = append(e.Resources, api.APIResource{Name: r.Name, Kind: r.Kind})
				kinds++
			}
		}
		slices.SortFunc(e.Resources, func(a, b api.APIResource) int { return strings.Compare(a.Name, b.Name) })
		if len(e.Resources) > 0 && len(all) < mostGroupVersions {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b api.APIEnablement) int { return strings.Compare(a.GroupVersion, b.GroupVersion) })
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
	found, err := s.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) {
		return nil, &errNotServed{kind: kind, certain: s.incomplete == nil}
	}
	return found, err
}

func (m *member) serves(r schema.GroupVersionResource) bool {
	s := m.served.Load()
	if s == nil {
		return false
	}
	_, err := s.mapper.KindFor(r)
	return err == nil || s.incomplete != nil
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
	_, err := m.core.Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{FieldManager: fieldManager})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create the namespace %s: %w", name, err)
	}
	return nil
}

// podsByWorkload indexes pods by the workload that they are of.
const podsByWorkload = "workload"

func workloadKey(kind, namespace, name string) string { return kind + "/" + namespace + "/" + name }

func indexByWorkload(o any) []string {
	p, is := o.(*corev1.Pod)
	if !is || len(p.OwnerReferences) == 0 {
		return nil
	}
	return []string{workloadKey(p.OwnerReferences[0].Kind, p.Namespace, p.OwnerReferences[0].Name)}
}

// lean drops the bookkeeping of an object that nothing here reads, to save memory.
func lean(o any) (any, error) {
	switch o := o.(type) {
	case *corev1.Pod:
		return leanPod(o), nil
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
	client := m.core.RESTClient()
	nodes := cache.NewSharedIndexInformer(cache.NewListWatchFromClient(client, "nodes", "", fields.Everything()), &corev1.Node{}, 0, cache.Indexers{})
	pods := cache.NewSharedIndexInformer(cache.NewListWatchFromClient(client, "pods", "", fields.Everything()), &corev1.Pod{}, 0,
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
	if p, is := o.(*corev1.Pod); is && len(p.Status.Conditions) > 0 && len(p.OwnerReferences) > 0 {
		w := &p.OwnerReferences[0]
		m.waits(identity{schema.FromAPIVersionAndKind(w.APIVersion, w.Kind).Group, w.Kind, p.Namespace, w.Name})
	}
}

// unschedulable counts the pods of a workload that no node takes.
func (m *member) unschedulable(id identity) (n int) {
	c := m.capacity.Load()
	if c == nil {
		return 0
	}
	pods, err := c.pods.GetIndexer().ByIndex(podsByWorkload, workloadKey(id.kind, id.namespace, id.name))
	if err != nil {
		panic(err) // the index exists
	}
	now := m.config.Clock.Now()
	for _, o := range pods {
		if p, is := o.(*corev1.Pod); is && unschedulable(p, now) {
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
	var nodes []*corev1.Node
	for _, o := range c.nodes.GetStore().List() {
		nodes = append(nodes, o.(*corev1.Node))
	}
	var pods []*corev1.Pod
	for _, o := range c.pods.GetStore().List() {
		pods = append(pods, o.(*corev1.Pod))
	}
	s := &summary{topology: topologyOf(nodes)}
	s.nodes, s.resources = capacityOf(nodes, pods, grades)
	return s
}
