package httpboot

import (
	"path"
	"strings"
	"unicode/utf8"

	"rackboot/netboot"
	"rackboot/protocol"
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
	name   string // a file, if report is false
	report bool
	state  protocol.ProbeState // of the report; empty if the body says it
}

// userData says whether the route is of a server's user data.
func (r route) userData() bool { return r.token != "" && r.name == protocol.FileIgnition }

// parseRoute reads a decoded path and the query of the URL.
//
//	/b/{token}/report/{state}  a report
//	/b/{token}/report          the same, with the state in the body
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
	var few [16]string
	parts := few[:0]
	clean := !strings.Contains(p, "//") && !strings.Contains(p, `\`) // and then a name is a part of the path
	for rest, more := p, true; more; {
		var part string
		if i := separator(rest); i < len(rest) {
			part, rest = rest[:i], rest[i+1:]
		} else {
			part, more = rest, false
		}
		switch {
		case part == "":
		case !isName(part):
			return route{}, false
		default:
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return route{}, false
	}
	if sibling, ok := siblingOf(query); ok {
		parts[len(parts)-1], clean = sibling, false
	}
	if first := parts[0]; !isFirst(first, netboot.PathPrefix) {
		name := join(parts, p, clean)
		return route{name: name}, !isFirst(first, netboot.EventPrefix) && len(name) <= maxName
	}
	if len(parts) < 3 || parts[1] == netboot.RefusedToken || len(parts[1]) > maxToken {
		return route{}, false
	}
	r := route{token: parts[1]}
	if parts[2] != netboot.ReportPath {
		r.name = join(parts[2:], p, clean)
		return r, len(r.name) <= maxName
	}
	r.report = true
	if len(parts) == 3 {
		return r, true
	}
	known := false
	r.state, known = protocol.ParseProbeState(parts[3])
	if !known || len(parts) > 4 {
		return route{}, false
	}
	return r, true
}

// separator is where the first part of a path ends.
func separator(p string) int {
	for i := range len(p) {
		if p[i] == '/' || p[i] == '\\' {
			return i
		}
	}
	return len(p)
}

// isFirst says whether a prefix is "/part/".
func isFirst(part, prefix string) bool {
	return len(prefix) == len(part)+2 && prefix[1:len(prefix)-1] == part
}

// join is a name of its parts, which are the last ones of a clean path.
func join(parts []string, p string, clean bool) string {
	if !clean || strings.HasSuffix(p, "/") {
		return strings.Join(parts, "/")
	}
	size := len(parts) - 1
	for _, part := range parts {
		size += len(part)
	}
	return p[len(p)-size:]
}

// isName says whether a part of a path can be of a name that we gave.
func isName(part string) bool {
	if part == "." || part == ".." {
		return false
	}
	for i := range len(part) { // none is within a character of several bytes
		if part[i] < 0x20 || part[i] == 0x7f {
			return false
		}
	}
	return true
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
