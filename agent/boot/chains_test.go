package boot

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/netboot"
	"rackboot/netboot/chain"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/state/blob"
	"rackboot/state/statetest"
)

// chainBoots are the files of one machine whose boot through GRUB is open.
func chainBoots(t *testing.T) (*segment, *decide.Attempt, netip.Addr) {
	t.Helper()
	const mac = "02:00:00:00:00:01"
	blobs, err := blob.Open(blob.Config{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = blobs.Close() })
	c := &protocol.BootChain{Kind: protocol.ChainGRUB, First: "shimx64.efi", Last: "initrd", CommandLine: "quiet"}
	for name, content := range map[string]string{"shimx64.efi": shimText, "grubx64.efi": grubText, "kernel": kernelText} {
		digest := contentDigest(content)
		if err := blobs.Write(t.Context(), digest, int64(len(content)), strings.NewReader(content)); err != nil {
			t.Fatal(err)
		}
		c.Files = append(c.Files, protocol.ChainFile{Name: name, Digest: digest})
	}
	r := room(t, statetest.NewMemory(), time.Now)
	r.cfg.Blobs = blobs
	attempt := &decide.Attempt{Token: "t", Order: decide.Order{Chain: c, Target: protocol.TargetPxe}, Stage: decide.Stage{State: resource.AttemptConsumed}}
	r.index.synced = true
	r.index.segments = map[string]resource.SegmentIntent{"boot": {Name: "boot", Address: netip.MustParseAddr("10.7.0.1")}}
	r.index.byMAC = map[string][]string{mac: {"one"}}
	r.index.byToken["t"] = "one"
	r.index.servers["one"] = indexed{attempt: attempt, segment: "boot"}
	b := &segment{room: r, leased: newLeased()}
	at := netip.MustParseAddr("10.7.0.50")
	b.leased.note(tenant4(netboot.Lease{Address: at, MAC: mac, Expires: time.Now().Add(time.Hour)}))
	return b, attempt, at
}

const shimText, grubText, kernelText = "shim", "grub", "kernel"

// TestOpenChain: each file of a chain by its name below the token, GRUB's configuration
// by a name without one, and nothing else; a loader that is sent is no sign that the
// operating system may run.
func TestOpenChain(t *testing.T) {
	b, attempt, at := chainBoots(t)
	read := func(f *netboot.File, err error) string {
		if err != nil {
			return string(protocol.CodeOf(err))
		}
		defer f.Close()
		content, err := io.ReadAll(f)
		if err != nil || int64(len(content)) != f.Size || len(f.ETag) < 3 {
			t.Errorf("%d bytes of %d, ETag %q, %v", len(content), f.Size, f.ETag, err)
		}
		return string(content)
	}
	for name, want := range map[string]string{
		"shimx64.efi": shimText, "grubx64.efi": grubText, "kernel": kernelText,
		"mmx64.efi": "not_found", "revocations_sku.efi": "not_found", "boot.efi": "not_found", "rootfs.squashfs": "not_found",
	} {
		if got := read(b.Open(at, "t", name)); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		if got := read(b.OpenFor(at, name)); got != want {
			t.Errorf("%s by the address: %q, want %q", name, got, want)
		}
	}
	config := read(b.OpenFor(at, "grub/grub.cfg"))
	if !strings.Contains(config, "/b/t/kernel") || !strings.Contains(config, "rackboot.url=http://10.7.0.1/b/t/") {
		t.Errorf("grub.cfg is %q", config)
	}
	if got := read(b.OpenFor(netip.MustParseAddr("10.7.0.51"), "grub/grub.cfg")); got != "not_found" {
		t.Errorf("grub.cfg of another address: %q", got)
	}
	if f, err := b.OpenFor(at, "grub/grub.cfg"); err != nil || f.Token != "t" {
		t.Errorf("whose file it is, is not told: %+v, %v", f, err)
	}
	if attempt.Marks.Served {
		t.Error("a loader counts as the operating system")
	}
	for _, spoil := range []func(e *indexed){
		func(e *indexed) { e.held = true },
		func(e *indexed) { e.missing = true },
	} {
		e := b.room.index.servers["one"]
		spoil(&e)
		b.room.index.mu.Lock()
		before := b.room.index.servers["one"]
		b.room.index.servers["one"] = e
		b.room.index.mu.Unlock()
		for _, name := range []string{"shimx64.efi", "kernel", "grub.cfg"} {
			if got := read(b.Open(at, "t", name)); got != "denied" {
				t.Errorf("%s for a server that may not boot: %q", name, got)
			}
		}
		b.room.index.servers["one"] = before
	}
}

// TestOpenByFamily: what is rendered names the agent by the address family that the
// client came by, whether it asks with the token or without.
func TestOpenByFamily(t *testing.T) {
	b, attempt, at4 := chainBoots(t)
	at6 := netip.MustParseAddr("2001:db8:7::1000")
	b.leased.note(tenant6(netboot.Lease6{Address: at6, Client: "duid", MAC: "02:00:00:00:00:01", Expires: time.Now().Add(time.Hour)}))
	seg := b.room.index.segments["boot"]
	seg.BaseURL = "http://10.7.0.1:8080"
	side := &resource.SegmentIPv6Intent{Address: netip.MustParseAddr("2001:db8:7::1"), BaseURL: "http://[2001:db8:7::1]:8080"}
	for _, row := range []struct {
		name   string
		side   *resource.SegmentIPv6Intent
		remote netip.Addr
		want   string // "" is that there is no such file
	}{
		{"IPv4", side, at4, "http://10.7.0.1:8080/b/t/"},
		{"IPv4 at a socket of both", side, netip.AddrFrom16(at4.As16()), "http://10.7.0.1:8080/b/t/"},
		{"IPv6", side, at6, "http://[2001:db8:7::1]:8080/b/t/"},
		{"IPv6 without a base URL", &resource.SegmentIPv6Intent{Address: side.Address}, at6, "http://[2001:db8:7::1]/b/t/"},
		{"IPv6 where the segment has none", nil, at6, ""},
	} {
		seg.IPv6 = row.side
		b.room.index.segments["boot"] = seg
		for _, kind := range []protocol.ChainKind{protocol.ChainGRUB, protocol.ChainIPXE} {
			attempt.Order.Chain.Kind = kind
			name, before := "grub.cfg", "'rackboot.url="
			if kind == protocol.ChainIPXE {
				name, before = protocol.IPXEScript, "kernel --name kernel "
			}
			for way, open := range map[string]func() (*netboot.File, error){
				"by the token": func() (*netboot.File, error) { return b.Open(row.remote, "t", name) },
				"by its name":  func() (*netboot.File, error) { return b.OpenFor(row.remote, name) },
			} {
				f, err := open()
				if row.want == "" {
					if protocol.CodeOf(err) != protocol.CodeNotFound {
						t.Errorf("%s, %s %s: %v", row.name, name, way, err)
					}
					continue
				}
				if err != nil {
					t.Errorf("%s, %s %s: %v", row.name, name, way, err)
					continue
				}
				content, err := io.ReadAll(f)
				if err != nil || !strings.Contains(string(content), before+row.want) || strings.Count(string(content), "http://") != strings.Count(string(content), row.want) {
					t.Errorf("%s, %s %s: %q, %v; want only URLs at %s", row.name, name, way, content, err, row.want)
				}
			}
		}
	}
}

// TestChainByFamily: PXE needs a TFTP server of a family that the machine is told to
// boot by, and iPXE has no boot URLs that are https.
func TestChainByFamily(t *testing.T) {
	at, at6 := netip.MustParseAddrPort("10.7.0.1:69"), netip.MustParseAddrPort("[2001:db8:7::1]:69")
	dhcp6 := netip.MustParseAddrPort("[::]:547")
	side := func(mode resource.IPv6Mode, base string) *resource.SegmentIPv6Intent {
		return &resource.SegmentIPv6Intent{Mode: mode, Address: at6.Addr(), BaseURL: base}
	}
	uki := resource.Image{Artefacts: []resource.Artefact{{Kind: resource.ArtefactUKI}}}
	parts := resource.Image{Artefacts: []resource.Artefact{{Kind: resource.ArtefactKernel}, {Kind: resource.ArtefactInitramfs}}}
	for _, row := range []struct {
		name  string
		local LocalSegment
		side  *resource.SegmentIPv6Intent
		first resource.FirstBoot
		image resource.Image
		why   string // "" is that it boots
	}{
		{"tftp", LocalSegment{TFTP: at}, nil, resource.FirstBootPxe, uki, ""},
		{"none", LocalSegment{}, nil, resource.FirstBootPxe, uki, "no TFTP server"},
		{"tftp6", LocalSegment{TFTP6: at6, DHCP6: dhcp6}, side(resource.IPv6Stateful, ""), resource.FirstBootPxe, uki, ""},
		{"tftp6, stateless", LocalSegment{TFTP6: at6, DHCP6: dhcp6}, side(resource.IPv6Stateless, ""), resource.FirstBootPxe, uki, ""},
		{"tftp6 without DHCPv6 here", LocalSegment{TFTP6: at6}, side(resource.IPv6Stateful, ""), resource.FirstBootPxe, uki, "no TFTP server"},
		{"tftp6 without an IPv6 side", LocalSegment{TFTP6: at6, DHCP6: dhcp6}, nil, resource.FirstBootPxe, uki, "no TFTP server"},
		{"tftp6, not served", LocalSegment{TFTP6: at6, DHCP6: dhcp6}, side(resource.IPv6None, ""), resource.FirstBootPxe, uki, "no TFTP server"},
		{"iPXE by http", LocalSegment{DHCP6: dhcp6}, side(resource.IPv6Stateful, "http://[2001:db8:7::1]"), resource.FirstBootUefiHTTP, parts, ""},
		{"iPXE by https", LocalSegment{DHCP6: dhcp6}, side(resource.IPv6Stateful, "https://[2001:db8:7::1]"), resource.FirstBootUefiHTTP, parts, "certificate"},
		{"iPXE by http, IPv6 not served here", LocalSegment{}, side(resource.IPv6Stateful, "https://[2001:db8:7::1]"), resource.FirstBootUefiHTTP, parts, ""},
	} {
		seg := resource.SegmentIntent{Name: "boot", Address: at.Addr(), IPv6: row.side}
		row.local.Name = "boot"
		_, err := row.local.bootChain(seg, message.ServerIntent{
			Architecture: "amd64", Boot: &message.BootIntent{GrantedBoot: resource.GrantedBoot{BootSpec: resource.BootSpec{Image: row.image, BootPolicy: resource.BootPolicy{FirstBoot: row.first}}}},
		}, chain.Loaders{chain.RoleIPXE: {Digest: "sha256:1"}})
		if (err == nil) != (row.why == "") || err != nil && !strings.Contains(err.Error(), row.why) {
			t.Errorf("%s: %v, want %q", row.name, err, row.why)
		}
	}
}

// A record of a release that served one file is served as then.
func TestOpenWithoutChain(t *testing.T) {
	b, attempt, at := chainBoots(t)
	attempt.Order.File, attempt.Order.Blob, attempt.Marks.Served = "boot.efi", contentDigest(kernelText), true
	attempt.Order.Chain = nil
	f, err := b.Open(at, "t", "boot.efi")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	content, err := io.ReadAll(f)
	if err != nil || !bytes.Equal(content, []byte(kernelText)) {
		t.Errorf("%q, %v", content, err)
	}
	if _, err := b.Open(at, "t", "kernel"); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("a name that it had not: %v", err)
	}
}

func contentDigest(content string) string {
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(content)))
}
