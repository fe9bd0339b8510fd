package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	require.NoError(t, err)
	return string(text)
}

func TestTheArchitectureNamesEveryPackageOfRuntime(t *testing.T) {
	text := page(t, "docs/architecture.md")
	for _, name := range slices.Sorted(maps.Keys(imports(t))) {
		switch {
		case folderOf(name) == "", strings.HasPrefix(name, "cmd"), strings.HasSuffix(name, "test"), name == "runtime/fleet", name == "runtime/daemon":
		default:
			require.Contains(t, text, "`"+name+"`")
		}
	}
}

func TestTheArchitectureNamesEveryMachineAndRule(t *testing.T) {
	text := page(t, "docs/architecture.md")
	_, rules, found := strings.Cut(text, "| `actors/rules` |")
	require.True(t, found)
	rules, _, _ = strings.Cut(rules, "\n")
	for name := range imports(t) {
		switch parts := strings.Split(name, "/"); {
		case layer(name) == 1:
			require.Regexp(t, `\b`+parts[2]+`\b`, rules, name)
		case layer(name) == 2 && len(parts) == 2 && !strings.HasSuffix(name, "test"):
			require.Contains(t, text, "\n| "+parts[1]+" |", name)
		}
	}
}

// A fault is a number with a link where a page first names one.
func TestPagesExplainTheFaultsOfKarmadaWhereTheyFirstNameOne(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	require.NoError(t, err)
	named := 0
	for _, file := range append(pages, filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md")) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		first := regexp.MustCompile(`\bK\d+\b`).FindIndex(text)
		if first == nil || filepath.Base(file) == "faults.md" {
			continue
		}
		named++
		paragraph, _, _ := strings.Cut(string(text[first[1]:]), "\n\n")
		explained := strings.Contains(string(text[:first[1]])+paragraph, "faults.md)")
		require.True(t, explained, "%s names %s without a link to docs/faults.md", file, text[first[0]:first[1]])
	}
	require.Greater(t, named, 5)
}

// Packages move, and pages and scripts go on naming them.
func TestFoldersOfRuntimeThatAreNamedExist(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	require.NoError(t, err)
	for _, name := range []string{"README.md", "CONTRIBUTING.md", ".golangci.yml", ".ci/run", ".ci/mutants/main.go", ".ci/mutants/equivalent.txt"} {
		files = append(files, filepath.Join(root, filepath.FromSlash(name)))
	}
	folder := regexp.MustCompile(`(?m)(?:^|[ "(/\x60])(runtime(?:/[a-z]+)+)(?:[^a-z/._]|/[^a-z]|\.[^a-z]|$)`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, named := range folder.FindAllStringSubmatch(string(text), -1) {
			require.DirExists(t, filepath.Join(root, filepath.FromSlash(named[1])), "named in %s", file)
		}
	}
}

// step names a function of a file: `actors/cluster/verdicts.go: Cluster.ask`.
var step = regexp.MustCompile("`([a-z/_]+\\.go): (\\w+(?:\\.\\w+)?)`")

func TestTheWalksNameFunctionsThatExist(t *testing.T) {
	_, walks, found := strings.Cut(page(t, "docs/architecture.md"), "## Two walks")
	require.True(t, found)
	steps := step.FindAllStringSubmatch(walks, -1)
	require.Greater(t, len(steps), 20)
	for _, s := range steps {
		require.Contains(t, functions(t, s[1]), s[2], "docs/architecture.md names it as one of %s", s[1])
	}
}

func TestEquivalentFaultsAreInFunctionsThatExist(t *testing.T) {
	faults := regexp.MustCompile(`(?m)^(\S+\.go): ([\w.]+): `).FindAllStringSubmatch(page(t, ".ci/mutants/equivalent.txt"), -1)
	require.Greater(t, len(faults), 100)
	for _, f := range faults {
		require.Contains(t, functions(t, f[1]), f[2], "equivalent.txt names it as one of %s", f[1])
	}
}

// functions are those of a file, methods with their type before them.
func functions(t *testing.T, name string) (all []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, filepath.FromSlash(name)), nil, 0)
	require.NoError(t, err)
	for _, d := range file.Decls {
		f, is := d.(*ast.FuncDecl)
		switch {
		case !is:
		case f.Recv == nil:
			all = append(all, f.Name.Name)
		default:
			of := f.Recv.List[0].Type
			if pointer, is := of.(*ast.StarExpr); is {
				of = pointer.X
			}
			if plain, is := of.(*ast.Ident); is {
				all = append(all, plain.Name+"."+f.Name.Name)
			}
		}
	}
	return all
}

// listed are the files that CONTRIBUTING.md and the index of the documentation name.
var listed = regexp.MustCompile(`\]\(([^)#]+)(?:#[^)]*)?\)`)

func TestTheIndexLeadsToEveryPage(t *testing.T) {
	text := page(t, "docs/README.md")
	linked := map[string]bool{}
	for _, l := range listed.FindAllStringSubmatch(text, -1) {
		if strings.Contains(l[1], "://") {
			continue
		}
		require.FileExists(t, filepath.Join(root, "docs", filepath.FromSlash(strings.TrimSuffix(l[1], "/"))))
		linked[l[1]] = true
	}
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	require.NoError(t, err)
	for _, p := range pages {
		if name := filepath.Base(p); name != "README.md" {
			require.True(t, linked[name], "docs/README.md does not lead to %s", name)
		}
	}
}

// TestContributingNamesFilesThatExist checks the lists of files to touch: "- `messages/settings.go`: ...".
func TestContributingNamesFilesThatExist(t *testing.T) {
	files := regexp.MustCompile("(?m)^\\d+\\. `([^`]+)`").FindAllStringSubmatch(page(t, "CONTRIBUTING.md"), -1)
	require.Greater(t, len(files), 10)
	for _, f := range files {
		matches, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(f[1])))
		require.NoError(t, err)
		require.NotEmpty(t, matches, "CONTRIBUTING.md names %s", f[1])
	}
}
