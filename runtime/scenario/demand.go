package scenario

import (
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/manifest"
)

// Bounds of what one scenario of nodes may ask for, so that a slip of the pen does not fill memory.
const (
	mostNodes = 10_000
	mostPods  = 500_000
)

// asked is how many nodes and pods something asks for.
type asked struct{ nodes, pods int64 }

// demand adds up what the objects of a scenario ask for beside the nodes that it defines. Of one that changes, the most that it asks for at any time counts.
type demand struct {
	most map[api.Key]asked
	asked
	// daemons is how many pods a DaemonSet has: one for each node that is defined.
	daemons int64
	// times is how many clusters may run what is asked for; zero: one.
	times int64
}

// boundNodes reports what a scenario of nodes must not have: clusters, actions of fleets, and too many nodes or pods.
func (r *reader) boundNodes(timeline []Step) {
	if len(r.cast.nodes.all) == 0 {
		r.problemOf(timeline, ofNodes)
		return
	}
	if len(r.memberNodes) > 0 {
		r.boundMembers(timeline)
		return
	}
	if len(r.cast.clusters.all) > 0 {
		r.bad("spec", "has clusters and nodes: want one of the two, a fleet of clusters or the nodes of one cluster")
		return
	}
	defined := int64(len(r.cast.nodes.all))
	if defined > mostNodes {
		r.bad("spec", "has %d nodes: a scenario has at most %d", defined, mostNodes)
		return
	}
	d := &demand{most: map[api.Key]asked{}, asked: asked{nodes: defined}, daemons: defined}
	if !r.objectsAre(d.add) {
		return
	}
	r.problemOf(timeline, func(a Action) error {
		if err := ofFleets(a); err != nil {
			return err
		}
		return d.step(a)
	})
}

// boundMembers reports what a fleet whose clusters have nodes must not have: nodes of no cluster, what goes with one cluster's nodes alone, and
// too many pods, where every cluster runs all replicas of every workload.
func (r *reader) boundMembers(timeline []Step) {
	clusters := int64(len(r.memberNodes))
	d := &demand{most: map[api.Key]asked{}, daemons: int64(len(r.cast.nodes.all)), times: clusters}
	fits := r.objectsAre(func(o api.Object) error {
		switch o.(type) {
		case *corev1.Node, *corev1.Pod:
			return errors.New("is of no cluster: a fleet whose clusters have nodes has no others")
		}
		return d.add(o)
	})
	if !fits {
		return
	}
	r.problemOf(timeline, func(a Action) error {
		if reboot, is := a.(*RebootNodes); is {
			for _, c := range reboot.Clusters {
				if r.memberNodes[c] != nil {
					return fmt.Errorf("rebootNodes is for clusters without nodes: end an outage of the nodes of %s", c)
				}
			}
		}
		if err := ofNodes(a); err != nil {
			return err
		}
		return d.step(a)
	})
}

// objectsAre reports the first object of which a check says what is wrong, and whether there is none.
func (r *reader) objectsAre(check func(api.Object) error) bool {
	for _, doc := range r.objects {
		if err := check(doc.Object); err != nil {
			r.problems = append(r.problems, &manifest.Problem{
				File: doc.Place.File, Line: doc.Line(""), Object: doc.Place.Object, Field: doc.Place.Field, Message: err.Error(),
			})
			return false
		}
	}
	return true
}

// problemOf reports the first step of which a check says what is wrong.
func (r *reader) problemOf(timeline []Step, check func(Action) error) {
	for i := range timeline {
		if err := check(timeline[i].Action); err != nil {
			r.problems = append(r.problems, &manifest.Problem{
				File: timeline[i].File, Line: timeline[i].Line, Object: r.doc.Place.Object, Field: r.field("spec.timeline"), Message: err.Error(),
			})
			return
		}
	}
}

// ofNodes returns the error of an action that a scenario of a fleet cannot have.
func ofNodes(a Action) error {
	if _, is := a.(*Refuse); is {
		return errors.New("refuse goes with nodes, not with a fleet of clusters")
	}
	return nil
}

// ofFleets returns the error of an action that a scenario of nodes cannot have.
func ofFleets(a Action) error {
	var name string
	switch a := a.(type) {
	case *Config:
		name = "config"
	case *Crash:
		if a.After < 0 {
			return nil
		}
		name = "crash.after"
	case *Clock:
		name = "clock"
	case *Hold:
		name = "pause or hold"
	default:
		return nil
	}
	return fmt.Errorf("%s goes with a fleet of clusters, not with nodes", name)
}

// step adds what a step asks for.
func (d *demand) step(a Action) error {
	switch a := a.(type) {
	case *Scale:
		now := asked{pods: int64(a.Replicas)}
		if a.Workload.Kind == messages.KindNameMachineSet {
			now = asked{nodes: int64(a.Replicas)}
		}
		if err := d.ask(a.Workload, now); err != nil {
			return fmt.Errorf("%s %w", a.Workload, err)
		}
	case *Apply:
		for _, doc := range a.Documents {
			if err := d.add(doc.Object); err != nil {
				return fmt.Errorf("%s %w", api.KeyOf(doc.Object), err)
			}
		}
	}
	return nil
}

func (d *demand) add(o api.Object) error { return d.ask(api.KeyOf(o), d.of(o)) }

// ask adds what one object asks for now. Error: that is too much.
func (d *demand) ask(key api.Key, now asked) error {
	now.pods *= max(1, d.times)
	before := d.most[key]
	most := asked{nodes: max(before.nodes, now.nodes), pods: max(before.pods, now.pods)}
	d.most[key] = most
	d.nodes += most.nodes - before.nodes
	d.pods += most.pods - before.pods
	switch {
	case d.nodes > mostNodes:
		return fmt.Errorf("asks for %d nodes, which makes %d: a scenario has at most %d", now.nodes, d.nodes, mostNodes)
	case d.pods > mostPods:
		return fmt.Errorf("asks for %d pods, which makes %d: a scenario has at most %d", now.pods, d.pods, mostPods)
	}
	return nil
}

// of is what an object asks for.
func (d *demand) of(o api.Object) asked {
	if replicas := api.WorkloadOf(o).Replicas; replicas != nil {
		return asked{pods: int64(ptr.Deref(*replicas, 1))}
	}
	switch o := o.(type) {
	case *corev1.Pod:
		return asked{pods: 1}
	case *appsv1.DaemonSet:
		return asked{pods: d.daemons}
	case *batchv1.Job:
		return asked{pods: max(int64(ptr.Deref(o.Spec.Parallelism, 1)), int64(ptr.Deref(o.Spec.Completions, 1)))}
	case *unstructured.Unstructured:
		if o.GetKind() == messages.KindNameMachineSet {
			replicas, _, _ := unstructured.NestedFieldNoCopy(o.Object, "spec", "replicas")
			return asked{nodes: wholeNumber(replicas)}
		}
	}
	return asked{}
}

// wholeNumber is a number of a manifest without a Go type; what is no number is 1, as if it was not written.
func wholeNumber(v any) int64 {
	switch v := v.(type) {
	case int64:
		return v
	case float64:
		return int64(v)
	}
	return 1
}
