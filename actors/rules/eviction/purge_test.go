package eviction_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors/rules/eviction"
	"leeward/messages/api"
)

func TestPurgeOverdue(t *testing.T) {
	for _, c := range []struct {
		name    string
		task    *api.GracefulEvictionTask
		timeout time.Duration
		want    time.Time
	}{
		{"counts from the task's creation", task(time.Minute, directly), 90 * time.Second, now.Add(30 * time.Second)},
		{"may lie in the past", task(time.Hour, directly), time.Minute, now.Add(-59 * time.Minute)},
		{"a timeout of zero never ends", task(time.Minute, directly), 0, time.Time{}},
		{"a task that keeps its copy bars nothing", task(time.Minute), time.Minute, time.Time{}},
		{"a new task has no time yet", task(0, isNew, directly), time.Minute, time.Time{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, eviction.PurgeOverdue(c.task, c.timeout))
		})
	}
}
