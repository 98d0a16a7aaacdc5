package rack

import (
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	bmcsim "rackboot/bmc/sim"
	"rackboot/integration/sim"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/sealbox"
)

// userDataHub is where an agent fetches sealed user data.
type userDataHub struct {
	mu     sync.Mutex
	bodies map[string][]byte // by digest
	asked  int
	down   bool
}

// Fetch implements files.UserData.
func (h *userDataHub) Fetch(_ context.Context, sealed string) ([]byte, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked++
	if body, ok := h.bodies[sealed]; ok && !h.down {
		return body, nil
	}
	return nil, protocol.Errorf(protocol.CodeUnavailable, "fetch user data", "the hub is away")
}

func (h *userDataHub) put(digest string, body []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.bodies == nil {
		h.bodies = map[string][]byte{}
	}
	h.bodies[digest] = body
}

func (h *userDataHub) away(down bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.down = down
}

const dataCanary = "canary-7d20-user-data"

func content() []byte {
	return []byte(`{"ignition":{"version":"3.4.0"},"passwd":{"users":[{"name":"core","sshAuthorizedKeys":["` + dataCanary + `"]}]}}`)
}

func dataRef(version uint64) resource.IgnitionRef {
	return resource.IgnitionRef{Secret: "node", UID: "secret-uid", Version: version, Digest: "hmac"}
}

// sealData seals user data for server i as the hub does.
func (b *bench) sealData(i int, change func(*sealbox.IgnitionBinding)) *message.IgnitionIntent {
	b.t.Helper()
	k, err := sealbox.ParseKey(b.key.Seed())
	if err != nil {
		b.t.Fatal(err)
	}
	to := sealbox.IgnitionBinding{Agent: agentID, Server: b.intents[i].Server, OwnerUID: b.intents[i].Owner.UID, IgnitionRef: dataRef(1)}
	if change != nil {
		change(&to)
	}
	body, err := sealbox.SealIgnition(k.Public(), to, content())
	if err != nil {
		b.t.Fatal(err)
	}
	in := message.IgnitionOf(dataRef(1))
	in.Sealed, in.Size = sealbox.Digest(body), int64(len(body))
	b.data.put(in.Sealed, body)
	return in
}

// benchWithData has servers whose installers read user data and take a while.
func benchWithData(t *testing.T, servers int, install time.Duration) *bench {
	t.Helper()
	return newBenchOf(t, t.TempDir(), servers, bmcsim.Plain(), func(c *sim.ServerConfig) { c.UserData, c.Install = true, install })
}

// benchThatInstalls has servers whose installers read user data, and run until they are to
// finish.
func benchThatInstalls(t *testing.T, servers int) (b *bench, finish func()) {
	t.Helper()
	gate := make(chan struct{})
	b = newBenchOf(t, t.TempDir(), servers, bmcsim.Plain(), func(c *sim.ServerConfig) { c.UserData, c.Finish = true, gate })
	return b, sync.OnceFunc(func() { close(gate) })
}

// get is the status of a request from an address, and what came.
func (b *bench) get(method, url string, from netip.Addr, header ...string) (int, http.Header, string) {
	b.t.Helper()
	transport := &http.Transport{DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: from.AsSlice()}}).DialContext}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(b.t.Context(), method, url, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := (&http.Client{Transport: transport, Timeout: 10 * time.Second}).Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(body)
}

// TestUserData: facts boot-policy rows 30 and 31 at the agent. It is local before the
// server is powered on, the installer is given it from the address that it leased,
// nobody else is, and after the report nobody at all.
func TestUserData(t *testing.T) {
	t.Parallel()
	b, finish := benchThatInstalls(t, 2)
	a, _ := b.start(nil)
	b.data.away(true)
	b.claim(0)
	b.intents[0].Boot.Ignition, b.intents[0].Boot.Secrets = b.sealData(0, nil), resource.SecretsSegment
	b.send(a)
	b.until("the reason", 0, has(resource.CondArtefactsFailed))
	if got := b.servers[0].BMC.PowerState(); got != protocol.PowerOff {
		t.Errorf("powered on without its user data: %s", got)
	}
	b.data.away(false)
	b.eventually("the user data in the installer", func() bool { _, d := b.servers[0].Boots.UserData(); return len(d) > 0 })
	kind, got := b.servers[0].Boots.UserData()
	if string(got) != string(content()) || kind != resource.TypeIgnition {
		t.Errorf("the installer got %q of type %s", got, kind)
	}

	base, leased := b.servers[0].Boots.Installing()
	url := base + protocol.FileIgnition
	token := strings.Split(base, "/")[4]
	stranger := netip.MustParseAddr("127.77.0.98")
	flipped := []byte(token)
	flipped[0] ^= 1
	for _, row := range []struct {
		name, method, url string
		from              netip.Addr
		header            []string
		status            int
	}{
		{"again", http.MethodGet, url, leased, nil, http.StatusOK},
		{"its size", http.MethodHead, url, leased, nil, http.StatusOK},
		{"a part", http.MethodGet, url, leased, []string{"Range", "bytes=2-9"}, http.StatusPartialContent},
		{"from another address", http.MethodGet, url, stranger, nil, http.StatusNotFound},
		{"its size, from another address", http.MethodHead, url, stranger, nil, http.StatusNotFound},
		{"from the agent's host", http.MethodGet, url, netip.MustParseAddr("127.0.0.1"), nil, http.StatusNotFound},
		{"with a header of a proxy", http.MethodGet, url, stranger, []string{"X-Forwarded-For", leased.String(), "Forwarded", "for=" + leased.String()}, http.StatusNotFound},
		{"with a guessed token", http.MethodGet, strings.Replace(url, token, string(flipped), 1), leased, nil, http.StatusNotFound},
		{"by a fixed name", http.MethodGet, strings.Replace(url, "/b/"+token, "", 1), leased, nil, http.StatusNotFound},
		{"in a folder", http.MethodGet, base + "x/ignition", leased, nil, http.StatusNotFound},
		{"by POST", http.MethodPost, url, leased, nil, http.StatusMethodNotAllowed},
	} {
		status, header, body := b.get(row.method, row.url, row.from, row.header...)
		if status != row.status || row.status == http.StatusNotFound && strings.Contains(body, dataCanary) {
			t.Errorf("%s: %d %q", row.name, status, body)
		}
		if row.status == http.StatusOK && (header.Get("Content-Type") != resource.TypeIgnition || header.Get("Cache-Control") != "no-store") {
			t.Errorf("%s: %v", row.name, header)
		}
		if row.status == http.StatusPartialContent && body != string(content()[2:10]) {
			t.Errorf("%s: %q", row.name, body)
		}
	}
	finish()
	b.until("the disk boot", 0, diskBoot)
	if status, _, body := b.get(http.MethodGet, url, leased); status != http.StatusNotFound || strings.Contains(body, dataCanary) {
		t.Errorf("after the report: %d", status)
	}
	m, _ := b.newest()
	raw, err := json.Marshal(m)
	if err != nil || strings.Contains(string(raw), dataCanary) {
		t.Errorf("it is in what the agent said (%v)", err)
	}
	b.nowhere()

	// The claim ends: what was sealed is gone from the disk.
	sealed := strings.TrimPrefix(b.intents[0].Boot.Ignition.Sealed, "sha256:")
	if !b.onDisk(sealed) {
		t.Error("it was not kept")
	}
	b.intents[0].Boot, b.intents[0].Power, b.intents[0].Releasing = nil, resource.WantOff, true
	b.send(a)
	b.eventually("its destruction", func() bool { return !b.onDisk(sealed) })
}

// nowhere looks for the canary in all files of the agent.
func (b *bench) nowhere() {
	b.t.Helper()
	seen := 0
	err := filepath.WalkDir(b.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		if strings.Contains(string(raw), dataCanary) {
			b.t.Errorf("it is in %s", path)
		}
		seen++
		return err
	})
	if err != nil || seen < 3 {
		b.t.Errorf("%d files (%v)", seen, err)
	}
}

// onDisk says whether the agent keeps a blob.
func (b *bench) onDisk(name string) (found bool) {
	b.t.Helper()
	err := filepath.WalkDir(filepath.Join(b.dir, "blobs"), func(path string, _ fs.DirEntry, err error) error {
		found = found || filepath.Base(path) == name
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return found
}

// TestUserDataAttacks: each row is user data that is not what the signed document says,
// or not for this server. The server is not powered on by it.
func TestUserDataAttacks(t *testing.T) {
	t.Parallel()
	b := benchWithData(t, 1, 100*time.Millisecond)
	a, _ := b.start(nil)
	b.claim(0)
	for _, row := range []struct {
		name string
		in   func() *message.IgnitionIntent
	}{
		{"nothing sealed", func() *message.IgnitionIntent { return message.IgnitionOf(dataRef(1)) }},
		{"another agent's", func() *message.IgnitionIntent {
			return b.sealData(0, func(to *sealbox.IgnitionBinding) { to.Agent = "rack-b-1" })
		}},
		{"another server's", func() *message.IgnitionIntent {
			return b.sealData(0, func(to *sealbox.IgnitionBinding) { to.Server = "server-9" })
		}},
		{"another claim's", func() *message.IgnitionIntent {
			return b.sealData(0, func(to *sealbox.IgnitionBinding) { to.OwnerUID = "claim-before" })
		}},
		{"an older version", func() *message.IgnitionIntent {
			return b.sealData(0, func(to *sealbox.IgnitionBinding) { to.Version = 0 })
		}},
		{"a flipped bit", func() *message.IgnitionIntent {
			in := b.sealData(0, nil)
			body := append([]byte{}, b.data.bodies[in.Sealed]...)
			body[60] ^= 1
			b.data.put(in.Sealed, body)
			return in
		}},
		{"another size", func() *message.IgnitionIntent {
			in := b.sealData(0, nil)
			in.Size++
			return in
		}},
		{"far too large", func() *message.IgnitionIntent {
			in := b.sealData(0, nil)
			in.Size = 1 << 40
			return in
		}},
	} {
		b.intents[0].Boot.Ignition, b.intents[0].Boot.Secrets = row.in(), resource.SecretsSegment
		b.send(a)
		if b.intents[0].Boot.Ignition.Sealed == "" {
			b.until(row.name, 0, func(r resource.ServerReport) bool {
				return has(resource.CondArtefactsPending)(r) || has(resource.CondArtefactsFailed)(r)
			})
		} else {
			b.until(row.name, 0, has(resource.CondArtefactsFailed))
		}
		if r, _ := b.report(0); r.Attempt != nil || b.servers[0].BMC.PowerState() != protocol.PowerOff {
			t.Errorf("%s: the server was touched: %+v", row.name, r.Attempt)
		}
	}
	b.intents[0].Boot.Ignition, b.intents[0].Boot.Secrets = b.sealData(0, nil), resource.SecretsSegment
	b.send(a)
	b.until("the right one", 0, diskBoot)
}

// TestUserDataOffline: the hub is away and the agent starts again; the server is given
// what was fetched before.
func TestUserDataOffline(t *testing.T) {
	t.Parallel()
	b, finish := benchThatInstalls(t, 1)
	a, stop := b.start(nil)
	b.claim(0)
	b.intents[0].Boot.Ignition, b.intents[0].Boot.Secrets = b.sealData(0, nil), resource.SecretsSegment
	b.send(a)
	b.eventually("the user data in the installer", func() bool { _, d := b.servers[0].Boots.UserData(); return len(d) > 0 })
	b.data.away(true)
	stop()
	b.start(nil)
	base, leased := b.servers[0].Boots.Installing()
	if status, _, body := b.get(http.MethodGet, base+protocol.FileIgnition, leased); status != http.StatusOK || body != string(content()) {
		t.Errorf("%d %q", status, body)
	}
	finish()
	b.until("the disk boot", 0, diskBoot)
}
