package owner

import (
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors"
	"leeward/messages"
)

// statefulSet keeps up pods with ordinals. A pod is created only when the one of the same name is gone; unless they are Parallel, each
// waits until those before it are ready, and they are deleted one by one, the last first.
type statefulSet struct{}

func (statefulSet) reconcile(o *Owner, now time.Time, out *actors.Outbox) time.Time {
	for i := range int(o.spec.Replicas) {
		p := o.pods[o.ordinal(i)]
		if p == nil {
			p = o.createOrdinal(now, i, out)
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
			return time.Time{}
		}
		o.delete(p, "scaled down", out)
		if !o.spec.Parallel {
			return time.Time{}
		}
	}
}

func (o *Owner) ordinal(i int) messages.PodName {
	return messages.NamePod(o.namespace, o.local+"-"+strconv.Itoa(i))
}

func (o *Owner) createOrdinal(now time.Time, i int, out *actors.Outbox) *pod {
	local := o.local + "-" + strconv.Itoa(i)
	labels := with(with(o.template.labels, "statefulset.kubernetes.io/pod-name", local), "apps.kubernetes.io/pod-index", strconv.Itoa(i))
	return o.create(now, &o.template, local, labels, o.template.spec, out)
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
