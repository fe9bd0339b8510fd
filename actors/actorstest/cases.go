package actorstest

// Cases is how many of n cases to try where one goroutine computes each of them: all, or a tenth under the race
// detector, which makes that ten times as slow and can find nothing there. Without it, tests try all.
func Cases(n uint64) uint64 {
	if RaceDetector {
		return (n + 9) / 10
	}
	return n
}
