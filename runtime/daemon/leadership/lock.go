package leadership

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"leeward/runtime/daemon/engine"
)

// lock is the Lease, as client-go's election wants it. Who takes it begins a term with the same write.
type lock struct {
	candidate *Candidate
	// lease is what was last seen of it, at a version.
	lease   *coordinationv1.Lease
	version int64
	// term is the one that this candidate has begun; 0 before.
	term atomic.Int64
}

var _ resourcelock.Interface = (*lock)(nil)

// Get reads who holds the Lease. What this process has not heard of yet makes the write that follows fail.
func (l *lock) Get(context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	o, version := l.candidate.Engine.Table(leases).Get(Key)
	lease, found := o.(*coordinationv1.Lease)
	if !found {
		return nil, nil, apierrors.NewNotFound(leases, Name)
	}
	l.lease, l.version = lease, version
	record := resourcelock.LeaseSpecToLeaderElectionRecord(&lease.Spec)
	raw, err := json.Marshal(record)
	return record, raw, err
}

// Create makes the Lease, with this candidate as its holder.
func (l *lock) Create(_ context.Context, r resourcelock.LeaderElectionRecord) error {
	l.version, l.lease = 0, &coordinationv1.Lease{
		TypeMeta: metav1.TypeMeta{APIVersion: coordinationv1.SchemeGroupVersion.String(), Kind: "Lease"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: Namespace, Name: Name, UID: uuid.NewUUID(), CreationTimestamp: metav1.NewTime(l.candidate.Clock.Now()),
		},
	}
	return l.write(&r, true)
}

// Update renews, takes or gives back the Lease as it was last seen.
func (l *lock) Update(_ context.Context, r resourcelock.LeaderElectionRecord) error {
	before := l.lease.Spec.HolderIdentity
	takes := r.HolderIdentity == l.Identity() && (before == nil || *before != l.Identity() || l.term.Load() == 0)
	return l.write(&r, takes)
}

func (l *lock) write(r *resourcelock.LeaderElectionRecord, takes bool) error {
	next := l.lease.DeepCopy()
	next.Spec = resourcelock.LeaderElectionRecordToLeaseSpec(r)
	commit := l.candidate.Engine.CommitVersion
	if takes {
		commit = l.candidate.Engine.Lead
	}
	version, err := commit(engine.Update(Key, next, l.version))
	if conflict := new(engine.Conflict); errors.As(err, &conflict) {
		return apierrors.NewConflict(leases, Name, err)
	}
	if err != nil {
		return fmt.Errorf("write the lease: %w", err)
	}
	if takes {
		l.term.Store(version)
	}
	l.lease, l.version = next, version
	return nil
}

// RecordEvent has nothing to add: the daemon logs who leads.
func (l *lock) RecordEvent(string) {}

// Identity names the candidate.
func (l *lock) Identity() string { return l.candidate.Identity }

// Describe names the Lease.
func (l *lock) Describe() string { return Namespace + "/" + Name }
