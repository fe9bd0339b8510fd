package config

import (
	"strings"
	"unicode"
)

// FieldOf returns the field that is named as a flag in camelCase: gracefulEvictionTimeout for
// graceful-eviction-timeout.
func FieldOf(flag string) string {
	words := strings.Split(flag, "-")
	for i := 1; i < len(words); i++ {
		if words[i] != "" {
			words[i] = strings.ToUpper(words[i][:1]) + words[i][1:]
		}
	}
	return strings.Join(words, "")
}

// FlagOf returns the flag that is named as a field in kebab-case.
func FlagOf(field string) string {
	var b strings.Builder
	for _, r := range field {
		if unicode.IsUpper(r) {
			b.WriteByte('-')
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}
