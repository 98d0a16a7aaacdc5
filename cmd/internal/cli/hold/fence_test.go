package hold

import (
	"context"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// TestFenceTable compares the table above fenceExit with it for every combination.
func TestFenceTable(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "fence.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for _, c := range f.Comments {
		for line := range strings.Lines(c.Text()) {
			if strings.Contains(line, "|") {
				cells := strings.Split(line, "|")
				for i := range cells {
					cells[i] = strings.TrimSpace(cells[i])
				}
				rows = append(rows, cells)
			}
		}
	}
	if len(rows) != 9 || !slices.Equal(rows[0], []string{"state", "receipt", "stale", "fresh", "exit"}) {
		t.Fatalf("the table has another shape: %q", rows)
	}
	receipts := map[string]*resource.Receipt{"none": nil, "proof": {}, "manual": {Manual: &resource.Confirmation{}}}
	for _, state := range append(resource.HoldStates(), "", "Molten") {
		for name, r := range receipts {
			for stale, is := range map[string]bool{"yes": true, "no": false} {
				for _, fresh := range []freshness{freshOff, freshOther, freshNone, ""} {
					i := slices.IndexFunc(rows[1:], func(row []string) bool {
						return (row[0] == "*" || row[0] == string(state)) && (row[1] == "*" || row[1] == name) && (row[2] == "*" || row[2] == stale) && (row[3] == "*" || row[3] == string(fresh))
					})
					if got, want := strconv.Itoa(fenceExit(state, r, is, fresh)), rows[i+1][4]; got != want {
						t.Errorf("%s with receipt %s, stale %s, a read that says %q: %s, the table says %s", state, name, stale, fresh, got, want)
					}
				}
			}
		}
	}
}

// A hub that answers and falls silent leaves what it said as old; one that is away at
// first is asked until it takes the hold, which is the same hold each time.
func TestFenceOfASilentHub(t *testing.T) {
	fenced := `{"metadata":{"name":"h1"},"spec":{"server":"n1"},"status":{"word":"Fenced","state":"Fenced","receipt":{"holdId":"h1"}}}`
	away := func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", api.ProblemType)
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, `{"code":"unavailable","detail":"starting"}`)
	}
	var answer func(n int64, w http.ResponseWriter)
	off := `{"server":"n1","power":"Off","proved":[{"hold":"h1","stoppedSince":"0001-01-01T00:00:00Z"}]}`
	var reads func(w http.ResponseWriter)
	// Each run has a hub of its own: a request that an earlier one gave up may still come.
	run := func(timeout time.Duration) (int, string) {
		var calls atomic.Int64
		answers := answer
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if strings.HasSuffix(r.URL.Path, "/read") {
				reads(w)
				return
			}
			answers(calls.Add(1), w)
		}))
		defer srv.Close()
		c, err := api.NewClient(api.Config{BaseURL: srv.URL})
		if err != nil {
			t.Fatal(err)
		}
		defer c.CloseIdle()
		var out, progress strings.Builder
		err = fence(context.Background(), &printer.Printer{Out: &out, Err: &progress, Form: printer.FormTable}, c, "n1", api.HoldRequest{HoldTerms: resource.HoldTerms{Key: "k"}}, timeout)
		if u, ok := errors.AsType[*printer.ExitError](err); ok {
			return u.Code, out.String()
		}
		if err != nil {
			return protocol.CodeOf(err).ExitCode(), out.String()
		}
		return 0, out.String()
	}
	answer = func(n int64, w http.ResponseWriter) {
		if n < 3 {
			away(w)
			return
		}
		fmt.Fprint(w, fenced)
	}
	reads = func(w http.ResponseWriter) { fmt.Fprint(w, off) }
	if exit, out := run(20 * time.Second); exit != 0 || !strings.Contains(out, "h1") {
		t.Errorf("away at first: exit %d, %s", exit, out)
	}
	// The receipt alone says nothing of now.
	answer = func(_ int64, w http.ResponseWriter) { fmt.Fprint(w, fenced) }
	for name, row := range map[string]struct {
		read string
		exit int
	}{
		"On":              {strings.ReplaceAll(off, `"Off"`, `"On"`), exitNotProved},
		"no answer":       {strings.ReplaceAll(off, `"Off"`, `"Unreachable"`), exitUnknown},
		"PoweringOff":     {strings.ReplaceAll(off, `"Off"`, `"PoweringOff"`), exitNotProved},
		"another proof":   {strings.ReplaceAll(off, "0001", "2026"), exitNotProved},
		"no proof":        {`{"server":"n1","power":"Off"}`, exitNotProved},
		"of another":      {strings.ReplaceAll(off, `"h1"`, `"h2"`), exitNotProved},
		"what is no read": {`{}`, exitNotProved},
	} {
		reads = func(w http.ResponseWriter) { fmt.Fprint(w, row.read) }
		if exit, out := run(300 * time.Millisecond); exit != row.exit || out != "" {
			t.Errorf("a read that says %s: exit %d, %s", name, exit, out)
		}
	}
	reads = away
	if exit, out := run(300 * time.Millisecond); exit != exitUnknown || out != "" {
		t.Errorf("an agent that does not answer: exit %d, %s", exit, out)
	}
	answer = func(_ int64, w http.ResponseWriter) { away(w) }
	if exit, out := run(300 * time.Millisecond); exit != exitUnknown || out != "" {
		t.Errorf("away: exit %d, %s", exit, out)
	}
	refuse := func(code string, status int) func(int64, http.ResponseWriter) {
		return func(n int64, w http.ResponseWriter) {
			if n > 1 {
				fmt.Fprint(w, strings.ReplaceAll(fenced, "Fenced", "Forcing"))
				return
			}
			w.Header().Set("Content-Type", api.ProblemType)
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"code":%q,"detail":"no"}`, code)
		}
	}
	answer = refuse("conflict", http.StatusConflict)
	if exit, _ := run(20 * time.Second); exit != protocol.CodeConflict.ExitCode() {
		t.Errorf("refused: exit %d", exit)
	}
	answer = refuse("internal", http.StatusInternalServerError)
	if exit, _ := run(20 * time.Second); exit != exitUnknown {
		t.Errorf("a defect of the hub, which may have taken the hold: exit %d", exit)
	}
	answer = func(n int64, w http.ResponseWriter) {
		if n > 1 {
			w.Header().Set("Content-Type", api.ProblemType)
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"code":"denied","detail":"the token was changed"}`)
			return
		}
		fmt.Fprint(w, strings.ReplaceAll(fenced, "Fenced", "Forcing"))
	}
	if exit, _ := run(20 * time.Second); exit != exitUnknown {
		t.Errorf("denied while it waits: exit %d", exit)
	}
	answer = func(n int64, w http.ResponseWriter) {
		if n == 1 {
			fmt.Fprint(w, strings.ReplaceAll(fenced, "Fenced", "Forcing"))
			return
		}
		w.Header().Set("Content-Type", api.ProblemType)
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"code":"not_found","detail":"gone"}`)
	}
	if exit, out := run(20 * time.Second); exit != exitNotProved || out != "" {
		t.Errorf("released meanwhile: exit %d, %s", exit, out)
	}
}
