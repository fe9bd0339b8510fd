package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// root is the folder of the module.
const root = "../../.."

const module = "leeward/"

// imports are, by package, the packages of the module that it imports, tests aside.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, top := range []string{"messages", "actors", "runtime", "cmd"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(root, top), func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
				return err
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
			if err != nil {
				return err
			}
			folder, err := filepath.Rel(root, filepath.Dir(file))
			if err != nil {
				return err
			}
			name := filepath.ToSlash(folder)
			all[name] = append(all[name], ownImports(t, parsed.Imports)...)
			return nil
		}))
	}
	for name := range all { // order-free: each by itself
		slices.Sort(all[name])
		all[name] = slices.Compact(all[name])
	}
	return all
}

func ownImports(t *testing.T, specs []*ast.ImportSpec) (own []string) {
	t.Helper()
	for _, spec := range specs {
		name, err := strconv.Unquote(spec.Path.Value)
		require.NoError(t, err)
		if rest, is := strings.CutPrefix(name, module); is {
			own = append(own, rest)
		}
	}
	return own
}

// folderOf is the room of runtime that a package is in; empty: none. What all of cmd may import, cmd may.
func folderOf(name string) string {
	parts := strings.Split(name, "/")
	switch {
	case parts[0] == "runtime" && len(parts) > 1:
		return parts[1]
	case parts[0] == "cmd":
		return "cmd"
	}
	return ""
}

// rooms are the folders of runtime.
func rooms(t *testing.T) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(root, "runtime"))
	require.NoError(t, err)
	for _, e := range entries {
		require.True(t, e.IsDir(), "runtime/%s is in no room", e.Name())
		names = append(names, e.Name())
	}
	return names
}

// door is what the doc.go of a room says of imports.
type door struct{ imports, importedBy []string }

var (
	mayImport     = regexp.MustCompile(`(?m)^// May import of runtime: (.+)\.$`)
	mayBeImported = regexp.MustCompile(`(?m)^// May be imported by: (.+)\.$`)
)

func doorOf(t *testing.T, folder string) door {
	t.Helper()
	file := filepath.Join(root, "runtime", folder, "doc.go")
	text, err := os.ReadFile(file)
	require.NoError(t, err, "each room says in its doc.go what it is for")
	said := func(line *regexp.Regexp) []string {
		found := line.FindSubmatch(text)
		require.NotNil(t, found, "%s lacks a line %s", file, line)
		if string(found[1]) == "nothing" {
			return nil
		}
		names := strings.Split(string(found[1]), ", ")
		slices.Sort(names)
		return names
	}
	return door{said(mayImport), said(mayBeImported)}
}

// Both sides of a door say the same, what is allowed is also used, and nothing else is.
func TestFoldersOfRuntimeImportWhatTheirDocsSay(t *testing.T) {
	imported, importing := map[string]map[string]bool{}, map[string]map[string]bool{}
	for name, all := range imports(t) {
		for _, other := range all {
			from, to := folderOf(name), folderOf(other)
			if to == "" || to == "cmd" || from == to {
				continue
			}
			note(imported, from, to)
			note(importing, to, from)
		}
	}
	for _, folder := range rooms(t) {
		door := doorOf(t, folder)
		require.Equal(t, door.imports, slices.Sorted(maps.Keys(imported[folder])), "what runtime/%s imports, and what its doc.go says of that", folder)
		require.Equal(t, door.importedBy, slices.Sorted(maps.Keys(importing[folder])), "what imports runtime/%s, and what its doc.go says of that", folder)
	}
}

func note(all map[string]map[string]bool, key, value string) {
	if all[key] == nil {
		all[key] = map[string]bool{}
	}
	all[key][value] = true
}

func TestFoldersOfRuntimeImportOneAnotherInOneDirection(t *testing.T) {
	above := map[string][]string{}
	for _, folder := range rooms(t) {
		above[folder] = doorOf(t, folder).imports
	}
	for len(above) > 0 {
		free := ""
		for _, folder := range slices.Sorted(maps.Keys(above)) {
			if len(above[folder]) == 0 {
				free = folder
				break
			}
		}
		require.NotEmpty(t, free, "these rooms import one another in a circle: %v", above)
		delete(above, free)
		for folder := range above { // order-free: each by itself
			above[folder] = slices.DeleteFunc(above[folder], func(name string) bool { return name == free })
		}
	}
}

// The linter tells of a wrong import where it is written: its rules are those of the doors.
func TestTheLinterKnowsTheDoors(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, ".golangci.yml"))
	require.NoError(t, err)
	var config struct {
		Linters struct {
			Settings struct {
				Depguard struct {
					Rules map[string]struct {
						Files []string
						Deny  []struct{ Pkg string }
					}
				}
			}
		}
	}
	require.NoError(t, yaml.Unmarshal(text, &config))
	all := rooms(t)
	for _, folder := range all {
		rule, known := config.Linters.Settings.Depguard.Rules["room-"+folder]
		require.True(t, known, "depguard has no rule room-%s", folder)
		require.Equal(t, []string{"**/runtime/" + folder + "/**", "!$test"}, rule.Files)
		allowed := append(doorOf(t, folder).imports, folder)
		for _, other := range all {
			denied := false
			for _, d := range rule.Deny {
				denied = denied || d.Pkg == module+"runtime/"+other
			}
			require.Equal(t, !slices.Contains(allowed, other), denied, "room-%s and runtime/%s", folder, other)
		}
	}
}

// layer is how high in the house a package is.
func layer(name string) int {
	switch first, _, _ := strings.Cut(name, "/"); {
	case first == "messages":
		return 0
	case strings.HasPrefix(name, "actors/rules"):
		return 1
	case first == "actors":
		return 2
	case first == "runtime":
		return 3
	}
	return 4
}

func TestLayersImportDownwards(t *testing.T) {
	for name, all := range imports(t) {
		for _, other := range all {
			require.LessOrEqual(t, layer(other), layer(name), "%s imports %s", name, other)
			if machine := layer(name) == 2 && strings.Contains(name, "/") && !strings.HasSuffix(name, "test"); machine {
				require.False(t, layer(other) == 2 && strings.Contains(other, "/"), "the machine %s imports the machine %s", name, other)
			}
		}
	}
}
