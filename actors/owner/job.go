package owner

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors"
)

// job runs pods until enough of them succeeded, or too many failed. A pod that is deleted counts as failed, as with podReplacementPolicy
// TerminatingOrFailed; failures in a row delay the next pod.
type job struct {
	succeeded, failed int32
	// inRow are the failures since the last success, last is when the last one was.
	inRow int
	last  time.Time
}

// How long failures delay the next pod. Source: DefaultJobPodFailureBackOff and MaxJobPodFailureBackOff.
const (
	firstJobBackoff = 10 * time.Second
	mostJobBackoff  = 10 * time.Minute
)

func (j *job) reconcile(o *Owner, now time.Time, out *actors.Outbox) time.Time {
	var active []*pod
	for _, p := range o.sorted() {
		if p.active() {
			active = append(active, p)
		} else {
			j.count(p, now)
		}
	}
	s := o.spec
	wanted := int(s.Parallelism)
	switch {
	case j.failed > s.BackoffLimit:
		return j.end(o, active, "the Job failed: BackoffLimitExceeded", out)
	case s.Completions > 0 && j.succeeded >= s.Completions:
		return j.end(o, active, "the Job is complete", out)
	case s.Completions > 0:
		wanted = min(wanted, int(s.Completions-j.succeeded))
	case j.succeeded > 0:
		wanted = min(wanted, len(active)) // a queue that one of them found empty: no new ones
	}
	if surplus := len(active) - wanted; surplus > 0 {
		for _, p := range leastWanted(active, nil, func(a, b time.Time) int { return b.Compare(a) })[:surplus] {
			o.delete(p, "parallelism was lowered", out)
			p.counted = true // no failure
		}
	}
	if len(active) >= wanted {
		return time.Time{}
	}
	if due := j.due(); now.Before(due) {
		return due
	}
	for range wanted - len(active) {
		o.create(now, &o.template, o.fresh(now, o.template.prefix, o.hasPod), o.template.labels, o.template.spec, out)
	}
	return time.Time{}
}

// end deletes what still runs of a Job that is over.
func (j *job) end(o *Owner, active []*pod, cause string, out *actors.Outbox) time.Time {
	for _, p := range active {
		o.delete(p, cause, out)
		p.counted = true
	}
	return time.Time{}
}

// count counts the end of a pod, once. One that does not finish, and is deleted or gone, failed.
func (j *job) count(p *pod, now time.Time) {
	switch {
	case p.counted:
		return
	case p.Phase == corev1.PodSucceeded:
		j.succeeded++
		j.inRow = 0
	default:
		j.failed++
		j.inRow++
		j.last = actors.Later(j.last, now)
	}
	p.counted = true
}

// due is when the next pod may be created.
func (j *job) due() time.Time {
	if j.inRow == 0 {
		return time.Time{}
	}
	wait := mostJobBackoff
	if n := j.inRow - 1; n < 6 {
		wait = min(wait, firstJobBackoff<<n)
	}
	return j.last.Add(wait)
}
