package karmada

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

// governing writes the status of the Governor, where the server has one: what rates and breakers remember survives a restart by that. Evictions
// are not made to wait for it.
type governing struct {
	*acting
	// dirty is set where ours or the server's may be another one.
	dirty, underWay bool
	// notBefore is when it is written again at the earliest, next when it must be looked at again; zero: when there is news.
	notBefore, next time.Time
	answers         chan governed
}

// governed is what became of a write.
type governed struct {
	object api.Object
	err    error
}

const (
	// governorPeriod is how often the status of the Governor is written at most, governorPause how long it is not tried again that was refused.
	governorPeriod, governorPause = time.Second, 10 * time.Second
)

// kindOfGovernor is that of the Governor as it is followed.
var kindOfGovernor = kindOf(store.GovernorKey)

// write writes the status of the Governor if it is another one.
func (g *governing) write(ctx context.Context, now time.Time) {
	g.next = time.Time{}
	theirs, is := g.twin.seen[store.GovernorKey].(*api.Governor)
	switch {
	case !is || !g.dirty || g.underWay:
		return
	case g.notBefore.After(now):
		g.next = g.notBefore
		return
	}
	g.dirty = false
	ours := g.twin.world.Store().Governor()
	if equality.Semantic.DeepEqual(wireStatus(&theirs.Status), wireStatus(&ours)) {
		return
	}
	body, err := json.Marshal([]op{{"replace", "/metadata/resourceVersion", theirs.ResourceVersion}, set("/status", &ours)}) // whole: what is empty now is no more
	if err != nil {
		panic(fmt.Sprintf("attach: encode the status of the Governor: %v", err)) // it is made of strings, numbers and times
	}
	g.underWay, g.notBefore = true, now.Add(governorPeriod)
	g.sending.Go(func() {
		s := &sending{key: store.GovernorKey, body: body, how: types.JSONPatchType, status: true}
		r := g.send(ctx, s)
		g.answers <- governed{r.object, r.err}
	})
}

// wireStatus is a status as an API server returns it.
func wireStatus(s *api.GovernorStatus) (again api.GovernorStatus) {
	text, err := json.Marshal(s)
	if err == nil {
		err = json.Unmarshal(text, &again)
	}
	if err != nil {
		panic(fmt.Sprintf("attach: read the status of the Governor again: %v", err)) // it was decoded from JSON, or encoded just now
	}
	return again
}

// done takes what became of a write.
func (g *governing) done(r governed) {
	g.underWay, g.dirty = false, true
	if r.err == nil {
		g.inbox.answered(kindOfGovernor, r.object)
		return
	}
	g.notBefore = g.instant().Add(governorPause)
	if outcomeOf(r.err) != outcomeConflict {
		g.config.Log.Warn().Err(r.err).Msg("the status of the Governor was not written: a restart forgets what rates and breakers have counted")
	}
}
