// Command leeward-agent acts for one real cluster in a fleet: it applies what the fleet's API server asks for, and reports.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"leeward/cmd/internal/exitcode"
)

// collectsAt is how much garbage there may be, in percent of what is in use, unless GOGC says otherwise: an agent is idle most of the time,
// and its memory counts on each cluster.
const collectsAt = 50

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectsAt)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process immediately
	if err := rootCommand().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "leeward-agent:", err)
		os.Exit(exitcode.Of(err))
	}
}
