package gate

import (
	"net/http"
	"time"
)

const (
	// headerTimeout, readTimeout, writeTimeout and idleTimeout bound what a connection
	// may take for the headers of a request, all of it, its answer, and between two.
	headerTimeout = 10 * time.Second
	readTimeout   = 30 * time.Second
	writeTimeout  = time.Minute
	idleTimeout   = 2 * time.Minute
	// maxHeader bounds the headers of a request in bytes.
	maxHeader = 64 << 10
	// maxConns bounds the open connections, maxSourceConns those from one address (IPv6:
	// one /64), behind which a whole site may be.
	maxConns       = 4096
	maxSourceConns = 1024
)

// extend lets a connection wait as long as its request may take.
func extend(w http.ResponseWriter, allowed time.Duration) {
	if allowed == requestTimeout {
		return
	}
	rc, until := http.NewResponseController(w), time.Now().Add(allowed+requestTimeout)
	// A writer without deadlines has none to extend. The read deadline too: while a
	// handler runs, the connection is read to see whether the client is gone.
	_ = rc.SetWriteDeadline(until)
	_ = rc.SetReadDeadline(until)
}
