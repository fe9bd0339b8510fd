package messages

// Fact is something that happened and cannot be undone: the journal keeps it, the transcript tells
// it, the store applies it to the API objects, and expectations match on it.
//
// Kind is the fact's name in transcripts and JSON ("TaintAdded"); it never depends on values.
type Fact interface {
	Kind() string
}

// AboutCluster is a fact that names a cluster; AboutBinding one that names a binding.
type (
	AboutCluster interface{ AboutCluster() ClusterName }
	AboutBinding interface{ AboutBinding() BindingName }
)

// Facts returns a fact of each kind, without values. Whatever is said of all facts is tested over this list.
func Facts() []Fact {
	return []Fact{
		&ConditionChanged{}, &ReadyObserved{}, &ConditionRemoved{}, &TaintAdded{}, &TaintRemoved{},
		&TaintAdopted{}, &TaintSpared{}, &TaintingFailed{}, &TaintsPreviewed{},
		&DrainProgressed{}, &DrainMissed{}, &DrainEnded{}, &WorkloadsStay{},
		&LabelsChanged{}, &ClusterSpecChanged{}, &CapacityChanged{}, &EnablementsChanged{}, &ResourceModelsChanged{},
		&OutageBegan{}, &OutageEnded{}, &AvailabilityChanged{},
		&HeartbeatStopped{}, &HeartbeatReturned{}, &ClusterLeaving{},
		&ClusterRemoved{}, &PolicyIgnored{},
		&BindingCreated{}, &BindingUpdated{}, &ActivationDeferred{}, &BindingDeleted{}, &Scheduled{},
		&PlacementConfirmed{},
		&ScheduleFailed{}, &EvictionScheduled{}, &EvictionCancelled{}, &EvictionBlocked{},
		&EvictionStarted{}, &EvictionEnded{}, &EvictionWithdrawn{}, &ReplicasReleased{}, &HandoverBlocked{}, &PurgeOvertaken{},
		&CopyStarted{}, &CopyScaled{}, &CopyUpdated{}, &CopyStopped{}, &CopyPreserved{}, &CopyAdopted{}, &CopyWanted{}, &CopyUnwanted{}, &HealthChanged{},
		&StatusChanged{}, &HealthForgotten{}, &RescheduleRequested{}, &RequirementChanged{}, &InterpretationFailed{},
		&FailbackScheduled{}, &FailbackCancelled{}, &FailbackStarted{},
		&UnschedulableChanged{}, &BindingDescheduled{},
		&FailbackTargetsChanged{}, &ShareFailbackScheduled{}, &ShareFailbackCancelled{}, &ScaleDownBlocked{}, &ScaleDownEnded{},
		&DispatchSuspended{}, &DispatchResumed{},
		&OriginalKept{}, &OriginalReleased{},
		&GovernorChanged{}, &BreakerChanged{}, &EvictionsPermitted{}, &StartsCounted{},
		&HoldPlaced{}, &HoldEnded{}, &ReleaseGranted{}, &ReleaseEnded{},
		&BudgetChanged{}, &BudgetExceeded{},
		&OverridesAwaited{}, &ObjectApplied{}, &ObjectDeleted{}, &ObjectExpired{}, &ObjectRejected{}, &Scaled{},
		&PodEvictionScheduled{}, &PodEvictionCancelled{}, &PodEvicted{}, &PodDeletionRequested{}, &PodEvictionFailed{},
		&PodBudgetChanged{}, &PodEvictionBlocked{}, &NodeDrainStarted{}, &NodeDrained{}, &NodeDrainFailed{},
		&PodCreated{}, &PodBound{}, &PodUnschedulable{}, &PodPhaseChanged{}, &PodDeleted{},
		&NodeRegistered{}, &NodeDeleted{}, &NodeConditionChanged{}, &NodeTaintAdded{}, &NodeTaintRemoved{}, &NodeTaintQueued{},
		&NodeCordoned{}, &NodeUncordoned{}, &NodeLabelsChanged{}, &KubeletStopped{}, &KubeletReturned{},
		&ZoneStateChanged{}, &DisruptionChanged{},
		&SettingChanged{}, &Crashed{}, &ClockStepped{}, &Restarted{},
	}
}
