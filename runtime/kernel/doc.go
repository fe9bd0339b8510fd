// Package kernel runs machines as actors: it is the one place that knows protoactor, and knows only
// its local core.
//
// A kernel has lanes. A lane gives one actor one message at a time. Each actor sees its messages in the
// order in which a sender sent them; whose turn is next is decided by the Order, so a seed explores the
// interleavings that an asynchronous fleet could show, and repeats any of them. After each message the
// lane carries the machine's outbox out: facts to Record, mail to mailboxes, the alarm to the deadlines.
//
// One lane runs on the goroutine of its caller, and always does the same. Several run in parallel, each its
// share of the actors, as fast as the machine allows: what they do in an instant has no order that could
// be repeated, and machines end in the same state all the same.
//
// An actor is either spawned, an ordinary protoactor actor, or hosted, a slot in its lane's slab:
// 64 bytes and an entry in the directory instead of the 700 bytes that protoactor asks for, because
// there may be a million bindings. Both have a PID.
//
// The room kernel runs machines as actors, and knows nothing of what they decide. In it, package timers keeps their deadlines.
//
// May import of runtime: nothing.
// May be imported by: fleet, scenario, daemon, storm, cmd.
package kernel
