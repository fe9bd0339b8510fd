package api_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages/api"
)

func TestStabilization(t *testing.T) {
	require.Equal(t, 5*time.Minute, (&api.Failback{}).Stabilization(), "left out")
	require.Equal(t, time.Duration(0), (&api.Failback{StabilizationSeconds: new(int32)}).Stabilization(), "at once")
	require.Equal(t, 90*time.Second, (&api.Failback{StabilizationSeconds: new(int32(90))}).Stabilization())
}
