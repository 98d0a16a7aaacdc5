package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rackboot/protocol"
)

// notes is an audit log in memory.
type notes struct {
	entries []string
	broken  bool
}

func (n *notes) add(e protocol.AuditEntry) {
	text := fmt.Sprintf("%s %s %s %s %s", cmp.Or(e.Caller, "-"), e.Op, cmp.Or(e.Target, "-"), e.Outcome, cmp.Or(e.Code, "-"))
	if e.From != "127.0.0.1" {
		text += " from " + e.From
	}
	n.entries = append(n.entries, strings.TrimSpace(text+" "+e.Detail))
}

func (n *notes) Recorded(_ context.Context, e protocol.AuditEntry, do func() (protocol.AuditOutcome, protocol.Code, string)) error {
	if n.broken {
		return errors.New("the audit log cannot be written")
	}
	e.Outcome = protocol.AuditAsked
	n.add(e)
	e.Outcome, e.Code, e.Detail = do()
	n.add(e)
	return nil
}

func (n *notes) Denied(_ *http.Request, e protocol.AuditEntry, err error) {
	e.Outcome, e.Code = protocol.AuditRefused, protocol.CodeOf(err)
	n.add(e)
}

// TestAudit: who changed which image, by its digest, and who was refused.
func TestAudit(t *testing.T) {
	b, n := newBench(t, t.TempDir()), &notes{}
	b.cfg.Audit = n
	m := b.image("1", "layer")
	digest := digestOf(m)
	lost := manifestOf(digestOf("no config"))
	for _, row := range []struct {
		as, method, path, body string
		want                   []string
	}{
		{"push", http.MethodPut, "/v2/os/manifests/" + digest, m, []string{
			"push push-image image/os@" + digest + " asked - " + digest,
			"push push-image image/os@" + digest + " accepted - " + digest,
		}},
		{"push", http.MethodPut, "/v2/os/manifests/2", lost, []string{
			"push push-image image/os:2 asked - " + digestOf(lost),
			"push push-image image/os:2 refused invalid " + digestOf(lost) + ": it names " + digestOf("no config") + ", which is not here; push that first",
		}},
		{"push", http.MethodDelete, "/v2/os/manifests/1", "", []string{
			"push delete-image image/os:1 asked - " + digest,
			"push delete-image image/os:1 accepted - " + digest,
		}},
		{"push", http.MethodDelete, "/v2/os/manifests/1", "", []string{
			"push delete-image image/os:1 asked -",
			"push delete-image image/os:1 refused not_found there is no 1 in os",
		}},
		{"pull", http.MethodPost, "/v2/os/blobs/uploads/", "", []string{"pull push-image image/os refused denied"}},
		{"pull", http.MethodPut, "/v2/os/manifests/3", m, []string{"pull push-image image/os:3 refused denied"}},
		{"pull", http.MethodDelete, "/v2/os/manifests/3", "", []string{"pull delete-image image/os:3 refused denied"}},
		{"known", http.MethodGet, "/v2/os/manifests/1", "", []string{"known pull-image image/os:1 refused denied"}},
		{"wrong", http.MethodHead, "/v2/os/blobs/" + digest, "", []string{"- authenticate image/os refused denied"}},
		{"", http.MethodPost, "/v2/os/blobs/uploads/", "", []string{"- authenticate image/os refused denied"}},
		{"known", http.MethodPut, "/v2/OS/manifests/../1", m, []string{"known push-image - refused denied"}},
		{"", http.MethodGet, "/v2/", "", nil}, // how every tool begins
		{"often", http.MethodPut, "/v2/os/manifests/1", m, nil},
		{"pull", http.MethodGet, "/v2/os/tags/list", "", nil},
	} {
		n.entries = nil
		b.ask(row.as, row.method, row.path, typeManifest, row.body)
		if !slices.Equal(n.entries, row.want) {
			t.Errorf("%s %s %s:\n%s\nwant\n%s", row.as, row.method, row.path, strings.Join(n.entries, "\n"), strings.Join(row.want, "\n"))
		}
	}
}

// TestAuditFails: what cannot be noted is not done.
func TestAuditFails(t *testing.T) {
	b := newBench(t, t.TempDir())
	m := b.image("1", "layer")
	b.cfg.Audit = &notes{broken: true}
	for _, method := range []string{http.MethodPut, http.MethodDelete} {
		if a := b.ask("push", method, "/v2/os/manifests/"+map[string]string{http.MethodPut: "2", http.MethodDelete: "1"}[method], typeManifest, m); a.status != http.StatusServiceUnavailable || !strings.Contains(a.body, "audit log") {
			t.Errorf("%s: %+v", method, a)
		}
	}
	if a := b.ask("pull", http.MethodGet, "/v2/os/tags/list", "", ""); a.body != `{"name":"os","tags":["1"]}`+"\n" {
		t.Errorf("the tags: %s", a.body)
	}
}

// TestClean: what a crash left while the book was written goes at the next start.
func TestClean(t *testing.T) {
	dir := t.TempDir()
	left := filepath.Join(dir, ".new-book.json-123")
	if err := os.WriteFile(left, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	newBench(t, dir).image("1", "layer")
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}
