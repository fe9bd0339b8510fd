package nodes

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rs/zerolog"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/journal"
)

// component names the daemon in its Events.
const component = "leewardd"

// event is what is told of an object, once that is committed.
type event struct {
	about           api.Key
	uid             types.UID
	at              time.Time
	kind            string // Normal or Warning
	reason, message string
}

// reasons are those of Events where they are not the kind of the fact: those that Kubernetes' Events have for the same.
var reasons = map[string]string{
	"NodeRegistered":       "RegisteredNode",
	"NodeDeleted":          "RemovingNode",
	"NodeCordoned":         "NodeNotSchedulable",
	"NodeUncordoned":       "NodeSchedulable",
	"PodBound":             "Scheduled",
	"PodUnschedulable":     "FailedScheduling",
	"PodEvictionScheduled": "TaintManagerEviction",
	"PodEvictionCancelled": "TaintManagerEviction",
	"PodEvicted":           "TaintManagerEviction",
}

// toldBefore are the facts that a start records again of what it finds.
var toldBefore = map[string]bool{"NodeRegistered": true, "PodCreated": true, "PodEvictionScheduled": true, "PodUnschedulable": true}

// noteEvent has a fact about a node or a pod told with its reason once that is committed.
func (n *Controller) noteEvent(at time.Time, f messages.Fact, told journal.Phrase) {
	if told.Level < zerolog.InfoLevel || n.starting && toldBefore[f.Kind()] {
		return
	}
	e := event{at: at, kind: corev1.EventTypeNormal, reason: cmp.Or(reasons[f.Kind()], f.Kind()), message: told.Text()}
	if told.Level >= zerolog.WarnLevel {
		e.kind = corev1.EventTypeWarning
	}
	switch f := f.(type) {
	case messages.AboutPod:
		namespace, name := f.AboutPod().Split()
		e.about = catalog.Pods.Key(namespace, name)
		if p := n.tier.Pod(f.AboutPod()); p != nil {
			e.uid = p.UID
		}
	case messages.AboutNode:
		e.about = catalog.Nodes.Key("", string(f.AboutNode()))
		if o := n.tier.Node(f.AboutNode()); o != nil {
			e.uid = o.UID
		}
	default:
		return
	}
	n.events = append(n.events, e)
}

// tellEvents writes the Events of what is committed.
func (n *Controller) tellEvents() error {
	told := n.events
	n.events = nil
	var writes []engine.Write
	for i := range told {
		if n.postponed(told[i].about) {
			n.events = append(n.events, told[i])
			continue
		}
		writes = append(writes, n.made(&told[i]))
	}
	if n.config.Shadow {
		return nil
	}
	for part := range slices.Chunk(writes, min(2*writtenTogether, n.config.Engine.Batch())) {
		if err := n.feed.Begin(n.config.Term, part...)(); err != nil {
			return fmt.Errorf("commit %d Events of nodes and pods: %w", len(part), err)
		}
	}
	return nil
}

func (n *Controller) made(e *event) engine.Write {
	n.eventSeq++
	at := metav1.Time{Time: e.at}
	o := &corev1.Event{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Event"},
		ObjectMeta: metav1.ObjectMeta{
			Name: strings.ToLower(e.about.Name) + "." + strconv.FormatUint(n.eventSeq, 16), Namespace: cmp.Or(e.about.Namespace, metav1.NamespaceDefault), UID: uuid.NewUUID(),
			CreationTimestamp: at,
		},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: e.about.APIVersion, Kind: e.about.Kind, Namespace: e.about.Namespace, Name: e.about.Name, UID: e.uid,
		},
		Reason: e.reason, Message: e.message, Type: e.kind, Count: 1, FirstTimestamp: at, LastTimestamp: at,
		Source: corev1.EventSource{Component: component}, ReportingController: component,
	}
	return engine.Create(keyOf(catalog.Events, o), o).For(catalog.EventLife)
}
