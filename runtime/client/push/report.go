package push

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	"leeward/messages/api"
	"leeward/runtime/client"
	"leeward/runtime/client/agent"
	"leeward/runtime/fleet/catalog"
)

// ConditionAgentRunning of a Cluster in push mode is False while its agent keeps panicking. A cluster whose agent never did has no
// such condition.
const ConditionAgentRunning = "AgentRunning"

var running = metav1.Condition{Type: ConditionAgentRunning, Status: metav1.ConditionTrue, Reason: "AgentRuns", Message: "the agent has run for a minute since it panicked"}

// panicked tells of a panic, and waits before the agent begins again.
func (s *site) panicked(ctx context.Context, p *agent.Panic) {
	wait := min(firstAgain<<min(s.panics, 6), againAfter)
	s.panics++
	s.Log.Error().Str("cluster", s.name).Err(p).Bytes("stack", p.Stack).Dur("wait", wait).Msg("the agent panicked, and begins again")
	s.report(ctx, metav1.Condition{Type: ConditionAgentRunning, Status: metav1.ConditionFalse, Reason: "AgentPanicked", Message: p.Error()[:min(len(p.Error()), longestMessage)]})
	s.wait(ctx, wait)
}

// longestMessage bounds what a condition says of a panic.
const longestMessage = 1024

// report gives the Cluster a condition, and reports whether that changed it.
func (s *site) report(ctx context.Context, is metav1.Condition) (changed bool) {
	ctx, cancel := s.Clock.WithTimeout(ctx, againAfter)
	defer cancel()
	err := retry.OnError(retry.DefaultBackoff, func(err error) bool { return ctx.Err() == nil && !client.Refused(err) }, func() error {
		hub, err := s.Hub()
		if err != nil {
			return err
		}
		o, err := hub.Get(ctx, catalog.Clusters, "", s.name)
		if err != nil {
			return err
		}
		conditions := o.(*api.Cluster).Status.Conditions
		is.LastTransitionTime = metav1.NewTime(s.Clock.Now().UTC())
		if changed = meta.SetStatusCondition(&conditions, is); !changed {
			return nil
		}
		return hub.Patch(ctx, &client.Patch{Resource: catalog.Clusters, Name: s.name, Subresource: "status", Body: map[string]any{
			"metadata": map[string]any{"resourceVersion": o.GetResourceVersion()}, "status": map[string]any{"conditions": conditions},
		}})
	})
	if err != nil && ctx.Err() == nil {
		s.Log.Warn().Str("cluster", s.name).Err(err).Msg("hub does not take reports")
	}
	return changed
}
