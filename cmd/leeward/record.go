package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"

	"leeward/cmd/internal/logging"
	"leeward/messages/spelling"
	"leeward/runtime/client/recorder"
	"leeward/runtime/daemon/build"
	"leeward/runtime/fleet/config"
)

// recordingFlags is one record command: its flags.
type recordingFlags struct {
	server    serverFlags
	namespace string
	selector  string
	kinds     []string
	lasts     spanFlag
	out       string
	profile   string
	set       overrideFlag
}

func recordCommand() *cobra.Command {
	r := &recordingFlags{}
	c := &cobra.Command{
		Use:   "record",
		Short: "Record what happens to a fleet",
		Long: `Write the objects of a daemon, a Karmada API server or any other Kubernetes API server, and each of their
changes with its time, one JSON object a line. leeward replay repeats what users and agents did, also under
other policies, and compares the decisions (docs/recordings.md).

It records until it is interrupted or --for is over, and waits for a server that disappears. The file of a
recorder that was killed can be read. Kinds that the server does not have, or does not show, are named and
skipped. The contents of Secrets and ConfigMaps are never written, only a digest.

Exit codes:
  0  recorded, until it was interrupted or --for was over
  1  the server could not be read
  2  the command line is invalid
  3  an internal error, or the file cannot be written`,
		Example: `  leeward record -o outage.jsonl
  leeward record --for 10m -n shop -l app=nginx -o nginx.jsonl
  leeward record --kubeconfig karmada.config --profile karmada > outage.jsonl
  leeward replay outage.jsonl
  leeward replay outage.jsonl --with docs/examples/taint-policy.yaml`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(c *cobra.Command, _ []string) error { return r.run(c) },
	}
	r.flags(c)
	return c
}

func (r *recordingFlags) flags(c *cobra.Command) {
	r.server.add(c)
	f := c.Flags()
	f.StringVarP(&r.namespace, "namespace", "n", "", "namespace to record, with the agents' reports about its workloads (default: all)")
	f.StringVarP(&r.selector, "selector", "l", "", "labels of the workloads to record, with their bindings (default: all)")
	f.StringSliceVar(&r.kinds, "kinds", nil, "resources to record, such as clusters,deployments,pods (default: all that the daemon serves, except Events)")
	f.Var(&r.lasts, "for", "how long to record, such as 90s or 10m (default: until it is interrupted)")
	f.StringVarP(&r.out, "output", "o", "-", "file to write, which must not exist yet; - is standard output")
	profileFlag(c, &r.profile, "profile of settings of the engine that is recorded, for its replays (default: inferred)")
	f.Var(&r.set, "set", "setting of the engine that is recorded, as field=value; may be given again")
	complete(c, "kinds", recorder.Names())
}

func (r *recordingFlags) run(c *cobra.Command) error {
	conf, err := r.config()
	if err != nil {
		return misused(c, err)
	}
	if conf.Client, err = r.server.connect(c.ErrOrStderr()); err != nil {
		return misused(c, err)
	}
	file, err := r.create(c)
	if err != nil {
		return err
	}
	progress := progressOf(c.ErrOrStderr())
	conf.Out, conf.Tell = file, progress.tell
	ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if r.lasts > 0 {
		ctx, stop = context.WithTimeout(ctx, time.Duration(r.lasts))
		defer stop()
	}
	err = recorder.Run(ctx, conf)
	progress.end()
	return refused(errors.Join(err, file.Close()))
}

// config is what the flags ask for, or what is wrong with them.
func (r *recordingFlags) config() (*recorder.Config, error) {
	resources, err := recorder.Named(r.kinds)
	if err != nil {
		return nil, fmt.Errorf("--kinds: %w", err)
	}
	if _, err := labels.Parse(r.selector); err != nil {
		return nil, fmt.Errorf("--selector: %w", err)
	}
	if _, problems := config.Resolve(r.profile, r.set); len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	conf := &recorder.Config{
		Clock: clock.New(), Resources: resources, Namespace: r.namespace, Selector: r.selector,
		Leeward: "leeward " + build.Of(debug.ReadBuildInfo()).String(), Profile: r.profile, Key: make([]byte, 32),
	}
	for _, o := range r.set {
		conf.Settings = append(conf.Settings, fmt.Sprintf("%s=%v", o.Field, o.Value))
	}
	_, err = rand.Read(conf.Key)
	return conf, err
}

// create opens the file to write. One that is there may be the only record of an incident.
func (r *recordingFlags) create(c *cobra.Command) (io.WriteCloser, error) {
	if r.out == "-" {
		return unclosed{c.OutOrStdout()}, nil
	}
	file, err := os.OpenFile(r.out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil, misused(c, fmt.Errorf("--output: %w", err))
	case err != nil:
		return nil, internal(fmt.Errorf("--output: %w", err))
	}
	return file, nil
}

// unclosed is a writer that others go on using.
type unclosed struct{ io.Writer }

// Close does nothing.
func (unclosed) Close() error { return nil }

// progress is one line on a terminal that says how far a recording is.
type progress struct {
	stderr      io.Writer
	began, told time.Time
}

func progressOf(stderr io.Writer) *progress {
	p := &progress{began: time.Now()}
	if logging.IsTerminal(stderr) {
		p.stderr = stderr
	}
	return p
}

// tell rewrites the line, a few times a second.
func (p *progress) tell(objects, changes int) {
	now := time.Now()
	if p.stderr == nil || now.Sub(p.told) < 200*time.Millisecond {
		return
	}
	p.told = now
	say(p.stderr, fmt.Sprintf("\r\x1b[K%s, %s, %s; Ctrl-C ends it", spelling.Count(objects, "object"), spelling.Count(changes, "change"), now.Sub(p.began).Round(time.Second)))
}

func (p *progress) end() {
	if p.stderr != nil {
		say(p.stderr, "\r\x1b[K")
	}
}
