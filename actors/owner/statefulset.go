package owner

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors"
	"leeward/messages"
)

// statefulSet keeps up pods with ordinals. A pod is created only when the one of the same name is gone; unless they are Parallel, each
// waits until those before it are ready, and they are deleted one by one, the last first. So are the pods of an older template, each once
// all after it are ready. Source: the StatefulSet controller of Kubernetes, with maxUnavailable 1.
type statefulSet struct {
	// revision is the hash of the template; before is the template that it replaced, of that revision, as long as pods of it remain.
	revision       string
	before         *template
	beforeRevision string
}

// applied notes the revision of a template, and that of the one before.
func (s *statefulSet) applied(o *Owner, revision string) {
	if s.revision != "" && revision != s.revision {
		if s.before == nil { // else pods of that one may remain: what is in between was never whole
			of := o.template
			s.before, s.beforeRevision = &of, s.revision
		}
		for _, p := range o.pods { // order-free: each by itself
			p.revision = cmp.Or(p.revision, s.revision)
		}
	}
	s.revision = revision
}

func (s *statefulSet) reconcile(o *Owner, now time.Time, out *actors.Outbox) time.Time {
	for i := range int(o.spec.Replicas) {
		p := o.pods[o.ordinal(i)]
		if p == nil {
			p = s.createOrdinal(o, now, i, out)
		} else if p.finished() {
			o.delete(p, "finished: it is created again", out)
		}
		if !o.spec.Parallel && (p.going() || !p.ready()) {
			return time.Time{}
		}
	}
	for {
		p := o.last()
		if p == nil {
			return s.roll(o, now, out)
		}
		o.delete(p, "scaled down", out)
		if !o.spec.Parallel {
			return time.Time{}
		}
	}
}

// roll deletes the last pod of an older template, once all after it have been ready for long enough. It returns when to look again.
func (s *statefulSet) roll(o *Owner, now time.Time, out *actors.Outbox) time.Time {
	if s.before == nil || !o.spec.Rolls {
		return time.Time{}
	}
	for i := int(o.spec.Replicas) - 1; i >= int(o.spec.Partition); i-- {
		p := o.pods[o.ordinal(i)]
		if p == nil || p.going() {
			return time.Time{}
		}
		if p.revision != s.revision && p.revision != "" {
			o.delete(p, replaced, out)
			return time.Time{}
		}
		if at := p.ReadySince.Add(o.spec.MinReady); !p.ready() {
			return time.Time{}
		} else if at.After(now) {
			return at
		}
	}
	if o.spec.Partition == 0 {
		s.before = nil
	}
	return time.Time{}
}

// older reports whether the pod of an ordinal is created of the template before: while a rolling update has not come to it, and below the
// partition.
func (s *statefulSet) older(o *Owner, i int) bool {
	if s.before == nil || !o.spec.Rolls {
		return false
	}
	if i < int(o.spec.Partition) {
		return true
	}
	for j := i + 1; j < int(o.spec.Replicas); j++ {
		if p := o.pods[o.ordinal(j)]; p != nil && p.revision != s.revision && p.revision != "" {
			return true
		}
	}
	return false
}

func (o *Owner) ordinal(i int) messages.PodName {
	return messages.NamePod(o.namespace, o.local+"-"+strconv.Itoa(i))
}

func (s *statefulSet) createOrdinal(o *Owner, now time.Time, i int, out *actors.Outbox) *pod {
	of, revision := &o.template, s.revision
	if s.older(o, i) {
		of, revision = s.before, s.beforeRevision
	}
	local := o.local + "-" + strconv.Itoa(i)
	labels := with(with(of.labels, "statefulset.kubernetes.io/pod-name", local), "apps.kubernetes.io/pod-index", strconv.Itoa(i))
	p := o.create(now, of, local, labels, of.spec, out)
	p.revision = revision
	return p
}

// last is the pod with the highest ordinal that is too high. While one of them is about to go, the others wait, unless they are Parallel.
func (o *Owner) last() *pod {
	var last *pod
	most := int(o.spec.Replicas) - 1
	for _, p := range o.sorted() {
		_, local := p.Pod.Split()
		n, err := strconv.Atoi(strings.TrimPrefix(local, o.local+"-"))
		if err != nil || n < int(o.spec.Replicas) {
			continue // not of this set, or within it
		}
		if p.going() {
			if !o.spec.Parallel {
				return nil
			}
			continue
		}
		if n > most {
			last, most = p, n
		}
	}
	return last
}

// sameSpec reports whether two specs ask for the same.
func sameSpec(a, b *corev1.PodSpec) bool { return a == b || a.String() == b.String() }
