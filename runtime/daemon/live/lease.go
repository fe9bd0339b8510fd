package live

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"leeward/messages"
	"leeward/messages/api"
)

// observeLeases takes over the leases that were there before. The agents renewed them while no daemon ran, so
// their own times count.
func (f *Fleet) observeLeases(objects []api.Object) {
	for _, o := range objects {
		l, ok := o.(*coordinationv1.Lease)
		if !ok || l.Spec.RenewTime == nil {
			continue
		}
		at := l.Spec.RenewTime.UTC()
		if now := f.config.Clock.Now().UTC(); at.After(now) {
			at = now
		}
		f.renewed(l, at)
	}
}

func (f *Fleet) renewed(l *coordinationv1.Lease, at time.Time) {
	cluster := messages.ClusterName(l.Name)
	if l.Namespace != api.LeaseNamespace || l.Spec.RenewTime == nil || !l.Spec.RenewTime.After(f.leases[cluster]) {
		return
	}
	f.leases[cluster] = l.Spec.RenewTime.Time
	f.world.TellAgent(cluster, &messages.LeaseRenewed{At: at})
}
