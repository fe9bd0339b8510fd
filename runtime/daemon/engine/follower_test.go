package engine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAProposalIsForgottenOnceItIsShown(t *testing.T) {
	f := &follower{own: map[uint64]*proposed{}, moved: make(chan struct{})}
	var p, other Proposal
	own := f.add(&p, nil, time.Time{})
	f.add(&other, nil, time.Time{})
	f.shown([]News{{Proposal: p.ID}, {Proposal: p.ID + 1}})
	<-own.shown
	require.Nil(t, f.proposal(p.ID))
	require.NotNil(t, f.proposal(other.ID))
}
