package config

import (
	"fmt"
	"slices"

	"leeward/messages/spelling"
)

// ProfileOption is the option that names the profile under which the settings of a file hold.
const ProfileOption = "profile"

// options are the fields of leewardd's configuration file beside the settings, in the order of the daemon's flags.
var options = []string{
	"dataDir", "bindAddress", "securePort", "expose", "tlsHost", "tlsCertFile", "tlsPrivateKeyFile", "clientCaFile",
	"authenticationConfig", "shadow", "machineStepLimit", "invariantMonitor", "hugePages", "nodes", "ui", "clusterProxy", ProfileOption, "logLevel", "logFormat",
	"etcdServers", "etcdPrefix", "etcdCafile", "etcdCertfile", "etcdKeyfile", "etcdCompactionInterval",
	"leaderElectLeaseDuration", "leaderElectRenewDeadline", "leaderElectRetryPeriod",
	"attach", "act", "schedulerName", "attachNamespace", "attachAddress", "attachZoneRates", "shadowRecording", "shadowComparisons",
}

// Options returns the fields of leewardd's configuration file that are no settings: what the daemon is told beside
// those of its machines. Their values are the daemon's to check.
func Options() []string { return slices.Clone(options) }

// Unknown says that a field of a configuration file is neither a setting nor an option, and which one it resembles.
func Unknown(o Override) error {
	names := Options()
	for _, f := range fields {
		names = append(names, f.Name)
	}
	return fmt.Errorf("%s: unknown field %q%s", o.Source, o.Field, spelling.Hint(o.Field, names))
}

// Invalid says that what a configuration names cannot be used: a file, an address.
type Invalid struct{ Problem error }

func (e *Invalid) Error() string { return e.Problem.Error() }

// Unwrap returns the problem.
func (e *Invalid) Unwrap() error { return e.Problem }
