package api

import (
	"net/http"

	protoapi "rackboot/protocol/api"
)

// registerAuthority serves the certificate of the hub's authority, which is no secret:
// rackctl login shows its fingerprint to a person before it is trusted.
func (a *API) registerAuthority(pem []byte) {
	if len(pem) == 0 {
		return
	}
	a.mux.HandleFunc("GET "+protoapi.PathAuthority, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-pem-file")
		w.Write(pem) //nolint:errcheck // the client is gone
	})
}
