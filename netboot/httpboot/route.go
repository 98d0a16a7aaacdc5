package httpboot

import (
	"path"
	"strings"
	"unicode/utf8"

	"rackboot/netboot"
)

const (
	// maxName and maxToken bound what is looked up, in bytes. The name of option 67
	// has at most 255 and a loader adds its own.
	maxName  = 512
	maxToken = 128
)

// route is what a path means.
type route struct {
	token  string // empty for a fixed name
	name   string // a file, if report is empty
	report string
}

// parseRoute reads a decoded path and the query of the URL.
//
//	/b/{token}/report/{what}   a report
//	/b/{token}/{name}          a file of an attempt, and its siblings
//	/{name}                    a fixed name, for the client's address
//
// Empty parts are skipped ("//grubx64.efi"), and a backslash separates parts like a
// slash: loaders were written for FAT. "." and ".." are no names here, they are not
// resolved but unknown; so is what has a control character or is not UTF-8, as the
// names that shim 15.8 makes of a boot option's text.
//
// The query means nothing, but for what shim makes of it: it puts the name of its
// next file behind the last slash of the URL, also one in a query. What stands there
// is a sibling of the path's file if it ends in .efi.
func parseRoute(p, query string) (route, bool) {
	if !strings.HasPrefix(p, "/") || !utf8.ValidString(p) { // OPTIONS has *
		return route{}, false
	}
	var parts []string
	for part := range strings.FieldsFuncSeq(p, func(r rune) bool { return r == '/' || r == '\\' }) {
		if !isName(part) {
			return route{}, false
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return route{}, false
	}
	if sibling, ok := siblingOf(query); ok {
		parts[len(parts)-1] = sibling
	}
	if first := "/" + parts[0] + "/"; first != netboot.PathPrefix {
		name := strings.Join(parts, "/")
		return route{name: name}, first != netboot.EventPrefix && len(name) <= maxName
	}
	if len(parts) < 3 || parts[1] == netboot.RefusedToken || len(parts[1]) > maxToken {
		return route{}, false
	}
	r := route{token: parts[1]}
	if parts[2] != "report" {
		r.name = strings.Join(parts[2:], "/")
		return r, len(r.name) <= maxName
	}
	if len(parts) == 4 && (parts[3] == netboot.ReportInstalled || parts[3] == netboot.ReportBooted) {
		r.report = parts[3]
		return r, true
	}
	return route{}, false
}

// isName says whether a part of a path can be of a name that we gave.
func isName(part string) bool {
	return part != "." && part != ".." && !strings.ContainsFunc(part, func(r rune) bool { return r < 0x20 || r == 0x7f })
}

// siblingOf is the name behind the last slash of a query as it was sent.
func siblingOf(query string) (string, bool) {
	i := strings.LastIndexByte(query, '/')
	name := query[i+1:]
	if i < 0 || !strings.EqualFold(path.Ext(name), ".efi") || !utf8.ValidString(name) || strings.ContainsAny(name, `\%`) || !isName(name) {
		return "", false
	}
	return name, true
}
