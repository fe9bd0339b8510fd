package agent

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"leeward/messages/api"
	"leeward/runtime/fleet/interpreter"
)

// scripts are those of the hub by which objects of some kinds are read.
type scripts struct {
	set atomic.Pointer[interpreter.Set]
	// answered is closed when the hub has told them, or that it does not.
	answered chan struct{}
}

var customizations = schema.GroupVersionResource{Group: "config.karmada.io", Version: "v1alpha1", Resource: "resourceinterpretercustomizations"}

// followScripts follows the scripts until the context ends. A hub that has none, or lets the agent read none, is asked again now and then.
func (h *hub) followScripts(ctx context.Context, changed func()) *scripts {
	s := &scripts{answered: make(chan struct{})}
	answered := sync.OnceFunc(func() { close(s.answered) })
	i := follow(h.objects.Resource(customizations), cache.Indexers{}, func(*metav1.ListOptions) {})
	renew := func(bool) {
		s.renew(i.GetStore().List())
		changed()
	}
	registration, err := i.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc:    func(_ any, first bool) { renew(first) },
		UpdateFunc: func(any, any) { renew(false) },
		DeleteFunc: func(any) { renew(false) },
	})
	if err == nil {
		err = i.SetWatchErrorHandlerWithContext(func(context.Context, *cache.Reflector, error) { answered() })
	}
	if err != nil {
		panic(err) // it does not run yet
	}
	go i.RunWithContext(ctx)
	go func() {
		if cache.WaitForCacheSync(ctx.Done(), registration.HasSynced) {
			answered()
		}
	}()
	return s
}

// renew takes over the customizations that there are.
func (s *scripts) renew(objects []any) {
	var all []*api.ResourceInterpreterCustomization
	for _, o := range objects {
		c := &api.ResourceInterpreterCustomization{}
		if u, is := o.(*unstructured.Unstructured); is && runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, c) == nil {
			all = append(all, c)
		}
	}
	s.set.Store(interpreter.New(all))
}

// keep is the manifest with what a script keeps of the object in the member.
func (s *scripts) keep(manifest, live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if live == nil {
		return manifest, nil
	}
	kept, known, err := s.set.Load().Retain(manifest, live)
	if !known {
		return manifest, err
	}
	for _, field := range controlPlaneFields {
		unstructured.RemoveNestedField(kept.Object, field...)
	}
	return kept, nil
}

// judge has scripts say how an object is. What they do not say, or fail to, follows from the rules of its kind.
func (s *scripts) judge(c *copied) {
	if c.live == nil {
		return
	}
	set := s.set.Load()
	healthy, known, err := set.Health(c.live)
	if known {
		c.health = api.Unhealthy
	}
	if healthy {
		c.health = api.Healthy
	}
	var problem error
	c.reflected, _, problem = set.Reflect(c.live)
	if n, _, known, _ := set.Replicas(c.live); known && c.healthy() == api.Healthy { // the hub tells of a script that fails
		c.ready = n
	}
	c.misread = errors.Join(c.misread, err, problem)
}
