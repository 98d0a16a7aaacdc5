package gate

import (
	"net/http"
	"strings"
	"time"

	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// What a request may take is known before its route is, by its path alone: a request that
// is refused here costs nothing more.

// requestTimeout bounds the work on one request.
const requestTimeout = 20 * time.Second

// mutates reports whether a request may change something.
func mutates(r *http.Request) bool { return r.Method != http.MethodGet && r.Method != http.MethodHead }

// open reports whether a route needs no bearer token. Joining brings its own.
func open(r *http.Request) bool {
	if isPull(r) {
		return true
	}
	if strings.HasPrefix(r.URL.Path, protoapi.PathSchemas) {
		return r.Method == http.MethodGet
	}
	switch r.URL.Path {
	case protoapi.PathHealth, protoapi.PathReady, protoapi.PathOpenAPI, protoapi.PathAuthority, protoapi.PathLogin:
		return r.Method == http.MethodGet
	case protoapi.PathJoin, protoapi.PathRenew, protoapi.PathIgnition, protoapi.PathEnvBundle:
		return r.Method == http.MethodPost
	}
	return false
}

// patience is how long a request may take: one that waits for an agent, an export and
// an import take longer than what the hub answers at once.
func patience(r *http.Request) time.Duration {
	bmcs := protoapi.PathKind(resource.KindBMC) + "/"
	if rest, ok := strings.CutPrefix(r.URL.Path, bmcs); ok && r.Method == http.MethodPost && strings.HasSuffix(rest, "/probe") {
		return protoapi.ProbeWait + requestTimeout
	}
	switch {
	case isPiece(r), isPull(r):
		return protoapi.ISOPieceWait
	case isFinish(r):
		return protoapi.ISOFinishWait
	case isWatch(r):
		return protoapi.WatchWait
	}
	switch r.URL.Path {
	case protoapi.PathAuditExport:
		return protoapi.AuditWait
	case protoapi.PathBackup:
		return protoapi.BackupWait
	case protoapi.PathImport:
		return protoapi.ImportWait
	}
	return requestTimeout
}

// streams reports whether a request carries the content of an uploaded file, one way or the
// other, or a backup, or watches. It has bounds of its own, and no place among the requests that are answered at
// once.
func streams(r *http.Request) bool {
	return isPiece(r) || isPull(r) || isWatch(r) || r.URL.Path == protoapi.PathBackup
}

// isWatch reports whether a request watches.
func isWatch(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, protoapi.PathWatches) && r.Method == http.MethodGet
}

// isPiece reports whether a request sends a piece of an upload, or of a program of agents.
func isPiece(r *http.Request) bool {
	if r.Method != http.MethodPut {
		return false
	}
	if id, ok := strings.CutPrefix(r.URL.Path, protoapi.PathISOUploads+"/"); ok {
		return strings.HasSuffix(id, "/content")
	}
	digest, ok := strings.CutPrefix(r.URL.Path, protoapi.PathAgentPackages+"/")
	return ok && strings.Contains(digest, "/programs/")
}

// isPull reports whether a request fetches the content of an uploaded file.
func isPull(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, protoapi.PathISOContent) && !mutates(r)
}

// isFinish reports whether a request ends an upload, which reads all of a file.
func isFinish(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, protoapi.PathISOUploads+"/") && strings.HasSuffix(r.URL.Path, "/finish")
}
