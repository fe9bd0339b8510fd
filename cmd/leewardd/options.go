package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"leeward/cmd/internal/exitcode"
	"leeward/cmd/internal/logging"
	"leeward/messages"
	"leeward/runtime/fleet/config"
)

// options are what the daemon is told beside the settings of its machines. Each is a flag, and its name in camelCase is
// a field of the configuration file.
type options struct {
	sharing
	attaching
	dataDir, bindAddress string
	securePort           int
	expose               bool
	tlsHosts             []string
	tlsCert, tlsKey      string
	clientCA             string
	authentication       string
	shadow               bool
	hugePages            bool
	nodes                bool
	ui                   bool
	clusterProxy         bool
	machineStepLimit     time.Duration
	invariantMonitor     bool
	profile              string
	logLevel, logFormat  string
}

// The bounds of machineStepLimit. One step of the scheduler places all workloads of an instant.
const (
	shortestStepLimit = time.Second
	longestStepLimit  = time.Hour
)

// asFlags are the options as flags, at their defaults.
func (o *options) asFlags() *pflag.FlagSet {
	set := pflag.NewFlagSet("options", pflag.ContinueOnError)
	set.SortFlags = false
	set.StringVar(&o.dataDir, "data-dir", "leewardd.data", "folder of the daemon's data")
	set.StringVar(&o.bindAddress, "bind-address", "127.0.0.1", "address to listen on")
	set.IntVar(&o.securePort, "secure-port", 7443, "port to listen on; 0: any free port")
	set.BoolVar(&o.expose, "expose", false, "allow an address that is not loopback")
	set.StringSliceVar(&o.tlsHosts, "tls-host", nil, "a further name or address of the daemon, for its certificate")
	set.StringVar(&o.tlsCert, "tls-cert-file", "", "file of the server's certificate, followed by those of its authorities (default: the daemon signs one)")
	set.StringVar(&o.tlsKey, "tls-private-key-file", "", "file of the key of that certificate")
	set.StringVar(&o.clientCA, "client-ca-file", "", "file of further authorities for client certificates")
	set.StringVar(&o.authentication, "authentication-config", "", "file of the issuers of OpenID Connect tokens for clients")
	set.BoolVar(&o.shadow, "shadow", false, "decide and log the decisions, and write nothing")
	set.DurationVar(&o.machineStepLimit, "machine-step-limit", 10*time.Second, "how long one step of a machine may take before it is quarantined and the others are recreated; 0: no limit")
	set.BoolVar(&o.invariantMonitor, "invariant-monitor", true, "check the invariants on every decision, and log and count those that are broken")
	set.BoolVar(&o.hugePages, "huge-pages", false, "ask the kernel to back the heap by huge pages (Linux)")
	set.BoolVar(&o.nodes, "nodes", false, "serve Nodes and Pods, too, and act on them and on PodDisruptionBudgets as the node controllers of Kubernetes do")
	set.BoolVar(&o.ui, "ui", true, "serve the live page at /ui, to users who may list clusters and bindings of all namespaces")
	set.BoolVar(&o.clusterProxy, "cluster-proxy", false, "pass requests at clusters/NAME/proxy on to members in push mode, for admins and the group leeward:member-admins")
	set.StringVar(&o.profile, "profile", config.Default, "the named set of settings: "+strings.Join(config.Profiles(), ", "))
	set.StringVar(&o.logLevel, "log-level", "info", "lowest level to log: debug, info, warn or error")
	set.StringVar(&o.logFormat, "log-format", logging.Auto, "json, console, or auto: console on a terminal and json elsewhere")
	o.sharing.addTo(set)
	o.attaching.addTo(set)
	return set
}

// validate reports what no flag can know by itself.
func (o *options) validate() []error {
	var problems []error
	if _, err := o.level(); err != nil {
		problems = append(problems, err)
	}
	if err := logging.CheckFormat(o.logFormat); err != nil {
		problems = append(problems, fmt.Errorf("logFormat: %w", err))
	}
	if o.securePort < 0 || o.securePort > 65535 {
		problems = append(problems, fmt.Errorf("securePort: %d is out of range: it must be 0 to 65535", o.securePort))
	}
	if o.machineStepLimit != 0 && (o.machineStepLimit < shortestStepLimit || o.machineStepLimit > longestStepLimit) {
		problems = append(problems, fmt.Errorf("machineStepLimit: %s is out of range: it must be 0, or %s to %s", o.machineStepLimit, shortestStepLimit, longestStepLimit))
	}
	if (o.tlsCert == "") != (o.tlsKey == "") {
		problems = append(problems, errors.New("tlsCertFile and tlsPrivateKeyFile must be given together"))
	}
	return append(append(problems, o.sharing.validate()...), o.validateAttaching()...)
}

func (o *options) level() (zerolog.Level, error) {
	level, err := logging.Level(o.logLevel)
	if err != nil {
		err = fmt.Errorf("logLevel: %w", err)
	}
	return level, err
}

func (o *options) address() string {
	return net.JoinHostPort(o.bindAddress, strconv.Itoa(o.securePort))
}

func (o *options) storeDir() string { return filepath.Join(o.dataDir, "store") }

// configuration is all that the daemon is told, and where each of it comes from.
type configuration struct {
	options
	flags    *pflag.FlagSet // of the options
	settings messages.Settings
	// sources say where a field was set: "leewardd.yaml:7", "--secure-port". What is at its default is not in it.
	sources map[string]string
}

// commandLine is what the daemon is told by flags, among it where its file is.
type commandLine struct {
	file      string
	given     *pflag.FlagSet
	overrides []config.Override
}

func newCommandLine() *commandLine { return &commandLine{given: new(options).asFlags()} }

// flags are those by which it is told.
func (c *commandLine) flags() *pflag.FlagSet {
	set := pflag.NewFlagSet("leewardd", pflag.ContinueOnError)
	set.SortFlags = false
	set.StringVar(&c.file, "config", "", "file of options and settings, in YAML")
	set.AddFlagSet(c.given)
	set.AddFlagSet(c.settingFlags())
	return set
}

// read makes the configuration of the command line, the file and the defaults: of two for one field the former holds.
// It reports every problem; with any, the configuration is not for use.
func (c *commandLine) read() (*configuration, error) {
	r := &configuration{sources: map[string]string{}}
	r.flags = r.asFlags()
	overrides, problems := r.readFile(c.file)
	c.given.VisitAll(func(flag *pflag.Flag) {
		if flag.Changed {
			r.sources[config.FieldOf(flag.Name)] = "--" + flag.Name
			copyValue(r.flags.Lookup(flag.Name), flag)
		}
	})
	overrides = append(overrides, c.overrides...)
	for _, o := range overrides {
		r.sources[o.Field] = o.Source
	}
	if r.attach != "" {
		r.besideAnother(r.sources)
	}
	problems = append(problems, r.validate()...)
	settings, wrong := config.Resolve(r.profile, overrides)
	r.settings = settings
	if problems = append(problems, wrong...); len(problems) > 0 {
		err := errors.Join(problems...)
		return r, &exitcode.Exit{Code: exitcode.OfInput(err), Err: err}
	}
	return r, nil
}

// readFile sets the options that a file names, and returns the settings.
func (r *configuration) readFile(path string) (settings []config.Override, problems []error) {
	if path == "" {
		return nil, nil
	}
	fields, problems := config.ReadFile(path)
	for _, o := range fields {
		flag := r.flags.Lookup(config.FlagOf(o.Field))
		switch {
		case flag != nil && config.FieldOf(flag.Name) == o.Field:
			if err := r.set(flag, o); err != nil {
				problems = append(problems, err)
			}
		case config.Known(o.Field):
			settings = append(settings, o)
		default:
			problems = append(problems, config.Unknown(o))
		}
	}
	return settings, problems
}

// set gives an option the value that it has in a file.
func (r *configuration) set(flag *pflag.Flag, o config.Override) error {
	r.sources[o.Field] = o.Source
	values, several := o.Value.([]any)
	if !several {
		values = []any{o.Value}
	}
	if list, ok := flag.Value.(pflag.SliceValue); ok && o.Value != nil {
		return list.Replace(texts(values))
	}
	if several || o.Value == nil || flag.Value.Set(fmt.Sprint(o.Value)) != nil {
		return fmt.Errorf("%s: %s: %v is not a %s", o.Source, o.Field, o.Value, flag.Value.Type())
	}
	return nil
}

// texts are values as flags take them; of none nil, as of a flag that was not given.
func texts(values []any) (all []string) {
	for _, v := range values {
		all = append(all, fmt.Sprint(v))
	}
	return all
}

// copyValue gives a flag the value of another of its type.
func copyValue(to, from *pflag.Flag) {
	var err error
	if list, ok := from.Value.(pflag.SliceValue); ok {
		err = to.Value.(pflag.SliceValue).Replace(list.GetSlice())
	} else {
		err = to.Value.Set(from.Value.String())
	}
	if err != nil {
		panic(fmt.Sprintf("leewardd: the value of --%s cannot be read again: %v", from.Name, err))
	}
}

// configCommand prints the configuration that holds.
func configCommand(line *commandLine) *cobra.Command {
	return &cobra.Command{
		Use:   "config",
		Short: "Print the effective configuration",
		Long: "config prints every option and every setting after flags, file and profile, and beside each that differs from\n" +
			"the profile where it was set. The output is a configuration file.",
		Example: "  leewardd config --config docs/examples/leewardd.yaml\n  leewardd config --profile karmada > leewardd.yaml",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			r, err := line.read()
			if err != nil {
				return err
			}
			return r.write(c.OutOrStdout())
		},
	}
}

// write prints a configuration as a file that says the same.
func (r *configuration) write(out io.Writer) error {
	var b strings.Builder
	b.WriteString("# The daemon itself: docs/operations.md.\n")
	var wrong error
	r.flags.VisitAll(func(flag *pflag.Flag) {
		text, err := inYAML(flag.Value)
		wrong = errors.Join(wrong, err)
		r.writeField(&b, config.FieldOf(flag.Name), text)
	})
	if wrong != nil {
		return fmt.Errorf("write the configuration: %w", wrong)
	}
	b.WriteString("\n# Its machines: docs/profiles.md.\n")
	for _, f := range config.Fields() {
		r.writeField(&b, f.Name, cmp.Or(f.Of(&r.settings), `""`))
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// inYAML writes the value of an option on one line.
func inYAML(v pflag.Value) (string, error) {
	var value any = v.String()
	if list, ok := v.(pflag.SliceValue); ok {
		value = append([]string{}, list.GetSlice()...) // none is [], and not null
	} else if v.Type() != "string" {
		return v.String(), nil
	}
	text, err := json.Marshal(value) // which is YAML, too
	return string(text), err
}

func (r *configuration) writeField(b *strings.Builder, field, text string) {
	fmt.Fprintf(b, "%s: %s", field, text)
	if source := r.sources[field]; source != "" {
		fmt.Fprintf(b, " # %s", source)
	}
	b.WriteByte('\n')
}
