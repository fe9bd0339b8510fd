// Package apiserver is the machine that keeps the nodes and pods of one cluster. It collects what controllers, kubelets and users ask for in
// an instant, serves it at the end of the instant in an order that does not depend on that of arrival, and tells whom each change
// concerns: the node, its kubelet, the taint eviction of a pod, its owner, the scheduler of pods, and the pod garbage collector.
//
// server.go is the switch and the order of requests, node.go, pod.go and garbage.go serve them, notify.go tells of what changed, sync.go
// follows another API server.
package apiserver

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors"
	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/lists"
)

// Rules say how objects are admitted.
type Rules struct {
	// AdmitNode completes a node that is created, AdmitPod a pod that its owner creates; where AdmitPod fails, the pod is not created.
	AdmitNode func(*corev1.Node)
	AdmitPod  func(*corev1.Pod) error
	// StampTaints gives a NoExecute taint that users write the time at which they did. Kubernetes does not.
	StampTaints bool
	// Follows is set where the objects are those of another API server, to which all edits of this one are written: they are kept until
	// TakeEdits, and kubelets are real, so that none is told of its pods.
	Follows bool
}

// Server keeps the nodes and pods of one cluster.
type Server struct {
	rules Rules
	nodes map[messages.NodeName]*node
	pods  map[messages.PodName]*pod
	// orphans are the pods that are bound to nodes that do not exist, by the name of the node.
	orphans map[messages.NodeName]*pods
	// admitted is, by owner, the last template that was admitted and what became of it: pods of a template share one spec.
	admitted map[messages.OwnerName]admitted
	// watching are the owners that hear of every node.
	watching map[messages.OwnerName]bool
	// budgets are the PodDisruptionBudgets, budgetsIn those of each namespace; scales is how many pods owners must have.
	budgets   map[messages.PodBudgetName]*budget
	budgetsIn map[string]map[messages.PodBudgetName]*budget
	scales    map[messages.OwnerName]int32
	// waiting are the pods whose taint eviction a budget has refused.
	waiting map[messages.PodName]*pod
	// arrived are the requests of this instant.
	arrived []messages.ToAPIServer
	changes changes
	edits   *Edits
}

type admitted struct{ asked, spec *corev1.PodSpec }

// New returns a server without objects.
func New(rules Rules) *Server {
	s := &Server{
		rules: rules, nodes: map[messages.NodeName]*node{}, pods: map[messages.PodName]*pod{},
		orphans:  map[messages.NodeName]*pods{},
		admitted: map[messages.OwnerName]admitted{}, watching: map[messages.OwnerName]bool{}, changes: newChanges(),
		budgets: map[messages.PodBudgetName]*budget{}, budgetsIn: map[string]map[messages.PodBudgetName]*budget{},
		scales: map[messages.OwnerName]int32{}, waiting: map[messages.PodName]*pod{},
	}
	if rules.Follows {
		s.edits = NewEdits()
	}
	return s
}

// Receive takes a request, and serves those of an instant at its end.
func (s *Server) Receive(now time.Time, m messages.ToAPIServer, out *actors.Outbox) {
	if _, ends := m.(*messages.Woken); !ends {
		s.arrived = append(s.arrived, m)
		out.WakeAt(now)
		return
	}
	requests := make([]placed, len(s.arrived))
	for i, m := range s.arrived {
		requests[i] = place(m)
		requests[i].arrived = i
	}
	s.arrived = nil
	s.recheck(now)
	slices.SortFunc(requests, order)
	for i := range requests {
		s.serve(now, requests[i].request, out)
	}
	s.notify(now, out)
	if next := s.recheck(now); !next.IsZero() {
		out.WakeAt(next)
	}
}

// placed is a request in the order of an instant: by stage, then by the name of the object and the cause, then as they arrived.
type placed struct {
	request     messages.ToAPIServer
	stage       int
	name, cause string
	arrived     int
}

// ByUser is the cause of what users ask for.
const ByUser = "by a user"

// order puts users first, in the order in which they asked; then what makes objects, what changes them and what ends them, each by name.
func order(a, b placed) int {
	if a.stage != b.stage {
		return a.stage - b.stage
	}
	return cmp.Or(strings.Compare(a.name, b.name), strings.Compare(a.cause, b.cause), a.arrived-b.arrived)
}

// place gives a request its place.
func place(m messages.ToAPIServer) placed {
	p := placed{request: m}
	switch m := m.(type) {
	case *messages.CreateNode:
		p.stage, p.name = 1, string(m.Node)
	case *messages.ReportNode:
		if p.stage, p.name = 2, string(m.Node); m.By == byKubelet { // it knows better
			p.stage = 3
		}
	case *messages.ChangeTaints:
		p.stage, p.name = 4, string(m.Node)
	case *messages.TaintNode:
		p.stage, p.name = 5, string(m.Node)
	case *messages.CreatePod:
		p.stage, p.name = 6, string(m.Pod)
	case *messages.BindPod:
		p.stage, p.name = 7, string(m.Pod)
	case *messages.MarkUnschedulable:
		p.stage, p.name = 8, string(m.Pod)
	case *messages.PodReported:
		p.stage, p.name = 9, string(m.Pod)
	case *messages.MarkDisrupted:
		p.stage, p.name = 10, string(m.Pod)
	case *messages.DeletePod:
		p.stage, p.name, p.cause = 11, string(m.Pod), m.Cause
	case *messages.EvictPod: // what is deleted anyway counts first
		p.stage, p.name, p.cause = 12, string(m.Pod), string(m.For)
	case *messages.PodEnded:
		p.stage, p.name = 13, string(m.Pod)
	case *messages.DeleteNode:
		if m.Cause != ByUser { // a user may create it again in the same instant
			p.stage, p.name, p.cause = 14, string(m.Node), m.Cause
		}
	case *messages.CollectPod:
		p.stage, p.name = 15, string(m.Pod)
	case *messages.ListPods: // with those that were bound in this instant
		p.stage, p.name = 16, string(m.Node)
	}
	return p // those of users have stage 0
}

// serve carries out one request. One that no longer fits changes nothing.
func (s *Server) serve(now time.Time, m messages.ToAPIServer, out *actors.Outbox) {
	switch m := m.(type) {
	case *messages.PutNode:
		s.putNode(now, m, out)
	case *messages.EditNode:
		s.editNode(now, m, out)
	case *messages.CreateNode:
		s.createNode(now, m, out)
	case *messages.OwnNode:
		s.ownNode(m, out)
	case *messages.DeleteNode:
		s.deleteNode(m, out)
	case *messages.ReportNode:
		s.reportNode(now, m, out)
	case *messages.ChangeTaints:
		s.changeTaints(now, m, out)
	case *messages.TaintNode:
		s.taintNode(now, m, out)
	case *messages.OwnerWatches:
		s.watch(m)
	case *messages.ControllersRestarted:
		s.tellAgain()
	case *messages.PutPod:
		s.putPod(now, m, out)
	case *messages.CreatePod:
		s.createPod(now, m, out)
	case *messages.BindPod:
		s.bindPod(now, m, out)
	case *messages.MarkUnschedulable:
		s.markUnschedulable(now, m, out)
	case *messages.PodReported:
		s.podReported(now, m, out)
	case *messages.MarkDisrupted:
		s.markDisrupted(now, m)
	case *messages.DeletePod:
		s.deletePod(now, m, out)
	case *messages.EvictPod:
		s.evictPod(now, m, out)
	case *messages.ListPods:
		s.listPods(m, out)
	case *messages.PutPodBudget:
		s.putBudget(now, m)
	case *messages.DeletePodBudget:
		s.deleteBudget(m)
	case *messages.OwnerScaled:
		s.scaleOwner(m)
	case *messages.NodeSynced:
		s.syncNode(now, m, out)
	case *messages.PodSynced:
		s.syncPod(now, m, out)
	case *messages.PodBudgetSynced:
		s.syncBudget(m)
	case *messages.PodEnded:
		s.podEnded(m, out)
	case *messages.CollectPod:
		s.collectPod(now, m, out)
	default:
		panic(fmt.Sprintf("API server: unknown message %T", m))
	}
}

// watch has an owner hear of every node, beginning with those that there are.
func (s *Server) watch(m *messages.OwnerWatches) {
	if m.Over {
		delete(s.watching, m.Owner)
		return
	}
	s.watching[m.Owner] = true
	s.changes.newcomers = append(s.changes.newcomers, m.Owner)
}

// tellAgain tells controllers that start of all that there is.
func (s *Server) tellAgain() {
	for name, n := range s.nodes { // order-free: a set
		s.changes.node(name)
		if len(taint.Evicting(n.object.Spec.Taints)) > 0 {
			s.changes.noExecute(name)
		}
	}
	for _, p := range s.pods { // order-free: a set
		p.stranded = ""
		s.changes.pod(p)
	}
}

// Node returns a node as it is stored, nil if there is none. It must not be changed.
func (s *Server) Node(name messages.NodeName) *corev1.Node {
	if n := s.nodes[name]; n != nil {
		return n.object
	}
	return nil
}

// Pod returns a pod as it is stored, nil if there is none. It must not be changed.
func (s *Server) Pod(name messages.PodName) *corev1.Pod {
	if p := s.pods[name]; p != nil {
		return p.hold()
	}
	return nil
}

// OwnerOf returns what keeps a pod up, empty for nothing; false: there is no such pod.
func (s *Server) OwnerOf(name messages.PodName) (messages.OwnerName, bool) {
	if p := s.pods[name]; p != nil {
		return p.owner, true
	}
	return "", false
}

// EachPod yields all pods in any order, with what keeps each up, empty for nothing. They must not be changed.
func (s *Server) EachPod(yield func(*corev1.Pod, messages.OwnerName) bool) {
	for _, p := range s.pods { // order-free: the caller's concern
		if !yield(p.hold(), p.owner) {
			return
		}
	}
}

// Nodes returns the names of all nodes, sorted.
func (s *Server) Nodes() []messages.NodeName { return slices.Sorted(maps.Keys(s.nodes)) }

// Pods returns the names of all pods, sorted.
func (s *Server) Pods() []messages.PodName { return slices.Sorted(maps.Keys(s.pods)) }

// PodsOn returns the names of the pods that are bound to a node, sorted.
func (s *Server) PodsOn(name messages.NodeName) []messages.PodName {
	return lists.Of(s.bound(name).byName(), func(p *pod) messages.PodName { return p.name })
}
