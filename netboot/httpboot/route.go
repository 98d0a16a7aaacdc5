package httpboot

import (
	"strings"

	"rackboot/netboot"
)

// route is what a path means.
type route struct {
	token  string
	name   string // a file, if report is empty
	report string
}

// parseRoute reads a decoded path. Empty segments are skipped ("//grubx64.efi");
// "." and ".." are no names here, they are not resolved but unknown, and so is
// what has a backslash or a control character.
func parseRoute(path string) (route, bool) {
	var parts []string
	for part := range strings.SplitSeq(path, "/") {
		if part == "" {
			continue
		}
		if part == "." || part == ".." || strings.ContainsFunc(part, func(r rune) bool { return r < 0x20 || r == 0x7f || r == '\\' }) {
			return route{}, false
		}
		parts = append(parts, part)
	}
	if len(parts) < 3 || "/"+parts[0]+"/" != netboot.PathPrefix || parts[1] == netboot.RefusedToken {
		return route{}, false
	}
	r := route{token: parts[1]}
	if parts[2] != "report" {
		r.name = strings.Join(parts[2:], "/")
		return r, true
	}
	if len(parts) == 4 && (parts[3] == netboot.ReportInstalled || parts[3] == netboot.ReportBooted) {
		r.report = parts[3]
		return r, true
	}
	return route{}, false
}
