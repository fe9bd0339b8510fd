package kubeapi

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/benbjohnson/clock"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/endpoints/discovery/aggregated"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/util/compatibility"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	basecompatibility "k8s.io/component-base/compatibility"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/lists"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/config"
)

// Config is what a server is made of. All of it is required but what says otherwise.
type Config struct {
	// Engine keeps the objects; it has the tables of Resources.
	Engine *engine.Engine
	// DataDir is the folder that the server keeps its certificates, its tokens.csv, its audit.jsonl and the
	// kubeconfig of an administrator in.
	DataDir string
	// Addr is where to listen, "127.0.0.1:7443"; port 0 is any.
	Addr string
	// Expose lets Addr be other than a loopback address.
	Expose bool
	// Hosts are further names and addresses that clients call the server by. Optional.
	Hosts []string
	// ServingCert and ServingKey are the files of the certificate that the server shows to all but its own machine, with
	// those of its authorities after it, and of its key. They are read again when they change. Optional: its own authority
	// signs one.
	ServingCert, ServingKey string
	// ClientCA is a file of authorities that are, beside its own, trusted to say who clients are: CN is the name, O are the
	// groups. It is read again when it changes. Optional.
	ClientCA string
	// Authentication is a file that says whose tokens tell who clients are, an AuthenticationConfiguration of Kubernetes
	// (apiserver.config.k8s.io). Optional.
	Authentication string

	Logger zerolog.Logger
	Clock  clock.Clock
	// Settings are those by which objects are completed and validated. They may change while the server runs.
	Settings func() *messages.Settings
	// Preview warns of what a write would lead to. Optional.
	Preview PreviewFunc
	// Answer fills in the status of a preview, and may change nothing. An error says what is wrong with the
	// question. Optional: without it no previews are served.
	Answer func(context.Context, *api.FailoverPreview) error
	// Member is how the API server of a cluster in push mode is reached, by its Secret, which is nil if there is none: requests at
	// clusters/NAME/proxy are passed on to it. Optional: without it none are.
	Member func(*api.Cluster, *corev1.Secret) (*url.URL, http.RoundTripper, error)
	// Page is the live page. Optional.
	Page *Page
	// Metrics are served at /metrics beside those of the server. Optional.
	Metrics prometheus.Gatherer
	// Ready says why what is written is not acted on. Optional.
	Ready func(context.Context) error
}

// Server is the Kubernetes API of the daemon.
type Server struct {
	generic   *server.GenericAPIServer
	listener  net.Listener
	authority *authority
	config    Config
	garbage   *collector
	limits    *limits
	page      *live // nil: none is served
	within    *within
	// forget ends what is known of the issuers of tokens.
	forget context.CancelFunc
}

// New returns a server that is about to listen, once it runs. It creates what is missing in the data folder, and the
// namespaces that are always there, and writes the kubeconfig.
func New(c Config) (*Server, error) {
	s := &Server{config: c, forget: func() {}, limits: newLimits(), within: newWithin()}
	if err := s.listen(); err != nil {
		return nil, err
	}
	if err := s.prepare(); err != nil {
		s.forget()
		return nil, errors.Join(err, s.listener.Close())
	}
	return s, nil
}

func (s *Server) prepare() error {
	if s.config.Page != nil {
		s.page = newLive(&s.config)
	}
	if err := s.build(); err != nil {
		return fmt.Errorf("make the API server: %w", err)
	}
	if err := foundNamespaces(s.config.Engine, metav1.NewTime(s.config.Clock.Now())); err != nil {
		return err
	}
	admin, err := s.Kubeconfig(Admin())
	if err != nil {
		return err
	}
	return writeKubeconfig(s.KubeconfigFile(), admin)
}

// Addr is where the server listens, with the port that it has got.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// reached is where clients on the same machine reach the server.
func (s *Server) reached() string {
	host, port, err := net.SplitHostPort(s.Addr())
	if address := net.ParseIP(host); err == nil && address != nil && address.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return s.Addr()
}

// KubeconfigFile is the kubeconfig of an administrator.
func (s *Server) KubeconfigFile() string { return filepath.Join(s.config.DataDir, "kubeconfig") }

// Kubeconfig makes a kubeconfig for a user.
func (s *Server) Kubeconfig(u User) (*clientcmdapi.Config, error) {
	return s.authority.kubeconfig(Endpoint{s.reached(), s.config.ServingCert}, u, s.config.Clock.Now())
}

// Run serves until the context is done, and then until the requests that are under way are answered.
func (s *Server) Run(ctx context.Context) error {
	defer s.forget()
	running, stop := context.WithCancel(ctx)
	prepared := s.generic.PrepareRun()
	var beside sync.WaitGroup
	beside.Go(func() { s.garbage.run(running) })
	if s.page != nil {
		beside.Go(func() { s.page.hub.Run(running) })
	}
	beside.Go(func() { s.within.serve(running, s.generic.Handler) })
	defer beside.Wait()
	defer stop()
	if err := prepared.RunWithContext(ctx); err != nil {
		return fmt.Errorf("serve the Kubernetes API: %w", err)
	}
	return nil
}

// listen takes the address, so that it is known from the start and no other process takes it.
func (s *Server) listen() error {
	host, _, err := net.SplitHostPort(s.config.Addr)
	if err != nil {
		return fmt.Errorf("listen on %q: %w", s.config.Addr, err)
	}
	if address := net.ParseIP(host); !s.config.Expose && host != "localhost" && (address == nil || !address.IsLoopback()) {
		return &config.Invalid{Problem: fmt.Errorf("listen on %q: not a loopback address: it takes --expose, or expose: true, to be reached from elsewhere", s.config.Addr)}
	}
	if s.listener, err = net.Listen("tcp", s.config.Addr); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	return nil
}

// build makes Kubernetes' server of the parts.
func (s *Server) build() error {
	scheme, err := newScheme(kindsIn(s.config.Engine))
	if err != nil {
		return err
	}
	codecs := serializer.NewCodecFactory(scheme)
	generic := server.NewConfig(codecs)
	generic.EffectiveVersion = asKubernetes{compatibility.DefaultBuildEffectiveVersion()}
	access := newRoles(s.config.Engine)
	generic.AdmissionControl = admission.NewChainHandler(lifecycle{s.config.Engine, access}, ownWrites{}, customRules{s.config.Engine, defaultCustomBounds})
	generic.EnableProfiling = false
	generic.ShutdownWatchTerminationGracePeriod, generic.LivezGracePeriod = watchesEnd, beginsWithin
	s.checkReadiness(generic)
	describe(generic, scheme)
	auditing(generic, s.config.DataDir)
	s.limiting(generic)
	generic.LongRunningFunc = lasting(generic.LongRunningFunc)
	if err := s.secure(generic); err != nil {
		return err
	}
	generic.Authorization.Authorizer, generic.RuleResolver = access, access
	generic.LoopbackClientConfig = s.within.client()
	generic.AggregatedDiscoveryGroupManager = aggregated.NewResourceManager("apis").WithSource(aggregated.BuiltinSource)
	completed, version2 := generic.Complete(nil), generic.OpenAPIConfig
	generic.OpenAPIConfig = nil
	keeps := keeper{
		admitting: admitting{settings: s.config.Settings, clock: s.config.Clock, preview: s.config.Preview},
		engine:    s.config.Engine, scheme: scheme, codecs: codecs, limits: s.limits, counts: generic.StorageObjectCountTracker,
	}
	custom, err := newCustomKinds(generic, customKeeper{&keeps})
	if err != nil {
		return err
	}
	if s.generic, err = completed.New("leewardd", custom); err != nil {
		return err
	}
	publishVersion2(s.generic.Handler, version2, custom)
	s.generic.ShutdownTimeout = stopsWithin
	s.serveMetrics()
	if s.page != nil {
		s.page.serve(s.generic)
	}
	served, err := keeps.all()
	if err != nil {
		return err
	}
	if err := s.complete(&keeps, served, access); err != nil {
		return err
	}
	s.garbage = newCollector(&s.config, &keeps, served)
	if err := custom.publish(s.generic); err != nil {
		return err
	}
	return s.install(served, scheme, codecs)
}

// asKubernetes says which Kubernetes the server is like, for clients that look at it.
type asKubernetes struct {
	basecompatibility.EffectiveVersion
}

func (v asKubernetes) Info() *version.Info {
	info := v.EffectiveVersion.Info()
	info.GitVersion = fmt.Sprintf("v%s.%s.0+leeward", info.Major, info.Minor)
	info.GitCommit, info.GitTreeState, info.BuildDate = "", "", ""
	return info
}

// complete adds what is more than a kind in a table: namespaces, events in their new group, and what is asked.
func (s *Server) complete(keeps *keeper, served map[schema.GroupVersion]map[string]rest.Storage, a roles) error {
	core := served[corev1.SchemeGroupVersion]
	core["namespaces"] = namespaces{objects: core["namespaces"].(objects), contents: inNamespaces(kindsIn(s.config.Engine), served), keeps: keeps}
	place(served, eventsv1.SchemeGroupVersion, "events", core["events"])
	if autoscalers := served[autoscalingv2.SchemeGroupVersion]; autoscalers != nil {
		place(served, autoscalingv1.SchemeGroupVersion, "horizontalpodautoscalers", autoscalers["horizontalpodautoscalers"])
	}
	decides := access{a, a}
	for path, r := range map[string]rest.Storage{ // order-free: each has its own place
		"selfsubjectaccessreviews":  review[*authorizationv1.SelfSubjectAccessReview]{singular: "selfsubjectaccessreview", answer: decides.ofSelf},
		"selfsubjectrulesreviews":   review[*authorizationv1.SelfSubjectRulesReview]{singular: "selfsubjectrulesreview", answer: decides.rulesOfSelf},
		"subjectaccessreviews":      review[*authorizationv1.SubjectAccessReview]{singular: "subjectaccessreview", answer: decides.ofOther},
		"localsubjectaccessreviews": review[*authorizationv1.LocalSubjectAccessReview]{singular: "localsubjectaccessreview", namespaced: true, answer: decides.ofOtherHere},
	} {
		place(served, authorizationv1.SchemeGroupVersion, path, r)
	}
	place(served, authenticationv1.SchemeGroupVersion, "selfsubjectreviews",
		review[*authenticationv1.SelfSubjectReview]{singular: "selfsubjectreview", answer: whoAmI})
	if s.config.Answer != nil {
		place(served, leewardVersion, "failoverpreviews", review[*api.FailoverPreview]{singular: "failoverpreview", answer: s.answer})
	}
	if !ofFleet(s.config.Engine) {
		return nil
	}
	return s.serveKarmada(keeps, served)
}

func (s *Server) answer(ctx context.Context, p *api.FailoverPreview) error {
	if err := s.config.Answer(ctx, p); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return nil
}

// install tells Kubernetes' server what it serves.
func (s *Server) install(served map[schema.GroupVersion]map[string]rest.Storage, scheme *runtime.Scheme, codecs serializer.CodecFactory) error {
	groups := map[string]*server.APIGroupInfo{}
	var names []string
	for gv, storages := range served { // order-free: sorted below
		if groups[gv.Group] == nil {
			info := server.NewDefaultAPIGroupInfo(gv.Group, scheme, metav1.ParameterCodec, codecs)
			if fleetGroup(gv.Group) {
				info.NegotiatedSerializer = textual{info.NegotiatedSerializer}
			}
			groups[gv.Group] = &info
			names = append(names, gv.Group)
		}
		groups[gv.Group].VersionedResourcesStorageMap[gv.Version] = storages
	}
	slices.Sort(names)
	if err := s.generic.InstallLegacyAPIGroup(server.DefaultLegacyAPIPrefix, groups[""]); err != nil {
		return fmt.Errorf("install the core group: %w", err)
	}
	return s.generic.InstallAPIGroups(lists.Of(names[1:], func(name string) *server.APIGroupInfo { return groups[name] })...)
}

// fleetGroup reports whether a group is not one of Kubernetes itself.
func fleetGroup(group string) bool {
	return strings.HasSuffix(group, ".karmada.io") || group == leewardVersion.Group
}

// textual speaks JSON and YAML only: kinds that are not Kubernetes' own have no other form.
type textual struct{ runtime.NegotiatedSerializer }

func (t textual) SupportedMediaTypes() []runtime.SerializerInfo {
	return slices.DeleteFunc(slices.Clone(t.NegotiatedSerializer.SupportedMediaTypes()), func(i runtime.SerializerInfo) bool {
		return i.MediaType == runtime.ContentTypeProtobuf
	})
}
