package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"rackboot/hub/api"
	protoapi "rackboot/protocol/api"
)

// An import is larger than other bodies, for those alone who may import.
func TestImportBody(t *testing.T) {
	a, _ := handler(t, func(*api.Config) {})
	large := fmt.Sprintf(`{"reason":"r","objects":[{"apiVersion":"rackboot/v1","kind":"Rack","metadata":{"name":"r9","uid":"u9","generation":1,"createdAt":"2026-11-20T09:00:00Z"},"spec":{"description":%q}}]}`, strings.Repeat("x", 2*protoapi.MaxBody))
	for _, c := range []struct {
		who, path, body string
		code            int
		part            string
	}{
		{"admin", protoapi.PathImport, large, http.StatusOK, `"created"`},
		{"admin", protoapi.PathApply, large, http.StatusRequestEntityTooLarge, ""},
		{"operator", protoapi.PathImport, large, http.StatusRequestEntityTooLarge, ""},
		{"operator", protoapi.PathImport, `{"reason":"r","objects":[]}`, http.StatusForbidden, "no role"},
		{"admin", protoapi.PathImport, strings.Repeat(" ", protoapi.MaxImport+1), http.StatusRequestEntityTooLarge, ""},
		{"admin", protoapi.PathImport, `{"objects":[]}`, http.StatusBadRequest, "add --reason"},
		{"admin", protoapi.PathImport, `{"reason":"r","objects":[` + strings.Repeat("0,", protoapi.MaxImportObjects) + `0]}`, http.StatusBadRequest, "rack by rack"},
		// What cannot be read is named in its place, and stops nothing else.
		{"admin", protoapi.PathImport, `{"reason":"r","objects":[7,{"apiVersion":"rackboot/v1","kind":"Rack","metadata":{"name":"r8","uid":"u8","generation":1,"createdAt":"2026-11-20T09:00:00Z"},"spec":{}},{"apiVersion":"rackboot/v1","kind":"Rack","metadata":{"name":"r7"},"later":1}]}`, http.StatusOK, `is no field here`},
	} {
		got := ask(t, a, c.who, http.MethodPost, c.path, c.body)
		if got.status != c.code || !strings.Contains(got.text, c.part) {
			t.Errorf("%s %s with %d bytes: %d %.300s", c.who, c.path, len(c.body), got.status, got.text)
		}
	}
}
