package api_test

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/messages/api"
)

// karmadasOwn are the fields of failover that Karmada has. Source: policy.karmada.io/v1alpha1, FailoverBehavior.
var karmadasOwn = []string{
	"application.decisionConditions.tolerationSeconds",
	"application.purgeMode",
	"application.gracePeriodSeconds",
	"application.statePreservation.rules",
	"cluster.purgeMode",
	"cluster.statePreservation.rules",
}

// leaves are the paths of the fields of a struct that are not structs themselves.
func leaves(of reflect.Type, at string) (paths []string) {
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct {
		return []string{at}
	}
	for i := range of.NumField() {
		name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		paths = append(paths, leaves(of.Field(i).Type, strings.TrimPrefix(at+"."+name, "."))...)
	}
	return paths
}

// leaf is the last name of a path.
func leaf(path string) string { return path[strings.LastIndex(path, ".")+1:] }

var row = regexp.MustCompile("(?m)^\\| `([a-zA-Z.]+)` \\| ([^|]+) \\| ([^|]+) \\| ([^|]+) \\| ([^|]+) \\|$")

func TestEveryFieldOfLeewardsFailoverIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/failover.md")
	require.NoError(t, err)
	own := leaves(reflect.TypeFor[api.FailoverBehavior](), "")
	for _, field := range karmadasOwn {
		require.Contains(t, own, field)
	}
	own = slices.DeleteFunc(own, func(field string) bool { return slices.Contains(karmadasOwn, field) })
	var shown []string
	for _, r := range row.FindAllStringSubmatch(string(text), -1) {
		shown = append(shown, r[1])
		require.Contains(t, string(text), leaf(r[1])+":", "no example of %s", r[1])
		requireScenarios(t, r[1], r[5])
	}
	require.ElementsMatch(t, own, shown)
}

var link = regexp.MustCompile(`\]\(\.\./(scenarios/[^)]+)\)`)

// requireScenarios holds a row to scenarios that are there and set its field.
func requireScenarios(t *testing.T, field, cell string) {
	t.Helper()
	links := link.FindAllStringSubmatch(cell, -1)
	require.NotEmpty(t, links, field)
	for _, l := range links {
		scenario, err := os.ReadFile(filepath.Join("../..", l[1]))
		require.NoError(t, err, field)
		manifests, _ := filepath.Glob(filepath.Join("../..", "scenarios/manifests/*.yaml"))
		for _, m := range manifests {
			if strings.Contains(string(scenario), filepath.Base(m)) {
				included, err := os.ReadFile(m)
				require.NoError(t, err)
				scenario = append(scenario, included...)
			}
		}
		require.Contains(t, string(scenario), leaf(field)+":", "%s does not set %s", l[1], field)
	}
}
