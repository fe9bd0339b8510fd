package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages"
)

func TestAReturnIsStoredUntilItStartsOrIsDropped(t *testing.T) {
	for _, end := range []messages.Fact{&messages.ReturnDropped{Binding: web}, &messages.ReturnStarted{Binding: web}} {
		f := newFleet(t)
		plan := &messages.ReturnPlanned{Binding: web, Affinity: "home", At: start.Add(time.Minute)}
		f.apply(plan)
		require.Equal(t, start.Add(time.Minute), f.Binding(web).Status.ReturnAt.Time)
		f.requireNoChange(webKey, plan)
		f.apply(end)
		require.Nil(t, f.Binding(web).Status.ReturnAt)
		f.requireNoChange(webKey, end)
	}
}
