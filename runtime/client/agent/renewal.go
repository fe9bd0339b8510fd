package agent

import (
	"cmp"
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
)

// renewal renews a Lease, which it keeps as it was read or written last. Of several replicas one renews it: the one whose identity it holds, until that has not
// renewed it for a while, by the clock of the one that waits.
type renewal struct {
	leases          rest.Interface
	namespace, name string
	// identity is that of this replica; empty: it is the only one, and is named in the Lease as alone.
	identity, alone string
	// seconds is how long holders say that they hold it, and takeover how long another one is waited for.
	seconds  int32
	takeover time.Duration
	// owners have the Lease be deleted with them.
	owners []metav1.OwnerReference

	lease *coordinationv1.Lease
	// seen is the renewal of another replica that was read last, and seenAt when it was read first.
	seen   time.Time
	seenAt time.Time
}

// mayRenew reports whether this replica renews the Lease as it was read.
func (h *renewal) mayRenew(now time.Time) bool {
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
func (h *renewal) renewed(now time.Time) *coordinationv1.Lease {
	l := h.lease.DeepCopy()
	holder := cmp.Or(h.identity, h.alone)
	at := metav1.MicroTime{Time: now.UTC().Truncate(time.Microsecond)}
	if ptr.Deref(l.Spec.HolderIdentity, "") != holder && h.identity != "" {
		l.Spec.AcquireTime, l.Spec.LeaseTransitions = &at, new(ptr.Deref(l.Spec.LeaseTransitions, 0)+1)
	}
	l.OwnerReferences = h.owners
	l.Spec.HolderIdentity, l.Spec.LeaseDurationSeconds, l.Spec.RenewTime = &holder, &h.seconds, &at
	return l
}

// renew renews the Lease; false: another replica does.
func (h *renewal) renew(ctx context.Context, now time.Time) (bool, error) {
	if h.lease == nil {
		l, err := ask(ctx, h.leases.Get().Namespace(h.namespace).Resource("leases").Name(h.name), &coordinationv1.Lease{})
		switch {
		case apierrors.IsNotFound(err):
			h.lease = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: h.namespace, Name: h.name}}
			return h.wrote(ask(ctx, h.leases.Post().Namespace(h.namespace).Resource("leases").Body(h.renewed(now)), &coordinationv1.Lease{}))
		case err != nil:
			return h.wrote(nil, err)
		}
		if h.lease = l; !h.mayRenew(now) {
			h.lease = nil
			return false, nil
		}
	}
	return h.wrote(h.put(ctx, h.renewed(now)))
}

func (h *renewal) put(ctx context.Context, l *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	return ask(ctx, h.leases.Put().Namespace(h.namespace).Resource("leases").Name(h.name).Body(l), &coordinationv1.Lease{})
}

// wrote keeps the Lease that was written; after an error it is read again next time.
func (h *renewal) wrote(l *coordinationv1.Lease, err error) (bool, error) {
	if err != nil {
		h.lease = nil
		return false, fmt.Errorf("renew the Lease: %w", err)
	}
	h.lease = l
	return true, nil
}

// release gives the Lease up, so that no other replica waits for it. One that was lost meanwhile is not changed.
func (h *renewal) release(ctx context.Context) {
	if h.lease == nil {
		return
	}
	l := h.lease.DeepCopy()
	l.Spec.HolderIdentity = new("")
	_, _ = h.put(ctx, l) // without it the others wait for its time to pass
	h.lease = nil
}
