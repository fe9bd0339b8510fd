package actorstest

import (
	"slices"

	"leeward/messages/lists"
)

// Choose returns a number from 0 to below n, which is 1 at least.
type Choose func(n int) int

// EveryWay calls run once for each way in which its choices can fall. Between choices run must do the
// same every time. The number of runs is the number of ways: keep them few.
func EveryWay(run func(choose Choose)) {
	var path, width []int // what was chosen in this run, out of how many
	for {
		step := 0
		run(func(n int) int {
			if step == len(path) {
				path, width = append(path, 0), append(width, n)
			}
			step++
			return path[step-1]
		})
		last := len(path) - 1
		for last >= 0 && path[last] == width[last]-1 {
			last--
		}
		if last < 0 {
			return
		}
		path, width = path[:last+1], width[:last+1]
		path[last]++
	}
}

// Interleave merges what several senders say at one instant into one order of arrival. What one sender
// says stays in its order, as mailboxes keep it.
func Interleave[M any](choose Choose, senders ...[]M) []M {
	senders = slices.Clone(senders)
	var merged []M
	for {
		senders = slices.DeleteFunc(senders, func(s []M) bool { return len(s) == 0 })
		if len(senders) == 0 {
			return merged
		}
		i := choose(len(senders))
		merged = append(merged, senders[i][0])
		senders[i] = senders[i][1:]
	}
}

// Alone makes each message its own sender, for messages whose order is not promised.
func Alone[M any](ms ...M) [][]M {
	return lists.Of(ms, func(m M) []M { return []M{m} })
}
