package cluster

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors"
	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
)

// taintList are the taints that a cluster has, and who put them there.
type taintList struct {
	of   messages.ClusterName
	list []corev1.Taint
	// causes[i] says who put list[i] there.
	causes []api.TaintCause
	// listed is when the bindings of the cluster were last looked at for its NoExecute taints; zero
	// without any.
	listed time.Time
}

func (l *taintList) revise() *revision { return &revision{taints: l.list, causes: l.causes} }

// editsTowards returns the edits that a manifest's taints ask for. Of the taints that it does not have,
// those go that people had put there; policies and the system look after their own.
func (l *taintList) editsTowards(wanted []corev1.Taint) []messages.TaintEdit {
	var edits []messages.TaintEdit
	for i := range l.list {
		if l.causes[i].By == byUser && taint.Find(wanted, l.list[i].Key, l.list[i].Effect) < 0 {
			edits = append(edits, messages.TaintEdit{Taint: l.list[i], Remove: true})
		}
	}
	for i := range wanted {
		edits = append(edits, messages.TaintEdit{Taint: wanted[i]})
	}
	return edits
}

// adopt gives a taint another cause, if it is another. It reports whether that matters to
// bindings, which name the cause when they leave.
func (l *taintList) adopt(i int, cause api.TaintCause, out *actors.Outbox) bool {
	if was := l.causes[i]; was.By == cause.By && was.Policy == cause.Policy {
		return false
	}
	l.causes[i] = cause
	out.Record(&messages.TaintAdopted{Cluster: l.of, Taint: l.list[i], Cause: cause})
	return l.list[i].Effect == corev1.TaintEffectNoExecute
}

// removeGone begins new lists with what stays: those that others have seen stay as they are.
func (l *taintList) removeGone(r *revision, out *actors.Outbox) {
	var taints []corev1.Taint
	var causes []api.TaintCause
	for i := range l.list {
		t := l.list[i]
		if taint.Find(r.taints, t.Key, t.Effect) >= 0 && !l.snatched(i, r) {
			taints, causes = append(taints, t), append(causes, l.causes[i])
			continue
		}
		out.Record(&messages.TaintRemoved{Cluster: l.of, Taint: t, Cause: r.lastWordOn(&t)})
	}
	l.list, l.causes = taints, causes
}

// snatched reports whether a policy took away a taint of the system's, which the system adds again.
func (l *taintList) snatched(i int, r *revision) bool {
	return l.causes[i].By == bySystem && r.lastWordOn(&l.list[i]).By == byPolicy
}

// put adds a taint at the end, or gives it the place of the one that had another value.
func (l *taintList) put(t corev1.Taint, cause api.TaintCause) {
	if i := taint.Find(l.list, t.Key, t.Effect); i >= 0 {
		l.list[i], l.causes[i] = t, cause
		return
	}
	l.list, l.causes = append(l.list, t), append(l.causes, cause)
}

// told is the message about the cluster's NoExecute taints.
func (l *taintList) told(news bool) *messages.TaintsChanged {
	m := &messages.TaintsChanged{Cluster: l.of, Taints: taint.Evicting(l.list), Since: l.listed, News: news}
	for i := range l.list {
		if l.list[i].Effect == corev1.TaintEffectNoExecute {
			m.Causes = append(m.Causes, l.causes[i])
		}
	}
	return m
}

// mark keeps track of whether the cluster has NoExecute taints.
func (l *taintList) mark(now time.Time) {
	switch evicts := len(taint.Evicting(l.list)) > 0; {
	case !evicts:
		l.listed = time.Time{}
	case l.listed.IsZero():
		l.listed = now
	}
}
