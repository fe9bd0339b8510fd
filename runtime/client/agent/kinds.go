package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
)

// objectsByWork indexes objects of the member by the name of the Work that they are of.
const objectsByWork = "work"

// kinds follows the objects that the agent applied in the member, of each kind that Works hold.
type kinds struct {
	member    *member
	border    *border
	namespace string // of the Works
	// changed is told the name of a Work of whose objects one changed; settled that a kind can be read, or cannot.
	changed func(work string)
	settled func()

	mu      sync.Mutex
	of      map[schema.GroupVersionResource]*kind
	running sync.WaitGroup
}

// kind is one of them.
type kind struct {
	informer cache.SharedIndexInformer
	mapping  *meta.RESTMapping
	stop     context.CancelFunc

	mu sync.Mutex
	// refused is why the member does not let the agent follow the kind; nil: it does, or has not answered.
	refused error
}

// follow returns the objects of a kind, which it follows from now on until the context ends.
func (k *kinds) follow(ctx context.Context, m *meta.RESTMapping) *kind {
	k.mu.Lock()
	defer k.mu.Unlock()
	if known := k.of[m.Resource]; known != nil {
		return known
	}
	ctx, stop := context.WithCancel(ctx)
	only := func(o *metav1.ListOptions) { o.LabelSelector = labelManaged + "=true" }
	index := cache.Indexers{objectsByWork: k.border.index(func(o any) []string {
		if u, is := o.(*unstructured.Unstructured); is && workOf(u, k.namespace) != "" {
			return []string{workOf(u, k.namespace)}
		}
		return nil
	})}
	f := &kind{
		informer: follow(k.member.objects.Resource(m.Resource), index, only),
		mapping:  m, stop: stop,
	}
	registration, err := f.informer.AddEventHandler(k.border.handlers(k.tell, func(before, now any) { k.tell(before); k.tell(now) }, func(o any) {
		if last, missed := o.(cache.DeletedFinalStateUnknown); missed {
			o = last.Obj
		}
		k.tell(o)
	}))
	if err == nil {
		err = f.informer.SetTransform(k.border.lean)
	}
	if err == nil {
		err = f.informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) {
			k.border.within(func() { f.refuse(err, k.settled) })
		})
	}
	if err != nil {
		panic(err) // it does not run yet
	}
	k.of[m.Resource] = f
	k.running.Go(func() { f.informer.RunWithContext(ctx) })
	k.running.Go(func() {
		if cache.WaitForCacheSync(ctx.Done(), registration.HasSynced) {
			k.border.within(func() { f.refuse(nil, k.settled) })
		}
	})
	return f
}

// follow is what follows objects of any kind, of those that some options select.
func follow(objects dynamic.ResourceInterface, index cache.Indexers, only func(*metav1.ListOptions)) cache.SharedIndexInformer {
	return cache.NewSharedIndexInformer(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			only(&o)
			return objects.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			only(&o)
			return objects.Watch(ctx, o)
		},
	}, &unstructured.Unstructured{}, 0, index)
}

// refuse notes why a kind cannot be followed, and tells of it if that is news.
func (f *kind) refuse(err error, settled func()) {
	f.mu.Lock()
	before := f.refused
	f.refused = err
	f.mu.Unlock()
	if err == nil || before == nil || before.Error() != err.Error() {
		settled()
	}
}

// memberSays is the member's own answer within an error of client-go, where it gave one.
func memberSays(err error) error {
	if answer, is := errors.AsType[*apierrors.StatusError](err); is {
		return answer
	}
	return err
}

// errPending is the error of what will be looked at again without a retry, when the member tells what it waits for.
var errPending = fmt.Errorf("waits for the member")

// ready reports whether the objects of a kind are known.
func (f *kind) ready() error {
	if f.informer.HasSynced() {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.refused != nil {
		return fmt.Errorf("watch %s in the member: %w", f.mapping.Resource.GroupResource(), memberSays(f.refused))
	}
	return errPending
}

// find returns an object that is followed; nil: there is none. It may not be changed.
func (f *kind) find(id identity) *unstructured.Unstructured {
	key := id.name
	if id.namespace != "" {
		key = id.namespace + "/" + id.name
	}
	o, found, err := f.informer.GetStore().GetByKey(key)
	if err != nil || !found {
		return nil
	}
	return o.(*unstructured.Unstructured)
}

// tell tells of the Work that an object is of.
func (k *kinds) tell(o any) {
	if u, is := o.(*unstructured.Unstructured); is {
		if work := workOf(u, k.namespace); work != "" {
			k.changed(work)
		}
	}
}

// ownedBy returns the objects of all kinds that are of a Work, with where they are.
func (k *kinds) ownedBy(work string) (all []owned) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, f := range k.of { // order-free: what is made of them is in no order
		objects, err := f.informer.GetIndexer().ByIndex(objectsByWork, work)
		if err != nil {
			panic(err) // the index exists
		}
		for _, o := range objects {
			all = append(all, owned{f.mapping, o.(*unstructured.Unstructured)})
		}
	}
	return all
}

// owned is an object of a Work, and where it is in the member.
type owned struct {
	mapping *meta.RESTMapping
	object  *unstructured.Unstructured
}

// lookUp returns the Work that an object of a followed kind is of; empty: of none.
func (k *kinds) lookUp(id identity) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, f := range k.of { // order-free: at most one kind has the object
		if g := f.mapping.GroupVersionKind; g.Group == id.group && g.Kind == id.kind {
			if o := f.find(id); o != nil {
				return workOf(o, k.namespace)
			}
		}
	}
	return ""
}

// restart follows all kinds from the beginning. A member that was away would else be listed again only after client-go's backoff,
// which is half a minute by then.
func (k *kinds) restart() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for r, f := range k.of { // order-free: each by itself
		f.stop()
		delete(k.of, r)
	}
}

// dropUnserved ends what follows kinds that the member serves no more.
func (k *kinds) dropUnserved() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for r, f := range k.of { // order-free: each by itself
		if !k.member.serves(r) {
			f.stop()
			delete(k.of, r)
		}
	}
}
