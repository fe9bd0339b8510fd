package house

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite docs/architecture.svg")

const picture = root + "/docs/architecture.svg"

// The picture is drawn from the imports, so that it cannot show what is not so.
func TestThePictureIsCurrent(t *testing.T) {
	now := draw(t)
	if *update {
		require.NoError(t, os.WriteFile(filepath.FromSlash(picture), now, 0o644))
	}
	kept, err := os.ReadFile(filepath.FromSlash(picture))
	require.NoError(t, err)
	require.Equal(t, string(kept), string(now), "run: go test ./cmd/internal/house -update")
}

// box is what the picture shows as one: a room, a layer or a program, with its packages.
type box struct {
	name     string
	packages []string
	imports  map[string]bool
	// row counts from what imports nothing.
	row int
}

// boxOf is the box that a package is in, and what it is called there; no box: it is for tests alone.
func boxOf(name string) (box, inside string) {
	parts := strings.SplitN(name, "/", 3)
	switch {
	case strings.HasSuffix(name, "test"), strings.HasPrefix(name, "cmd/internal"):
		return "", ""
	case parts[0] == "runtime" && len(parts) > 1, parts[0] == "cmd", strings.HasPrefix(name, "actors/rules"):
		return parts[0] + "/" + parts[1], strings.Join(parts[2:], "")
	}
	return parts[0], strings.Join(parts[1:], "/")
}

func boxes(t *testing.T) map[string]*box {
	t.Helper()
	all := map[string]*box{}
	packages := imports(t)
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		in, inside := boxOf(name)
		if in == "" {
			continue
		}
		if all[in] == nil {
			all[in] = &box{name: in, imports: map[string]bool{}}
		}
		b := all[in]
		if inside != "" {
			b.packages = append(b.packages, inside)
		}
		for _, other := range packages[name] {
			if to, _ := boxOf(other); to != "" && to != in {
				b.imports[to] = true
			}
		}
	}
	for range all { // as often as the longest way may be long
		for _, b := range all { // order-free: it is repeated until nothing changes
			for to := range b.imports {
				b.row = max(b.row, all[to].row+1)
			}
		}
	}
	return all
}

// reaches reports whether imports lead from one box to another, by at least so many of them.
func reaches(all map[string]*box, from, to string, least int) bool {
	for next := range all[from].imports { // order-free: any will do
		if next == to && least <= 1 || next != to && reaches(all, next, to, least-1) {
			return true
		}
	}
	return false
}

// place is where along a row a box lies, in percent.
type place struct{ from, to int }

var places = map[string]place{
	"messages": {0, 100}, "actors/rules": {0, 100}, "actors": {0, 100},
	"runtime/kernel": {0, 100}, "runtime/fleet": {0, 100},
	"runtime/scenario": {0, 48}, "runtime/daemon": {52, 100},
	"runtime/client": {0, 26}, "runtime/storm": {32, 68}, "cmd/leewardd": {74, 100},
	"runtime/report": {32, 68},
	"cmd/leeward":    {0, 68}, "cmd/leeward-agent": {0, 26},
}

const (
	pictureWidth = 860
	margin       = 20
	rowHeight    = 92
	boxHeight    = 56
)

func draw(t *testing.T) []byte {
	t.Helper()
	all := boxes(t)
	rows := 0
	for name, b := range all { // order-free: each by itself
		require.Contains(t, places, name, "say where along its row it lies")
		rows = max(rows, b.row+1)
	}
	height := 2*margin + rows*rowHeight - (rowHeight - boxHeight)
	out := &bytes.Buffer{}
	fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="Helvetica, Arial, sans-serif">
<title>The packages of Leeward, by what they import</title>
<desc>Written by go test ./cmd/internal/house -update. An arrow points at what is imported; those that follow from others are left out.</desc>
<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L10 5L0 10z" fill="#555"/></marker></defs>
<rect width="100%%" height="100%%" fill="#fff"/>
`, pictureWidth, height, pictureWidth, height)
	top := func(b *box) int { return margin + (rows-1-b.row)*rowHeight }
	names := slices.Sorted(maps.Keys(all))
	for _, name := range names {
		for _, to := range slices.Sorted(maps.Keys(all[name].imports)) {
			if !reaches(all, name, to, 2) {
				x1, x2 := ends(places[name], places[to])
				fmt.Fprintf(out, `<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="#555" stroke-width="1.4" marker-end="url(#tip)"/>`+"\n",
					x1, top(all[name])+boxHeight, x2, top(all[to])-2)
			}
		}
	}
	for _, name := range names {
		b := all[name]
		x, y, width := along(places[name].from), top(b), along(places[name].to)-along(places[name].from)
		fmt.Fprintf(out, `<rect x="%d" y="%d" width="%d" height="%d" rx="6" fill="%s" stroke="#445"/>`+"\n", x, y, width, boxHeight, colour(name))
		fmt.Fprintf(out, `<text x="%d" y="%d" font-size="14" font-weight="bold">%s</text>`+"\n", x+10, y+19, name)
		for i, line := range wrapped(b.packages, (width-20)*10/53) {
			fmt.Fprintf(out, `<text x="%d" y="%d" font-size="10.5" fill="#333">%s</text>`+"\n", x+10, y+34+14*i, line)
		}
	}
	out.WriteString("</svg>\n")
	return out.Bytes()
}

func along(percent int) int { return margin + percent*(pictureWidth-2*margin)/100 }

// ends are where an arrow leaves a box and where it meets another: straight down where they overlap.
func ends(from, to place) (x1, x2 int) {
	left, right := max(from.from, to.from), min(from.to, to.to)
	if left < right {
		x := along((left + right) / 2)
		return x, x
	}
	if from.from >= to.to {
		return along((from.from + from.to) / 2), along(to.to)
	}
	return along((from.from + from.to) / 2), along(to.from)
}

func colour(name string) string {
	switch first, _, _ := strings.Cut(name, "/"); first {
	case "messages":
		return "#f3efe2"
	case "actors":
		return "#e3efe0"
	case "cmd":
		return "#efe3ea"
	}
	return "#e2ebf5"
}

// wrapped are words in lines of at most so many letters.
func wrapped(words []string, most int) (lines []string) {
	line := ""
	for _, w := range words {
		switch {
		case line == "":
			line = w
		case len(line)+2+len(w) > most:
			lines, line = append(lines, line), w
		default:
			line += ", " + w
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
