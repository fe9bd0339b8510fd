package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/rs/zerolog"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/election"
)

// configured reads a command line, with a file of the text in place of FILE.
func configured(t testing.TB, file string, args ...string) (*configuration, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "leewardd.yaml")
	require.NoError(t, os.WriteFile(path, []byte(file), 0o600))
	line := newCommandLine()
	require.NoError(t, line.flags().Parse(append(args, "--config", path)))
	return line.read()
}

func TestFlagsHoldAgainstTheFileAndThatAgainstTheProfile(t *testing.T) {
	c, err := configured(t, "profile: karmada\nsecurePort: 8443\nbindAddress: 0.0.0.0\ngracefulEvictionTimeout: 5m\nevictionWorkers: 7\n",
		"--secure-port", "9443", "--graceful-eviction-timeout", "1m30s")
	require.NoError(t, err)
	require.Equal(t, "0.0.0.0:9443", c.address())
	require.Equal(t, 90*time.Second, c.settings.GracefulEvictionTimeout)
	require.Equal(t, 7, c.settings.EvictionWorkers)
	require.Equal(t, 10*time.Second, c.settings.TaintRelistPeriod, "of the profile")
	require.Equal(t, "leewardd.data", c.dataDir, "the default")
	require.Equal(t, map[string]string{
		"profile": "leewardd.yaml:1", "securePort": "--secure-port", "bindAddress": "leewardd.yaml:3",
		"gracefulEvictionTimeout": "--graceful-eviction-timeout", "evictionWorkers": "leewardd.yaml:5",
	}, c.sources)
}

func TestKarmadasFlagsAreUnderstood(t *testing.T) {
	c, err := configured(t, "", "--profile=karmada", "--feature-gates=Failover=true,GracefulEviction=false", "--enable-no-execute-taint-eviction",
		"--resource-eviction-rate=2.5", "--no-execute-taint-eviction-purge-mode=Directly", "--cluster-monitor-grace-period=1m", "--set", "keepLastCopy=true")
	require.NoError(t, err)
	require.True(t, c.settings.Failover)
	require.False(t, c.settings.GracefulEviction)
	require.True(t, c.settings.EnableNoExecuteTaintEviction)
	require.Equal(t, 2.5, c.settings.ResourceEvictionRate)
	require.EqualValues(t, "Directly", c.settings.NoExecuteTaintEvictionPurgeMode)
	require.Equal(t, time.Minute, c.settings.ClusterMonitorGracePeriod)
	require.True(t, c.settings.KeepLastCopy)
}

func TestEveryMistakeIsToldWithItsPlace(t *testing.T) {
	_, err := configured(t, "securePort: many\ngracefulEvictionTimout: 5m\ngracefulEvictionTimeout: soon\nlogLevel: loud\n",
		"--log-format", "xml", "--secure-port", "70000", "--tls-cert-file", "a.crt", "--set", "evictionWorkers=-1", "--cluster-lease-duration", "x")
	require.EqualError(t, err, `leewardd.yaml:1: securePort: many is not a int
leewardd.yaml:2: unknown field "gracefulEvictionTimout"; did you mean gracefulEvictionTimeout?
logLevel: "loud" is not one of debug, info, warn, error
logFormat: "xml" is not one of auto, json, console
securePort: 70000 is out of range: it must be 0 to 65535
tlsCertFile and tlsPrivateKeyFile must be given together
leewardd.yaml:3: gracefulEvictionTimeout: "soon" is not a duration: give it a unit, such as 90s, 10m or 1d
--set: evictionWorkers: -1 is out of range: it must be 0 or more
--cluster-lease-duration: clusterLeaseDuration: "x" is not a duration: give it a unit, such as 90s, 10m or 1d`)
}

func TestOptionsOfAFileHaveTheirTypes(t *testing.T) {
	c, err := configured(t, "tlsHost: [a.example, b.example]\nexpose: true\nshadow: true\n")
	require.NoError(t, err)
	require.Equal(t, []string{"a.example", "b.example"}, c.tlsHosts)
	require.True(t, c.expose && c.shadow)

	c, err = configured(t, "tlsHost: c.example\n", "--tls-host=d.example,e.example")
	require.NoError(t, err)
	require.Equal(t, []string{"d.example", "e.example"}, c.tlsHosts)

	_, err = configured(t, "dataDir: [a, b]\nexpose:\ntlsHost:\n")
	require.EqualError(t, err, "leewardd.yaml:1: dataDir: [a b] is not a string\n"+
		"leewardd.yaml:2: expose: <nil> is not a bool\nleewardd.yaml:3: tlsHost: <nil> is not a stringSlice")
}

func TestSharingAnEtcdIsHeldToWhatCanWork(t *testing.T) {
	c, err := configured(t, "etcdServers: [\"https://a:2379\", \"https://b:2379\"]\netcdPrefix: /prod\n", "--leader-elect-lease-duration=30s")
	require.NoError(t, err)
	require.Equal(t, []string{"https://a:2379", "https://b:2379"}, c.etcdServers)
	require.Equal(t, "/prod", c.etcdPrefix)
	require.Equal(t, election.Timing{LeaseDuration: 30 * time.Second, RenewDeadline: 3500 * time.Millisecond, RetryPeriod: time.Second}, c.election)

	_, err = configured(t, "etcdPrefix: prod/\netcdCompactionInterval: -1s\nleaderElectLeaseDuration: 3s\n")
	require.EqualError(t, err, `etcdPrefix: "prod/" must begin with a slash and not end with one
etcdCompactionInterval: -1s must be 0 or more
leaderElectRenewDeadline: 3.5s must be less than leaderElectLeaseDuration, 3s`)

	c, err = configured(t, "", "--etcd-servers=https://a:2379", "--etcd-cafile=nowhere.pem")
	require.NoError(t, err)
	_, err = c.openEtcd(clock.New())
	require.EqualError(t, err, "read the certificates for etcd: open nowhere.pem: no such file or directory")
}

// TestWhatIsPrintedIsAConfigurationThatSaysTheSame prints each profile, and what a file and flags make of one.
func TestWhatIsPrintedIsAConfigurationThatSaysTheSame(t *testing.T) {
	for _, profile := range config.Profiles() {
		c, err := configured(t, "dataDir: \"a: b\"\ntlsHost: [x, y]\nfailover: false\netcdServers: [z]\n", "--profile", profile, "--set", "missingConditionStatus=True")
		require.NoError(t, err)
		var printed bytes.Buffer
		require.NoError(t, c.write(&printed))
		again, err := configured(t, printed.String())
		require.NoError(t, err)
		require.Equal(t, c.settings, again.settings)
		require.Equal(t, c.options, again.options)
		require.Contains(t, printed.String(), "\ndataDir: \"a: b\" # leewardd.yaml:1\n")
		require.Contains(t, printed.String(), "\nfailover: false # leewardd.yaml:3\n")
	}
}

func TestEveryOptionIsKnownToTheCheckOfAConfiguration(t *testing.T) {
	var names []string
	new(options).asFlags().VisitAll(func(flag *pflag.Flag) { names = append(names, config.FieldOf(flag.Name)) })
	require.Equal(t, names, config.Options())
}

func TestTheInvariantMonitorRunsUnlessItIsTurnedOff(t *testing.T) {
	for file, monitored := range map[string]bool{"": true, "invariantMonitor: false\n": false} {
		c, err := configured(t, file, "--data-dir", t.TempDir(), "--secure-port", "0")
		require.NoError(t, err)
		d, err := newDaemon(newCommandLine(), c, zerolog.Nop())
		require.NoError(t, err)
		require.Equal(t, monitored, !d.machines.config.Unmonitored)
		require.NoError(t, d.engine.Close())
	}
}

// The API server of another control plane may be slow: its controllers' times hold there, unless others are given.
func TestAnElectionAtAnotherAPIServerIsNotHasty(t *testing.T) {
	for _, c := range []struct {
		file string
		want election.Timing
	}{
		{"", election.Timing{LeaseDuration: 5 * time.Second, RenewDeadline: 3500 * time.Millisecond, RetryPeriod: time.Second}},
		{"attach: in-cluster\n", election.Timing{LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second}},
		{"attach: in-cluster\nleaderElectRetryPeriod: 3s\n", election.Timing{LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 3 * time.Second}},
	} {
		o, err := configured(t, c.file)
		require.NoError(t, err)
		require.Equal(t, c.want, o.election, c.file)
	}
}
