package kubeapi

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/component-base/metrics/legacyregistry"
)

// watchesEnd is how long a server that stops waits for its watches to end: they would go on for ever.
const watchesEnd = 2 * time.Second

// stopsWithin is how long a server that stops waits for the requests that are under way.
const stopsWithin = 5 * time.Second

// beginsWithin is how long a server that begins may take for it before it counts as dead. Source: kube-apiserver's
// --livez-grace-period, as kubeadm's probes give it.
const beginsWithin = 30 * time.Second

// checkReadiness has /readyz say whether writes are taken and acted on.
func (s *Server) checkReadiness(c *server.Config) {
	c.ReadyzChecks = append(c.ReadyzChecks, healthz.NamedCheck("store", s.checkStore))
	if s.config.Ready != nil {
		c.ReadyzChecks = append(c.ReadyzChecks, healthz.NamedCheck("machines", func(r *http.Request) error { return s.config.Ready(r.Context()) }))
	}
}

// checkStore says why writes are not taken, or, of a store that is shared, why it is not known what is new.
func (s *Server) checkStore(r *http.Request) error {
	if err := s.config.Engine.Health(); err != nil {
		return err
	}
	return s.config.Engine.Fresh(r.Context())
}

// serveMetrics serves the daemon's own metrics beside those of Kubernetes' server.
func (s *Server) serveMetrics() {
	if s.config.Metrics == nil {
		return
	}
	paths := s.generic.Handler.NonGoRestfulMux
	paths.Unregister("/metrics")
	paths.Handle("/metrics", promhttp.HandlerFor(prometheus.Gatherers{legacyregistry.DefaultGatherer, s.config.Metrics}, promhttp.HandlerOpts{}))
}
