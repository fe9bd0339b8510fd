package manifest

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	yaml "go.yaml.in/yaml/v3"
)

// Tags that the parser gives to scalars. It reads YAML 1.2; the words of isBoolWord are text to it.
const (
	tagString = "!!str"
	tagBool   = "!!bool"
	tagInt    = "!!int"
	tagFloat  = "!!float"
	tagNull   = "!!null"
	tagTime   = "!!timestamp"
	tagMerge  = "!!merge"
)

// isBoolWord reports whether an unquoted word is a boolean to kubectl though not to the parser.
func isBoolWord(s string) bool {
	switch s {
	case "y", "Y", "yes", "Yes", "YES", "on", "On", "ON",
		"n", "N", "no", "No", "NO", "off", "Off", "OFF":
		return true
	}
	return false
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == tagNull }

// isText reports whether a node is a string. Unquoted times are: JSON has no other form for them.
func isText(n *yaml.Node) bool {
	if n.Kind != yaml.ScalarNode {
		return false
	}
	switch n.Tag {
	case tagString:
		return n.Style != 0 || !isBoolWord(n.Value)
	case tagTime, tagMerge:
		return true
	}
	return false
}

// isTagged reports whether a node carries a tag of its own other than !!str, such as !!binary.
func isTagged(n *yaml.Node) bool {
	return n.Style&yaml.TaggedStyle != 0 && n.Tag != tagString
}

// scalar returns what a scalar is to kubectl: nil, bool, int64, uint64, float64 or string. It fails
// for a number that JSON cannot hold, and for a tag that is none of JSON's types.
func scalar(n *yaml.Node) (any, error) {
	switch {
	case isText(n):
		return n.Value, nil
	case isNull(n):
		return nil, nil
	case n.Tag == tagInt:
		return parseInt(n.Value)
	case n.Tag == tagFloat:
		return parseFloat(n.Value)
	case n.Tag == tagBool || n.Tag == tagString:
		return strings.ContainsAny(n.Value[:1], "yYtT") || strings.EqualFold(n.Value, "on"), nil
	}
	return nil, fmt.Errorf("the tag %s is not supported", n.Tag)
}

// parseInt reads an integer of any base that Go writes, underscores included: what the parser took
// for an integer is one.
func parseInt(s string) (any, error) {
	plain := strings.ReplaceAll(s, "_", "")
	if i, err := strconv.ParseInt(plain, 0, 64); err == nil {
		return i, nil
	}
	u, err := strconv.ParseUint(plain, 0, 64)
	if err != nil {
		return nil, fmt.Errorf("not an integer of 64 bits: %w", err)
	}
	return u, nil
}

// parseFloat reads a float; one without a fraction is an integer, as it is once written as JSON.
func parseFloat(s string) (any, error) {
	f, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, fmt.Errorf("%q is not a number", s)
	}
	if f == math.Trunc(f) && math.Abs(f) < 1<<63 {
		return int64(f), nil
	}
	return f, nil
}

// written returns a scalar as a problem shows it: text in quotes, cut to one short line.
func written(n *yaml.Node) string {
	const most = 60
	switch {
	case n.Kind != yaml.ScalarNode:
		return ""
	case isNull(n):
		return "null"
	}
	value := n.Value
	if len(value) > most {
		value = strings.ToValidUTF8(value[:most], "") + "..."
	}
	if isText(n) || n.Style != 0 {
		return strconv.Quote(value)
	}
	return value
}

// describe names the shape of a node that is no scalar.
func describe(n *yaml.Node) string {
	if n.Kind == yaml.SequenceNode {
		return "a list"
	}
	return "a mapping"
}
