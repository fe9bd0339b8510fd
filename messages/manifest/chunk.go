package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	yaml "go.yaml.in/yaml/v3"
)

// chunk is the text between two "---" or "..." lines: one document, rarely none or more. Chunks are
// parsed one by one, so that a slip in one document does not hide the others.
type chunk struct {
	text []byte
	// line counts the lines before the chunk.
	line int
}

// split cuts a file at its document markers. YAML forbids them anywhere else, in block scalars too.
func split(data []byte) []chunk {
	var chunks []chunk
	begin, firstLine, line, filled := 0, 0, 0, false
	cut := func(at, atLine int) {
		if filled {
			chunks = append(chunks, chunk{text: data[begin:at], line: firstLine})
		}
		begin, firstLine, filled = at, atLine, false
	}
	for at := 0; at < len(data); line++ {
		next := len(data)
		if i := bytes.IndexByte(data[at:], '\n'); i >= 0 {
			next = at + i + 1
		}
		switch text := data[at:next]; {
		case isMarker(text, "---"):
			if filled {
				cut(at, line)
			}
			filled = filled || len(bytes.TrimSpace(text)) > 3
		case isMarker(text, "..."):
			cut(next, line+1)
		default:
			filled = filled || !isBlank(text)
		}
		at = next
	}
	cut(len(data), line)
	return chunks
}

func isMarker(line []byte, marker string) bool {
	rest, ok := bytes.CutPrefix(line, []byte(marker))
	return ok && (len(rest) == 0 || strings.IndexByte(" \t\r\n", rest[0]) >= 0)
}

// isBlank reports whether a line holds no more than a comment or a directive (%YAML 1.2).
func isBlank(line []byte) bool {
	text := bytes.TrimSpace(line)
	return len(text) == 0 || text[0] == '#' || line[0] == '%'
}

// parse returns the root of each document, with lines as in the file, up to the first syntax error.
func (c chunk) parse() ([]*yaml.Node, error) {
	var roots []*yaml.Node
	for decoder := yaml.NewDecoder(bytes.NewReader(c.text)); ; {
		var document yaml.Node
		switch err := decoder.Decode(&document); {
		case errors.Is(err, io.EOF):
			return roots, nil
		case err != nil:
			return roots, fmt.Errorf("parse YAML: %w", err)
		}
		if c.line > 0 {
			moveDown(&document, c.line)
		}
		roots = append(roots, document.Content...)
	}
}

func moveDown(n *yaml.Node, lines int) {
	n.Line += lines
	for _, child := range n.Content {
		moveDown(child, lines)
	}
}

// syntaxError is how yaml words one; a parser's line is one too low, a scanner's is right.
var syntaxError = regexp.MustCompile(`yaml: (?:line (\d+): )?(.*)`)

// lineOf returns the line in the file of an error that parse returned.
func (c chunk) lineOf(err error) int {
	line := 1
	if m := syntaxError.FindStringSubmatch(err.Error()); m != nil && m[1] != "" {
		line, _ = strconv.Atoi(m[1])
		if strings.HasPrefix(m[2], "did not find expected") {
			line++
		}
	}
	return c.line + line
}

// syntaxOf returns what an error that parse returned says, without its line.
func syntaxOf(err error) string {
	if m := syntaxError.FindStringSubmatch(err.Error()); m != nil {
		return "not YAML: " + m[2]
	}
	return err.Error()
}
