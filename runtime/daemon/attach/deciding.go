package attach

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"

	"leeward/messages"
	"leeward/runtime/daemon/attach/writing"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/shadow"
)

// deciding is one life of the machines: until it ends, this process acts, or does not.
type deciding struct {
	*Attachment
	queue *queue
	// compare is nil where this process acts, events and writer where it does not.
	compare *comparing
	events  record.EventRecorder
	writer  *writer
	// began is since when it acts: a pod that another controller marks after that shows that it acts, too.
	began    time.Time
	starting bool
	answers  chan answered
	sending  sync.WaitGroup
}

// answered is what became of a request.
type answered struct {
	request *sending
	err     error
}

// decide has the machines decide until the context is done: in shadow without a Lease.
func (a *Attachment) decide(ctx context.Context, l *writing.Lease) error {
	ctx, cancel := context.WithCancel(ctx)
	a.watched.begin()
	defer a.watched.end()
	d, end := a.newDeciding(ctx, l)
	defer end()
	defer d.sending.Wait()
	defer cancel()
	if err := d.load(); err != nil {
		return err
	}
	timer := a.config.Clock.Timer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		if err := d.round(ctx); err != nil {
			return err
		}
		timer.Reset(d.untilNext())
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-a.watched.news:
		case r := <-d.answers:
			if errors.Is(r.err, writing.ErrNotLeader) {
				return nil
			}
			d.queue.done(r.request, r.err, d.instant())
		}
	}
	return nil
}

func (a *Attachment) newDeciding(ctx context.Context, l *writing.Lease) (d *deciding, end func()) {
	d = &deciding{Attachment: a, answers: make(chan answered, writing.MostUnderWay), began: a.config.Clock.Now()}
	d.queue = newQueue(newDecider(&a.config.Settings, l == nil, d.hear), a.config.Metrics.Requested)
	if k := d.queue.decider; a.config.ZoneRates {
		k.zones = newZones(&a.config.Settings, func(f messages.Fact) { d.hear(k.now, f) })
	}
	endEvents := func() {}
	if l == nil {
		d.compare = newComparing(d.compared)
	} else {
		d.writer = &writer{rest: a.client.CoreV1().RESTClient(), clock: a.config.Clock, within: l.Within}
		d.events, endEvents = a.events(ctx)
	}
	return d, func() {
		endEvents()
		d.queue.decider.close()
	}
}

func (d *deciding) instant() time.Time { return d.config.Clock.Now().UTC() }

// load has the machines hear of everything that the server has.
func (d *deciding) load() error {
	d.starting = true
	if d.compare != nil {
		for _, p := range d.watched.allPods() {
			d.compare.began(p)
		}
	}
	nodes := d.watched.allNodes()
	slices.SortFunc(nodes, func(a, b *corev1.Node) int { return cmp.Compare(a.Name, b.Name) })
	for _, n := range nodes {
		d.nodeChanged(n)
	}
	err := d.queue.step(d.instant())
	d.starting = false
	return err
}

func (d *deciding) nodeChanged(n *corev1.Node) {
	name := messages.NodeName(n.Name)
	d.queue.decider.zones.see(name, n)
	if equality.Semantic.DeepEqual(d.queue.decider.nodes[name], n.Spec.Taints) {
		return
	}
	pods := d.watched.podsOn(name)
	if d.compare != nil {
		for i, p := range pods {
			pods[i] = d.compare.hides(p, d.instant())
		}
	}
	d.queue.decider.setNode(name, n.Spec.Taints, pods)
}

// round takes in what there is, brings about what is due and makes the requests that come of it.
func (d *deciding) round(ctx context.Context) error {
	nodes, pods := d.watched.take()
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		if n := d.watched.node(name); n != nil {
			d.nodeChanged(n)
		} else {
			d.queue.decider.forgetNode(name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(pods)) {
		if err := d.podChanged(name, pods[name]); err != nil {
			return err
		}
	}
	now := d.instant()
	if err := d.queue.step(now); err != nil {
		return err
	}
	if d.compare != nil {
		d.compare.judge(now)
	}
	for _, s := range d.queue.due(now) {
		d.sending.Go(func() { d.answers <- answered{s, d.writer.send(ctx, &s.request)} })
	}
	d.config.Metrics.Pending(len(d.queue.waiting)+d.queue.decider.zones.waiting(), d.queue.window.Size())
	return nil
}

func (d *deciding) podChanged(name messages.PodName, n *podNews) error {
	if d.compare == nil {
		if r := rivalOf(n.object, d.began); r != nil {
			return r
		}
	}
	p := n.object
	if d.compare != nil {
		p = d.compare.hides(p, d.instant())
	}
	if n.gone {
		if d.compare != nil {
			d.compare.gone(n.object)
		}
		p = nil
	}
	d.queue.hear(name, p)
	return nil
}

// untilNext is how long nothing is due.
func (d *deciding) untilNext() time.Duration {
	next, found := d.queue.next()
	if d.compare != nil {
		if at, is := d.compare.next(); is && (!found || at.Before(next)) {
			next, found = at, true
		}
	}
	if !found {
		return time.Hour
	}
	return max(0, next.Sub(d.config.Clock.Now()))
}

// hear logs a fact with its reason, counts it, and tells of it in an Event where this process acts.
func (d *deciding) hear(at time.Time, f messages.Fact) {
	told := journal.Tell(time.Time{}, f)
	log := d.config.Log.With().Bool("shadow", d.compare != nil).Logger()
	told.Log(&log, &journal.Entry{At: at, Fact: f})
	d.config.Metrics.Hear(at, f)
	about, is := f.(messages.AboutPod)
	if !is {
		return
	}
	p := d.queue.decider.pods[about.AboutPod()]
	switch {
	case d.compare != nil:
		d.compare.hear(at, f, p, told)
	case p != nil && !(d.starting && f.Kind() == kindScheduled): // that was told before the restart
		d.tellEvent(p, f, told)
	}
}

// podType is the type of pods in references: objects of typed lists have none.
var podType = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}

// kindScheduled is the fact that a start records again of what it finds.
var kindScheduled = (&messages.PodEvictionScheduled{}).Kind()

// evictionEvent is the reason of Kubernetes' Events about evictions for taints.
const evictionEvent = "TaintManagerEviction"

// tellEvent writes an Event in the words of the original, followed by the reason.
func (d *deciding) tellEvent(p *corev1.Pod, f messages.Fact, told journal.Phrase) {
	kind, reason := corev1.EventTypeNormal, evictionEvent
	var begins string
	switch f.(type) {
	case *messages.PodEvicted:
		begins = "Marking for deletion Pod"
	case *messages.PodEvictionCancelled:
		begins = "Cancelling deletion of Pod"
	case *messages.PodEvictionScheduled:
		begins = "Scheduled deletion of Pod"
	default:
		if told.Level < zerolog.WarnLevel {
			return
		}
		kind, reason, begins = corev1.EventTypeWarning, f.Kind(), "Deletion of Pod"
	}
	about := &corev1.Pod{TypeMeta: podType, ObjectMeta: p.ObjectMeta}
	d.events.Event(about, kind, reason, fmt.Sprintf("%s %s: %s", begins, podName(p), told.Text()))
}

// compared takes a comparison.
func (d *deciding) compared(c *shadow.Comparison) {
	d.config.Metrics.Compared(string(c.Kind), string(c.Verdict))
	e := d.config.Log.Info().Bool("shadow", true).Str("verdict", string(c.Verdict)).Str("pod", c.Pod).Str("node", c.Node)
	if c.Ours != nil {
		e.Time("ours", c.Ours.At).Str("oursReason", c.Ours.Reason)
	}
	if c.Theirs != nil {
		e.Time("theirs", c.Theirs.At).Str("theirsBy", c.Theirs.By).Str("theirsReason", c.Theirs.Reason)
	}
	e.Msg("eviction compared")
	d.config.Compared(c)
}
