// Command leeward-agent acts for one real cluster in a fleet: it applies what the fleet's API server asks for, and reports.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/util/validation"

	"leeward/cmd/internal/exitcode"
	"leeward/cmd/internal/logging"
	"leeward/cmd/internal/manual"
	"leeward/cmd/internal/probes"
	"leeward/runtime/client"
	"leeward/runtime/client/agent"
	"leeward/runtime/daemon/build"
)

// options are what the flags say.
type options struct {
	cluster                   string
	hub, hubContext           string
	member, memberContext     string
	heartbeat                 time.Duration
	failure, success, timeout time.Duration
	workers                   int
	createNamespaces          bool
	elect                     bool
	namespace                 string
	listen                    string
	logLevel, logFormat       string
}

const exitCodes = `Exit codes:
  0  stopped by a signal
  1  refused: the credentials or the member are of another cluster
  2  the command line or a kubeconfig is invalid
  3  an internal error, or an address that cannot be used`

func rootCommand() *cobra.Command {
	o := &options{}
	c := &cobra.Command{
		Use:   "leeward-agent --cluster NAME --hub-kubeconfig FILE",
		Short: "Act for one cluster of a fleet",
		Long: "leeward-agent applies the Works of one cluster at that cluster's own API server, the member, and reports their\n" +
			"health, the cluster's conditions and its capacity at the API server of the fleet, the hub: leewardd, or that of\n" +
			"Karmada. docs/agents.md describes what it does, and the permissions that it needs.\n\n" + exitCodes,
		Example: "  leeward-agent --cluster eu-1 --hub-kubeconfig eu-1.kubeconfig                      # in a pod of the member\n" +
			"  leeward-agent --cluster eu-1 --hub-kubeconfig eu-1.kubeconfig --kubeconfig member.kubeconfig",
		Args:         cobra.NoArgs,
		SilenceUsage: true, SilenceErrors: true,
		RunE: func(c *cobra.Command, _ []string) error { return o.run(c.Context(), c.ErrOrStderr()) },
	}
	o.flags(c)
	build.Of(debug.ReadBuildInfo()).AddTo(c)
	manual.AddTo(c)
	exitcode.Classify(c, func(err error) error { return &exitcode.Exit{Code: exitcode.Internal, Err: err} })
	return c
}

func (o *options) flags(c *cobra.Command) {
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&o.cluster, "cluster", "", "name of the cluster at the hub")
	f.StringVar(&o.hub, "hub-kubeconfig", "", "kubeconfig file of the hub: leewardd kubeconfig --agent NAME writes one")
	f.StringVar(&o.hubContext, "hub-context", "", "context of that file (default: its current one)")
	f.StringVar(&o.member, "kubeconfig", "", "kubeconfig file of the member (default: $KUBECONFIG, then ~/.kube/config, then the service account of the pod)")
	f.StringVar(&o.memberContext, "context", "", "context of that file (default: its current one)")
	f.DurationVar(&o.heartbeat, "heartbeat", 10*time.Second, "time between two renewals of the Lease, and between two probes of the member")
	f.DurationVar(&o.failure, "failure-threshold", 30*time.Second, "how long the member must fail before the cluster is reported as not Ready")
	f.DurationVar(&o.success, "success-threshold", 30*time.Second, "how long the member must answer before the cluster is reported as Ready again")
	f.DurationVar(&o.timeout, "request-timeout", 15*time.Second, "how long a request to the hub or the member may take")
	f.IntVar(&o.workers, "workers", 16, "how many Works are applied at the same time")
	f.BoolVar(&o.createNamespaces, "create-namespaces", true, "create namespaces of the member that manifests are in")
	f.BoolVar(&o.elect, "leader-elect", false, "share the work with other replicas: one of them applies Works, by a Lease in the member")
	f.StringVar(&o.namespace, "leader-elect-namespace", "leeward-system", "namespace of that Lease")
	f.StringVar(&o.listen, "listen", "127.0.0.1:7446", "address of /metrics, /healthz and /readyz; empty: none")
	f.StringVar(&o.logLevel, "log-level", "info", "lowest level to log: debug, info, warn or error")
	f.StringVar(&o.logFormat, "log-format", logging.Auto, "json, console, or auto: console on a terminal and json elsewhere")
	for _, required := range []string{"cluster", "hub-kubeconfig"} {
		if err := c.MarkFlagRequired(required); err != nil {
			panic(err) // the flag exists
		}
	}
}

// check reports every flag that is out of its bounds.
func (o *options) check() error {
	var problems []error
	if wrong := validation.IsDNS1123Label(o.cluster); len(wrong) > 0 {
		problems = append(problems, fmt.Errorf("--cluster: %q is not the name of a cluster: %s", o.cluster, wrong[0]))
	}
	for _, d := range []struct {
		flag        string
		value       time.Duration
		least, most time.Duration
	}{
		{"heartbeat", o.heartbeat, time.Second, 10 * time.Minute},
		{"failure-threshold", o.failure, 0, time.Hour},
		{"success-threshold", o.success, 0, time.Hour},
		{"request-timeout", o.timeout, time.Second, 5 * time.Minute},
	} {
		if d.value < d.least || d.value > d.most {
			problems = append(problems, fmt.Errorf("--%s: %s is out of range: it must be %s to %s", d.flag, d.value, d.least, d.most))
		}
	}
	if wrong := validation.IsDNS1123Label(o.namespace); len(wrong) > 0 {
		problems = append(problems, fmt.Errorf("--leader-elect-namespace: %q is not the name of a namespace: %s", o.namespace, wrong[0]))
	}
	if o.workers < 1 || o.workers > 256 {
		problems = append(problems, fmt.Errorf("--workers: %d is out of range: it must be 1 to 256", o.workers))
	}
	if _, err := logging.Level(o.logLevel); err != nil {
		problems = append(problems, fmt.Errorf("--log-level: %w", err))
	}
	if err := logging.CheckFormat(o.logFormat); err != nil {
		problems = append(problems, fmt.Errorf("--log-format: %w", err))
	}
	return errors.Join(problems...)
}

func invalid(err error) error { return &exitcode.Exit{Code: exitcode.Invalid, Err: err} }

func (o *options) run(ctx context.Context, log io.Writer) error {
	if err := o.check(); err != nil {
		return invalid(err)
	}
	metrics := prometheus.NewRegistry()
	metrics.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	c, err := o.config(log, metrics)
	if err != nil {
		return invalid(err)
	}
	logging.HearLibraries(c.Log)
	a, err := agent.New(*c)
	if err != nil {
		return invalid(err)
	}
	serving, err := o.listener()
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if serving != nil {
		c.Log.Info().Stringer("address", serving.Addr()).Msg("serves metrics and probes")
		group.Go(func() error { return probes.Serve(ctx, serving, metrics, "/healthz", a.Ready) })
	}
	group.Go(func() error {
		defer stop()
		return a.Run(ctx)
	})
	if err := group.Wait(); err != nil {
		return &exitcode.Exit{Code: exitcode.Failed, Err: err}
	}
	return nil
}

// config is what the agent is told.
func (o *options) config(log io.Writer, metrics prometheus.Registerer) (*agent.Config, error) {
	hub, err := client.Load(o.hub, o.hubContext)
	if err != nil {
		return nil, fmt.Errorf("--hub-kubeconfig: %w", err)
	}
	member, err := client.Load(o.member, o.memberContext)
	if err != nil {
		return nil, fmt.Errorf("--kubeconfig: %w", err)
	}
	c := &agent.Config{
		Cluster: o.cluster, Hub: hub, Member: member, Clock: clock.New(), Log: o.logger(log), Heartbeat: o.heartbeat,
		FailureThreshold: o.failure, SuccessThreshold: o.success, Timeout: o.timeout, Workers: o.workers, CreateNamespaces: o.createNamespaces,
		ElectionNamespace: o.namespace, Metrics: metrics,
	}
	if o.elect {
		host, err := os.Hostname()
		if err != nil {
			return nil, fmt.Errorf("--leader-elect: %w", err)
		}
		c.Identity = fmt.Sprintf("%s_%d", host, os.Getpid())
	}
	return c, nil
}

// listener takes the address of metrics and probes; nil: there is none.
func (o *options) listener() (net.Listener, error) {
	if o.listen == "" {
		return nil, nil
	}
	l, err := net.Listen("tcp", o.listen)
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	return l, nil
}

func (o *options) logger(out io.Writer) zerolog.Logger {
	level, _ := logging.Level(o.logLevel) // it was checked
	return logging.New(out, o.logFormat).Level(level).With().Str("cluster", o.cluster).Logger()
}

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
