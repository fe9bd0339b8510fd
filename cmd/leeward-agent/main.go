// Command leeward-agent acts for one real cluster in a fleet: it applies what the fleet's API server asks for, and reports.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"leeward/cmd/internal/exitcode"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process immediately
	if err := rootCommand().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "leeward-agent:", err)
		os.Exit(exitcode.Of(err))
	}
}
