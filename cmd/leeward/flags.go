package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"leeward/cmd/internal/exitcode"
	"leeward/messages"
	"leeward/runtime/client"
	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/span"
	"leeward/runtime/storm"
)

// seedFlag is a seed that may be omitted.
type seedFlag struct {
	value uint64
	set   bool
}

func (f *seedFlag) Set(s string) error {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return errors.New("must be a whole number from 0 to 18446744073709551615")
	}
	f.value, f.set = n, true
	return nil
}

func (f *seedFlag) String() string {
	if !f.set {
		return ""
	}
	return strconv.FormatUint(f.value, 10)
}

func (*seedFlag) Type() string { return "number" }

// countFlag is a number of things, one at least.
type countFlag int

func (f *countFlag) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return errors.New("must be a whole number, 1 or more")
	}
	*f = countFlag(n)
	return nil
}

func (f *countFlag) String() string { return strconv.Itoa(int(*f)) }

func (*countFlag) Type() string { return "number" }

// spanFlag is a length of virtual time; zero is none.
type spanFlag time.Duration

func (f *spanFlag) Set(s string) error {
	d, err := span.Parse(s)
	if err == nil && d == 0 {
		err = errors.New("must be longer than 0s")
	}
	*f = spanFlag(d)
	return err
}

func (f *spanFlag) String() string {
	if *f == 0 {
		return ""
	}
	return span.String(time.Duration(*f))
}

func (*spanFlag) Type() string { return "duration" }

// wordFlag is one of several words.
type wordFlag struct {
	word    string
	choices []string
}

func (f *wordFlag) Set(s string) error {
	if !slices.Contains(f.choices, s) {
		return fmt.Errorf("must be one of %s", strings.Join(f.choices, ", "))
	}
	f.word = s
	return nil
}

func (f *wordFlag) String() string { return f.word }

func (*wordFlag) Type() string { return "word" }

// add gives a command the flag, with its words for shells. Without a letter it has none.
func (f *wordFlag) add(c *cobra.Command, name, letter, usage string) {
	c.Flags().VarP(f, name, letter, usage)
	complete(c, name, f.choices)
}

// profileFlag gives a command the flag for a profile of settings.
func profileFlag(c *cobra.Command, profile *string, usage string) {
	c.Flags().StringVar(profile, "profile", "", usage)
	complete(c, "profile", config.Profiles())
}

// outageFlag is the kind of an outage.
func outageFlag() wordFlag {
	return wordFlag{string(messages.OutagePower), []string{string(messages.OutagePower), string(messages.OutageNetwork), string(messages.OutageAPIServer)}}
}

// overrideFlag is a list of settings to change.
type overrideFlag []config.Override

func (f *overrideFlag) Set(s string) error { return f.add(s, "--set") }

// add reads a setting that a flag changes.
func (f *overrideFlag) add(s, flag string) error {
	o, err := config.ParseOverride(s, flag)
	if err == nil {
		*f = append(*f, o)
	}
	return err
}

func (f *overrideFlag) String() string { return "" }

func (*overrideFlag) Type() string { return "field=value" }

// mixFlag is a mix of kinds with weights.
type mixFlag struct {
	mix   storm.Mix
	known func(kind string) error
}

func (f *mixFlag) Set(s string) error {
	m, err := storm.ParseMix(s, f.known)
	f.mix = m
	return err
}

func (f *mixFlag) String() string { return f.mix.String() }

func (*mixFlag) Type() string { return "mix" }

// killFlag says which clusters fail.
type killFlag struct{ kill storm.Kill }

func (f *killFlag) Set(s string) error {
	k, err := storm.ParseKill(s)
	f.kill = k
	return err
}

func (f *killFlag) String() string { return f.kill.String() }

func (*killFlag) Type() string { return "clusters" }

// serverFlags say which API server is meant, as kubectl's do.
type serverFlags struct{ kubeconfig, context, namespace string }

func (s *serverFlags) add(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&s.kubeconfig, "kubeconfig", "", "kubeconfig file of the server (default: $KUBECONFIG, then ~/.kube/config)")
	f.StringVar(&s.context, "context", "", "context of that file (default: its current one)")
}

// addNamespace gives a command kubectl's flag for the namespace of what it names.
func (s *serverFlags) addNamespace(c *cobra.Command) {
	c.Flags().StringVarP(&s.namespace, "namespace", "n", "", "namespace of bindings and workloads (default: the context's)")
}

// namespaced is the namespace of what is named without one.
func (s *serverFlags) namespaced() string {
	if s.namespace != "" {
		return s.namespace
	}
	return client.Namespace(s.kubeconfig, s.context)
}

// connect returns a client whose server's warnings go to a writer.
func (s *serverFlags) connect(warnings io.Writer) (*client.Client, error) {
	config, err := client.Load(s.kubeconfig, s.context)
	if err != nil {
		return nil, err
	}
	return client.New(config, warnings)
}

// refused is for what a server would not do, or what it holds; the command line was right. A file that cannot be written,
// such as standard output, is not the server's doing.
func refused(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.As(err, new(*fs.PathError)):
		return internal(err)
	}
	return &exitcode.Exit{Code: exitFailed, Err: fmt.Errorf("leeward: %w", err)}
}
