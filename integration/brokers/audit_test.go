package brokers

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	natsjs "github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/audit"
	"rackboot/hub/auditcopy"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/auditlog"
	"rackboot/state/jetstream"
)

// auditStream has the audit logs of hubs that share a store.
const auditStream = "rackboot-audit"

// auditFiles are the entries in the files of a hub's audit log.
func auditFiles(t *testing.T, dir string) (out []protocol.AuditEntry) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "audit", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(data) {
			if e, err := protocol.ParseAuditLine(bytes.TrimSuffix(line, []byte("\n"))); err == nil { // the last one may be half
				out = append(out, e)
			}
		}
	}
	return out
}

// TestAuditOfSeveralHubs: two hubs on three NATS servers. One is killed while it works, and its disk is gone: the other
// exports and lists both logs, that of the dead one up to its last second. The node that leads the stream is
// killed during an export, which is whole all the same.
func TestAuditOfSeveralHubs(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	a := newSite(t, 0, mosquitto)
	a.shares(c, "a", a.hub.DataDir)
	a.startHub()
	if _, err := a.client.Objects.Apply(t.Context(), a.manifests(), false); err != nil {
		t.Fatal(err)
	}
	b := *a
	b.client, b.toHub = nil, newProxy(t, a.broker.addrs...)
	b.hub.Broker.URL, b.hub.API = b.toHub.url(), freeAddress(t)
	b.shares(c, "b", filepath.Join(a.dir, "other"))
	process := b.apart("b")
	b.comes(process)
	for i := range 80 {
		b.hold(fmt.Sprintf("by-b-%d", i))
		a.hold(fmt.Sprintf("by-a-%d", i))
	}
	b.hold("last")
	process.kill()
	killed := time.Now()
	files := auditFiles(t, b.hub.DataDir)
	if err := os.RemoveAll(b.hub.DataDir); err != nil {
		t.Fatal(err)
	}

	keys := auditlog.NewKeys(a.keys.Signer().Public())
	var out bytes.Buffer
	if err := a.client.Audit.ExportAll(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	e, err := auditlog.ReadExport(&out, keys)
	if err != nil || len(e.Logs) != 2 || e.Logs[1].Hub != "b" || len(e.Unchecked) != 0 {
		t.Fatalf("%+v, %v", e, err)
	}
	last := e.Logs[1].Last
	if last > uint64(len(files)) || files[last-1].Hash != e.Logs[1].Hash {
		t.Fatalf("the export of b ends with entry %d, %s; its files with %d", last, e.Logs[1].Hash, len(files))
	}
	var age time.Duration // of the oldest that is lost
	if lost := files[last:]; len(lost) > 0 {
		age = killed.Sub(lost[0].At)
	}
	if age > 2*time.Second {
		t.Errorf("an entry of %s before b was killed is not in the export", age)
	}
	t.Logf("%d entries of b, of which the last %d are gone with its disk, the oldest of %s before it was killed", len(files), len(files)-int(last), age.Round(time.Millisecond))
	hubs := map[string]int{}
	for q := (api.AuditQuery{All: true, Limit: 50}); ; {
		list, err := a.client.Audit.List(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list.Items {
			hubs[e.Hub]++
		}
		if q.Continue = list.Continue; q.Continue == "" {
			break
		}
	}
	if hubs["b"] != int(last) || hubs["a"] < 10 {
		t.Errorf("listed: %v", hubs)
	}

	entries := 0
	for _, log := range e.Logs {
		entries += int(log.Last)
	}
	if size := c.size(auditStream) / uint64(entries); size < 200 || size > 1500 { // the guide says how large it gets
		t.Errorf("the stream has %d bytes an entry", size)
	} else {
		t.Logf("the stream has %d bytes an entry", size)
	}

	x := newAuditor(t, c, a)
	do, err := x.Export(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out.Reset()
	begun := time.Now()
	err = do(t.Context(), &killing{Writer: &out, kill: func() { c.leaderOf(auditStream).kill() }})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("an export during which the stream's leader was killed took %s", time.Since(begun).Round(100*time.Millisecond))
	e, err = auditlog.ReadExport(&out, keys)
	if err != nil || !slices.ContainsFunc(e.Logs, func(h *auditlog.History) bool { return h.Hub == "b" && h.Last == last }) {
		t.Errorf("%+v, %v", e, err)
	}
}

// newAuditor has the logs of the cluster's hubs, in the test itself.
func newAuditor(t *testing.T, c *cluster, s *site) *auditcopy.Room {
	t.Helper()
	r := auditcopy.New(auditcopy.Config{
		Hub: "auditor", Clock: time.Now, Signer: s.keys.Signer(), Hubs: func() []string { return nil },
		Open: func(ctx context.Context) (auditcopy.Journal, error) {
			return jetstream.OpenJournal(ctx, jetstream.Config{Conn: c.conn, Name: auditStream, Replicas: nodes, Timeout: 15 * time.Second})
		},
		Head: func(context.Context, string) (auditlog.Head, error) { return auditlog.Head{}, nil },
	})
	own, err := audit.Open(audit.Config{Dir: t.TempDir(), Signer: s.keys.Signer(), Clock: time.Now, Registerer: prometheus.NewRegistry(), Hub: "auditor"})
	if err != nil {
		t.Fatal(err)
	}
	r.Start(own)
	t.Cleanup(func() {
		if err := own.Close(); err != nil {
			t.Error(err)
		}
		r.Close()
	})
	return r
}

// killing kills something with the first write.
type killing struct {
	io.Writer
	kill func()
}

func (k *killing) Write(b []byte) (int, error) {
	if k.kill != nil {
		k.kill()
		k.kill = nil
	}
	return k.Writer.Write(b)
}

// size is how many bytes a stream has at each of its nodes.
func (c *cluster) size(stream string) (bytes uint64) {
	c.t.Helper()
	c.await("the size of the stream", func() error {
		js, err := natsjs.New(c.conn, natsjs.WithDefaultTimeout(time.Second))
		if err != nil {
			return err
		}
		s, err := js.Stream(c.t.Context(), stream)
		if err == nil {
			bytes = s.CachedInfo().State.Bytes
		}
		return err
	})
	return bytes
}
