package resource

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"
)

// The bounds of what describes boot environments, in bytes of JSON where nothing else is
// said: the hub stores each resource as one value.
const (
	MaxBootEnv   = 160 << 10
	MaxParams    = 96 << 10 // the values of one Server, Profile or ServerGroup
	MaxSchema    = 64 << 10
	MaxParamName = 127
	// maxProfiles and maxEnvTemplates are numbers.
	maxProfiles     = 64
	maxEnvTemplates = 128
)

// validParamName says whether s may name a param: 1 to 127 of A-Z, a-z, 0-9, ., _, - and
// /, beginning and ending with a letter or digit. dr-provision's have a slash for their
// family, such as kernel/console.
func validParamName(s string) bool {
	const inner = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-/"
	return s != "" && len(s) <= MaxParamName && strings.Trim(s, inner) == "" && strings.Trim(s, "._-/") == s
}

func (f *fields) param(path, s string) {
	if !validParamName(s) {
		f.Add(path, "%.80q is not the name of a param: use 1 to %d of A-Z, a-z, 0-9, ., _, - and /, beginning and ending with a letter or digit", s, MaxParamName)
	}
}

// params checks the names and the length of values. No message has a value.
func (f *fields) params(path string, values map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		f.param(path, name)
	}
	f.fits(path, values, MaxParams)
}

// fits bounds the JSON of something.
func (f *fields) fits(path string, v any, most int) {
	raw, err := json.Marshal(v)
	if err != nil {
		f.Add(path, "is no JSON")
	} else if len(raw) > most {
		f.Add(path, "has %d bytes as JSON; give at most %d", len(raw), most)
	}
}

// relative checks the path of a file in an environment's root: no slash at its
// beginning, and nothing that leads out (seed 004, Kernel).
func (f *fields) relative(at, s string) {
	switch {
	case s == "":
		f.Add(at, "is empty")
	case strings.HasPrefix(s, "/"):
		f.Add(at, "%.200q begins with a slash; it is relative to the root of the ISO file or install repository", s)
	case slices.Contains(strings.Split(s, "/"), ".."):
		f.Add(at, "%.200q has .. in it; nothing outside of the root is served", s)
	case strings.ContainsAny(s, "\\\x00\n\r"):
		f.Add(at, "%.200q has a backslash or a control character; separate with /", s)
	case path.Clean(s) != s && path.Clean(s)+"/" != s:
		f.Add(at, "%.200q is not the shortest spelling, %.200q", s, path.Clean(s))
	}
}

// relativeTemplate checks the path of a rendered file as far as its text says. What its
// templates give is checked when it is rendered.
func (f *fields) relativeTemplate(at, s string) {
	switch {
	case s == "":
		f.Add(at, "is empty; say where the file lies")
	case strings.HasPrefix(s, "/"):
		f.Add(at, "%.200q begins with a slash; it is relative to the root of what is served", s)
	case slices.Contains(strings.Split(s, "/"), ".."):
		f.Add(at, "%.200q has .. in it; nothing outside of the root is served", s)
	}
}

// paramsReference is the Secret of a paramsSecretRef, if there is one.
func paramsReference(path string, r *Ref) []Reference {
	if r == nil {
		return nil
	}
	return []Reference{{path + ".name", KindSecret, r.Name}}
}
