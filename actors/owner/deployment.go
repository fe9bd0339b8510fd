package owner

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"leeward/actors"
	"leeward/messages"
)

// deployment keeps up pods of its newest template, and rolls those of older templates out. Source: the deployment controller of Kubernetes,
// without a limit of revisions.
type deployment struct {
	// sets are the ReplicaSets of the templates that have pods or must have some, the newest last.
	sets []*set
	// adopted: pods that were found were given to a set.
	adopted bool
	// replicas is how many pods there had to be by the last spec that it looked at, most with the surge of a rollout.
	replicas, most int
	looked         *messages.OwnerSpec
}

// replaced is why a pod of an older template is deleted.
const replaced = "its template was replaced"

// set is one ReplicaSet of a Deployment.
type set struct {
	// template is that of its pods; a set without one has pods that were found, of a template that is not known.
	template template
	// source is the hash of the template. Its pods have another, where the ReplicaSet is one of a cluster that was dumped.
	source string
	// want is how many pods it must have.
	want int
	// active and available are how many it has, as of the last count.
	active, available int
}

// applied has the newest set be that of a template, and returns the template with what its ReplicaSet adds. The pods that the owner has are of
// the one before.
func (d *deployment) applied(o *Owner, t template) template {
	if !d.adopted {
		d.sets = nil // nothing was done for them yet
	}
	source := hashOf(o.spec.Template)
	at := slices.IndexFunc(d.sets, func(s *set) bool { return s.source == source })
	if at >= 0 {
		spec := t.spec
		t = d.sets[at].template
		t.spec = spec // pods go on sharing it
	} else {
		t = t.of(o.local, cmp.Or(o.spec.Hash, source))
	}
	if len(d.sets) == 1 && at < 0 {
		for _, p := range o.pods { // order-free: each by itself
			p.set = d.newest()
		}
	}
	if at < 0 {
		d.sets = append(d.sets, &set{template: t, source: source})
		return t
	}
	newest := d.sets[at]
	newest.template = t
	d.sets = append(slices.Delete(d.sets, at, at+1), newest) // also where a change is taken back
	return t
}

// of is the template as that of a ReplicaSet with a hash.
func (t template) of(deployment, hash string) template {
	t.prefix = deployment + "-" + hash
	t.labels = with(t.labels, "pod-template-hash", hash)
	t.controller = reference("apps/v1", messages.KindNameReplicaSet, t.prefix)
	t.peers = &metav1.LabelSelector{MatchLabels: t.labels}
	return t
}

func (d *deployment) newest() *set { return d.sets[len(d.sets)-1] }

func (d *deployment) reconcile(o *Owner, now time.Time, out *actors.Outbox) time.Time {
	if !d.adopted {
		d.adopt(o)
	}
	scaled := d.scaled(o)
	if len(d.sets) == 1 {
		d.newest().want = int(o.spec.Replicas)
		replicaSet{deployed: true}.reconcile(o, now, out)
		return time.Time{}
	}
	if scaled > 0 {
		d.scale(o, scaled)
	}
	next := d.count(o, now)
	if !o.spec.Paused {
		d.roll(o)
	}
	for _, s := range d.sets {
		s.keep(o, now, out)
	}
	d.forget(o)
	return next
}

// scaled notes how many pods there must be, and returns the most that there had to be before, where that was another number; else 0.
func (d *deployment) scaled(o *Owner) (before int) {
	if d.looked == o.spec {
		return 0
	}
	d.looked = o.spec
	if d.replicas != int(o.spec.Replicas) {
		before = d.most
	}
	surge, _ := Rolling(o.spec)
	d.replicas, d.most = int(o.spec.Replicas), int(o.spec.Replicas)+surge
	return before
}

// scale gives every set a share of the pods that are added or removed during a rollout, as large as its own of the most that there had to be
// before; what rounding leaves is the first one's. Where one set alone must have pods, it takes all. Source: the scale of the deployment controller.
func (d *deployment) scale(o *Owner, before int) {
	active := slices.DeleteFunc(slices.Clone(d.sets), func(s *set) bool { return s.want == 0 })
	switch {
	case len(active) == 0:
		d.newest().want = d.replicas
		return
	case len(active) == 1:
		active[0].want = d.replicas
		return
	case o.spec.Recreate:
		return
	}
	more := d.most
	if d.replicas == 0 {
		more = 0
	}
	for _, s := range active {
		more -= s.want
	}
	slices.Reverse(active) // of those of one size the newest gains first
	if more < 0 {
		slices.Reverse(active) // and the oldest loses first
	}
	slices.SortStableFunc(active, func(a, b *set) int { return cmp.Compare(b.want, a.want) })
	rest := more
	for _, s := range active {
		share := int(math.Round(float64(s.want*d.most)/float64(before))) - s.want
		if d.replicas == 0 {
			share = -s.want
		}
		if more > 0 {
			share = min(max(share, 0), rest)
		} else {
			share = max(min(share, 0), rest)
		}
		s.want, rest = s.want+share, rest-share
	}
	active[0].want = max(0, active[0].want+rest)
}

// adopt gives pods that were found to the newest set. Where some of them are of its template, the others are of an older one, which a
// restart of the controllers has forgotten.
func (d *deployment) adopt(o *Owner) {
	d.adopted = true
	newest, older := d.newest(), &set{}
	known := false
	for _, p := range o.pods { // order-free: any
		known = known || newest.made(p)
	}
	for _, p := range o.pods { // order-free: each by itself
		if p.set = newest; known && !newest.made(p) {
			p.set = older
			if p.active() {
				older.want++
			}
		}
	}
	if older.want > 0 {
		d.sets = []*set{older, newest}
		for _, p := range o.pods { // order-free: a count
			if p.set == newest && p.active() {
				newest.want++
			}
		}
	}
}

// made reports whether a pod has a name of the set's template.
func (s *set) made(p *pod) bool {
	_, local := p.Pod.Split()
	return strings.HasPrefix(local, s.template.prefix+"-")
}

// count counts the pods of each set, and returns when the next one that is ready becomes available; zero: none does.
func (d *deployment) count(o *Owner, now time.Time) (next time.Time) {
	for _, s := range d.sets {
		s.active, s.available = 0, 0
	}
	for _, p := range o.pods { // order-free: counts, and the earliest instant
		if p.set == nil { // it was found since
			p.set = d.newest()
		}
		if !p.active() {
			continue
		}
		p.set.active++
		if !p.ready() {
			continue
		}
		if at := p.ReadySince.Add(o.spec.MinReady); at.After(now) {
			next = actors.Earlier(next, at)
		} else {
			p.set.available++
		}
	}
	return next
}

// roll changes how many pods each set must have: more of the newest within the surge, fewer of the others as far as enough are available.
func (d *deployment) roll(o *Owner) {
	replicas, newest := int(o.spec.Replicas), d.newest()
	older := d.sets[:len(d.sets)-1]
	if o.spec.Recreate {
		for _, s := range older {
			s.want = 0
		}
		if !d.running(o, newest) {
			newest.want = replicas
		}
		return
	}
	surge, unavailable := Rolling(o.spec)
	total := 0
	for _, s := range d.sets {
		total += s.want
	}
	if more := min(replicas+surge-total, replicas-newest.want); more > 0 {
		newest.want, total = newest.want+more, total+more
	}
	newest.want = min(newest.want, replicas)
	least := replicas - unavailable
	d.withdraw(older, total-least-(newest.want-newest.available), least)
}

// withdraw takes so many pods at the most from older sets, the oldest first: those that are not available, and then available ones as long
// as more than the least are.
func (d *deployment) withdraw(older []*set, most, least int) {
	available := d.newest().available
	for _, s := range older {
		if n := min(max(0, most), max(0, s.want-s.available)); n > 0 {
			s.want, most = s.want-n, most-n
		}
		available += s.available
	}
	spare := min(max(0, most), available-least)
	for _, s := range older {
		if n := min(s.want, spare); n > 0 {
			s.want, spare = s.want-n, spare-n
		}
	}
}

// running reports whether pods of other sets exist that have not finished, those that are being deleted included.
func (d *deployment) running(o *Owner, newest *set) bool {
	for _, p := range o.pods { // order-free: any
		if p.set != newest && !p.finished() {
			return true
		}
	}
	return false
}

// keep creates and deletes pods of the set until it has as many as it must.
func (s *set) keep(o *Owner, now time.Time, out *actors.Outbox) {
	if s.template.spec != nil {
		for range s.want - s.active {
			o.create(now, &s.template, o.fresh(now, s.template.prefix, o.hasPod), s.template.labels, s.template.spec, out).set = s
		}
	}
	if surplus := s.active - s.want; surplus > 0 {
		related := o.sorted()
		pods := slices.DeleteFunc(slices.Clone(related), func(p *pod) bool { return p.set != s || !p.active() })
		for _, p := range leastWanted(pods, related, roughly(now))[:surplus] {
			o.delete(p, replaced, out)
		}
	}
}

// forget drops older sets that have no pods and must have none. With Recreate, pods that are being deleted count, for new ones wait for them.
func (d *deployment) forget(o *Owner) {
	has := map[*set]bool{d.newest(): true}
	for _, p := range o.pods { // order-free: a set
		if p.active() || o.spec.Recreate && !p.finished() {
			has[p.set] = true
		}
	}
	d.sets = slices.DeleteFunc(d.sets, func(s *set) bool { return s.want == 0 && !has[s] })
}

// Rolling is how many pods more than its replicas a Deployment may have during a rollout, and how many fewer may be available. Both are not
// zero. Source: ResolveFenceposts of Kubernetes.
func Rolling(spec *messages.OwnerSpec) (surge, unavailable int) {
	surge, _ = intstr.GetScaledValueFromIntOrPercent(&spec.MaxSurge, int(spec.Replicas), true)              // admission refuses
	unavailable, _ = intstr.GetScaledValueFromIntOrPercent(&spec.MaxUnavailable, int(spec.Replicas), false) // what is neither
	if surge == 0 && unavailable == 0 {
		unavailable = 1
	}
	return surge, unavailable
}
