package bootenv

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
)

// maxPath bounds a path, in bytes, as file systems do.
const maxPath = 4096

// pathProblem says what is wrong with a path of a server's file system or of the root of
// an environment; empty is nothing.
func pathProblem(p string) string {
	switch {
	case p == "":
		return "is empty"
	case len(p) > maxPath:
		return "is too long"
	case strings.HasPrefix(p, "/"):
		return "begins with /"
	case strings.ContainsFunc(p, unicode.IsControl):
		return "has a control character"
	case strings.Contains(p, `\`):
		return `has a \`
	case slices.Contains(strings.Split(p, "/"), ".."):
		return "has .. in it"
	case path.Clean(p) != p || p == ".":
		return "is not in its shortest form"
	}
	return ""
}

// sortedKeys are a map's keys in order, so that nothing depends on chance.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
