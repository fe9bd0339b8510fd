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
