package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/spf13/pflag"

	"leeward/runtime/daemon/etcd"
	"leeward/runtime/fleet/election"
)

// sharing are the options of a daemon that shares an etcd with others. Their names are those of Kubernetes' flags.
type sharing struct {
	// etcdServers are the members of the etcd that keeps the objects; none: the data folder does.
	etcdServers                                       []string
	etcdPrefix, etcdCAFile, etcdCertFile, etcdKeyFile string
	etcdCompaction                                    time.Duration
	election                                          election.Timing
}

// addTo adds them as flags, at their defaults.
func (o *sharing) addTo(set *pflag.FlagSet) {
	set.StringSliceVar(&o.etcdServers, "etcd-servers", nil, "an etcd that several daemons share, in place of the data folder's store: https://10.0.0.1:2379,...")
	set.StringVar(&o.etcdPrefix, "etcd-prefix", "/leeward", "prefix of every key in etcd; each fleet needs its own")
	set.StringVar(&o.etcdCAFile, "etcd-cafile", "", "authority that signs the certificates of etcd")
	set.StringVar(&o.etcdCertFile, "etcd-certfile", "", "client certificate of the daemon at etcd")
	set.StringVar(&o.etcdKeyFile, "etcd-keyfile", "", "key of that certificate")
	set.DurationVar(&o.etcdCompaction, "etcd-compaction-interval", 5*time.Minute, "how often to compact etcd; 0: never")
	set.DurationVar(&o.election.LeaseDuration, "leader-elect-lease-duration", 5*time.Second, "how long a standby waits for a leader that does not renew its lease (with --attach 15s)")
	set.DurationVar(&o.election.RenewDeadline, "leader-elect-renew-deadline", 3500*time.Millisecond, "how long a leader tries to renew its lease before it gives up (with --attach 10s)")
	set.DurationVar(&o.election.RetryPeriod, "leader-elect-retry-period", time.Second, "how often each daemon checks the lease (with --attach 2s)")
}

// besideAnother has the defaults of an election by another control plane's API server be those of its controllers: that server may be
// slow.
func (o *sharing) besideAnother(given map[string]string) {
	usual := election.Usual
	for field, times := range map[string][2]*time.Duration{
		"leaderElectLeaseDuration": {&o.election.LeaseDuration, &usual.LeaseDuration},
		"leaderElectRenewDeadline": {&o.election.RenewDeadline, &usual.RenewDeadline},
		"leaderElectRetryPeriod":   {&o.election.RetryPeriod, &usual.RetryPeriod},
	} {
		if given[field] == "" {
			*times[0] = *times[1]
		}
	}
}

// openEtcd connects to the etcd that keeps the objects; nil where the data folder does.
func (o *sharing) openEtcd(c clock.Clock) (*etcd.Store, error) {
	if len(o.etcdServers) == 0 {
		return nil, nil
	}
	return etcd.Open(etcd.Config{
		Servers: o.etcdServers, Prefix: o.etcdPrefix, CAFile: o.etcdCAFile, CertFile: o.etcdCertFile, KeyFile: o.etcdKeyFile, Clock: c,
	})
}

// validate reports what no flag can know by itself.
func (o *sharing) validate() []error {
	var problems []error
	if !strings.HasPrefix(o.etcdPrefix, "/") || strings.HasSuffix(o.etcdPrefix, "/") {
		problems = append(problems, fmt.Errorf("etcdPrefix: %q must begin with a slash and not end with one", o.etcdPrefix))
	}
	if o.etcdCompaction < 0 {
		problems = append(problems, fmt.Errorf("etcdCompactionInterval: %s must be 0 or more", o.etcdCompaction))
	}
	return append(problems, o.election.Validate()...)
}
