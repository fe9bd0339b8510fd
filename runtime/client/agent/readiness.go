package agent

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages/api"
)

// probe is what one look at the member found.
type probe struct {
	status          metav1.ConditionStatus
	reason, message string
}

// What probes find. Source: Karmada.
var (
	healthy     = probe{metav1.ConditionTrue, "ClusterReady", "cluster is healthy and ready to accept workloads"}
	unhealthy   = probe{metav1.ConditionFalse, "ClusterNotReady", "cluster is reachable but health endpoint responded without ok"}
	unreachable = probe{metav1.ConditionFalse, "ClusterNotReachable", "cluster is not reachable"}
)

// unanswered is what a probe finds that got no answer. What a person must mend is named; what else connections end by, which differs from
// probe to probe, is not.
func unanswered(err error) probe {
	found := unreachable
	var certificate *tls.CertificateVerificationError
	var invalid x509.CertificateInvalidError
	var address *net.DNSError
	var dial *net.OpError
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		c := invalid.Cert
		found.message += fmt.Sprintf(": its certificate is valid from %s to %s", c.NotBefore.UTC().Format(time.RFC3339), c.NotAfter.UTC().Format(time.RFC3339))
	case errors.As(err, &certificate):
		found.message += ": " + certificate.Error()
	case errors.As(err, &address):
		found.message += ": " + address.Error()
	case errors.As(err, &dial) && dial.Op == "dial":
		found.message += ": " + dial.Error()
	}
	return found
}

// readiness is what Ready says: what probes find changes it only once they found it for a threshold.
type readiness struct {
	current probe
	// differs is since when probes find another status than the current one; zero: they do not.
	differs time.Time
}

// reported is the readiness of an agent that begins: a member that was last reported as Ready must fail for a threshold, too.
func reported(c *api.ClusterStatus) readiness {
	if meta.IsStatusConditionTrue(c.Conditions, api.ConditionReady) {
		return readiness{current: healthy}
	}
	return readiness{}
}

// thresholds are how long probes must fail, or succeed, before Ready changes.
type thresholds struct{ failure, success time.Duration }

// observe takes in one probe. The first counts immediately.
func (r *readiness) observe(now time.Time, found probe, t thresholds) {
	if r.current.status == "" || r.current.status == found.status {
		r.current, r.differs = found, time.Time{}
		return
	}
	if r.differs.IsZero() {
		r.differs = now
	}
	threshold := t.failure
	if found.status == metav1.ConditionTrue {
		threshold = t.success
	}
	if now.Sub(r.differs) >= threshold {
		r.current, r.differs = found, time.Time{}
	}
}

func (p probe) condition(now time.Time) metav1.Condition {
	return metav1.Condition{
		Type: api.ConditionReady, Status: p.status, Reason: p.reason, Message: p.message,
		LastTransitionTime: metav1.Time{Time: now.UTC().Truncate(time.Second)},
	}
}
