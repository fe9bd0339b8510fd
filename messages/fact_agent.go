package messages

// CopyWanted says what a cluster's Work is to ask for: a copy with so many replicas, new or changed.
type CopyWanted struct {
	Binding  BindingName `json:"binding"`
	Cluster  ClusterName `json:"cluster"`
	Replicas int32       `json:"replicas"`
	// Revision is the version of the pod template; zero: there was only one.
	Revision int32 `json:"revision,omitempty"`
	// Placement numbers the wish.
	Placement int64 `json:"-"`
	// Labels carry the state of the copy that a new one takes the place of.
	Labels map[string]string `json:"labels,omitempty"`
}

// CopyUnwanted says that a cluster's Work is to go.
type CopyUnwanted struct {
	Binding BindingName `json:"binding"`
	Cluster ClusterName `json:"cluster"`
	// Preserved is set where what runs continues to run, managed by no binding.
	Preserved bool `json:"preserved,omitempty"`
}

func (*CopyWanted) Kind() string   { return "CopyWanted" }
func (*CopyUnwanted) Kind() string { return "CopyUnwanted" }

func (f *CopyWanted) AboutBinding() BindingName   { return f.Binding }
func (f *CopyUnwanted) AboutBinding() BindingName { return f.Binding }

func (f *CopyWanted) AboutCluster() ClusterName   { return f.Cluster }
func (f *CopyUnwanted) AboutCluster() ClusterName { return f.Cluster }
