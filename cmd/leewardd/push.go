package main

import (
	"io"
	"net/http"
	"net/url"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"leeward/messages/api"
	"leeward/runtime/client"
	"leeward/runtime/client/credentials"
	"leeward/runtime/client/push"
	"leeward/runtime/daemon/kubeapi"
)

// The bounds of push mode. Of a member that accepts connections and never answers, the Lease is still renewed within the grace period.
const (
	pushTimeout = 10 * time.Second
	pushWorkers = 4
)

// newPusher acts for the clusters in push mode. To the API it is a client as any other, with the rights of their agents.
func (d *daemon) newPusher() *push.Pusher {
	return push.New(push.Config{
		Hub: func() (*client.Client, error) {
			c, err := d.reach(kubeapi.Pusher())
			if err != nil {
				return nil, err
			}
			if c, err = credentials.Apart(c); err != nil {
				return nil, err
			}
			return client.New(c, io.Discard)
		},
		Agent: func(cluster string) (*rest.Config, error) { return d.reach(kubeapi.Agent(cluster)) },
		Clock: d.clock, Log: d.log, Metrics: d.metrics.Registerer(), Pace: d.pace,
		Timeout: pushTimeout, Workers: pushWorkers, Most: credentials.Most,
	})
}

// pace is how the settings have members be probed.
func (d *daemon) pace() push.Pace {
	s := d.machines.settings.Load()
	return push.Pace{Heartbeat: max(s.ClusterStatusUpdateFrequency, time.Second), Failure: s.ClusterFailureThreshold, Success: s.ClusterSuccessThreshold}
}

// reach is how a user reaches this daemon from this machine.
func (d *daemon) reach(u kubeapi.User) (*rest.Config, error) {
	k, err := d.server.Kubeconfig(u)
	if err != nil {
		return nil, err
	}
	c, err := clientcmd.NewDefaultClientConfig(*k, nil).ClientConfig()
	if err != nil {
		return nil, err
	}
	c.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil }
	return c, nil
}

// member is how the daemon reaches members for others who ask for it; nil: it does not.
func (o *options) member() func(*api.Cluster, *corev1.Secret) (*url.URL, http.RoundTripper, error) {
	if !o.clusterProxy {
		return nil
	}
	return func(c *api.Cluster, s *corev1.Secret) (*url.URL, http.RoundTripper, error) {
		m, err := credentials.Read(c, s)
		if err != nil {
			return nil, nil, err
		}
		return m.Stream()
	}
}
