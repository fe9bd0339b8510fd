package picture

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/google/btree"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

// load is what bindings have on one cluster.
type load struct {
	bindings            int
	replicas, available int64
	evictions           Progress
	cpu                 int64
}

// due is an eviction in its place: by deadline, then binding and cluster.
type due struct {
	at       time.Time
	key      string
	eviction Eviction
}

func byDeadline(a, b due) bool {
	return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.key, b.key)) < 0
}

// tally counts bindings: what a change takes away and what it adds, and nothing else, is counted again.
type tally struct {
	workloads States
	replicas  Replicas
	blockedBy map[string]int
	// evictions are by state, the next due first.
	evictions map[api.EvictionState]*btree.BTreeG[due]
	// clusters are by name; also those of which there is no object.
	clusters map[string]*load
}

func newTally() *tally {
	t := &tally{blockedBy: map[string]int{}, evictions: map[api.EvictionState]*btree.BTreeG[due]{}, clusters: map[string]*load{}}
	for _, s := range states {
		t.evictions[s] = btree.NewG(32, byDeadline)
	}
	return t
}

var states = [...]api.EvictionState{api.EvictionBlocked, api.EvictionEvicting, api.EvictionScheduled}

// count adds a binding, or with a sign of -1 takes it away as it was added.
func (t *tally) count(o api.Object, sign int) {
	b := store.AsBinding(o)
	if b == nil {
		return
	}
	*t.workloads.of(stateOf(b)) += sign
	for i := range b.Spec.Clusters {
		target := &b.Spec.Clusters[i]
		on, n := t.on(target.Name), int64(target.Pods())
		on.bindings += sign
		on.replicas += int64(sign) * n
		on.cpu += int64(sign) * n * request(b.Spec)
		t.replicas.Placed += int64(sign) * n
	}
	for i := range b.Status.AggregatedStatus {
		item := &b.Status.AggregatedStatus[i]
		t.on(item.ClusterName).available += int64(sign) * int64(item.ReadyReplicas)
		t.replicas.Available += int64(sign) * int64(item.ReadyReplicas)
	}
	for i := range b.Spec.GracefulEvictionTasks {
		if n := b.Spec.GracefulEvictionTasks[i].Replicas; n != nil {
			t.replicas.Evicting += int64(sign) * int64(*n)
		}
	}
	t.replicas.Unschedulable += int64(sign) * missing(b)
	for i := range b.Status.Evictions {
		t.eviction(b, &b.Status.Evictions[i], sign)
	}
}

func (t *tally) on(cluster string) *load {
	l := t.clusters[cluster]
	if l == nil {
		l = &load{}
		t.clusters[cluster] = l
	}
	return l
}

// sweep forgets clusters that no binding speaks of any more.
func (t *tally) sweep() {
	maps.DeleteFunc(t.clusters, func(_ string, l *load) bool { return *l == load{} })
}

// state is what is so of a binding: the worst.
type state int

const (
	isSettled state = iota
	isUnhealthy
	isScheduled
	isEvicting
	isBlocked
	isUnschedulable
)

// stateNames are the fields of States.
var stateNames = [...]string{"settled", "unhealthy", "scheduled", "evicting", "blocked", "unschedulable"}

func (s *States) of(is state) *int {
	return [...]*int{&s.Settled, &s.Unhealthy, &s.Scheduled, &s.Evicting, &s.Blocked, &s.Unschedulable}[is]
}

// stateOf is where a binding is counted.
func stateOf(b *store.Binding) state {
	if refused(b) {
		return isUnschedulable
	}
	worst := isSettled
	for i := range b.Status.Evictions {
		switch b.Status.Evictions[i].State {
		case api.EvictionScheduled:
			worst = max(worst, isScheduled)
		case api.EvictionBlocked:
			worst = max(worst, isBlocked)
		case api.EvictionEvicting:
			worst = max(worst, isEvicting)
		}
	}
	if worst == isSettled && unhealthy(b) {
		return isUnhealthy
	}
	return worst
}

// refused reports whether the scheduler found no clusters, or not for all replicas.
func refused(b *store.Binding) bool {
	return meta.IsStatusConditionFalse(b.Status.Conditions, api.ConditionScheduled) || len(b.Spec.Clusters) == 0 && b.Spec.Placement != nil
}

// missing is how many replicas no cluster can take.
func missing(b *store.Binding) int64 {
	if !refused(b) {
		return 0
	}
	wanted := int64(b.Spec.Replicas)
	for i := range b.Spec.Clusters {
		wanted -= int64(b.Spec.Clusters[i].Pods())
	}
	return max(0, wanted)
}

// unhealthy reports whether a target cluster serves less than it must run, has reported nothing, or reports its copy unhealthy.
func unhealthy(b *store.Binding) bool {
	for i := range b.Spec.Clusters {
		target := &b.Spec.Clusters[i]
		if s := b.Status.Of(target.Name); s == nil || s.Health == api.Unhealthy || s.ReadyReplicas < target.Pods() {
			return true
		}
	}
	return false
}

// request is the CPU of one replica, in thousandths.
func request(s *api.BindingSpec) int64 {
	if s.ReplicaRequirements == nil {
		return 0
	}
	q, has := s.ReplicaRequirements.ResourceRequest[corev1.ResourceCPU]
	if !has {
		return 0
	}
	return q.MilliValue()
}

func (t *tally) eviction(b *store.Binding, e *api.Eviction, sign int) {
	tree := t.evictions[e.State]
	if tree == nil {
		return // of a state that a client has made up
	}
	*t.on(e.Cluster).evictions.of(e.State) += sign
	if e.State == api.EvictionBlocked {
		if t.blockedBy[e.Reason] += sign; t.blockedBy[e.Reason] == 0 {
			delete(t.blockedBy, e.Reason)
		}
	}
	d := due{at: e.Deadline.Time, key: string(b.Name()) + " " + short(e.Cluster)}
	if sign < 0 {
		tree.Delete(d)
		return
	}
	d.eviction = Eviction{
		Namespace: b.Meta.Namespace, Name: b.Meta.Name, Cluster: short(e.Cluster), State: string(e.State), Until: micro(e.Until),
		Taint: short(e.Taint), Policy: short(e.Policy), Reason: short(e.Reason), Message: short(e.Message),
	}
	if !e.Deadline.IsZero() {
		d.eviction.Deadline = new(e.Deadline)
	}
	if e.State == api.EvictionEvicting {
		if k := b.Spec.TaskFrom(e.Cluster); k != nil {
			d.eviction.Since = k.CreationTimestamp
		}
	}
	tree.ReplaceOrInsert(d)
}

func (p *Progress) of(s api.EvictionState) *int {
	switch s {
	case api.EvictionScheduled:
		return &p.Scheduled
	case api.EvictionBlocked:
		return &p.Blocked
	default:
		return &p.Evicting
	}
}

// mostReasons is how many reasons of blocked evictions are told apart.
const mostReasons = 12

// reasons are the commonest reasons of blocked evictions; the others are summed up as "other".
func (t *tally) reasons() map[string]int {
	names := slices.SortedFunc(maps.Keys(t.blockedBy), func(a, b string) int { return cmp.Or(cmp.Compare(t.blockedBy[b], t.blockedBy[a]), cmp.Compare(a, b)) })
	told := map[string]int{}
	for i, name := range names {
		if i >= mostReasons {
			told["other"] += t.blockedBy[name]
			continue
		}
		told[short(name)] += t.blockedBy[name]
	}
	return told
}

// mostLetters is how long a text of users may be in a picture, in bytes.
const mostLetters = 300

// short is a text of users, cut where it is too long.
func short(text string) string {
	if len(text) <= mostLetters {
		return text
	}
	cut := mostLetters
	for cut > 0 && text[cut]&0xC0 == 0x80 { // not within a letter
		cut--
	}
	return text[:cut] + "…"
}

func micro(t *metav1.MicroTime) *metav1.MicroTime {
	if t == nil || t.IsZero() {
		return nil
	}
	return t
}
