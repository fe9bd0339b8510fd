package agent

import (
	"cmp"
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"leeward/messages/api"
)

// leaseSeconds is what Karmada's agents ask for; the hub goes by its own settings.
const leaseSeconds = 40

// heartbeat is the cluster's Lease as it was read or written last. Of several replicas one renews it, and reports the Cluster:
// the one whose identity it holds, until that has not renewed it for a while.
type heartbeat struct {
	lease    *coordinationv1.Lease
	identity string
	takeover time.Duration
	// owner has the Lease be deleted with the Cluster.
	owner metav1.OwnerReference
	// seen is the renewal of another replica that was read last, and seenAt when it was read first.
	seen   time.Time
	seenAt time.Time
}

// mayRenew reports whether this replica renews the Lease as it was read.
func (h *heartbeat) mayRenew(now time.Time) bool {
	holder := ptr.Deref(h.lease.Spec.HolderIdentity, "")
	if h.identity == "" || holder == h.identity || holder == "" || h.lease.Spec.RenewTime == nil {
		return true
	}
	if at := h.lease.Spec.RenewTime.Time; !at.Equal(h.seen) || h.seenAt.IsZero() {
		h.seen, h.seenAt = at, now
	}
	return now.Sub(h.seenAt) >= h.takeover
}

// renewed is the Lease, held by this replica since now.
func (h *heartbeat) renewed(cluster string, now time.Time) *coordinationv1.Lease {
	l := h.lease.DeepCopy()
	l.OwnerReferences = []metav1.OwnerReference{h.owner}
	l.Spec.HolderIdentity = ptr.To(cmp.Or(h.identity, cluster))
	l.Spec.LeaseDurationSeconds = ptr.To[int32](leaseSeconds)
	l.Spec.RenewTime = &metav1.MicroTime{Time: now.UTC().Truncate(time.Microsecond)}
	return l
}

// renew renews the Lease of the cluster; false: another replica does.
func (a *Agent) renew(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, a.Timeout)
	defer cancel()
	h, leases := &a.heartbeat, a.hub.leases.Leases(api.LeaseNamespace)
	if h.lease == nil {
		l, err := leases.Get(ctx, a.Cluster, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			h.lease = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: api.LeaseNamespace, Name: a.Cluster}}
			l, err = leases.Create(ctx, h.renewed(a.Cluster, a.Clock.Now()), metav1.CreateOptions{})
			return a.tookLease(l, err)
		case err != nil:
			return a.tookLease(nil, err)
		}
		if h.lease = l; !h.mayRenew(a.Clock.Now()) {
			h.lease = nil
			return false, nil
		}
	}
	l, err := leases.Update(ctx, h.renewed(a.Cluster, a.Clock.Now()), metav1.UpdateOptions{})
	return a.tookLease(l, err)
}

// tookLease keeps the Lease that was written; after an error it is read again next time.
func (a *Agent) tookLease(l *coordinationv1.Lease, err error) (bool, error) {
	if err != nil {
		a.heartbeat.lease = nil
		return false, fmt.Errorf("renew the Lease: %w", err)
	}
	a.heartbeat.lease = l
	return true, nil
}
