package glossary

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../../.."

// replaced are words that docs/glossary.md has another word for: each with what to write.
var replaced = []struct{ words, instead string }{
	{`(?:is|are|be|being|was|were) left`, "is evicted from, or remains"},
	{`will leave|may stay|on (?:its|their) way out`, "eviction scheduled, eviction cancelled, evicting"},
	{`hand-overs?|hands? over|handed over`, "handover"},
	{`homeless|unplaced`, "unschedulable"},
	{`homeward|way home|at home|way back`, "failback"},
	{`bears?|borne`, "tolerates"},
	{`nobody|somebody|anybody|whoever|people`, "the user, the admin, or the component by its name"},
	{`at once`, "immediately, or at the same time"},
	{`(?:is|are) to be`, "must be, will be"},
	{`stands|stood`, "exists, is stored, remains"},
	{`anew`, "again"},
	{`sick|sickness|fell ill|well again`, "unhealthy, healthy, Ready"},
	{`room`, "capacity"},
	{`ledger|desk|foresight|foresees?`, "the word for the part of the governor; preview"},
	{`story|stories`, "timeline"},
	{`laws?`, "invariant"},
	{`grounds`, "reason"},
	{`made up for`, "reconciled"},
}

// A text may use a word of the list for the reason given.
var exceptions = []struct{ where, text, reason string }{
	{"docs/architecture.md", "room", "a room is a folder of packages"},
	{"docs/architecture.svg", "are left out", "to omit"},
	{"docs/recordings.md", "STOOD", "a type of line in recordings"},
	{"runtime/scenario/incident/", "STOOD", "a type of line in recordings"},
	{"docs/scenario.schema.json", `"grounds"`, "a JSON field of facts"},
	{"docs/operations.md", "| people |", "the name of a priority level"},
	{"runtime/daemon/engine/write.go", "written twice at once", "an error that no user meets"},
	{"runtime/daemon/engine/shared.go", "writes at once", "an error that no user meets"},
	{".ci/laws/", "go build -o laws", "the name of the program"},
	{"runtime/daemon/etcd/fill.go", "somebody else is writing a fleet there", "another process, which a person has started"},
	{"runtime/client/doc.go", "room", "a room is a folder of packages"},
	{"runtime/daemon/doc.go", "room", "a room is a folder of packages"},
	{"runtime/fleet/doc.go", "room", "a room is a folder of packages"},
	{"runtime/kernel/doc.go", "room", "a room is a folder of packages"},
	{"runtime/report/doc.go", "room", "a room is a folder of packages"},
	{"runtime/scenario/doc.go", "room", "a room is a folder of packages"},
	{"runtime/storm/doc.go", "room", "a room is a folder of packages"},
	{"messages/fact_binding.go", "Grounds say why", "the type of why a binding is evicted"},
	{"runtime/fleet/journal/words.go", "grounds gives the reason", "words for that type"},
	{"cmd/internal/house/", "room", "a room is a folder of packages"},
	{"runtime/scenario/incident/", "Stood", "a type of line in recordings"},
	{"runtime/client/recorder/", "STOOD", "a type of line in recordings"},
	{"scenarios/", "grounds: {", "a JSON field of facts"},
}

type reader struct{ words *regexp.Regexp }

func newReader() reader {
	var all []string
	for _, r := range replaced {
		all = append(all, r.words)
	}
	return reader{regexp.MustCompile(`(?i)\b(?:` + strings.Join(all, "|") + `)\b`)}
}

// check returns what a text says that the glossary has another word for.
func (r reader) check(where, text string) (found []string) {
	for _, word := range r.words.FindAllStringIndex(text, -1) {
		line := text[strings.LastIndexByte(text[:word[0]], '\n')+1:]
		line, _, _ = strings.Cut(line, "\n")
		if !excepted(where, line) {
			found = append(found, fmt.Sprintf("%s: %q in: %s", where, text[word[0]:word[1]], strings.TrimSpace(line)))
		}
	}
	return found
}

func excepted(where, line string) bool {
	for _, e := range exceptions {
		if strings.HasPrefix(where, e.where) && strings.Contains(line, e.text) {
			return true
		}
	}
	return false
}

func TestDocumentationUsesTheWordsOfTheGlossary(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*"))
	require.NoError(t, err)
	examples, err := filepath.Glob(filepath.Join(root, "docs", "examples", "*"))
	require.NoError(t, err)
	pages = append(pages, examples...)
	pages = append(pages, filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md"))
	require.Greater(t, len(pages), 20)
	r := newReader()
	var found []string
	for _, page := range pages {
		if filepath.Ext(page) == "" {
			continue // a folder
		}
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		found = append(found, r.check(relative(page), string(text))...)
	}
	require.Empty(t, found, strings.Join(found, "\n"))
}

// TestScenariosUseTheWordsOfTheGlossary reads their file names, descriptions and comments.
func TestScenariosUseTheWordsOfTheGlossary(t *testing.T) {
	r := newReader()
	var found []string
	walk(t, "scenarios", ".yaml", func(file, text string) {
		found = append(found, r.check(file, strings.ReplaceAll(filepath.Base(file), "-", " "))...)
		found = append(found, r.check(file, text)...)
	})
	require.Empty(t, found, strings.Join(found, "\n"))
}

// TestMessagesUseTheWordsOfTheGlossary reads the string literals of all programs: help, flags, errors, facts, Events, the log,
// metrics and pages.
func TestMessagesUseTheWordsOfTheGlossary(t *testing.T) {
	r, files := newReader(), token.NewFileSet()
	var found []string
	for _, folder := range []string{"cmd", "runtime", "actors", "messages"} {
		walk(t, folder, ".go", func(file, text string) {
			if strings.HasSuffix(file, "_test.go") {
				return
			}
			parsed, err := parser.ParseFile(files, file, text, parser.SkipObjectResolution)
			require.NoError(t, err)
			ast.Inspect(parsed, func(n ast.Node) bool {
				literal, is := n.(*ast.BasicLit)
				if !is || literal.Kind != token.STRING {
					return true
				}
				value, err := strconv.Unquote(literal.Value)
				require.NoError(t, err)
				if strings.Contains(value, " ") { // a sentence, and no name of a field
					found = append(found, r.check(file, value)...)
				}
				return true
			})
		})
	}
	require.Empty(t, found, strings.Join(found, "\n"))
}

// human are words for people, who may be named in a comment.
var human = regexp.MustCompile(`(?i)\bpeople\b`)

// TestCommentsUseTheWordsOfTheGlossary reads the comments of all programs and of their tests.
func TestCommentsUseTheWordsOfTheGlossary(t *testing.T) {
	r := newReader()
	var found []string
	eachFile(t, func(name string, f *ast.File) {
		for _, group := range f.Comments {
			found = append(found, r.check(name, human.ReplaceAllString(tests.ReplaceAllString(group.Text(), "it"), "they"))...)
		}
	})
	require.Empty(t, found, strings.Join(found, "\n"))
}

// tests are the names of tests, which are no words.
var tests = regexp.MustCompile(`\b(?:Test|Benchmark|Fuzz)[A-Z]\w*`)

// TestNamesUseTheWordsOfTheGlossary reads the names that programs and their tests declare.
func TestNamesUseTheWordsOfTheGlossary(t *testing.T) {
	r := newReader()
	var found []string
	eachFile(t, func(name string, f *ast.File) {
		for _, id := range declared(f) {
			if strings.HasSuffix(strings.ToLower(id.Name), "grounds") { // the type of reasons, and values of it
				continue
			}
			found = append(found, r.check(name, article.ReplaceAllString(camel.ReplaceAllString(id.Name, "$1 $2"), "$1 $2"))...)
		}
	})
	require.Empty(t, found, strings.Join(found, "\n"))
}

// TestCasesUseTheWordsOfTheGlossary reads the names of the cases of tests: what is run by a name, and the keys of tables.
func TestCasesUseTheWordsOfTheGlossary(t *testing.T) {
	r, cases := newReader(), 0
	var found []string
	eachFile(t, func(name string, f *ast.File) {
		if !strings.HasSuffix(name, "_test.go") {
			return
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if text := caseOf(n); strings.Contains(text, " ") && !strings.Contains(text, "{") { // a sentence, and no document
				cases++
				found = append(found, r.check(name, text)...)
			}
			return true
		})
	})
	require.Greater(t, cases, 2000)
	require.Empty(t, found, strings.Join(found, "\n"))
}

// caseOf is the name that a part of a test gives to a case; empty: it gives none.
func caseOf(n ast.Node) string {
	var named ast.Expr
	switch n := n.(type) {
	case *ast.KeyValueExpr:
		named = n.Key
	case *ast.CallExpr:
		if of, is := n.Fun.(*ast.SelectorExpr); is && of.Sel.Name == "Run" && len(n.Args) == 2 {
			named = n.Args[0]
		}
	}
	if literal, is := named.(*ast.BasicLit); is && literal.Kind == token.STRING {
		text, _ := strconv.Unquote(literal.Value) // of what was parsed
		return text
	}
	return ""
}

// camel is where one word of a name ends and another one begins, and article where the first is one letter.
var (
	camel   = regexp.MustCompile(`([a-z0-9])([A-Z])`)
	article = regexp.MustCompile(`([A-Z])([A-Z][a-z])`)
)

// declared returns the names that a file declares.
func declared(f *ast.File) (all []*ast.Ident) {
	names := func(list ...ast.Expr) {
		for _, e := range list {
			if id, is := e.(*ast.Ident); is {
				all = append(all, id)
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			names(n.Name)
		case *ast.TypeSpec:
			names(n.Name)
		case *ast.ValueSpec:
			all = append(all, n.Names...)
		case *ast.Field:
			all = append(all, n.Names...)
		case *ast.RangeStmt:
			names(n.Key, n.Value)
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				names(n.Lhs...)
			}
		}
		return true
	})
	return all
}

// eachFile visits the Go files of all programs, of their tests, and of what checks them.
func eachFile(t *testing.T, visit func(name string, f *ast.File)) {
	t.Helper()
	for _, folder := range []string{"cmd", "runtime", "actors", "messages", ".ci"} {
		walk(t, folder, ".go", func(name, text string) {
			f, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments|parser.SkipObjectResolution)
			require.NoError(t, err)
			visit(name, f)
		})
	}
}

func walk(t *testing.T, folder, ext string, visit func(file, text string)) {
	t.Helper()
	seen := 0
	require.NoError(t, filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ext {
			return err
		}
		text, err := os.ReadFile(path)
		seen++
		visit(relative(path), string(text))
		return err
	}))
	require.Positive(t, seen, folder)
}

// relative is a path as a reader of the repository knows it.
func relative(path string) string {
	path, _ = filepath.Rel(root, path)
	return filepath.ToSlash(path)
}
