package leadership

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"

	"leeward/runtime/daemon/engine"
	"leeward/runtime/daemon/etcd"
	"leeward/runtime/daemon/etcd/etcdtest"
	"leeward/runtime/fleet/election"
)

// quick has a standby take over after a second.
var quick = election.Timing{LeaseDuration: time.Second, RenewDeadline: 600 * time.Millisecond, RetryPeriod: 100 * time.Millisecond}

// candidate is a daemon that says when it leads, and leads until it is told to stop.
type candidate struct {
	Candidate
	terms chan int64
	stops chan error
}

func stand(t *testing.T, server, name string) *candidate {
	t.Helper()
	store, err := etcd.Open(etcd.Config{Servers: []string{server}, Prefix: "/fleet", Clock: clock.New()})
	require.NoError(t, err)
	e, err := engine.Open(engine.Config{Resources: engine.Tables(), Clock: clock.New(), Shared: store})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	c := &candidate{terms: make(chan int64), stops: make(chan error)}
	c.Candidate = Candidate{Engine: e, Clock: clock.New(), Identity: name, Timing: quick, Leader: func(string) {}, Lead: c.lead}
	return c
}

func (c *candidate) lead(ctx context.Context, term int64) error {
	select {
	case c.terms <- term:
	case <-ctx.Done():
		return nil
	}
	select {
	case err := <-c.stops:
		return err
	case <-ctx.Done():
		return nil
	}
}

// run lasts until the test ends, which holds it to ending well.
func (c *candidate) run(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
	})
}

// lease is what this candidate's engine has.
func (c *candidate) lease(t *testing.T) (*coordinationv1.Lease, int64) {
	t.Helper()
	require.NoError(t, c.Engine.Fresh(t.Context()))
	o, version := c.Engine.Table(leases).Get(Key)
	require.NotNil(t, o)
	return o.(*coordinationv1.Lease), version
}

func TestALeaderThatGivesUpStartsAgain(t *testing.T) {
	a := stand(t, etcdtest.Start(t), "a")
	a.run(t)
	first := <-a.terms
	lease, _ := a.lease(t)
	require.Equal(t, "a", *lease.Spec.HolderIdentity)
	require.Equal(t, int32(1), *lease.Spec.LeaseDurationSeconds)
	a.stops <- nil
	require.Greater(t, <-a.terms, first)
}

func TestAStandbyLeadsWhenTheLeaderGivesUp(t *testing.T) {
	server := etcdtest.Start(t)
	a, b := stand(t, server, "a"), stand(t, server, "b")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	first := <-a.terms
	b.run(t)
	cancel()
	require.NoError(t, <-ended)
	require.Greater(t, <-b.terms, first)
	lease, _ := b.lease(t)
	require.Equal(t, "b", *lease.Spec.HolderIdentity)
	require.Positive(t, *lease.Spec.LeaseTransitions)
}

// TestALeaseThatIsDeletedByHandBeginsATerm shows what people may do to a Lease: it never makes two leaders.
func TestALeaseThatIsDeletedByHandBeginsATerm(t *testing.T) {
	a := stand(t, etcdtest.Start(t), "a")
	a.run(t)
	first := <-a.terms
	for deleted := false; !deleted; { // it may be renewed meanwhile
		_, version := a.lease(t)
		deleted = a.Engine.Commit(engine.Delete(Key, version)) == nil
	}
	_, made := a.Engine.Table(leases).Get(Key)
	for made == 0 {
		_, cursor := a.Engine.Table(leases).SnapshotAndWatch()
		if _, made = a.Engine.Table(leases).Get(Key); made == 0 {
			_, err := cursor.Next(t.Context())
			require.NoError(t, err)
		}
	}
	require.ErrorAs(t, a.Engine.Follow().Begin(first, engine.Create(engine.Key(leases, Namespace, "x"), &coordinationv1.Lease{}))(), new(*engine.Deposed))
	a.stops <- nil // as machines do that hear so
	require.Greater(t, <-a.terms, first)
}

func TestAnErrorOfTheLeaderEndsTheCandidacy(t *testing.T) {
	a := stand(t, etcdtest.Start(t), "a")
	ended := make(chan error, 1)
	go func() { ended <- a.Run(t.Context()) }()
	<-a.terms
	a.stops <- errors.New("the machines failed 5 times")
	require.EqualError(t, <-ended, "the machines failed 5 times")
}

func TestTimingsMustLeaveTimeToRenew(t *testing.T) {
	for name, c := range map[string]struct {
		timing election.Timing
		want   []string
	}{
		"those of Kubernetes": {election.Timing{LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second}, nil},
		"a lease too short for its unit, and for the deadline": {election.Timing{LeaseDuration: 500 * time.Millisecond, RenewDeadline: time.Second, RetryPeriod: 100 * time.Millisecond}, []string{
			"leaderElectLeaseDuration: 500ms is less than 1s", "leaderElectRenewDeadline: 1s must be less than leaderElectLeaseDuration, 500ms",
		}},
		"a period as long as the deadline": {election.Timing{LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 10 * time.Second}, []string{
			"leaderElectRetryPeriod: 10s must be more than 0 and less than 0.83 of leaderElectRenewDeadline, 10s",
		}},
		"no period": {election.Timing{LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 0}, []string{
			"leaderElectRetryPeriod: 0s must be more than 0 and less than 0.83 of leaderElectRenewDeadline, 10s",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, err := range c.timing.Validate() {
				got = append(got, err.Error())
			}
			require.Equal(t, c.want, got)
		})
	}
}
