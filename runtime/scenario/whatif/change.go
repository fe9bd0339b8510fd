package whatif

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/span"
	"leeward/runtime/scenario/forecast"
)

// Bounds of what one command may ask for.
const (
	// MostChanges is how many changes are played together.
	MostChanges = 100
	// MostLater is how much later than the first instant a change may happen, and how long an outage may last.
	MostLater = 7 * 24 * time.Hour
	// mostReplicas is how many replicas a workload is scaled to at most.
	mostReplicas = 1_000_000
	// mostText is how many bytes the value of a flag may have.
	mostText = 4096
)

// Change is one flag: what is changed, and when.
type Change struct {
	// Flag is its name without the hyphens, Text its value as it is written.
	Flag, Text string
	// At is how much later than the first instant it happens.
	At time.Duration

	// subject is what the change is about, before it is looked up in the fleet: a cluster, a workload, an object or a file.
	subject string
	losses  []forecast.Loss
	// kind is the type of a condition.
	kind     string
	status   metav1.ConditionStatus
	taints   taint.Changes
	replicas int32
	setting  config.Override
}

// The flags of changes.
const (
	FlagLose      = "lose"
	FlagTaint     = "taint"
	FlagCondition = "condition"
	FlagDrain     = "drain"
	FlagApply     = "apply"
	FlagDelete    = "delete"
	FlagSet       = "set"
	FlagScale     = "scale"
)

// parsers read the values of flags, without the instant.
var parsers = map[string]func(*Change, string) error{
	FlagLose: (*Change).lose, FlagTaint: (*Change).taint, FlagCondition: (*Change).condition, FlagDrain: (*Change).named,
	FlagApply: (*Change).named, FlagDelete: (*Change).object, FlagSet: (*Change).set, FlagScale: (*Change).scale,
}

// Parse reads the value of a flag, which may end with "@5m": the change happens so much later than the first instant. The error
// names the field.
func Parse(flag, text string) (*Change, error) {
	if len(text) > mostText {
		return nil, fmt.Errorf("value: has %d bytes, more than %d", len(text), mostText)
	}
	c := &Change{Flag: flag, Text: text}
	value := text
	if i := strings.LastIndexByte(text, '@'); i >= 0 {
		at, err := span.Parse(text[i+1:])
		switch {
		case err != nil:
			return nil, fmt.Errorf("@%s: %w", text[i+1:], err)
		case at > MostLater:
			return nil, fmt.Errorf("@%s: must not be later than %s", text[i+1:], span.String(MostLater))
		}
		c.At, value = at, text[:i]
	}
	read := parsers[flag]
	if read == nil {
		return nil, fmt.Errorf("%s is no change", flag)
	}
	if err := read(c, value); err != nil {
		return nil, err
	}
	return c, nil
}

// String is the flag as it is written.
func (c *Change) String() string { return "--" + c.Flag + " " + c.Text }

// wrong is a problem of the change, with the flag and its value.
func (c *Change) wrong(field string, err error) error {
	return fmt.Errorf("--%s %q: %s: %w", c.Flag, c.Text, field, err)
}

// lose reads "region=eu" and "eu-1,eu-2".
func (c *Change) lose(text string) (err error) {
	c.losses, err = forecast.ParseLosses(text)
	return err
}

// taint reads "eu-1=key=value:Effect", and with a hyphen at the end what is removed.
func (c *Change) taint(text string) error {
	cluster, spec, found := strings.Cut(text, "=")
	if !found || cluster == "" || spec == "" {
		return fmt.Errorf("cluster: want CLUSTER=key[=value]:Effect, or with - at the end to remove it, not %q", text)
	}
	var err error
	if c.taints, err = taint.Parse([]string{spec}); err != nil {
		return fmt.Errorf("taint: %w", err)
	}
	c.subject = cluster
	return nil
}

// condition reads "eu-1/Ready=False".
func (c *Change) condition(text string) error {
	cluster, rest, slash := strings.Cut(text, "/")
	i := strings.LastIndexByte(rest, '=')
	if !slash || cluster == "" || i < 1 {
		return fmt.Errorf("condition: want CLUSTER/TYPE=STATUS, such as eu-1/Ready=False, not %q", text)
	}
	switch s := metav1.ConditionStatus(rest[i+1:]); s {
	case metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown:
		c.status = s
	default:
		return fmt.Errorf("status: want True, False or Unknown, not %q", rest[i+1:])
	}
	c.subject, c.kind = cluster, rest[:i]
	return nil
}

// named reads the name of a cluster, or of a file.
func (c *Change) named(text string) error {
	if text == "" {
		return errors.New("name: is empty")
	}
	c.subject = text
	return nil
}

// object reads "KIND/NAME" and "KIND/NAMESPACE/NAME".
func (c *Change) object(text string) error {
	parts := strings.Split(text, "/")
	if len(parts) < 2 || len(parts) > 3 || slices.Contains(parts, "") {
		return fmt.Errorf("object: want KIND/NAME or KIND/NAMESPACE/NAME, not %q", text)
	}
	c.subject = text
	return nil
}

// set reads "field=value", a setting.
func (c *Change) set(text string) error {
	var err error
	if c.setting, err = config.ParseOverride(text, fmt.Sprintf("--%s %q", c.Flag, text)); err != nil {
		return fmt.Errorf("setting: want field=value, not %q", text)
	}
	return nil
}

// scale reads "shop/web=3".
func (c *Change) scale(text string) error {
	i := strings.LastIndexByte(text, '=')
	if i < 1 {
		return fmt.Errorf("workload: want [KIND/]NAMESPACE/NAME=REPLICAS, such as shop/web=3, not %q", text)
	}
	n, err := strconv.ParseInt(text[i+1:], 10, 32)
	if err != nil || n < 0 || n > mostReplicas {
		return fmt.Errorf("replicas: want a whole number from 0 to %d, not %q", mostReplicas, text[i+1:])
	}
	c.subject, c.replicas = text[:i], int32(n)
	return nil
}

// Outage is how clusters are lost.
type Outage struct {
	Kind messages.OutageKind
	// For is how long it lasts; zero: without an end.
	For time.Duration
}

// flags are those that say how and how long what is lost fails, where that is not by power and without an end.
func (o *Outage) flags() (text string) {
	if o.For > 0 {
		text = " --for " + span.String(o.For)
	}
	if o.Kind != messages.OutagePower && o.Kind != "" {
		text += " --kind " + string(o.Kind)
	}
	return text
}
