package hold

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
)

// hubThat is a client of a hub with these routes of bulk operations.
func hubThat(t *testing.T, answer http.HandlerFunc) *api.Client {
	t.Helper()
	srv := httptest.NewTLSServer(answer)
	t.Cleanup(srv.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	c, err := api.NewClient(api.Config{BaseURL: srv.URL, CA: ca, Token: "x"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.CloseIdle)
	return c
}

func TestAHubOfBeforeIsNotAskedToWorkItOff(t *testing.T) {
	c := hubThat(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", api.ProblemType)
		w.WriteHeader(http.StatusNotFound)
		_ = json.NewEncoder(w).Encode(api.ProblemOf(protocol.Errorf(protocol.CodeNotFound, "route", "no POST /v1/bulk here")))
	})
	var s inHub
	if _, known, err := s.ask(t.Context(), &printer.Printer{Err: &bytes.Buffer{}}, c, api.BulkRequest{}); known || err != nil {
		t.Errorf("%v, %v", known, err)
	}
}

// Whoever stops waiting is told that the hub goes on, and what ends it.
func TestWhoStopsWaitingIsToldThatTheHubGoesOn(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := hubThat(t, func(w http.ResponseWriter, r *http.Request) {
		b := api.BulkStatus{ID: "01a", State: api.BulkRunning, Total: 2}
		if r.Method == http.MethodPost {
			var req api.BulkRequest
			if err := json.NewDecoder(r.Body).Decode(&req); err != nil || req.Parallel != 1 || req.StopAfter != 1 {
				t.Errorf("%+v, %v", req, err)
			}
		} else {
			cancel()
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(b)
	})
	var said bytes.Buffer
	var s inHub
	if _, known, err := s.ask(ctx, &printer.Printer{Err: &said}, c, api.BulkRequest{}); !known || err == nil {
		t.Errorf("%v, %v", known, err)
	}
	if !strings.Contains(said.String(), "the hub goes on with bulk operation 01a; rackctl bulk cancel 01a ends it") {
		t.Error(said.String())
	}
}
