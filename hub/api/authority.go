package api

import (
	"net/http"

	"rackboot/hub/api/route"
	protoapi "rackboot/protocol/api"
)

// authority serves the certificate of the hub's authority, which is no secret:
// rackctl login shows its fingerprint to a person before it is trusted.
type authority struct{ pem []byte }

func (a authority) routes(t *route.Table) {
	if len(a.pem) == 0 {
		return
	}
	t.Handle("GET "+protoapi.PathAuthority, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-pem-file")
		w.Write(a.pem) //nolint:errcheck // the client is gone
	})
}
