package world

import (
	"leeward/messages"
	"leeward/messages/api"
)

// admitQuota tells the scheduler what a namespace may use. What clusters say of the parts that they were
// assigned stays.
func (w *World) admitQuota(o *api.FederatedResourceQuota, old api.Object) {
	if old != nil {
		o.Status = old.(*api.FederatedResourceQuota).Status
	}
	w.store.Put(o)
	w.tellQuota(o)
}

func (w *World) tellQuota(o *api.FederatedResourceQuota) {
	w.kernel.Post(schedulerAt, &messages.QuotaApplied{Namespace: o.Namespace, Name: o.Name, Limits: o.Spec.Overall})
}
