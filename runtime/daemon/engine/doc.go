// Package engine keeps API objects: what is committed is the truth, for readers, watchers and, with a
// folder, for the next process.
//
// Objects lie in tables, one per resource, ordered by key: a row for each, which tables, snapshots, watchers and the
// transaction of the machines have in common. An object that has been committed is never
// changed again: a writer passes an object of its own, a reader copies what it wants to change.
// Every change takes the next of the resource versions that all tables share.
//
// One goroutine commits. It takes what is waiting, checks that each object has the version that
// its writer has seen, logs and syncs the batch once, and only then shows it: nothing is visible that
// a crash could take back, so versions never go back either.
//
// A store may also be shared with other processes: then a commit is proposed to it, and shown, like those of the others,
// when it is heard of. Everything else stays as it is, so that no reader or writer need know.
//
// A table keeps its latest changes in a ring, each with the object that it replaced. Watchers are
// places in the ring and cost nothing while they wait; one that falls behind it is told so and has to
// list again. The same ring, walked backwards, gives the table as it was at an earlier version.
package engine
