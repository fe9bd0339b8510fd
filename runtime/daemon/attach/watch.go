package attach

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"leeward/messages"
	"leeward/messages/lists"
)

// watched are the nodes and pods of the server, followed by client-go: it lists again after a 410, waits longer from failure to failure, and
// streams the list where the server can.
type watched struct {
	factory     informers.SharedInformerFactory
	nodes, pods cache.SharedIndexInformer
	synced      []cache.InformerSynced

	mu sync.Mutex
	// changed are the objects of which there is news, each as it is now: as many at most as there are objects. open: changes are taken.
	open         bool
	changedNodes map[messages.NodeName]bool
	changedPods  map[messages.PodName]*podNews
	news         chan struct{}
}

// podNews is a pod as it was seen last, and whether it is gone.
type podNews struct {
	object *corev1.Pod
	gone   bool
}

// byNode indexes pods by their nodes.
const byNode = "node"

func watch(c kubernetes.Interface, lost func(error)) (*watched, error) {
	w := &watched{news: make(chan struct{}, 1)}
	w.factory = informers.NewSharedInformerFactoryWithOptions(c, 0, informers.WithTransform(lean))
	w.nodes, w.pods = w.factory.Core().V1().Nodes().Informer(), w.factory.Core().V1().Pods().Informer()
	err := w.pods.AddIndexers(cache.Indexers{byNode: func(o any) ([]string, error) {
		if p := o.(*corev1.Pod); p.Spec.NodeName != "" {
			return []string{p.Spec.NodeName}, nil
		}
		return nil, nil
	}})
	for _, i := range []cache.SharedIndexInformer{w.nodes, w.pods} {
		err = errors.Join(err, i.SetWatchErrorHandlerWithContext(func(ctx context.Context, r *cache.Reflector, e error) {
			cache.DefaultWatchErrorHandler(ctx, r, e)
			lost(e)
		}))
		registered, e := i.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(o any) { w.heard(o, false) }, UpdateFunc: func(_, o any) { w.heard(o, false) }, DeleteFunc: func(o any) { w.heard(o, true) },
		})
		if err = errors.Join(err, e); e == nil {
			w.synced = append(w.synced, registered.HasSynced)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("watch nodes and pods: %w", err)
	}
	return w, nil
}

// lean is what is kept of an object.
func lean(o any) (any, error) {
	switch o := o.(type) {
	case *corev1.Pod:
		return leanPod(o), nil
	case *corev1.Node:
		return leanNode(o), nil
	}
	return o, nil
}

// start follows the objects until the context is done, and returns once all that there are have been heard of.
func (w *watched) start(ctx context.Context) error {
	w.factory.StartWithContext(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), w.synced...) {
		return context.Cause(ctx)
	}
	return nil
}

// stop waits until the objects are not followed any more.
func (w *watched) stop() { w.factory.Shutdown() }

// heard notes a change, where changes are taken.
func (w *watched) heard(o any, gone bool) {
	if last, is := o.(cache.DeletedFinalStateUnknown); is {
		o = last.Obj
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.open {
		return
	}
	switch o := o.(type) {
	case *corev1.Pod:
		w.changedPods[podName(o)] = &podNews{o, gone}
	case *corev1.Node:
		w.changedNodes[messages.NodeName(o.Name)] = true
	}
	select {
	case w.news <- struct{}{}:
	default:
	}
}

// begin notes changes from now on.
func (w *watched) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open, w.changedNodes, w.changedPods = true, map[messages.NodeName]bool{}, map[messages.PodName]*podNews{}
}

// end notes no more changes.
func (w *watched) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open, w.changedNodes, w.changedPods = false, nil, nil
}

// take takes the changes since it was last called.
func (w *watched) take() (nodes map[messages.NodeName]bool, pods map[messages.PodName]*podNews) {
	w.mu.Lock()
	defer w.mu.Unlock()
	nodes, pods = w.changedNodes, w.changedPods
	w.changedNodes, w.changedPods = map[messages.NodeName]bool{}, map[messages.PodName]*podNews{}
	return nodes, pods
}

// node is a node as it is now, nil if there is none.
func (w *watched) node(name messages.NodeName) *corev1.Node {
	o, _, _ := w.nodes.GetStore().GetByKey(string(name)) // a key of a store of strings
	n, _ := o.(*corev1.Node)
	return n
}

// allNodes are all nodes, allPods all pods, in any order.
func (w *watched) allNodes() []*corev1.Node { return typed[corev1.Node](w.nodes.GetStore().List()) }
func (w *watched) allPods() []*corev1.Pod   { return typed[corev1.Pod](w.pods.GetStore().List()) }

// podsOn are the pods that are bound to a node, by their names.
func (w *watched) podsOn(name messages.NodeName) []*corev1.Pod {
	found, err := w.pods.GetIndexer().ByIndex(byNode, string(name))
	if err != nil {
		panic(fmt.Sprintf("attach: %v", err)) // the index is there
	}
	pods := typed[corev1.Pod](found)
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return cmp.Compare(podName(a), podName(b)) })
	return pods
}

func typed[T any](objects []any) []*T {
	return lists.Of(objects, func(o any) *T { return o.(*T) })
}

// Rival is another controller that evicts pods for the taints of their nodes. Beside one Leeward does not act.
type Rival struct {
	// Who it is, and what shows that it acts.
	Who, Evidence string
}

func (r *Rival) Error() string {
	return fmt.Sprintf("another controller evicts pods for NoExecute taints here: %s (%s); start the kube-controller-manager with --controllers=*,-%s, "+
		"then start leewardd again", r.Who, r.Evidence, taintManager)
}

// quiet is for how long no other controller may have evicted a pod before Leeward acts.
const quiet = 2 * time.Minute

// rivalOf is the rival that a pod shows: it is one, or was marked by one after an instant, to the second, as marks are. nil: it shows none.
func rivalOf(p *corev1.Pod, after time.Time) *Rival {
	if isControllerManager(p) {
		if runs, known := evictsForTaints(p); known && runs {
			return &Rival{Who: "pod " + string(podName(p)), Evidence: "its command does not switch the controller off"}
		}
	}
	if m := markOf(p); m != nil && !m.ours() && !m.at.Before(after.Truncate(time.Second)) {
		return &Rival{
			Who: m.by, Evidence: fmt.Sprintf("it marked pod %s at %s; Leeward acts when none was marked for %s", podName(p), m.at.UTC().Format(time.RFC3339), quiet),
		}
	}
	return nil
}

// rival looks for one among all pods; nil: there is none.
func (a *Attachment) rival() *Rival {
	after := a.config.Clock.Now().Add(-quiet)
	var found *Rival
	for _, p := range a.watched.allPods() {
		if r := rivalOf(p, after); r != nil && (found == nil || r.Evidence < found.Evidence) {
			found = r
		}
	}
	return found
}
