package karmada

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"leeward/actors"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/daemon/attach/writing"
	"leeward/runtime/daemon/telemetry"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/election"
	"leeward/runtime/fleet/store"
)

// Acting is what a daemon does in place of Karmada's controllers: it schedules, and evicts for taints.
type Acting struct {
	// Schedulers are the schedulerNames of the bindings that it acts on; api.DefaultScheduler also means those that name none.
	Schedulers []string
	// GracefulEviction has it act as the graceful eviction controller, too, and ApplicationFailover as the application failover controllers.
	GracefulEviction, ApplicationFailover bool
	// Namespace has the Lease by which one of several daemons acts, Timing says how long one that is gone is waited for, and Identity names
	// this one and no other process ever.
	Namespace, Identity string
	Timing              election.Timing
}

// LeaseName is that of the Lease by which one of several Leewards acts, whatever their scheduler names: rates and breakers count for the fleet.
const LeaseName = "leewardd-karmada"

// Validate reports what the machines cannot act with beside Karmada.
func Validate(s *messages.Settings) []error {
	if s.FailoverEvictionTimeout > 0 {
		return []error{fmt.Errorf("failoverEvictionTimeout: %s: it must be 0 with --act beside Karmada, whose controllers taint clusters", s.FailoverEvictionTimeout)}
	}
	return nil
}

// roles are those of a life of the machines, which acts or does not.
func (a *Attachment) roles(acts bool) *roles {
	switch {
	case a.config.Act == nil:
		return nil
	case !acts:
		return &roles{graceful: true, applications: true} // all is compared
	}
	return &roles{schedulers: a.config.Act.Schedulers, graceful: a.config.Act.GracefulEviction, applications: a.config.Act.ApplicationFailover}
}

// campaign acts whenever this process leads. Once another controller acts, too, it steps back to shadow for good.
func (a *Attachment) campaign(ctx context.Context, i *inbox) error {
	a.absorb(i.take())
	if err := a.alone(ctx, a.objects); err != nil {
		return err
	}
	client := rest.CopyConfig(a.config.Client)
	client.UserAgent, client.QPS = userAgent, -1
	candidate := &writing.Candidate{
		Client: client, Namespace: a.config.Act.Namespace, Name: LeaseName, Identity: a.config.Act.Identity,
		Timing: a.config.Act.Timing, Clock: a.config.Clock, Log: a.config.Log,
	}
	a.standby.Store(true)
	for ctx.Err() == nil {
		a.config.Metrics.Mode(telemetry.Standby)
		err := a.stand(ctx, i, candidate)
		if rival := new(Rival); errors.As(err, &rival) {
			a.why.Store(rival)
			a.config.Metrics.Mode(telemetry.SteppedBack)
			a.config.Log.Error().Err(rival).Msg("stepped back to shadow: nothing is written any more")
			return a.newDeciding(i, false).decide(ctx, nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// stand has machines follow the leader, and leads with them once.
func (a *Attachment) stand(ctx context.Context, i *inbox, c *writing.Candidate) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	leads, ended := make(chan *writing.Lease), make(chan struct{})
	var failed error
	go func() {
		defer close(ended)
		defer end()
		failed = a.newDeciding(i, true).decide(ctx, leads)
	}()
	err := c.Stand(ctx, func(leading context.Context, l *writing.Lease) error {
		defer context.AfterFunc(leading, end)()
		select {
		case leads <- l:
		case <-ended:
		}
		<-ended
		return nil
	})
	end()
	<-ended
	return errors.Join(err, failed)
}

// alone reports, as a *Rival, another controller that acts on the same bindings, of the objects that there are.
func (a *Attachment) alone(ctx context.Context, objects map[api.Key]api.Object) error {
	if r := rivalAmong(a.roles(true), objects, a.config.Clock.Now()); r != nil {
		return r
	}
	if !slices.Contains(a.config.Act.Schedulers, api.DefaultScheduler) {
		return nil
	}
	r, err := (&leaseholder{rest: a.rest, clock: a.config.Clock}).look(ctx)
	if r != nil {
		return r
	}
	return err
}

// lead has machines that have followed write from now on, unless another controller acts.
func (d *deciding) lead(ctx context.Context, l *writing.Lease) error {
	if err := d.alone(ctx, d.twin.seen); err != nil {
		return err
	}
	d.config.Metrics.Mode(telemetry.Acting)
	d.config.Log.Info().Strs("schedulerNames", d.config.Act.Schedulers).Msg("this daemon acts")
	d.acting.begin(ctx, l)
	return nil
}

// acting writes what the machines decide. A nil one writes nothing.
type acting struct {
	*deciding
	lease   *writing.Lease
	writes  *writes
	answers chan answered
	sending sync.WaitGroup
	rival   chan *Rival
	grudges grudges
	governs *governing
	tells   *telling
	// started is set once what a start finds was decided.
	started bool
	// touched are the bindings that must be looked at, again is what was heard of bindings while requests were under way.
	touched map[messages.BindingName]bool
	again   []news
	// ahead is what the machines have decided, while they follow, and the leader has not written; unsaid what they said of that.
	ahead  ahead
	unsaid unsaid
}

// answered is what became of a request.
type answered struct {
	*sending
	object api.Object
	err    error
}

func newActing(d *deciding) *acting {
	a := &acting{
		deciding: d, writes: newWrites(d.config.Metrics.Requested), answers: make(chan answered, writing.MostUnderWay),
		rival: make(chan *Rival, 1), grudges: grudges{}, touched: map[messages.BindingName]bool{},
		ahead: ahead{of: map[messages.BindingName]time.Time{}}, unsaid: unsaid{},
	}
	a.governs = &governing{acting: a, answers: make(chan governed, 1)}
	d.twin.world.Store().Track()
	return a
}

// begin has it write, as long as the Lease lasts, what was decided so far and the leader has not written.
func (a *acting) begin(ctx context.Context, l *writing.Lease) {
	a.lease, a.tells, a.twin.follows = l, newTelling(ctx, a.events), false
	for name := range a.ahead.of { // order-free: a set
		a.touched[name] = true
	}
	for _, h := range a.unsaid.all() {
		a.say(h, true)
	}
	a.ahead, a.unsaid = ahead{}, nil
	if slices.Contains(a.config.Act.Schedulers, api.DefaultScheduler) {
		a.sending.Go(func() { a.watchScheduler(ctx) })
	}
}

// watchScheduler looks now and then whether a karmada-scheduler runs. That its Lease cannot be read says nothing.
func (a *acting) watchScheduler(ctx context.Context) {
	h := &leaseholder{rest: a.rest, clock: a.config.Clock}
	for {
		r, err := h.look(ctx)
		if r != nil {
			a.rival <- r
			return
		}
		if err != nil && ctx.Err() == nil {
			a.config.Log.Warn().Err(err).Msg("it is not known whether a karmada-scheduler runs")
		}
		timer := a.config.Clock.Timer(pulsePeriod)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

func (a *acting) end() {
	if a.tells != nil {
		a.tells.end()
		a.config.Log.Info().Msg("this daemon acts no longer")
	}
	a.sending.Wait()
	for _, p := range a.writes.of { // order-free: each key once
		if p.held != nil {
			a.absorb([]news{*p.held})
		}
	}
	a.absorb(a.again)
}

func (a *acting) renewed() <-chan struct{} {
	if a == nil || a.lease == nil {
		return nil
	}
	return a.lease.Renewed()
}

func (a *acting) answered() <-chan answered {
	if a == nil {
		return nil
	}
	return a.answers
}

func (a *acting) governed() <-chan governed {
	if a == nil {
		return nil
	}
	return a.governs.answers
}

func (a *acting) rivals() <-chan *Rival {
	if a == nil {
		return nil
	}
	return a.rival
}

// decides reports whether a fact is a decision that is written.
func (a *acting) decides(f messages.Fact) bool {
	about, is := f.(messages.AboutBinding)
	return a != nil && is && a.twin.actsOn(about.AboutBinding())
}

// passing is what the machines hear of some news now: that of a binding for which a request is under way waits for the answer, which says
// whose it is.
func (a *acting) passing(all []news) []news {
	if a == nil {
		return all
	}
	all = append(a.again, all...)
	a.again = nil
	passed := all[:0:0]
	for _, n := range all {
		if a.writes.holds(n) {
			continue
		}
		passed = append(passed, n)
		if name := bindingNamed(n.key); name != "" {
			a.writes.heard(name)
			a.touched[name] = true
		}
		a.governs.dirty = a.governs.dirty || n.key == store.GovernorKey
	}
	return passed
}

// round asks for what the machines decided, and makes requests. A *Rival is why it must stop.
func (a *acting) round(ctx context.Context, now time.Time) error {
	switch {
	case a == nil:
		return nil
	case a.follows():
		a.follow(now)
		return nil
	}
	for i := range a.twin.conflicts {
		if r := a.meet(&a.twin.conflicts[i], now); r != nil {
			return r
		}
	}
	a.twin.conflicts = nil
	a.look()
	for _, name := range slices.Sorted(maps.Keys(a.touched)) {
		a.want(name, now)
		a.tells.fresh[name] = true
	}
	a.tell()
	clear(a.touched)
	for _, s := range a.writes.due(now, func(name messages.BindingName) { a.want(name, now) }, a.request) {
		a.sending.Go(func() { a.answers <- a.send(ctx, s) })
	}
	a.governs.write(ctx, now)
	a.config.Metrics.Pending(len(a.writes.waiting), a.writes.window.Size())
	return nil
}

// look notes what the machines have changed.
func (a *acting) look() {
	for _, key := range a.twin.world.Store().Changed() {
		if name := bindingNamed(key); name != "" {
			a.touched[name] = true
		}
		a.governs.dirty = a.governs.dirty || key == store.GovernorKey
	}
}

// tell tells of the decisions that are written, but for what a start only found again.
func (a *acting) tell() {
	for _, name := range slices.Sorted(maps.Keys(a.tells.fresh)) {
		switch b := store.AsBinding(a.twin.seen[store.BindingKey(name)]); {
		case a.writes.decides(name):
		case a.started:
			a.tells.tell(b)
		default:
			a.tells.forget(name)
		}
	}
	clear(a.tells.fresh)
	a.started = true
}

// meet takes in that others wrote what Leeward decides: their word counts, and the machines go on from there, unless a controller does it
// that acts in the same place.
func (a *acting) meet(c *conflict, now time.Time) *Rival {
	a.config.Metrics.Overwritten()
	a.config.Log.Warn().Str("binding", string(c.binding)).Str("by", c.by).Msg("others wrote where this binding runs: their word counts")
	a.tells.forget(c.binding)
	if r := a.twin.roles.decisive(c); r != nil {
		return r
	}
	return a.grudges.note(c, now)
}

// edit is what must be written of a binding; nil: it is not Leeward's to write.
func (a *acting) edit(name messages.BindingName) (ours, theirs *store.Binding, e *edit) {
	key := store.BindingKey(name)
	theirs = store.AsBinding(a.twin.seen[key])
	if !a.twin.acts(theirs) || theirs.Meta.DeletionTimestamp != nil {
		return nil, nil, nil
	}
	ours = store.AsBinding(a.twin.world.Store().Snapshot(key))
	if ours == nil {
		return nil, nil, nil
	}
	if !a.twin.roles.graceful {
		ours.Spec.GracefulEvictionTasks = withOthers(ours.Spec.GracefulEvictionTasks, theirs.Spec.GracefulEvictionTasks)
	}
	return ours, theirs, editOf(ours, theirs)
}

// withOthers are the tasks that the machines have, and those of the server that they have ended: Karmada ends them.
func withOthers(ours, theirs []api.GracefulEvictionTask) []api.GracefulEvictionTask {
	all := slices.Clone(ours)
	for i := range theirs {
		if k := &theirs[i]; !slices.ContainsFunc(ours, fromTheSame(k)) {
			all = append(all, *k)
		}
	}
	return all
}

// want asks for a binding to be written.
func (a *acting) want(name messages.BindingName, now time.Time) {
	if ours, _, e := a.edit(name); e != nil {
		a.writes.want(ours, e, now)
	} else {
		a.writes.drop(name)
	}
}

// request is the request that a binding needs; nil: none.
func (a *acting) request(name messages.BindingName) *sending {
	ours, theirs, e := a.edit(name)
	if e == nil || e.none() {
		return nil
	}
	body, status, err := e.body(theirs.Meta.ResourceVersion)
	if err != nil {
		panic(fmt.Sprintf("attach: encode a change of %s: %v", name, err)) // it is made of strings, numbers and times
	}
	how := types.MergePatchType
	if !status {
		how, a.twin.wrote[name] = types.JSONPatchType, ours.Spec
	}
	return &sending{name: name, key: store.BindingKey(name), body: body, how: how, status: status}
}

// send makes a request. None is under way longer than this process may lead.
func (a *acting) send(ctx context.Context, s *sending) answered {
	ctx, cancel := context.WithTimeout(ctx, writing.RequestLasts)
	defer cancel()
	ctx, end, err := a.lease.Within(ctx)
	if err != nil {
		return answered{sending: s, err: err}
	}
	defer end()
	o, err := patch(ctx, a.writer, s)
	return answered{s, o, err}
}

// patch makes the request, once, and returns the object as it is then.
func patch(ctx context.Context, c rest.Interface, s *sending) (api.Object, error) {
	k := &kind{Resource: catalog.Of(s.key), namespace: s.key.Namespace}
	path := append(k.path(), s.key.Name)
	if s.status {
		path = append(path, "status")
	}
	answer := c.Patch(s.how).AbsPath(path...).Param("fieldManager", userAgent).MaxRetries(0).Body(s.body).Do(ctx)
	if err := answer.Error(); err != nil { // in the server's words
		return nil, err
	}
	data, err := answer.Raw()
	if err != nil {
		return nil, err
	}
	return k.decode(data)
}

// done takes what became of a request.
func (a *acting) done(r answered) {
	now := a.instant()
	held, outcome := a.writes.done(r.sending, r.err, now)
	switch outcome {
	case outcomeFailed, outcomeGone:
		if !errors.Is(r.err, writing.ErrNotLeader) {
			a.config.Log.Warn().Str("binding", string(r.name)).Err(r.err).Msg("a decision was not written, and is tried again")
		}
	}
	a.touched[r.name] = true
	switch {
	case held != nil && (r.err != nil || held.object == nil || !older(held.object.GetResourceVersion(), r.object.GetResourceVersion())):
		a.again = append(a.again, *held)
	case r.err == nil:
		a.inbox.answered(kindOf(r.key), r.object)
	}
}

// kindOf is the kind of a binding as it is followed.
func kindOf(key api.Key) *kind {
	i := slices.IndexFunc(acted, func(k *kind) bool { return k.Resource == catalog.Of(key) })
	return acted[i]
}

// next is when something must be written by itself; zero: when there is news.
func (a *acting) next(now time.Time) time.Time {
	switch {
	case a == nil:
		return time.Time{}
	case len(a.again) > 0 || len(a.touched) > 0:
		return now
	}
	return actors.Earlier(actors.Earlier(a.governs.next, a.writes.next(now)), a.ahead.next())
}
