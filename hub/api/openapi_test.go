package api_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"testing"

	"rackboot/hub/api"
	protoapi "rackboot/protocol/api"
)

// update rewrites docs/openapi.json; make openapi runs it.
var update = flag.Bool("update", false, "update docs/openapi.json")

// docs/openapi.json is what the hub serves.
func TestOpenAPIPage(t *testing.T) {
	const page = "../../docs/openapi.json"
	a, _ := handler(t, func(*api.Config) {})
	var served bytes.Buffer
	if err := json.Indent(&served, []byte(ask(t, a, "", http.MethodGet, protoapi.PathOpenAPI, "").text), "", " "); err != nil {
		t.Fatal(err)
	}
	served.WriteByte('\n')
	if *update {
		if err := os.WriteFile(page, served.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(page)
	if err != nil || !bytes.Equal(kept, served.Bytes()) {
		t.Fatalf("docs/openapi.json is not what the hub serves (%v): make openapi", err)
	}
}
