package brokers

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rackboot/hub/daemon"
	"rackboot/integration/sim"
	"rackboot/protocol"
)

// ownImages is the registry of a hub, as a client with the administrator's token sees it.
type ownImages struct {
	s     *site
	login sim.Login
}

func (s *site) images() ownImages {
	s.t.Helper()
	raw, err := os.ReadFile(filepath.Join(s.hub.DataDir, "pki", "admin.token"))
	if err != nil {
		s.t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(s.keys.CAPEM())
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
	s.t.Cleanup(transport.CloseIdleConnections)
	return ownImages{s, sim.Login{Transport: transport, Username: "admin", Password: strings.TrimSpace(string(raw))}}
}

// push puts an index of one image with one layer there, and returns the digest of the image.
func (o ownImages) push(tag string, layer []byte) string {
	o.s.t.Helper()
	digests, err := o.login.Push(o.s.t.Context(), o.s.hub.Registry.Listen+"/team/os:"+tag, map[string][]sim.Layer{"amd64": {{MediaType: sim.UKIMediaType, Content: layer}}})
	if err != nil {
		o.s.t.Fatal(err)
	}
	return digests["amd64"]
}

// get asks for something below the repository.
func (o ownImages) get(path string) (int, []byte) {
	o.s.t.Helper()
	req, err := http.NewRequestWithContext(o.s.t.Context(), http.MethodGet, "https://"+o.s.hub.Registry.Listen+"/v2/team/os/"+path, http.NoBody)
	if err != nil {
		o.s.t.Fatal(err)
	}
	req.SetBasicAuth(o.login.Username, o.login.Password)
	resp, err := o.login.Transport.RoundTrip(req)
	if err != nil {
		return 0, []byte(err.Error())
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, []byte(err.Error())
	}
	return resp.StatusCode, raw
}

// pulls asks until it is there, as clients do.
func (o ownImages) pulls(path string) []byte {
	o.s.t.Helper()
	var status int
	var raw []byte
	o.s.until(path, func() bool { status, raw = o.get(path); return status == http.StatusOK }, func() any { return fmt.Sprint(status, " ", string(raw)) })
	return raw
}

// has says that a tag is an index of this image, with this layer.
func (o ownImages) has(tag, image string, layer []byte) {
	o.s.t.Helper()
	begun := time.Now()
	var index struct{ Manifests []struct{ Digest string } }
	if err := json.Unmarshal(o.pulls("manifests/"+tag), &index); err != nil || len(index.Manifests) != 1 || index.Manifests[0].Digest != image {
		o.s.t.Fatalf("%s is %+v, want %s; %v", tag, index, image, err)
	}
	var manifest struct{ Layers []struct{ Digest string } }
	if err := json.Unmarshal(o.pulls("manifests/"+image), &manifest); err != nil || len(manifest.Layers) != 1 {
		o.s.t.Fatalf("%+v, %v", manifest, err)
	}
	if want := fmt.Sprintf("sha256:%x", sha256.Sum256(layer)); manifest.Layers[0].Digest != want {
		o.s.t.Fatalf("the layer is %s, want %s", manifest.Layers[0].Digest, want)
	}
	if got := o.pulls("blobs/" + manifest.Layers[0].Digest); !bytes.Equal(got, layer) {
		o.s.t.Errorf("%d bytes of the layer, want %d", len(got), len(layer))
	}
	o.s.t.Logf("%s with %d bytes was pulled in %s", tag, len(layer), time.Since(begun).Round(time.Millisecond))
}

// TestImagesOnTwoHubs: what was pushed to the registry of one of two hubs is pulled from the other one's after the first was
// killed with SIGKILL. What is pushed there meanwhile the first has when it is back. A store that is moved to a folder
// takes its images along.
func TestImagesOnTwoHubs(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	a := newSite(t, 0, mosquitto)
	a.shares(c, "a", a.hub.DataDir)
	a.hub.ISOs.QuotaMiB = 4096
	a.hub.Registry = daemon.Registry{Listen: freeAddress(t), QuotaMiB: 256, MinFreeMiB: 1}
	one := a.apart("a")
	a.comes(one)
	b := *a
	b.client, b.toHub = nil, newProxy(t, a.broker.addrs...)
	b.hub.Broker.URL, b.hub.API, b.hub.Registry.Listen = b.toHub.url(), freeAddress(t), freeAddress(t)
	b.shares(c, "b", filepath.Join(a.dir, "other"))
	b.startHub()

	first := sim.UKI(bytes.Repeat([]byte("first image "), 256<<10))
	image := a.images().push("1", first)
	one.kill()
	b.images().has("1", image, first)

	second := sim.UKI(bytes.Repeat([]byte("second image "), 64<<10))
	moved := b.images().push("1", second)
	a.comes(one)
	a.images().has("1", moved, second)
	if got := a.images().pulls("manifests/" + image); len(got) == 0 {
		t.Error("the image that the tag was before is not there")
	}
	one.kill()
	b.stopHub()

	if err := os.RemoveAll(filepath.Join(b.hub.DataDir, "registry")); err != nil {
		t.Fatal(err)
	}
	var out daemon.Moved
	b.until("no hub works", func() (done bool) {
		var err error
		out, err = daemon.Migrate(t.Context(), b.hub, daemon.MoveToFolder, nil)
		if protocol.CodeOf(err) == protocol.CodeConflict && strings.Contains(err.Error(), "works on it") {
			return false
		}
		if err != nil || len(out.Lacking) > 0 || out.Brought == 0 {
			t.Fatalf("%+v, %v", out, err)
		}
		return true
	}, func() any { return out })
	b.hub.Store.NATS = nil
	b.hub.Broker.URL, b.hub.MQTT = "", freeAddress(t)
	b.startHub()
	b.images().has("1", moved, second)
}
