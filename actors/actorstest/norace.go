//go:build !race

package actorstest

// RaceDetector tells whether it watches.
const RaceDetector = false
