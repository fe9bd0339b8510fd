package config

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strings"

	"leeward/messages"
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
