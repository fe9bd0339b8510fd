package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/benbjohnson/clock"
	"github.com/rs/zerolog"
	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"

	"leeward/cmd/internal/exitcode"
	"leeward/cmd/internal/logging"
	"leeward/cmd/internal/probes"
	"leeward/messages/api"
	"leeward/runtime/client"
	"leeward/runtime/daemon/attach"
	"leeward/runtime/daemon/attach/karmada"
	"leeward/runtime/daemon/build"
	"leeward/runtime/daemon/telemetry"
)

// attaching are the options of a daemon that is attached to the API server of a cluster, and serves none.
type attaching struct {
	// attach is the kubeconfig of that server, or inCluster; empty: the daemon serves its own API.
	attach          string
	act             []string
	schedulerNames  []string
	attachNamespace string
	attachAddress   string
	comparisons     string
	recording       string
	zoneRates       bool
}

const (
	// inCluster means the service account of the pod that the daemon runs in.
	inCluster = "in-cluster"
	// actsOnNodes is what a daemon can act as beside the API server of a Kubernetes cluster.
	actsOnNodes = "node-taint-eviction"
)

// What a daemon can act as beside Karmada's.
const (
	actsAsScheduler           = "scheduler"
	actsAsEviction            = "eviction"
	actsAsGracefulEviction    = "graceful-eviction"
	actsAsApplicationFailover = "application-failover"
)

// together are those of them that go together only: an eviction starts with its destination, in one write. With Karmada's scheduler or taint
// manager in place of one of them it would not.
var together = []string{actsAsScheduler, actsAsEviction}

// actsAs are all that a daemon can act as.
var actsAs = append(append([]string{}, together...), actsAsGracefulEviction, actsAsApplicationFailover, actsOnNodes)

// addTo adds them as flags, at their defaults.
func (o *attaching) addTo(set *pflag.FlagSet) {
	set.StringVar(&o.attach, "attach", "", "kubeconfig of the API server of Karmada or of a Kubernetes cluster to run beside, or "+inCluster+"; without --act in shadow: nothing is written there")
	set.StringSliceVar(&o.act, "act", nil, "with --attach, what to act as: of a Kubernetes cluster "+actsOnNodes+"; of Karmada "+strings.Join(together, ",")+", and if wanted "+actsAsGracefulEviction+" and "+actsAsApplicationFailover)
	set.StringSliceVar(&o.schedulerNames, "scheduler-name", []string{"leeward"}, "with --act beside Karmada, the schedulerName of the bindings to act on, or some; "+api.DefaultScheduler+" also means those that name none, where no karmada-scheduler runs")
	set.StringVar(&o.attachNamespace, "attach-namespace", "leeward-system", "with --act, namespace of the Lease by which one of several daemons acts")
	set.StringVar(&o.attachAddress, "attach-address", "127.0.0.1:7480", "with --attach, address to serve /metrics, /readyz and /livez on, over HTTP")
	set.BoolVar(&o.zoneRates, "attach-zone-rates", false, "beside a Kubernetes cluster, begin evictions node by node in each zone, by nodeEvictionRate, secondaryNodeEvictionRate, largeClusterSizeThreshold and unhealthyZoneThreshold")
	set.StringVar(&o.recording, "shadow-recording", "", "with --attach, file to create and to record in what happens there, as leeward record does: 1 GiB at most")
	set.StringVar(&o.comparisons, "shadow-comparisons", "", "with --attach in shadow, file to append to how each decision compares with that of the control plane that acts, in JSON lines; -: standard output")
}

// validate reports what no flag can know by itself.
func (o *options) validateAttaching() (problems []error) {
	problems = o.validateAct()
	if o.attach == "" {
		if len(o.act) > 0 {
			problems = append(problems, errors.New("act: it needs attach, which says where"))
		}
		if o.recording != "" {
			problems = append(problems, errors.New("shadowRecording: it needs attach, which says where"))
		}
		if o.zoneRates {
			problems = append(problems, errors.New("attachZoneRates: it needs attach, which says where"))
		}
		return problems
	}
	if o.shadow && len(o.act) > 0 {
		problems = append(problems, errors.New("act: shadow must not be true then, because it writes nothing"))
	}
	if o.nodes || len(o.etcdServers) > 0 {
		problems = append(problems, errors.New("attach: nodes and etcdServers must not be given then, because the objects are those of the other API server"))
	}
	if wrong := validation.IsDNS1123Label(o.attachNamespace); len(wrong) > 0 {
		problems = append(problems, fmt.Errorf("attachNamespace: %q: %s", o.attachNamespace, strings.Join(wrong, "; ")))
	}
	return append(problems, o.validateAttachAddress()...)
}

// validateAct reports what cannot be acted as, or not together.
func (o *options) validateAct() (problems []error) {
	for _, what := range o.act {
		if !slices.Contains(actsAs, what) {
			problems = append(problems, fmt.Errorf("act: %q is none of %s", what, strings.Join(actsAs, ", ")))
		}
	}
	lacks := slices.DeleteFunc(slices.Clone(together), func(what string) bool { return slices.Contains(o.act, what) })
	switch onNodes := slices.Contains(o.act, actsOnNodes); {
	case len(o.act) == 0 || len(problems) > 0:
	case onNodes && len(o.act) > 1:
		problems = append(problems, fmt.Errorf("act: %s is for the API server of a Kubernetes cluster, and all else for that of Karmada", actsOnNodes))
	case !onNodes && len(lacks) > 0:
		problems = append(problems, fmt.Errorf("act: %s must be named, too: an eviction starts with its destination, in one write",
			strings.Join(lacks, ", ")))
	}
	for _, name := range o.schedulerNames {
		if wrong := validation.IsDNS1123Label(name); len(wrong) > 0 {
			problems = append(problems, fmt.Errorf("schedulerName: %q: %s", name, strings.Join(wrong, "; ")))
		}
	}
	if len(o.schedulerNames) == 0 {
		problems = append(problems, errors.New("schedulerName: it must not be empty"))
	}
	return problems
}

func (o *options) validateAttachAddress() []error {
	host, _, err := net.SplitHostPort(o.attachAddress)
	if err != nil {
		return []error{fmt.Errorf("attachAddress: %w", err)}
	}
	if ip := net.ParseIP(host); !o.expose && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return []error{fmt.Errorf("attachAddress: %s is not a loopback address: give --expose to allow that", o.attachAddress)}
	}
	return nil
}

// attached is a daemon that is attached.
type attached struct {
	beside
	log      zerolog.Logger
	metrics  *telemetry.Attached
	listener net.Listener
	compared *comparisons
	recorded *incidentRecording // nil: nothing is recorded
}

// beside decides beside an API server.
type beside interface {
	// Run decides until the context is done.
	Run(ctx context.Context) error
	// Ready says why nothing is decided, or not what was asked for.
	Ready() error
}

// newAttached listens, and opens the file of comparisons. The caller must run it.
func newAttached(ctx context.Context, c *configuration, log zerolog.Logger, out io.Writer) (*attached, error) {
	logging.HearLibraries(log)
	server, err := serverOf(c.attach)
	if err != nil {
		return nil, &exitcode.Exit{Code: exitcode.Invalid, Err: fmt.Errorf("attach: %w", err)}
	}
	is, err := attach.Recognise(ctx, server)
	if err != nil {
		return nil, &exitcode.Exit{Code: exitcode.Failed, Err: fmt.Errorf("attach: %w", err)}
	}
	log.Info().Str("server", string(is)).Str("address", server.Host).Msg("attached")
	d := &attached{log: log, metrics: telemetry.NewAttached(build.Of(debug.ReadBuildInfo()))}
	if d.compared, err = newComparisons(c.comparisons, out, log); err != nil {
		return nil, err
	}
	if is == attach.Karmada {
		d.beside, err = d.besideKarmada(c, server)
	} else {
		d.beside, err = d.besideKubernetes(c, server)
	}
	if err == nil && c.recording != "" {
		d.recorded, err = newRecording(c.recording, server, log)
	}
	if err != nil {
		return nil, errors.Join(err, d.compared.close())
	}
	if d.listener, err = net.Listen("tcp", c.attachAddress); err != nil {
		return nil, errors.Join(fmt.Errorf("attachAddress: %w", err), d.compared.close())
	}
	return d, nil
}

func (d *attached) besideKarmada(c *configuration, server *rest.Config) (beside, error) {
	if c.zoneRates {
		return nil, &exitcode.Exit{Code: exitcode.Invalid, Err: errors.New("attachZoneRates: it is for the API server of a Kubernetes cluster, and this is Karmada's")}
	}
	config := karmada.Config{Client: server, Settings: c.settings, Clock: clock.New(), Log: d.log, Metrics: d.metrics, Compared: d.compared.add}
	if len(c.act) == 0 {
		return karmada.New(config)
	}
	if slices.Contains(c.act, actsOnNodes) {
		return nil, &exitcode.Exit{Code: exitcode.Invalid, Err: fmt.Errorf("act: %s is for the API server of a Kubernetes cluster, and this is Karmada's", actsOnNodes)}
	}
	if problems := karmada.Validate(&c.settings); len(problems) > 0 {
		return nil, &exitcode.Exit{Code: exitcode.Invalid, Err: errors.Join(problems...)}
	}
	identity, err := identity()
	if err != nil {
		return nil, err
	}
	config.Act = &karmada.Acting{
		Schedulers: c.schedulerNames, GracefulEviction: slices.Contains(c.act, actsAsGracefulEviction), ApplicationFailover: slices.Contains(c.act, actsAsApplicationFailover),
		Namespace: c.attachNamespace, Timing: c.election, Identity: identity,
	}
	return karmada.New(config)
}

func (d *attached) besideKubernetes(c *configuration, server *rest.Config) (beside, error) {
	if len(c.act) > 0 && !slices.Contains(c.act, actsOnNodes) {
		return nil, &exitcode.Exit{Code: exitcode.Invalid, Err: fmt.Errorf("act: %s is for the API server of Karmada, and this is that of a Kubernetes cluster", strings.Join(c.act, ","))}
	}
	if problems := attach.Validate(&c.settings); len(problems) > 0 {
		return nil, &exitcode.Exit{Code: exitcode.Invalid, Err: errors.Join(problems...)}
	}
	identity, err := identity()
	if err != nil {
		return nil, err
	}
	return attach.New(attach.Config{
		Client: server, Settings: c.settings, Act: len(c.act) > 0, ZoneRates: c.zoneRates, Namespace: c.attachNamespace, Timing: c.election,
		Identity: identity, Clock: clock.New(), Log: d.log, Metrics: d.metrics, Compared: d.compared.add,
	})
}

// identity names this process, and no other ever.
func identity() (string, error) {
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("name this daemon: %w", err)
	}
	return host + "_" + string(uuid.NewUUID()), nil
}

// serverOf says where the API server is, and who asks.
func serverOf(kubeconfig string) (*rest.Config, error) {
	if kubeconfig == inCluster {
		return rest.InClusterConfig()
	}
	return client.Load(kubeconfig, "")
}

// run decides until the context is done.
func (d *attached) run(ctx context.Context, out io.Writer, reload <-chan os.Signal) error {
	d.log.Info().Str("address", d.listener.Addr().String()).Msg("listening")
	if d.compared.out != out { // else that has comparisons alone
		if _, err := fmt.Fprintf(out, "listening on http://%s\n", d.listener.Addr()); err != nil {
			return errors.Join(err, d.listener.Close(), d.compared.close())
		}
	}
	parts, ctx := errgroup.WithContext(ctx)
	ctx, end := context.WithCancel(ctx)
	if !tuned() {
		parts.Go(func() error {
			(&memory{percent: ownPercent, large: attachedPercent}).keep(ctx, clock.New())
			return nil
		})
	}
	parts.Go(func() error { return probes.Serve(ctx, d.listener, d.metrics.Gatherer(), "/livez", d.Ready) })
	parts.Go(func() error {
		defer end()
		return d.Run(ctx)
	})
	if d.recorded != nil {
		parts.Go(func() error { return d.recorded.run(ctx) })
	}
	parts.Go(func() error {
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-reload:
				d.log.Warn().Msg("the configuration of an attached daemon is read at its start: start it again")
			}
		}
	})
	err := errors.Join(parts.Wait(), d.compared.close())
	if errors.As(err, new(*attach.Rival)) || errors.As(err, new(*karmada.Rival)) || errors.As(err, new(*karmada.Missing)) {
		err = &exitcode.Exit{Code: exitcode.Failed, Err: err}
	}
	d.log.Info().Err(err).Msg("stopped")
	return err
}
