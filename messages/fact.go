package messages

// Fact is something that happened and cannot be undone: the journal keeps it, the transcript tells
// it, the store applies it to the API objects, and expectations match on it.
//
// Kind is the fact's name in transcripts and JSON ("TaintAdded"); it never depends on values.
type Fact interface {
	Kind() string
}
