package live

import (
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
)

func TestTheWorkOfTheMonitorIsTimed(t *testing.T) {
	c, l := clock.NewMock(), laws{}
	for range 2 {
		done := l.time(c)
		c.Add(3 * time.Millisecond)
		done()
		c.Add(time.Second)
	}
	require.Equal(t, 6*time.Millisecond, l.spent)
}
