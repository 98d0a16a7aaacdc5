package api_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/api/apitest"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/auditlog"
)

func record(t *testing.T, h *apitest.Hub, caller, target string) {
	t.Helper()
	if _, err := h.Audit.Append(t.Context(), protocol.AuditEntry{Caller: caller, Op: "hold", Target: target, Outcome: protocol.AuditAsked}); err != nil {
		t.Fatal(err)
	}
}

// all reads the entries that fit in pages.
func all(t *testing.T, c *protoapi.Client, q protoapi.AuditQuery) (out []protocol.AuditEntry) {
	t.Helper()
	for {
		list, err := c.Audit.List(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if len(list.Items) > q.Limit || list.Next < q.From {
			t.Fatalf("%d entries for a limit of %d, and on with %d after %d", len(list.Items), q.Limit, list.Next, q.From)
		}
		out = append(out, list.Items...)
		if list.Next > list.Head {
			return out
		}
		q.From = list.Next
	}
}

func TestAuditList(t *testing.T) {
	h := apitest.New(t)
	c := h.Client(t)
	for i := range 60 {
		record(t, h, []string{"ha", "backup", "admin"}[i%3], fmt.Sprintf("Server/n%d", i%2))
	}
	head, hash := h.Audit.Head()
	for _, row := range []struct {
		name string
		q    protoapi.AuditQuery
		want int
	}{
		{"all", protoapi.AuditQuery{Limit: 1000}, int(head)},
		{"in pages", protoapi.AuditQuery{Limit: 7}, int(head)},
		{"one by one", protoapi.AuditQuery{Limit: 1, From: head - 2}, 3},
		{"of a caller", protoapi.AuditQuery{Limit: 3, Caller: "ha"}, 20},
		{"of a caller about a server", protoapi.AuditQuery{Limit: 100, Caller: "ha", Target: "Server/n1"}, 10},
		{"since then", protoapi.AuditQuery{Limit: 100, Since: apitest.Now()}, int(head)},
		{"since later", protoapi.AuditQuery{Limit: 100, Since: apitest.Now().Add(time.Microsecond)}, 0},
		{"from beyond the end", protoapi.AuditQuery{Limit: 100, From: head + 1}, 0},
		{"of nobody", protoapi.AuditQuery{Limit: 100, Caller: "eve"}, 0},
	} {
		got := all(t, c, row.q)
		if len(got) != row.want {
			t.Errorf("%s: %d entries, want %d", row.name, len(got), row.want)
		}
		for i, e := range got {
			if (i > 0 && e.Seq <= got[i-1].Seq) || e.Hash != e.Sum() {
				t.Errorf("%s: entry %d is %+v", row.name, i, e)
			}
		}
	}
	list, err := c.Audit.List(t.Context(), protoapi.AuditQuery{Limit: 1})
	if err != nil || list.Head != head || list.Hash != hash || len(list.Broken) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := c.Audit.List(t.Context(), protoapi.AuditQuery{Limit: 5000}); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("a limit over the bound: %v", err)
	}
}

func TestAuditExport(t *testing.T) {
	h := apitest.New(t)
	for range 60 {
		record(t, h, "ha", "Server/n1")
	}
	block, _ := pem.Decode(h.AuditKey)
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := h.Client(t).Audit.Export(t.Context(), 0, &out); err != nil {
		t.Fatal(err)
	}
	head, hash := h.Audit.Head()
	rep, err := auditlog.Verify(&out, auditlog.NewKeys(key.(ed25519.PublicKey)), nil)
	if err != nil || rep.Last != head || rep.Hash != hash {
		t.Errorf("%+v, %v", rep, err)
	}
	// What is missing makes an export that ends early, and the client is not told it is
	// whole: the end is not there.
	files, err := filepath.Glob(filepath.Join(h.AuditDir, "*.jsonl"))
	if err != nil || len(files) < 3 {
		t.Fatal(files, err)
	}
	if err := os.Remove(files[1]); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if err := h.Client(t).Audit.Export(t.Context(), 0, &out); err == nil && strings.Contains(out.String(), `{"end":`) {
		t.Error("an export with a gap has an end")
	}
	if err := h.Client(t).Audit.Export(t.Context(), head+1, &out); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("from beyond the end: %v", err)
	}
}

// Only the admin reads the log; and a hub without one says so.
func TestAuditRight(t *testing.T) {
	h := apitest.New(t)
	ha := h.ClientOf(t, apitest.ClientToken)
	_, listErr := ha.Audit.List(t.Context(), protoapi.AuditQuery{Limit: 1})
	var out bytes.Buffer
	for _, err := range []error{listErr, ha.Audit.Export(t.Context(), 0, &out)} {
		if protocol.CodeOf(err) != protocol.CodeDenied || out.Len() > 0 {
			t.Errorf("a client: %v", err)
		}
	}
	a := newAPI(t, &apitest.CannedFleet{}, prometheus.NewRegistry())
	for _, path := range []string{protoapi.PathAudit, protoapi.PathAuditExport} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
		r.Header.Set("Authorization", bearer)
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		if w.Code != protocol.CodeUnsupported.HTTPStatus() {
			t.Errorf("%s without a log: %d %s", path, w.Code, w.Body)
		}
	}
}

// A hub that shares its store has the logs of all hubs on request, and its own for who knows of no others. One that is
// alone has its own. Nobody but the admin reads any.
func TestAuditOfSite(t *testing.T) {
	two, alone := apitest.NewOfTwo(t), apitest.New(t)
	record(t, two, "ha", "Server/n1")
	for _, row := range []struct {
		name string
		h    *apitest.Hub
		q    protoapi.AuditQuery
		want string // the hubs of the entries, in order
		code protocol.Code
	}{
		{"all", two, protoapi.AuditQuery{All: true}, "hub-1 hub-1 hub-2 hub-2 hub-2 hub-2", ""},
		{"one", two, protoapi.AuditQuery{Hub: "hub-2", From: 3}, "hub-2 hub-2", ""},
		{"of a caller", two, protoapi.AuditQuery{All: true, Caller: "ha"}, "hub-1 hub-2 hub-2 hub-2", ""},
		{"as an older rackctl asks", two, protoapi.AuditQuery{}, " ", ""},
		{"a number without a hub", two, protoapi.AuditQuery{All: true, From: 2}, "", protocol.CodeInvalid},
		{"a strange hub", two, protoapi.AuditQuery{Hub: "hub-9"}, "", protocol.CodeNotFound},
		{"a strange place", two, protoapi.AuditQuery{All: true, Continue: "x"}, "", protocol.CodeInvalid},
		{"all of one that is alone", alone, protoapi.AuditQuery{All: true}, "", ""},
		{"one of one that is alone", alone, protoapi.AuditQuery{Hub: "hub-1"}, "", protocol.CodeUnsupported},
	} {
		row.q.Limit = 100
		list, err := row.h.Client(t).Audit.List(t.Context(), row.q)
		var hubs []string
		for _, e := range list.Items {
			hubs = append(hubs, e.Hub)
		}
		if got := strings.Join(hubs, " "); got != row.want || protocol.CodeOf(err) != row.code || row.code != "" && protocol.HintOf(err) == "" {
			t.Errorf("%s: %q, %v", row.name, got, err)
		}
	}
	block, _ := pem.Decode(two.AuditKey)
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := two.Client(t).Audit.ExportAll(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	if e, err := auditlog.ReadExport(&out, auditlog.NewKeys(key.(ed25519.PublicKey))); err != nil || len(e.Logs) != 2 || e.Logs[1].Last != 4 {
		t.Errorf("%+v, %v", e, err)
	}
	out.Reset()
	if err := two.Client(t).Audit.ExportOf(t.Context(), "hub-9", 0, &out); protocol.CodeOf(err) != protocol.CodeNotFound || out.Len() > 0 {
		t.Errorf("a strange hub's export: %v, %d bytes", err, out.Len())
	}
	if err := two.ClientOf(t, apitest.ClientToken).Audit.ExportAll(t.Context(), &out); protocol.CodeOf(err) != protocol.CodeDenied {
		t.Errorf("who is no admin: %v", err)
	}
}
