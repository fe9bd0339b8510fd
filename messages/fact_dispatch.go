package messages

// DispatchSuspended says that a cluster is not told of a new or changed copy, because dispatching to it is
// suspended.
type DispatchSuspended struct {
	Binding BindingName `json:"binding"`
	Cluster ClusterName `json:"cluster"`
}

// DispatchResumed says that a cluster is told what its copy must be after all, or that the copy is gone.
type DispatchResumed struct {
	Binding BindingName `json:"binding"`
	Cluster ClusterName `json:"cluster"`
	Gone    bool        `json:"gone,omitempty"`
}

func (*DispatchSuspended) Kind() string { return "DispatchSuspended" }
func (*DispatchResumed) Kind() string   { return "DispatchResumed" }

func (f *DispatchSuspended) AboutBinding() BindingName { return f.Binding }
func (f *DispatchResumed) AboutBinding() BindingName   { return f.Binding }

func (f *DispatchSuspended) AboutCluster() ClusterName { return f.Cluster }
func (f *DispatchResumed) AboutCluster() ClusterName   { return f.Cluster }
