package karmada

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/rs/zerolog"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"

	"leeward/actors"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/daemon/attach/writing"
	"leeward/runtime/daemon/telemetry"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/shadow"
	"leeward/runtime/fleet/store"
)

// Config is how a daemon attaches.
type Config struct {
	// Client says where the API server is and who asks.
	Client   *rest.Config
	Settings messages.Settings
	Clock    clock.Clock
	Log      zerolog.Logger
	Metrics  *telemetry.Attached
	// Compared hears how a decision compares with that of the other control plane.
	Compared func(*shadow.Comparison)
	// Act is what it does in place of Karmada's controllers; nil: nothing, it runs in shadow.
	Act *Acting
}

// Attachment is a daemon that is attached.
type Attachment struct {
	config Config
	rest   rest.Interface
	// writer makes the requests that are no reads; nil in shadow.
	writer rest.Interface
	// events takes Events; nil in shadow.
	events record.EventSink
	inbox  atomic.Pointer[inbox]
	// objects are those of the server as they were when no machines ran.
	objects map[api.Key]api.Object
	// why it stepped back; nil: it has not.
	why atomic.Pointer[Rival]
	// began is set once the machines decide.
	began atomic.Bool
	// standby is set once it is a candidate for leader.
	standby atomic.Bool
	// asked is called between two rounds of the machines, by tests.
	asked chan func(*deciding)
}

const (
	// queriesPerSecond and burst bound the requests for lists and watches.
	queriesPerSecond, burst = 50, 150
	// userAgent is how the server knows the daemon.
	userAgent = "leewardd"
)

// New returns an attachment that is yet to run.
func New(c Config) (*Attachment, error) {
	reads, err := clientOf(readOnly(rest.CopyConfig(c.Client)), queriesPerSecond, burst)
	if err != nil {
		return nil, err
	}
	a := &Attachment{config: c, rest: reads, objects: map[api.Key]api.Object{}, asked: make(chan func(*deciding))}
	if c.Act != nil {
		if a.writer, err = clientOf(rest.CopyConfig(c.Client), -1, 0); err != nil { // as many as the window lets through
			return nil, err
		}
		if a.events, err = eventSink(c.Client); err != nil {
			return nil, err
		}
	}
	c.Metrics.Mode(telemetry.Starting)
	return a, nil
}

// clientOf returns a client that reads and writes any kind.
func clientOf(own *rest.Config, queries float32, burst int) (rest.Interface, error) {
	own.UserAgent, own.QPS, own.Burst = userAgent, queries, burst
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	own.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	own.GroupVersion = &schema.GroupVersion{}
	r, err := rest.UnversionedRESTClientFor(own)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", own.Host, err)
	}
	return r, nil
}

// Ready says why nothing is decided, or not what was asked for.
func (a *Attachment) Ready() error {
	if r := a.why.Load(); r != nil {
		return fmt.Errorf("stepped back to shadow: %w", r)
	}
	i := a.inbox.Load()
	if i == nil || !a.began.Load() && !a.standby.Load() {
		return errors.New("the objects have not been listed yet")
	}
	return i.blind(a.config.Clock.Now())
}

// Run decides until the context is done. A *Missing says which right it lacks, a *Rival why it does not begin to act.
func (a *Attachment) Run(ctx context.Context) error {
	all := kinds
	if a.config.Act != nil {
		all = acted
	}
	found, err := probeAll(ctx, a.rest, all, a.absent)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var reading sync.WaitGroup
	defer reading.Wait()
	defer cancel()
	i := newInbox(found)
	a.inbox.Store(i)
	r := &reader{rest: a.rest, clock: a.config.Clock, inbox: i, lost: a.lost, malformed: a.malformed, patience: patience}
	reading.Go(func() { r.run(ctx, found) })
	for !i.listed() {
		select {
		case <-ctx.Done():
			return nil
		case <-i.news:
		}
	}
	if a.config.Act != nil {
		return a.campaign(ctx, i)
	}
	return a.newDeciding(i, false).decide(ctx, nil)
}

// absent notes that a kind is not followed, of which the server shows nothing.
func (a *Attachment) absent(m *Missing) {
	level := zerolog.WarnLevel
	if apierrors.IsNotFound(m.Err) {
		level = zerolog.InfoLevel
	}
	a.config.Log.WithLevel(level).Str("resource", m.Resource).Err(m.Err).Msg("this resource is not followed: decisions rest on the others")
}

// lost notes that a kind cannot be followed. client-go tries again.
func (a *Attachment) lost(k *kind, err error) {
	a.config.Metrics.Lost()
	a.config.Log.Warn().Str("resource", k.Name().String()).Err(err).Msg("this resource cannot be followed: nothing is decided until it can")
}

func (a *Attachment) malformed(err error) {
	a.config.Log.Warn().Err(err).Msg("an object cannot be read, and counts as absent")
}

// deciding is one life of the machines.
type deciding struct {
	*Attachment
	inbox   *inbox
	twin    *twin
	compare *comparing
	taints  *taints
	// acting writes what is decided, once it leads; nil: nothing is written.
	acting *acting
	// settled is set once what a start finds was decided.
	settled bool
}

// newDeciding returns machines that have taken over the objects of the server. They act or are in shadow.
func (a *Attachment) newDeciding(i *inbox, acts bool) *deciding {
	d := &deciding{Attachment: a, inbox: i}
	d.compare, d.taints = newComparing(d.compared), &taints{d.compared, map[tainted]*pair{}}
	d.twin = newTwin(&a.config.Settings, a.roles(acts), d.instant(), d.hear, d.refused)
	d.twin.follows = acts
	if acts {
		d.acting = newActing(d)
	}
	d.load()
	return d
}

// decide has machines decide until the context is done. Those that act follow the leader, and write and tell nothing, until they lead by a Lease.
func (d *deciding) decide(ctx context.Context, leads <-chan *writing.Lease) error {
	ctx, cancel := context.WithCancel(ctx)
	defer d.twin.world.Close()
	defer d.end()
	defer cancel()
	a, i := d.Attachment, d.inbox
	timer := a.config.Clock.Timer(time.Hour)
	defer timer.Stop()
	for ctx.Err() == nil {
		wait, err := d.round(ctx)
		if err != nil {
			return err
		}
		d.started()
		timer.Reset(wait)
		select {
		case l := <-leads:
			if err := d.lead(ctx, l); err != nil {
				return err
			}
		case <-ctx.Done():
		case <-timer.C:
		case <-i.news:
		case <-d.acting.renewed():
			d.acting.writes.barred = false
		case r := <-d.acting.answered():
			d.acting.done(r)
		case r := <-d.acting.governed():
			d.acting.governs.done(r)
		case r := <-d.acting.rivals():
			return r
		case ask := <-a.asked:
			ask(d)
		}
	}
	return nil
}

// load has the machines take over what the server has, one kind after the other.
func (d *deciding) load() {
	d.absorb(d.inbox.take())
	all := make([]news, 0, len(d.objects))
	for key, o := range d.objects { // order-free: sorted below
		all = append(all, news{key, o})
	}
	d.objects = nil // until the end the twin has them
	slices.SortFunc(all, func(a, b news) int { return store.CompareKeys(a.key, b.key) })
	d.twin.load(all)
}

// absorb takes in what changed while no machines ran.
func (a *Attachment) absorb(all []news) {
	for _, n := range all {
		if n.object == nil {
			delete(a.objects, n.key)
		} else {
			a.objects[n.key] = n.object
		}
	}
}

// end keeps the objects for the next life of the machines, once no request is under way.
func (d *deciding) end() {
	d.objects = d.twin.seen
	if d.acting != nil {
		d.acting.end()
	}
}

// follows reports whether the machines follow another Leeward that leads.
func (d *deciding) follows() bool { return d.acting != nil && d.acting.lease == nil }

// started tells that the machines decide.
func (d *deciding) started() {
	if d.follows() {
		if !d.settled {
			d.config.Log.Info().Int("objects", len(d.twin.seen)).Msg("ready to act when this daemon leads")
		}
		d.settled = true
		return
	}
	if d.settled = true; d.began.Swap(true) {
		return
	}
	if d.acting == nil {
		d.config.Metrics.Mode(telemetry.Shadow)
	}
	d.config.Log.Info().Bool("shadow", d.acting == nil).Int("objects", len(d.twin.seen)).Msg("started")
}

// instant is the present. Of an instant, what is less than a thousandth of a second does not count.
func (d *deciding) instant() time.Time { return d.config.Clock.Now().UTC().Truncate(time.Millisecond) }

// round takes in what there is, brings about what is due, and compares. It returns how long nothing is due. While the server cannot be
// seen, nothing happens: silence of the server is no silence of agents.
func (d *deciding) round(ctx context.Context) (wait time.Duration, err error) {
	now := d.instant()
	if blind := d.inbox.blind(now) != nil; blind && d.settled {
		return catchesUp, nil
	}
	d.twin.take(now, d.acting.passing(d.inbox.take()))
	if err := d.twin.settle(now); err != nil {
		return 0, err
	}
	for _, c := range d.twin.changed {
		d.compare.take(now, c)
	}
	for _, t := range d.twin.tainted {
		d.taints.take(now, t)
	}
	for _, name := range d.twin.seenActing {
		d.config.Log.Info().Bool("shadow", true).Str("manager", name).Msg("this component decides here: its decisions are compared")
	}
	d.twin.changed, d.twin.tainted, d.twin.seenActing = nil, nil, nil
	d.taints.judge(now)
	for _, name := range d.compare.judge(now, d.state) {
		d.twin.adopt(name)
	}
	if err := d.twin.settle(now); err != nil {
		return 0, err
	}
	if err := d.acting.round(ctx, now); err != nil {
		return 0, err
	}
	next, _ := d.twin.world.Next()
	next = actors.Earlier(next, d.acting.next(now))
	if next = actors.Earlier(actors.Earlier(next, d.taints.next(now)), d.compare.next(now)); next.IsZero() {
		return time.Hour, nil
	}
	return max(0, next.Sub(d.config.Clock.Now())), nil
}

// state is a binding as both have it.
func (d *deciding) state(name messages.BindingName) state {
	return state{ours: d.twin.world.Store().Binding(name), theirs: store.AsBinding(d.twin.seen[store.BindingKey(name)])}
}

// hear hears a fact, and compares it. That a start finds a workload is no change of that.
func (d *deciding) hear(at time.Time, f messages.Fact) {
	if _, is := f.(*messages.BindingUpdated); is && !d.settled {
		return
	}
	told := heard{at, f, journal.Tell(time.Time{}, f)}
	ours := d.acting.decides(f)
	if !ours {
		d.compare.hear(at, f, told.phrase.Text())
	}
	if d.twin.roles == nil { // else they are others'
		d.taints.hear(at, f, told.phrase.Text())
	}
	switch {
	case !d.follows():
		d.say(&told, ours)
	case ours:
		d.acting.unsaid.keep(&told)
	}
}

// heard is a fact with its words.
type heard struct {
	at     time.Time
	fact   messages.Fact
	phrase journal.Phrase
}

// say logs a fact with its reason, and counts it.
func (d *deciding) say(h *heard, ours bool) {
	log := d.config.Log.With().Bool("shadow", !ours).Logger()
	h.phrase.Log(&log, &journal.Entry{At: h.at, Fact: h.fact})
	d.config.Metrics.Hear(h.at, h.fact)
	if ours {
		d.acting.tells.note(h.fact, h.phrase)
	}
}

func (d *deciding) refused(key api.Key, err error) {
	d.config.Log.Warn().Str("object", key.String()).Err(err).Msg("object refused: it counts as it was before")
}

// compared takes a comparison. Of those that are made while it follows, the leader tells.
func (d *deciding) compared(c *shadow.Comparison) {
	if d.follows() {
		return
	}
	d.config.Metrics.Compared(string(c.Kind), string(c.Verdict))
	e := d.config.Log.Info().Bool("shadow", true).Str("kind", string(c.Kind)).Str("verdict", string(c.Verdict)).Str("about", c.Workload)
	if c.Binding != "" {
		e.Str("binding", c.Binding)
	}
	if c.Cluster != "" {
		e.Str("cluster", c.Cluster)
	}
	if c.Ours != nil {
		e.Time("ours", c.Ours.At).Str("oursReason", c.Ours.Reason)
	}
	if c.Theirs != nil {
		e.Time("theirs", c.Theirs.At).Str("theirsBy", c.Theirs.By).Str("theirsReason", c.Theirs.Reason)
	}
	e.Msg("decision compared")
	d.config.Compared(c)
}
