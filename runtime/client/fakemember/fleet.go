// Package fakemember plays the agents of clusters at a real API server: they register, beat, run what Works ask
// for and report it, and fail as they are told to. Each is the machine of a simulated member (package
// actors/member) behind the contract that every agent keeps (docs/agents.md).
package fakemember

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/benbjohnson/clock"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/util/workqueue"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/client"
	"leeward/runtime/fleet/catalog"
)

// writers is how many writes are under way at the same time.
const writers = 16

// Failure is how a cluster fails.
type Failure string

// The failures.
const (
	// NotReady: the agent reports the condition Ready as False.
	NotReady Failure = "condition"
	// Silence: the agent neither hears nor says anything.
	Silence Failure = "silence"
	// Unhealthy: the agent reports every copy as Unhealthy.
	Unhealthy Failure = "unhealthy"
	// Disappearance: the Cluster is deleted, and its copies are lost.
	Disappearance Failure = "disappear"
)

// Config says who is played, and how.
type Config struct {
	Client *client.Client
	Clock  clock.Clock
	// Clusters are their names.
	Clusters []string
	// Create registers those that the server does not know, as Cluster has them but for the name.
	Create  bool
	Cluster api.ClusterSpec
	// Capacity is what each can hold.
	Capacity  corev1.ResourceList
	Behaviour messages.MemberBehaviour
	// Heartbeat is the time between two renewals of a lease, and between two reports of a cluster's status.
	Heartbeat time.Duration
	// FailAfter is when all fail, and RecoverAfter how long that lasts. Zero: they do not; they do not recover.
	FailAfter, RecoverAfter time.Duration
	Failure                 Failure
	// Tell is told what happens, a line each; one at a time.
	Tell func(text string)
}

// fleet is a number of agents with one connection.
type fleet struct {
	Config
	agents map[string]*agent
	todo   workqueue.TypedRateLimitingInterface[job]
	voice  sync.Mutex
}

// job is one object to bring up to date: a Work, or, without a name of one, what the agent says of its cluster.
type job struct {
	cluster string
	work    messages.BindingName
}

// Run plays the agents until the context ends. The error says why it could not.
func Run(ctx context.Context, c *Config) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	f := &fleet{Config: *c, agents: make(map[string]*agent, len(c.Clusters)), todo: workqueue.NewTypedRateLimitingQueue(
		workqueue.NewTypedItemExponentialFailureRateLimiter[job](100*time.Millisecond, 5*time.Second),
	)}
	for _, name := range c.Clusters {
		if err := f.register(ctx, name); err != nil && ctx.Err() == nil {
			return err
		}
		f.agents[name] = &agent{fleet: f, cluster: name, machine: f.machine(name), works: map[messages.BindingName]*work{}}
	}
	var all sync.WaitGroup
	for range writers {
		all.Go(func() { f.write(ctx) })
	}
	for i, name := range c.Clusters {
		f.agents[name].begin(i)
	}
	err := f.listen(ctx)
	stop()
	for _, a := range f.agents {
		a.end()
	}
	f.todo.ShutDown()
	all.Wait()
	return err
}

// register sees to it that a cluster is known.
func (f *fleet) register(ctx context.Context, name string) error {
	if !f.Create {
		_, err := f.Client.Get(ctx, catalog.Clusters, "", name)
		if apierrors.IsNotFound(err) {
			return fmt.Errorf("cluster %s is not registered; --create registers it", name)
		}
		return err
	}
	o := &api.Cluster{Spec: f.Cluster}
	o.Name = name
	if _, err := f.Client.Create(ctx, catalog.Clusters, o); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("register cluster %s: %w", name, err)
	}
	return nil
}

// listen follows the Works of all clusters with one watch or, where that is not allowed, of each.
func (f *fleet) listen(ctx context.Context) error {
	err := f.follow(ctx, "")
	if !apierrors.IsForbidden(err) {
		return err
	}
	each, stop := context.WithCancel(ctx)
	defer stop()
	errs := make([]error, len(f.Clusters))
	var all sync.WaitGroup
	for i, name := range f.Clusters {
		all.Go(func() {
			if errs[i] = f.follow(each, api.WorkNamespacePrefix+name); errs[i] != nil {
				stop()
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

func (f *fleet) follow(ctx context.Context, namespace string) error {
	return f.Client.Follow(ctx, &client.Watching{
		Resource: catalog.Works, Namespace: namespace, Clock: f.Clock,
		Listed: func(all []api.Object) { f.listed(namespace, all) },
		Changed: func(kind watch.EventType, o api.Object) {
			if a := f.owner(o); a != nil {
				a.changed(o.(*api.Work), kind == watch.Deleted)
			}
		},
		Lost: func(err error) { f.tell("lost the server: " + err.Error()) },
	})
}

// owner is the agent that a Work is for, nil if there is none here.
func (f *fleet) owner(o api.Object) *agent {
	namespace := o.GetNamespace()
	if len(namespace) < len(api.WorkNamespacePrefix) {
		return nil
	}
	return f.agents[namespace[len(api.WorkNamespacePrefix):]]
}

// listed shares out the Works that there are in a namespace, or in all.
func (f *fleet) listed(namespace string, all []api.Object) {
	of := map[*agent][]*api.Work{}
	for _, o := range all {
		if a := f.owner(o); a != nil {
			of[a] = append(of[a], o.(*api.Work))
		}
	}
	for _, a := range f.agents {
		if namespace == "" || namespace == api.WorkNamespacePrefix+a.cluster {
			a.listed(of[a])
		}
	}
}

// write brings one object after the other up to date, and tries again what failed.
func (f *fleet) write(ctx context.Context) {
	for {
		j, closed := f.todo.Get()
		if closed {
			return
		}
		switch err := f.agents[j.cluster].bring(ctx, j.work); {
		case err == nil || apierrors.IsNotFound(err) || ctx.Err() != nil:
			f.todo.Forget(j)
		default:
			f.todo.AddRateLimited(j)
			f.complain(j, err)
		}
		f.todo.Done(j)
	}
}

// complain tells what the server says against a write. That it is away is told once, by the follower.
func (f *fleet) complain(j job, err error) {
	if said := apierrors.APIStatus(nil); errors.As(err, &said) && !apierrors.IsConflict(err) {
		f.tell(fmt.Sprintf("%s: %v", j.cluster, err))
	}
}

func (f *fleet) tell(text string) {
	f.voice.Lock()
	defer f.voice.Unlock()
	f.Tell(text)
}
