package messages

import "time"

// ReturnJudged says whether an earlier affinity group than the one in use can take the workload.
// From: scheduler, when that changes. To: bindings whose policy lets them return.
type ReturnJudged struct {
	Possible bool
	// Affinity is the earlier group.
	Affinity string
}

func (*ReturnJudged) message()   {}
func (*ReturnJudged) toBinding() {}

// ReturnPlanned says that an earlier affinity group can take a workload again, and when it will return if
// that stays so.
type ReturnPlanned struct {
	Binding  BindingName `json:"binding"`
	Affinity string      `json:"affinity"`
	At       time.Time   `json:"-"`
}

// ReturnDropped says that the earlier group cannot take the workload after all.
type ReturnDropped struct {
	Binding BindingName `json:"binding"`
}

// ReturnStarted says that a workload returns to an earlier affinity group.
type ReturnStarted struct {
	Binding  BindingName `json:"binding"`
	Affinity string      `json:"affinity"`
}

func (*ReturnPlanned) Kind() string { return "ReturnPlanned" }
func (*ReturnDropped) Kind() string { return "ReturnDropped" }
func (*ReturnStarted) Kind() string { return "ReturnStarted" }

func (f *ReturnPlanned) AboutBinding() BindingName { return f.Binding }
func (f *ReturnDropped) AboutBinding() BindingName { return f.Binding }
func (f *ReturnStarted) AboutBinding() BindingName { return f.Binding }
