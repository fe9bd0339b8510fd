package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"leeward/messages/api"
	"leeward/runtime/fleet/catalog"
)

// hub is the API server of the fleet. Its verbs are those that Karmada grants its agents: no patch but of the status of Works.
type hub struct {
	config   *Config
	border   *border
	objects  dynamic.Interface
	works    rest.Interface
	leases   rest.Interface
	events   record.EventBroadcaster
	recorder record.EventRecorder
	// placeless is set where the hub does not keep where nodes are, as Karmada's.
	placeless bool
}

var workVersion = catalog.Works.Kind.GroupVersion()

func resourceOf(r *catalog.Resource) schema.GroupVersionResource {
	return r.Kind.GroupVersion().WithResource(r.Plural)
}

// unlimited is a configuration whose server says how fast it may be asked.
func unlimited(c *rest.Config) *rest.Config {
	own := rest.CopyConfig(c)
	own.QPS, own.UserAgent = -1, "leeward-agent"
	own.WarningHandler = rest.NoWarnings{}
	return own
}

func newHub(c *Config) (*hub, error) {
	own := unlimited(c.Hub)
	h := &hub{config: c}
	var err error
	if h.objects, err = dynamic.NewForConfig(own); err != nil {
		return nil, err
	}
	if h.leases, err = clientOf(own, coordinationv1.SchemeGroupVersion); err != nil {
		return nil, err
	}
	if h.works, err = clientOf(own, workVersion); err != nil {
		return nil, err
	}
	core, err := clientOf(own, corev1.SchemeGroupVersion)
	if err != nil {
		return nil, err
	}
	h.events = record.NewBroadcaster()
	h.events.StartRecordingToSink(&eventSink{core, c.Timeout})
	h.recorder = h.events.NewRecorder(known, corev1.EventSource{Component: "leeward-agent", Host: c.Cluster})
	return h, nil
}

func (h *hub) closeEvents() { h.events.Shutdown() }

// followWorks is what follows the Works of the cluster.
func (h *hub) followWorks() cache.SharedIndexInformer {
	list := cache.NewListWatchFromClient(h.works, catalog.Works.Plural, h.config.workNamespace(), fields.Everything())
	i := cache.NewSharedIndexInformer(list, &api.Work{}, 0, cache.Indexers{})
	if err := i.SetTransform(h.border.lean); err != nil {
		panic(err) // it does not run yet
	}
	return i
}

// clusterObject is the Cluster as the hub has it: to read, and to write back with all that is not known here.
type clusterObject struct {
	whole *unstructured.Unstructured
	typed *api.Cluster
}

func (h *hub) cluster(ctx context.Context) (*clusterObject, error) {
	ctx, cancel := context.WithTimeout(ctx, h.config.Timeout)
	defer cancel()
	o, err := h.objects.Resource(resourceOf(catalog.Clusters)).Get(ctx, h.config.Cluster, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	c := &clusterObject{whole: o, typed: &api.Cluster{}}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, c.typed); err != nil {
		return nil, fmt.Errorf("decode cluster %s: %w", h.config.Cluster, err)
	}
	return c, nil
}

// reportedFields are those of a Cluster's status that an agent writes.
var reportedFields = [...]string{"conditions", "kubernetesVersion", "apiEnablements", "nodeSummary", "resourceSummary", "nodeTopology"}

// with gives the Cluster a status, and reports whether that changes it.
func (c *clusterObject) with(s *api.ClusterStatus) (bool, error) {
	if equality.Semantic.DeepEqual(*s, c.typed.Status) {
		return false, nil
	}
	fresh, err := runtime.DefaultUnstructuredConverter.ToUnstructured(s)
	if err != nil {
		return false, fmt.Errorf("encode the status of cluster %s: %w", c.typed.Name, err)
	}
	status, _ := c.whole.Object["status"].(map[string]any)
	if status == nil {
		status = map[string]any{}
	}
	for _, field := range reportedFields {
		if fresh[field] == nil {
			delete(status, field)
		} else {
			status[field] = fresh[field]
		}
	}
	c.whole.Object["status"] = status
	return true, nil
}

// writeCluster writes the status of the Cluster. One that changed meanwhile is read and written again at the next report.
func (h *hub) writeCluster(ctx context.Context, c *clusterObject) error {
	ctx, cancel := context.WithTimeout(ctx, h.config.Timeout)
	defer cancel()
	_, told, _ := unstructured.NestedMap(c.whole.Object, "status", "nodeTopology")
	kept, err := h.objects.Resource(resourceOf(catalog.Clusters)).UpdateStatus(ctx, c.whole, metav1.UpdateOptions{})
	if err == nil && told {
		_, found, _ := unstructured.NestedMap(kept.Object, "status", "nodeTopology")
		h.placeless = !found
	}
	if err != nil && !apierrors.IsConflict(err) {
		return fmt.Errorf("write the status of cluster %s: %w", h.config.Cluster, err)
	}
	return nil
}

// writeStatus reports a Work, unless it says the same already.
func (h *hub) writeStatus(ctx context.Context, w *api.Work, s *api.WorkStatus) (written bool, err error) {
	if equality.Semantic.DeepEqual(*s, w.Status) {
		return false, nil
	}
	body, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": s.Conditions, "manifestStatuses": s.ManifestStatuses}})
	if err != nil {
		return false, fmt.Errorf("encode the status of Work %s: %w", w.Name, err)
	}
	ctx, cancel := context.WithTimeout(ctx, h.config.Timeout)
	defer cancel()
	err = h.works.Patch(types.MergePatchType).Resource(catalog.Works.Plural).Namespace(w.Namespace).Name(w.Name).SubResource("status").Body(body).Do(ctx).Error()
	if err != nil && !apierrors.IsNotFound(err) {
		return false, fmt.Errorf("report: %w", err)
	}
	return err == nil, nil
}

// release lets a Work go whose copy is gone.
func (h *hub) release(ctx context.Context, w *api.Work) error {
	ctx, cancel := context.WithTimeout(ctx, h.config.Timeout)
	defer cancel()
	works := h.objects.Resource(resourceOf(catalog.Works)).Namespace(w.Namespace)
	o, err := works.Get(ctx, w.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && o.GetUID() != w.UID {
		return nil
	}
	if err != nil {
		return fmt.Errorf("remove the finalizer: %w", err)
	}
	held := o.GetFinalizers()
	if !slices.Contains(held, api.WorkFinalizer) {
		return nil
	}
	o.SetFinalizers(slices.DeleteFunc(held, func(f string) bool { return f == api.WorkFinalizer }))
	if _, err := works.Update(ctx, o, metav1.UpdateOptions{}); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("remove the finalizer: %w", err)
	}
	return nil
}

// warn tells of a Work in an Event.
func (h *hub) warn(w *api.Work, reason, message string) {
	h.recorder.Event(&corev1.ObjectReference{
		APIVersion: api.WorkV1alpha1GroupVersion, Kind: catalog.Works.Kind.Kind, Namespace: w.Namespace, Name: w.Name, UID: w.UID,
	}, corev1.EventTypeWarning, reason, message[:min(len(message), longestEvent)])
}

// longestEvent is the longest message of an Event. Source: Kubernetes.
const longestEvent = 1024
