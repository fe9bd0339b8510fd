package viewer

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"

	"leeward/runtime/scenario/replay"
)

// JSON writes runs as one document.
type JSON struct {
	W io.Writer

	begun bool
}

// Add writes the next run.
func (j *JSON) Add(r *replay.Run) error {
	before := ",\n"
	if !j.begun {
		before = fmt.Sprintf(`{"format":%q,"version":%d,"runs":[`+"\n", Format, Version)
	}
	j.begun = true
	text, err := encode(Of(r))
	if err != nil {
		return fmt.Errorf("write the timeline of %s: %w", r.Name, err)
	}
	_, err = j.W.Write(append([]byte(before), text...))
	return err
}

// Close ends the document.
func (j *JSON) Close() error {
	if j.begun {
		_, err := io.WriteString(j.W, "\n]}\n")
		return err
	}
	text, err := encode(Document{Format: Format, Version: Version, Runs: []*Run{}})
	if err != nil {
		return err
	}
	_, err = j.W.Write(append(text, '\n'))
	return err
}

func encode(v any) ([]byte, error) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(text.Bytes()), nil
}

//go:embed *.js *.css live.html
var files embed.FS

// modules are the page's scripts, each after those that it imports.
var modules = []string{"scale.js", "model.js", "filter.js", "link.js", "layout.js", "dom.js", "paint.js", "state.js", "charts.js", "lanes.js", "panels.js", "figures.js", "plot.js", "reports.js", "storm.js", "assess.js", "shadow.js", "viewer.js"}

// Page writes runs as one file that needs nothing else: no network and no other file. Words of users are in compressed blocks
// alone, which the page's script reads as data.
type Page struct {
	W io.Writer

	begun bool
	index []entry
}

// entry is a run in the list of all.
type entry struct {
	Name      string `json:"name"`
	File      string `json:"file"`
	Seed      uint64 `json:"seed"`
	Profile   string `json:"profile"`
	Passed    bool   `json:"passed"`
	Failed    int    `json:"failed"`
	Expected  int    `json:"expected"`
	Workloads int    `json:"workloads"`
	Clusters  int    `json:"clusters"`
	Pods      int    `json:"pods"`
	Nodes     int    `json:"nodes"`
	End       int    `json:"end"`
}

// Add writes the next run.
func (p *Page) Add(r *replay.Run) error { return p.add(r, Of(r)) }

// Predict writes the next run, of what has not happened.
func (p *Page) Predict(r *replay.Run) error {
	of := Of(r)
	of.Prediction = true
	return p.add(r, of)
}

// Report writes what the page is of, where that is no list of runs: a document with a format and a version.
func (p *Page) Report(data any) error {
	if err := p.begin(); err != nil {
		return err
	}
	return p.block("report", data)
}

func (p *Page) add(r *replay.Run, of *Run) error {
	if err := p.begin(); err != nil {
		return err
	}
	p.index = append(p.index, entry{
		Name: of.Name, File: of.File, Seed: of.Seed, Profile: of.Profile, Passed: of.Passed, Failed: r.Failures(), Expected: len(of.Expectations),
		Workloads: len(of.Workloads), Clusters: len(of.Clusters), Pods: len(of.Pods), Nodes: len(of.Nodes), End: of.End,
	})
	return p.block(fmt.Sprintf("run-%d", len(p.index)-1), Document{Format: Format, Version: Version, Runs: []*Run{of}})
}

// Close ends the page.
func (p *Page) Close() error {
	if err := p.begin(); err != nil {
		return err
	}
	if p.index == nil {
		p.index = []entry{}
	}
	if err := p.block("index", p.index); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.W, "<script type=\"module\">%s</script>\n</body>\n</html>\n", script())
	return err
}

// begin writes the head of the page, once.
func (p *Page) begin() error {
	if p.begun {
		return nil
	}
	p.begun = true
	_, err := io.WriteString(p.W, head())
	return err
}

// block writes data that the script reads: JSON, compressed, in letters that mean nothing to HTML.
func (p *Page) block(id string, data any) error {
	text, err := encode(data)
	if err != nil {
		return fmt.Errorf("write %s of the page: %w", id, err)
	}
	if _, err := fmt.Fprintf(p.W, "<script type=\"text/plain\" id=%q>", id); err != nil {
		return err
	}
	letters := base64.NewEncoder(base64.StdEncoding, p.W)
	packed := gzip.NewWriter(letters)
	if _, err := packed.Write(text); err != nil {
		return err
	}
	if err := packed.Close(); err != nil {
		return err
	}
	if err := letters.Close(); err != nil {
		return err
	}
	_, err = io.WriteString(p.W, "</script>\n")
	return err
}

// script is the page's script: made by the first page, for most commands write none.
var script = sync.OnceValue(func() string { return joined(modules) })

// head is the head of a page with its style, and a policy that allows style and script by their hashes, and nothing else.
func head() string {
	style := lean("viewer.css")
	return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="` + policy(style) + `">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="leeward">
<title>Leeward</title>
<style>` + style + `</style>
</head>
<body>
<noscript>This page needs JavaScript, all of which is in this file.</noscript>
<leeward-viewer></leeward-viewer>
`
}

func policy(style string) string {
	return fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
		hash(script()), hash(style))
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// joined is modules as one, without import and export, which one file has no use for.
func joined(modules []string) string {
	imports := regexp.MustCompile(`(?m)^import \{[^}]*\} from '\./[a-z]+\.js';\n`)
	exports := regexp.MustCompile(`(?m)^export `)
	var text strings.Builder
	for _, name := range modules {
		text.WriteString(exports.ReplaceAllString(imports.ReplaceAllString(lean(name), ""), ""))
	}
	return text.String()
}

// What a browser has no use for: comments that have their lines to themselves, types within lines, empty lines, and what lines begin with. No text of
// a module goes over several lines.
var (
	comments = regexp.MustCompile(`(?m)^ *(?://.*|/\*\*(?:[^*]|\*+[^*/])*\*+/)\n`)
	types    = regexp.MustCompile(`/\*\* @(?:[^*\n]|\*+[^*/\n])*\*/ ?`)
	indents  = regexp.MustCompile(`(?m)^\s+`)
	// spaces are those around what ends a word of a style sheet.
	spaces = regexp.MustCompile(`\s*([{};,])\s*|(:)\s+`)
)

// lean is a module or a style sheet as it is sent.
func lean(name string) string {
	if strings.HasSuffix(name, ".css") {
		return spaces.ReplaceAllString(read(name), "$1$2")
	}
	return indents.ReplaceAllString(types.ReplaceAllString(comments.ReplaceAllString(read(name), ""), ""), "")
}

func read(name string) string {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(fmt.Sprintf("viewer: %v", err)) // it is embedded
	}
	return string(text)
}

// liveModules are the scripts of the live page, each after those that it imports: those that show runs show what the page was told, too.
var liveModules = []string{
	"scale.js", "model.js", "filter.js", "link.js", "layout.js", "dom.js", "paint.js", "state.js", "charts.js", "lanes.js",
	"livemodel.js", "livelink.js", "liverun.js", "liveedits.js", "liveapi.js", "livefollow.js", "livesearch.js", "livelanes.js", "liveforms.js", "livereason.js", "liveboard.js", "live.js",
}

// Live are the files of the live page of a daemon, by name: index.html is the page.
func Live() map[string][]byte {
	return map[string][]byte{
		"index.html": []byte(read("live.html")), "viewer.css": []byte(lean("viewer.css")), "live.css": []byte(lean("live.css")), "live.js": []byte(joined(liveModules)),
	}
}
