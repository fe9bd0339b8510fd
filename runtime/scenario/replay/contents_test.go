package replay_test

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/runtime/fleet/config"
	"leeward/runtime/scenario"
)

// number is that of a fault of Karmada (K1) or of a row of the table of features (row 1).
var number = regexp.MustCompile(`\bK(\d+)\b|\b[Rr]ow (\d+)\b`)

// numbers are those that a scenario's description names, as the contents show them.
func numbers(s *scenario.Scenario) (named []string) {
	for _, found := range number.FindAllStringSubmatch(s.Description, -1) {
		id := "K" + found[1]
		if found[1] == "" {
			id = "row " + found[2]
		}
		if !slices.Contains(named, id) {
			named = append(named, id)
		}
	}
	return named
}

// cured are the numbers that the page must show beside those that a setting cures. Other faults of Karmada
// show in the daemon alone.
var cured = []string{
	"K1", "K2", "K4", "K5", "K7", "K13", "K14", "K15", "K16", "K19", "K26", "K27", "K35", "K36", "K38", "K39", "K42",
	"row 5", "row 6", "row 16", "row 17", "row 19", "row 20", "row 21", "row 36", "row 40", "row 45", "row 49",
}

func TestTheDifferencesShowWhatIsCured(t *testing.T) {
	if testing.Short() {
		t.Skip("one thing at a time: the race detector has nothing to find")
	}
	shown := map[string]bool{}
	for _, s := range sectionsOfDifferences(t) {
		for _, one := range s.scenarios {
			for _, id := range numbers(one) {
				shown[id] = true
			}
		}
	}
	wanted := slices.Clone(cured)
	for _, f := range config.Fields() {
		wanted = append(wanted, f.Cures...)
	}
	missing := slices.DeleteFunc(wanted, func(id string) bool { return shown[id] })
	require.Empty(t, missing, "no file has scenarios of profiles karmada and leeward whose descriptions name these")
}

// entry is a line of the contents: a number, the sections that show it and the fields that it is about.
type entry struct {
	id       string
	sections []section
	fields   []string
}

func writeContents(t *testing.T, page *bytes.Buffer, sections []section) {
	t.Helper()
	page.WriteString("| | shown by | setting or API field | karmada | leeward |\n| --- | --- | --- | --- | --- |\n")
	for _, e := range contents(t, sections) {
		var links, fields, karmada, leeward []string
		for _, s := range e.sections {
			links = append(links, fmt.Sprintf("[%s](#%s)", s.sentence, s.anchor))
		}
		for _, field := range e.fields {
			k, l := valuesOf(t, field)
			fields, karmada, leeward = append(fields, "`"+field+"`"), append(karmada, k), append(leeward, l)
		}
		if len(fields) == 0 {
			fields, karmada, leeward = []string{"none"}, []string{"always"}, []string{"always"}
		}
		fmt.Fprintf(page, "| %s | %s | %s | %s | %s |\n", e.id, lines(links), lines(fields), lines(karmada), lines(leeward))
	}
}

// lines are the lines of a cell.
func lines(of []string) string { return strings.Join(of, "<br>") }

// contents are ordered by number, faults first.
func contents(t *testing.T, sections []section) []entry {
	t.Helper()
	own := ownFields(t)
	entries := map[string]*entry{}
	for _, s := range sections {
		for _, one := range s.scenarios {
			for _, id := range numbers(one) {
				if entries[id] == nil {
					entries[id] = &entry{id: id, fields: curesOf(id)}
				}
				entries[id].add(s, fieldsIn(one.Description, own))
			}
		}
	}
	ids := slices.SortedFunc(maps.Keys(entries), byNumber)
	sorted := make([]entry, len(ids))
	for i, id := range ids {
		sorted[i] = *entries[id]
	}
	return sorted
}

func (e *entry) add(s section, fields []string) {
	if n := len(e.sections); n == 0 || e.sections[n-1].anchor != s.anchor {
		e.sections = append(e.sections, s)
	}
	for _, f := range fields {
		if !slices.Contains(e.fields, f) {
			e.fields = append(e.fields, f)
		}
	}
}

func byNumber(a, b string) int {
	numberIn := func(id string) int {
		n, _ := strconv.Atoi(strings.TrimLeft(id, "Krow "))
		return n
	}
	return cmp.Or(cmp.Compare(a[:1], b[:1]), cmp.Compare(numberIn(a), numberIn(b)))
}

// curesOf are the settings that cure a fault.
func curesOf(id string) (names []string) {
	for _, f := range config.Fields() {
		if slices.Contains(f.Cures, id) {
			names = append(names, f.Name)
		}
	}
	return names
}

var fieldName = regexp.MustCompile(`\b[a-z][A-Za-z]*(\.[a-z][A-Za-z]*)*`)

// fieldsIn are the settings and the API fields of Leeward's own that a description names, but the switches. An
// API field is listed with the one above it, since many are words of English: spec.cleanup.
func fieldsIn(description string, own map[string]bool) (names []string) {
	for _, word := range fieldName.FindAllString(description, -1) {
		last := word[strings.LastIndex(word, ".")+1:]
		if isSetting(word) && !slices.Contains(switches, word) || own[last] && word != last {
			names = append(names, word)
		}
	}
	return names
}

func isSetting(name string) bool {
	return slices.ContainsFunc(config.Fields(), func(f config.Field) bool { return f.Name == name })
}

// valuesOf returns what a field is in the two profiles. What Leeward writes decides nothing, and so it does
// in both; what people write counts in both.
func valuesOf(t *testing.T, field string) (karmada, leeward string) {
	t.Helper()
	switch {
	case strings.HasPrefix(field, "status."):
		return "always", "always"
	case !isSetting(field):
		return "as written", "as written"
	}
	value := func(profile string) string {
		settings, err := config.Profile(profile)
		require.NoError(t, err)
		return cmp.Or(config.String(&settings, field), `""`)
	}
	return value("karmada"), value("leeward")
}

// ownFields are the JSON names of the API fields that Karmada does not have, as their comments tell.
func ownFields(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("../../../messages/api/*.go")
	require.NoError(t, err)
	own := map[string]bool{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			f, isField := n.(*ast.Field)
			if isField && f.Tag != nil && strings.Contains(strings.Join(strings.Fields(f.Doc.Text()), " "), "Leeward's own") {
				tag, err := strconv.Unquote(f.Tag.Value)
				require.NoError(t, err)
				name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
				own[name] = true
			}
			return true
		})
	}
	require.NotEmpty(t, own)
	return own
}

// The contents lead to a section by its name, whatever its theme.
func TestEverySectionHasANameOfItsOwn(t *testing.T) {
	taken := map[string]string{}
	for _, s := range sectionsOfDifferences(t) {
		require.Empty(t, taken[s.anchor], "%s/%s", s.theme, s.anchor)
		taken[s.anchor] = s.theme
	}
}
