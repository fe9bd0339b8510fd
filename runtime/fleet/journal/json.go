package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"

	"leeward/messages"
)

// AppendJSON appends an entry as one JSON object: "at" in seconds from start, "kind", "actor", then
// the fact's own fields in their order. The same entry always gives the same bytes.
func AppendJSON(dst []byte, start time.Time, e *Entry) ([]byte, error) {
	fields, err := encode(e.Fact)
	if err != nil {
		return dst, fmt.Errorf("encode %s of %s: %w", e.Fact.Kind(), actor(e), err)
	}
	name, err := encode(actor(e))
	if err != nil {
		return dst, fmt.Errorf("encode the name of %s: %w", actor(e), err)
	}
	dst = append(dst, `{"at":`...)
	dst = strconv.AppendFloat(dst, e.At.Sub(start).Seconds(), 'f', -1, 64)
	dst = append(dst, `,"kind":`...)
	dst = strconv.AppendQuote(dst, e.Fact.Kind())
	dst = append(append(dst, `,"actor":`...), name...)
	if len(fields) == len("{}") {
		return append(dst, '}'), nil
	}
	return append(append(dst, ','), fields[1:]...), nil
}

// encode writes a value as JSON that is safe to print: no control character remains, not
// even those that JSON allows.
func encode(v any) ([]byte, error) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return escaped(bytes.TrimSpace(text.Bytes())), nil
}

func escaped(text []byte) []byte {
	if !bytes.ContainsFunc(text, unicode.IsControl) {
		return text
	}
	var safe []byte
	for _, r := range string(text) {
		if unicode.IsControl(r) {
			safe = fmt.Appendf(safe, `\u%04x`, r)
			continue
		}
		safe = utf8.AppendRune(safe, r)
	}
	return safe
}

// actor names who recorded an entry.
func actor(e *Entry) string {
	if e.Actor == (messages.Address{}) {
		return "user"
	}
	return e.Actor.String()
}
