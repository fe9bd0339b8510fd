// Package page shows storms and assessments as pages of HTML that need nothing else: no network, no script, one
// file to keep with the incident or to send. Charts are SVG as wide as the screen; a reader who
// points at a bar reads what it shows. Package viewer shows runs.
package page

import (
	"embed"
	"fmt"
	"html/template"
	"io"
)

//go:embed *.html
var files embed.FS

var templates = template.Must(template.ParseFS(files, "*.html"))

// write executes one template.
func write(w io.Writer, name string, data any) error {
	if err := templates.ExecuteTemplate(w, name, data); err != nil {
		return fmt.Errorf("write the page of a %s: %w", name, err)
	}
	return nil
}
