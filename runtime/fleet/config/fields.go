package config

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"leeward/messages"
	"leeward/messages/lists"
	"leeward/messages/spelling"
)

// fields describe messages.Settings, field by field and in its order, by their tags.
var fields = func() (all []Field) {
	for i := range reflect.TypeFor[messages.Settings]().NumField() {
		of := reflect.TypeFor[messages.Settings]().Field(i)
		f := Field{
			Name: strings.ToLower(of.Name[:1]) + of.Name[1:], Flag: of.Tag.Get("flag"), in: bounds{text: of.Tag.Get("in")}, index: i,
		}
		f.in.holds = ranges[f.in.text]
		if faults := of.Tag.Get("cures"); faults != "" {
			f.Cures = strings.Split(faults, ",")
		}
		if words, some := of.Tag.Lookup("words"); some {
			f.Words = strings.Split(words, "|")
		}
		all = append(all, f)
	}
	return all
}()

// Comments are what users read of each of Fields: its meaning and, after "Zero:", what zero means, where that is not plain.
func Comments() (all []string) {
	file, err := parser.ParseFile(token.NewFileSet(), "settings.go", messages.SettingsSource, parser.ParseComments)
	if err != nil {
		panic(err) // it is what was compiled
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if f, is := n.(*ast.Field); is && f.Doc != nil {
			all = append(all, strings.Join(strings.Fields(f.Doc.Text()), " "))
		}
		return true
	})
	return all
}

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
	names := append(Options(), lists.Of(fields, func(f Field) string { return f.Name })...)
	return fmt.Errorf("%s: unknown field %q%s", o.Source, o.Field, spelling.Hint(o.Field, names))
}

// Invalid says that what a configuration names cannot be used: a file, an address.
type Invalid struct{ Problem error }

func (e *Invalid) Error() string { return e.Problem.Error() }

// Unwrap returns the problem.
func (e *Invalid) Unwrap() error { return e.Problem }

// FieldOf returns the field that is named as a flag in camelCase: gracefulEvictionTimeout for
// graceful-eviction-timeout.
func FieldOf(flag string) string {
	words := strings.Split(flag, "-")
	for i := 1; i < len(words); i++ {
		if words[i] != "" {
			words[i] = strings.ToUpper(words[i][:1]) + words[i][1:]
		}
	}
	return strings.Join(words, "")
}

// FlagOf returns the flag that is named as a field in kebab-case.
func FlagOf(field string) string {
	var b strings.Builder
	for _, r := range field {
		if unicode.IsUpper(r) {
			b.WriteByte('-')
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}
