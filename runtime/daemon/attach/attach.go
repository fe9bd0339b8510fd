package attach

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/benbjohnson/clock"
	"github.com/rs/zerolog"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"

	"leeward/messages"
	"leeward/runtime/daemon/attach/writing"
	"leeward/runtime/daemon/telemetry"
	"leeward/runtime/fleet/election"
	"leeward/runtime/fleet/shadow"
)

// Config is how a daemon attaches.
type Config struct {
	// Client says where the API server is and who asks.
	Client *rest.Config
	// Settings say how pods are evicted. They must have exact deadlines.
	Settings messages.Settings
	// Act evicts pods. False: it is reported what would be evicted, and nothing is written.
	Act bool
	// ZoneRates has evictions begin node by node in each zone, at the rates of the settings, and stop where a zone is disrupted.
	ZoneRates bool
	// Namespace has the Lease by which one of several daemons acts, Timing says how long one that is gone is waited for, and Identity names
	// this one and no other process ever.
	Namespace, Identity string
	Timing              election.Timing
	Clock               clock.Clock
	Log                 zerolog.Logger
	Metrics             *telemetry.Attached
	// Compared hears, in shadow, how an eviction compares with that of the cluster's own controller.
	Compared func(*shadow.Comparison)
}

// LeaseName is that of the Lease by which one of several Leewards acts.
const LeaseName = "leewardd-node-taint-eviction"

// Attachment is a daemon that is attached to the API server of a cluster.
type Attachment struct {
	config  Config
	rest    *rest.Config
	client  *kubernetes.Clientset
	watched *watched
	mode    atomic.Value // a string
	// why it stepped back; nil: it has not.
	why atomic.Pointer[Rival]
}

// Validate reports what the machines of a cluster that is not ours cannot run with.
func Validate(s *messages.Settings) []error {
	var problems []error
	for _, must := range []struct {
		name string
		is   bool
	}{
		{"exactPodDeadlines", s.ExactPodDeadlines}, {"podEvictionUntilDone", s.PodEvictionUntilDone},
		{"podEvictionSparesFinished", s.PodEvictionSparesFinished}, {"podEvictionNamesTaint", s.PodEvictionNamesTaint},
	} {
		if !must.is {
			problems = append(problems, fmt.Errorf("%s: it must be true with --attach, as in profile leeward", must.name))
		}
	}
	return problems
}

// New returns an attachment that is yet to run.
func New(c Config) (*Attachment, error) {
	own := rest.CopyConfig(c.Client)
	own.UserAgent = fieldManager
	own.QPS = -1 // the queue says how many requests are made
	own.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	clients, err := kubernetes.NewForConfig(own)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", own.Host, err)
	}
	a := &Attachment{config: c, rest: own, client: clients}
	a.enter(telemetry.Starting)
	a.watched, err = watch(clients, a.lost)
	return a, err
}

// lost notes that nodes or pods could not be followed. client-go tries again.
func (a *Attachment) lost(err error) {
	a.config.Metrics.Lost()
	a.config.Log.Warn().Err(err).Msg("nodes or pods cannot be followed, and are asked for again")
}

func (a *Attachment) enter(mode string) {
	a.mode.Store(mode)
	a.config.Metrics.Mode(mode)
}

// Ready says why nothing is decided, or not what was asked for.
func (a *Attachment) Ready() error {
	if r := a.why.Load(); r != nil {
		return fmt.Errorf("stepped back to shadow: %w", r)
	}
	if a.mode.Load() == telemetry.Starting {
		return errors.New("the nodes and pods have not been listed yet")
	}
	return nil
}

// Run decides until the context is done. A *Rival is why it does not begin to act.
func (a *Attachment) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer a.watched.stop()
	defer cancel()
	if err := a.watched.start(ctx); err != nil {
		return nil // the context is done
	}
	if !a.config.Act {
		a.enter(telemetry.Shadow)
		a.config.Log.Info().Bool("shadow", true).Msg("started")
		return a.decide(ctx, nil)
	}
	if r := a.rival(); r != nil {
		return r
	}
	a.enter(telemetry.Standby)
	a.config.Log.Info().Bool("shadow", false).Msg("started")
	return a.campaign(ctx)
}

// campaign acts whenever this process leads. Once another controller acts, too, it steps back to shadow for good.
func (a *Attachment) campaign(ctx context.Context) error {
	candidate := &writing.Candidate{
		Client: a.rest, Namespace: a.config.Namespace, Name: LeaseName, Identity: a.config.Identity,
		Timing: a.config.Timing, Clock: a.config.Clock, Log: a.config.Log,
	}
	for ctx.Err() == nil {
		err := candidate.Stand(ctx, a.act)
		if rival := new(Rival); errors.As(err, &rival) {
			a.why.Store(rival)
			a.enter(telemetry.SteppedBack)
			a.config.Log.Error().Err(rival).Msg("stepped back to shadow: nothing is written any more")
			return a.decide(ctx, nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// act evicts pods until the context is done or the Lease is lost. The one that acted before may have been no Leeward.
func (a *Attachment) act(ctx context.Context, l *writing.Lease) error {
	if r := a.rival(); r != nil {
		return r
	}
	a.enter(telemetry.Acting)
	a.config.Log.Info().Msg("this daemon acts")
	defer func() {
		a.enter(telemetry.Standby)
		a.config.Log.Info().Msg("this daemon acts no longer")
	}()
	return a.decide(ctx, l)
}

// events returns what writes Events, as many as client-go lets through, and what ends that.
func (a *Attachment) events(ctx context.Context) (record.EventRecorder, func()) {
	b := record.NewBroadcaster(record.WithContext(ctx))
	b.StartRecordingToSink(&corev1client.EventSinkImpl{Interface: a.client.CoreV1().Events("")})
	return b.NewRecorder(scheme, corev1.EventSource{Component: fieldManager}), b.Shutdown
}

// scheme has the kinds that Events are about.
var scheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	if err := corev1.AddToScheme(s); err != nil {
		panic(fmt.Sprintf("attach: %v", err)) // it has no two kinds of one name
	}
	return s
}()

// Server is what an API server is the server of.
type Server string

// The servers that a daemon can be attached to.
const (
	Karmada    Server = "Karmada"
	Kubernetes Server = "Kubernetes"
)

// karmadas are the groups of Karmada's API.
var karmadas = []string{"cluster.karmada.io", "policy.karmada.io", "work.karmada.io"}

// Recognise asks an API server, by discovery, what it is. Karmada's serves Kubernetes' kinds, too, and no kubelet looks at them. An error
// says what the server has, and what it lacks.
func Recognise(ctx context.Context, c *rest.Config) (Server, error) {
	clients, err := kubernetes.NewForConfig(c)
	if err != nil {
		return "", fmt.Errorf("connect to %s: %w", c.Host, err)
	}
	ask := func(path string, answer any) error {
		answered := clients.RESTClient().Get().AbsPath(path).SetHeader("Accept", "application/json").Do(ctx)
		err := answered.Error() // in the server's words
		if err == nil {
			data, _ := answered.Raw() // it has no error
			err = json.Unmarshal(data, answer)
		}
		if err != nil {
			return fmt.Errorf("ask the API server what it has: GET %s: %w", path, err)
		}
		return nil
	}
	var groups metav1.APIGroupList
	if err := ask("/apis", &groups); err != nil {
		return "", err
	}
	has := func(name string) bool {
		return slices.ContainsFunc(groups.Groups, func(g metav1.APIGroup) bool { return g.Name == name })
	}
	lacks := slices.DeleteFunc(slices.Clone(karmadas), has)
	switch {
	case len(lacks) == 0:
		return Karmada, nil
	case len(lacks) < len(karmadas):
		return "", fmt.Errorf("the API server has a part of Karmada's API, and not %s: it is neither Karmada's nor that of a cluster", strings.Join(lacks, ", "))
	}
	var core metav1.APIResourceList
	if err := ask("/api/v1", &core); err != nil {
		return "", err
	}
	for _, name := range []string{"nodes", "pods"} {
		if !slices.ContainsFunc(core.APIResources, func(r metav1.APIResource) bool { return r.Name == name }) {
			return "", fmt.Errorf("the API server has neither Karmada's API (%s) nor %s: give the kubeconfig of a Karmada or a Kubernetes API server", strings.Join(karmadas, ", "), name)
		}
	}
	return Kubernetes, nil
}
