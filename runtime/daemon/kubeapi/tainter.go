package kubeapi

import (
	"context"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/endpoints/request"

	"leeward/actors/rules/taint"
	"leeward/messages/api"
)

// longestUser is how much of a user's name is kept.
const longestUser = 253

// noteTainter notes in the status of a cluster who sets which of its taints with this write, and when. Nothing that a client
// sends gets there: the status is what was stored, until here.
func noteTainter(ctx context.Context, o, old api.Object, now time.Time) {
	cluster, ok := o.(*api.Cluster)
	if !ok {
		return
	}
	before, known := old.(*api.Cluster)
	if !known {
		before = &api.Cluster{}
	}
	causes := slices.Clone(cluster.Status.TaintCauses) // the stored object has the original
	for _, t := range cluster.Spec.Taints {
		if i := taint.Find(before.Spec.Taints, t.Key, t.Effect); i >= 0 && before.Spec.Taints[i].Value == t.Value {
			continue // it was set before, be it by a policy
		}
		causes = slices.DeleteFunc(causes, func(c api.TaintCause) bool { return c.Key == t.Key && c.Effect == t.Effect })
		causes = append(causes, api.TaintCause{
			Key: t.Key, Effect: t.Effect, By: api.TaintCauseUser, User: userName(ctx), At: metav1.Time{Time: now},
		})
	}
	cluster.Status.TaintCauses = causes
}

// keepCauses keeps a writer of the status of a cluster from changing who set its taints.
func keepCauses(o, old runtime.Object) {
	if cluster, ok := o.(*api.Cluster); ok {
		cluster.Status.TaintCauses = old.(*api.Cluster).Status.TaintCauses
	}
}

// userName is the name of who makes a request.
func userName(ctx context.Context) string {
	u, known := request.UserFrom(ctx)
	if !known {
		return ""
	}
	return strings.ToValidUTF8(u.GetName()[:min(len(u.GetName()), longestUser)], "")
}
