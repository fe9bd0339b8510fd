package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/benbjohnson/clock"
	"github.com/rs/zerolog"
	"k8s.io/client-go/rest"

	"leeward/runtime/client"
	"leeward/runtime/client/recorder"
	"leeward/runtime/daemon/build"
)

// incidentRecording records what happens at an API server, as leeward record does, while a daemon is attached to it.
type incidentRecording struct {
	config recorder.Config
	file   *os.File
	log    zerolog.Logger
}

// mostRecorded is how large a recording may become, in bytes.
const mostRecorded = 1 << 30

// newRecording begins a file, which must not exist: one that does may be the only record of an incident.
func newRecording(path string, server *rest.Config, log zerolog.Logger) (r *incidentRecording, err error) {
	r = &incidentRecording{log: log}
	r.config = recorder.Config{
		Clock: clock.New(), Leeward: "leewardd " + build.Of(debug.ReadBuildInfo()).String(), Key: make([]byte, 32), Tell: func(int, int) {},
	}
	if _, err = rand.Read(r.config.Key); err != nil {
		return nil, fmt.Errorf("make a key for the digests of Secrets: %w", err)
	}
	if r.config.Resources, err = recorder.Named(nil); err != nil {
		return nil, err
	}
	if r.config.Client, err = client.New(server, io.Discard); err != nil {
		return nil, err
	}
	if r.file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return nil, fmt.Errorf("shadowRecording: %w", err)
	}
	r.config.Out = &bounded{r.file, mostRecorded}
	return r, nil
}

// run records until the context is done. That it cannot go on is logged: decisions do.
func (r *incidentRecording) run(ctx context.Context) error {
	err := recorder.Run(ctx, &r.config)
	if err = errors.Join(err, r.file.Close()); err != nil && ctx.Err() == nil {
		r.log.Error().Err(err).Str("file", r.file.Name()).Msg("the recording has ended")
	}
	return nil
}

// bounded writes whole lines as long as they fit.
type bounded struct {
	to   io.Writer
	left int
}

// Write writes a line.
func (b *bounded) Write(line []byte) (int, error) {
	if len(line) > b.left {
		return 0, errors.New("it has reached its size: begin another")
	}
	b.left -= len(line)
	return b.to.Write(line)
}
