package podeviction

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors"
	"leeward/actors/rules/taint"
	"leeward/messages"
)

const (
	// mostTries is how often Kubernetes tries to evict a pod before it gives up, pause the time between two tries.
	mostTries = 5
	pause     = 10 * time.Millisecond
	// longestPause bounds the pause of an eviction that is tried until it is done: it doubles from try to try.
	longestPause = 30 * time.Second
)

// cause is why a pod is evicted, and since when it is due; without a toleration it does not tolerate the taint.
type cause struct {
	taint      corev1.Taint
	toleration *corev1.Toleration
	deadline   time.Time
}

// attempt is an eviction under way: the requests get, patch and delete, one after the other.
type attempt struct {
	// number counts the attempts; answers to earlier ones are void. step is what was asked for last, empty where nothing is under way.
	number int
	step   messages.APIVerb
	tries  int
	// retry is when a refused eviction is tried again; zero: it waits for an answer.
	retry time.Time
	// blocked is why the Eviction API has refused it; it waits for the budget.
	blocked string
	why     cause
}

func (a *attempt) running() bool { return a.step != "" }

// assess compares taints and tolerations. Nothing is known of the taints of another node than the pod's own.
func (e *Eviction) assess(now time.Time, out *actors.Outbox) {
	switch {
	case e.pod == nil || e.node == "" || e.node != e.pod.Node:
	case e.rules.SparesFinished && e.pod.Spared:
		e.withdraw("it has finished, is being deleted, or is a mirror of a static pod", out)
	case !e.rules.Exact:
		e.assessByTimer(now, out)
	case !e.handled || e.attempt.running():
		e.assessExactly(now, out)
	}
}

// match is how tolerations are compared with taints.
func (e *Eviction) match() taint.Rule {
	return taint.Rule{Match: e.rules.Match, Numeric: e.rules.Numeric}
}

// assessByTimer counts from now, and keeps a timer that runs. Kubernetes goes on with an eviction that has begun although nothing asks for
// it any more; one that is tried until it is done must end then. Source: processPodOnNode of the taint-eviction controller.
func (e *Eviction) assessByTimer(now time.Time, out *actors.Outbox) {
	a := taint.AllowanceOf(e.taints, e.pod.Tolerations, e.match())
	v := taint.Tolerance{Outcome: a.Outcome, Taint: a.Taint, Toleration: a.Toleration}
	if v.Outcome == taint.Until {
		v.At = a.After(now)
	}
	switch v.Outcome {
	case taint.Forever:
		if e.rules.UntilDone {
			e.withdraw(e.stays(), out)
		}
		e.cancel(e.stays(), out)
		e.handled = false
	case taint.Untolerated:
		e.cancel("it does not tolerate "+taint.String(&e.taints[v.Taint]), out)
		if !e.attempt.running() {
			e.begin(e.why(&v), out)
		}
	case taint.Until:
		if e.timer.at.IsZero() && !e.handled {
			e.schedule(now, &v, out)
		}
	}
}

// assessExactly goes by timeAdded, and takes back what is no longer due.
func (e *Eviction) assessExactly(now time.Time, out *actors.Outbox) {
	v := taint.Deadline(e.taints, e.pod.Tolerations, e.match())
	due := v.Outcome == taint.Untolerated || v.Outcome == taint.Until && !v.At.After(now)
	switch {
	case due && e.attempt.running():
		e.attempt.why = e.why(&v)
	case due:
		e.begin(e.why(&v), out)
	case v.Outcome == taint.Forever:
		e.withdraw(e.stays(), out)
	default:
		e.stop(out)
		if e.timer.at.Equal(v.At) {
			e.timer.why = e.why(&v)
			return
		}
		e.schedule(now, &v, out)
	}
}

// why names the taint and the toleration that decided.
func (e *Eviction) why(v *taint.Tolerance) cause {
	w := cause{taint: e.taints[v.Taint], deadline: v.At}
	if v.Toleration >= 0 {
		w.toleration = &e.pod.Tolerations[v.Toleration]
	}
	return w
}

// stays is why the pod is not evicted.
func (e *Eviction) stays() string {
	if len(e.taints) == 0 {
		return "its node has no NoExecute taint"
	}
	return "it tolerates every NoExecute taint without a limit"
}

// schedule starts the timer. Seconds of zero or fewer are over immediately.
func (e *Eviction) schedule(now time.Time, v *taint.Tolerance, out *actors.Outbox) {
	why := e.why(v)
	if !why.deadline.After(now) {
		e.begin(why, out)
		return
	}
	e.timer = timer{at: why.deadline, why: why}
	out.Record(&messages.PodEvictionScheduled{
		Pod: e.name, Node: e.node, Deadline: why.deadline, Taint: why.taint, Toleration: *why.toleration,
	})
}

// cancel clears the timer. An eviction that has begun goes on.
func (e *Eviction) cancel(reason string, out *actors.Outbox) {
	if e.timer.at.IsZero() {
		return
	}
	out.Record(&messages.PodEvictionCancelled{Pod: e.name, Node: e.on(), Deadline: e.timer.at, Reason: reason})
	e.timer = timer{}
}

// withdraw clears the timer, and takes back an eviction that has begun.
func (e *Eviction) withdraw(reason string, out *actors.Outbox) {
	if e.attempt.running() {
		out.Record(&messages.PodEvictionCancelled{Pod: e.name, Node: e.on(), Deadline: e.attempt.why.deadline, Reason: reason})
	}
	e.stop(out)
	e.cancel(reason, out)
}

// stop ends an eviction that has begun, with its request that waits for a token; late answers to it are void.
func (e *Eviction) stop(out *actors.Outbox) {
	if e.attempt.running() {
		out.TellAPIClient(e.rules.Client, &messages.RequestWithdrawn{Pod: e.name, Attempt: e.attempt.number})
		e.attempt, e.handled = attempt{number: e.attempt.number}, false
	}
}

// begin starts to evict the pod.
func (e *Eviction) begin(why cause, out *actors.Outbox) {
	e.timer, e.handled = timer{}, true
	e.attempt = attempt{number: e.attempt.number, why: why}
	e.try(out)
}

// tryAgain tries to evict the pod once more when its pause is over.
func (e *Eviction) tryAgain(now time.Time, out *actors.Outbox) {
	if e.attempt.running() && !e.attempt.retry.IsZero() && !e.attempt.retry.After(now) {
		e.try(out)
	}
}

func (e *Eviction) try(out *actors.Outbox) {
	e.attempt.number++
	e.attempt.tries++
	e.attempt.retry = time.Time{}
	e.told, e.attempt.blocked = e.attempt.blocked, ""
	e.ask(messages.VerbGet, out)
}

func (e *Eviction) ask(verb messages.APIVerb, out *actors.Outbox) {
	e.attempt.step = verb
	out.TellAPIClient(e.rules.Client, &messages.RequestAsked{
		Pod: e.name, Verb: verb, Attempt: e.attempt.number, UID: e.pod.UID, Reason: disruption, Message: e.disruption(&e.attempt.why),
		Event: !e.rules.Exact && verb == messages.VerbGet && e.attempt.tries == 1,
	})
}

// served goes on to the next request. A pod that has its condition is not patched again.
func (e *Eviction) served(now time.Time, m *messages.RequestServed, out *actors.Outbox) {
	if m.Attempt != e.attempt.number || m.Verb != e.attempt.step || !e.attempt.retry.IsZero() {
		return
	}
	why := &e.attempt.why
	switch {
	case m.Error != "":
		e.refused(now, m, out)
	case m.Verb == messages.VerbGet && e.rules.HonoursBudgets:
		e.ask(messages.VerbEvict, out)
	case m.Verb == messages.VerbEvict:
		e.evict(why, out)
	case m.Verb == messages.VerbGet && !e.marked:
		e.ask(messages.VerbPatch, out)
	case m.Verb == messages.VerbGet:
		e.ask(messages.VerbDelete, out)
	case m.Verb == messages.VerbPatch:
		e.marked = true
		out.Record(&messages.PodEvicted{Pod: e.name, Node: e.on(), Deadline: why.deadline, Taint: why.taint, Toleration: why.toleration})
		out.TellAPIServer(&messages.MarkDisrupted{Pod: e.name, UID: e.pod.UID, Reason: disruption, Message: e.disruption(why)})
		e.ask(messages.VerbDelete, out)
	default:
		out.Record(&messages.PodDeletionRequested{Pod: e.name, Node: e.on(), GracePeriodSeconds: e.pod.GracePeriodSeconds})
		out.TellAPIServer(&messages.DeletePod{Pod: e.name, UID: e.pod.UID})
		e.attempt = attempt{number: e.attempt.number}
	}
}

// evict asks the Eviction API to mark and delete the pod.
func (e *Eviction) evict(why *cause, out *actors.Outbox) {
	out.TellAPIServer(&messages.EvictPod{
		Pod: e.name, UID: e.pod.UID, Attempt: e.attempt.number, Unready: true, Reason: disruption, Message: e.disruption(why),
	})
}

// answered takes the answer of the Eviction API. What was refused waits until the API server says that the budget allows it.
func (e *Eviction) answered(m *messages.PodEvictionAnswered, out *actors.Outbox) {
	if m.Attempt != e.attempt.number || e.attempt.step != messages.VerbEvict {
		return
	}
	why := &e.attempt.why
	switch {
	case m.Gone:
		e.attempt = attempt{number: e.attempt.number}
	case m.Error == "":
		e.marked = true
		out.Record(&messages.PodEvicted{Pod: e.name, Node: e.on(), Deadline: why.deadline, Taint: why.taint, Toleration: why.toleration})
		e.attempt = attempt{number: e.attempt.number}
	default:
		e.attempt.blocked = m.Error + m.Detail
		if e.attempt.blocked != e.told {
			out.Record(&messages.PodEvictionBlocked{Pod: e.name, Node: e.on(), By: "taint", Budget: m.Budget, Error: m.Error, Detail: m.Detail})
		}
	}
}

// disruption is the reason of the condition of an evicted pod.
const disruption = "DeletionByTaintManager"

// disruption is the message of that condition.
func (e *Eviction) disruption(why *cause) string {
	if e.rules.NamesTaint {
		return "deleted because of the taint " + taint.String(&why.taint)
	}
	return "Taint manager: deleting due to NoExecute taint"
}

// refused waits for another try, or gives up after some.
func (e *Eviction) refused(now time.Time, m *messages.RequestServed, out *actors.Outbox) {
	f := &messages.PodEvictionFailed{Pod: e.name, Node: e.on(), Verb: m.Verb, Error: m.Error, Tries: e.attempt.tries}
	switch {
	case e.rules.UntilDone:
		f.Retry = now.Add(min(pause<<min(e.attempt.tries-1, 20), longestPause))
	case e.attempt.tries < mostTries:
		f.Retry = now.Add(pause)
	default:
		e.attempt, e.handled = attempt{number: e.attempt.number}, false
	}
	e.attempt.retry = f.Retry
	out.Record(f)
}

// on is the pod's node.
func (e *Eviction) on() messages.NodeName {
	if e.pod == nil {
		return ""
	}
	return e.pod.Node
}
