package firmware_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"rackboot/netboot/firmware"
	"rackboot/protocol"
)

// TestHTTPBoot is the whole way from DISCOVER to a loaded file.
func TestHTTPBoot(t *testing.T) {
	r := newRack(t, protocol.BootAnswer{Action: protocol.AnswerBoot, Server: "s1", Token: token, File: bootName})
	got, err := r.machine().HTTPBoot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte("MZ and more"))
	if got.SHA256 != hex.EncodeToString(sum[:]) || got.URL != r.base+"/b/"+token+"/"+bootName || got.Size != 11 ||
		got.Server.String() != "10.99.0.1" || got.ContentType != "application/efi" {
		t.Errorf("got %+v", got)
	}
	if got.Duration < 4*time.Second/speed {
		t.Errorf("booted in %s, before the first try's time was over", got.Duration)
	}
	<-r.fetched // recorded after the client has its last byte
	if kinds := r.kinds(); !slices.Equal(kinds, []protocol.EvidenceKind{protocol.EvidenceDHCP, protocol.EvidenceFetched}) {
		t.Errorf("evidence %v", kinds)
	}
	c := r.events[0].Client
	if c.Class != protocol.ClassHTTPClient || c.UUID != "01000000-0000-0000-0000-000000000000" || !slices.Equal(c.Archs, []uint16{16}) || c.Address != got.Address {
		t.Errorf("client seen as %+v", c)
	}
}

// TestRefusals: what the client's own form of refusal costs, and how it is told.
func TestRefusals(t *testing.T) {
	http := func(c *firmware.Client, ctx context.Context) error {
		_, err := c.HTTPBoot(ctx)
		return err
	}
	pxe := func(c *firmware.Client, ctx context.Context) error {
		_, err := c.PXEBoot(ctx)
		return err
	}
	plain := func(c *firmware.Client, ctx context.Context) error {
		_, err := c.Plain(ctx)
		return err
	}
	for _, row := range []struct {
		name   string
		action protocol.AnswerAction
		flow   func(*firmware.Client, context.Context) error
		want   error
		tries  time.Duration // the sum of the tries' times, in units of the first
	}{
		{"HTTP boot refused: 404, one try", protocol.AnswerRefuse, http, firmware.ErrRefused, 1},
		{"HTTP boot, plain lease: all tries (60 s)", protocol.AnswerLease, http, firmware.ErrNoOffer, 15},
		{"HTTP boot, silence: all tries (60 s)", protocol.AnswerSilence, http, firmware.ErrNoOffer, 15},
		{"PXE refused: menu, one try", protocol.AnswerRefuse, pxe, firmware.ErrLocalBoot, 1},
		{"PXE boot, one try", protocol.AnswerBoot, pxe, nil, 1},
		{"PXE, plain lease: all tries (60 s)", protocol.AnswerLease, pxe, firmware.ErrNoOffer, 15},
		{"system of a refused machine gets its lease", protocol.AnswerRefuse, plain, nil, 0},
		{"system of an unknown machine: silence", protocol.AnswerSilence, plain, firmware.ErrNoOffer, 15},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := newRack(t, protocol.BootAnswer{Action: row.action, Token: token, File: bootName})
			c := r.machine()
			if errors.Is(row.want, firmware.ErrNoOffer) {
				c.Speed = silence
			}
			one := time.Duration(float64(4*time.Second) / c.Speed) // the time of the first try
			start := time.Now()
			err := row.flow(c, t.Context())
			if !errors.Is(err, row.want) {
				t.Errorf("got %v, want %v", err, row.want)
			}
			if took := time.Since(start); took < row.tries*one {
				t.Errorf("took %s, EDK2 takes %d × %s", took, row.tries, one)
			}
		})
	}
}

// TestPXEBoot: the file comes by TFTP, whole, over more than one window, and its last
// block is told.
func TestPXEBoot(t *testing.T) {
	for _, size := range []int{0, 1, 1467, 1468, 1469, 8 * 1468, 1_000_003} {
		r := newRack(t, protocol.BootAnswer{Action: protocol.AnswerBoot, Server: "s1", Token: token, File: bootName})
		want := bytes.Repeat([]byte("MZ unified kernel image "), size/24+1)[:size]
		if err := os.WriteFile(filepath.Join(r.dir, bootName), want, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := r.machine().PXEBoot(t.Context())
		if err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		if sum := sha256.Sum256(want); got.Size != int64(size) || got.SHA256 != hex.EncodeToString(sum[:]) || got.Server.String() != "10.99.0.1" {
			t.Errorf("%d bytes: loaded %+v", size, got)
		}
		<-r.fetched // the probe for the size is none
		if kinds := r.kinds(); !slices.Equal(kinds, []protocol.EvidenceKind{protocol.EvidenceDHCP, protocol.EvidenceFetched}) {
			t.Errorf("%d bytes: evidence %v", size, kinds)
		}
	}
}

// TestPXERefused: a name that is not there ends the boot at once.
func TestPXERefused(t *testing.T) {
	r := newRack(t, protocol.BootAnswer{Action: protocol.AnswerBoot, Server: "s1", Token: "other", File: bootName})
	if _, err := r.machine().PXEBoot(t.Context()); !errors.Is(err, firmware.ErrRefused) {
		t.Errorf("got %v", err)
	}
}

// TestPlainAndReport: an installer learns from its lease where to report.
func TestPlainAndReport(t *testing.T) {
	r := newRack(t, protocol.BootAnswer{Action: protocol.AnswerLease, Server: "s1", Token: token})
	c := r.machine()
	l, err := c.Plain(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if l.Bootfile != r.base+"/b/"+token+"/" || !l.Address.IsValid() || l.Server.String() != "10.99.0.1" ||
		l.Time != time.Hour || len(l.DNS) != 1 || net.IP(l.Mask).String() != "255.255.255.0" {
		t.Errorf("lease %+v", l)
	}
	for _, what := range []string{"installed", "booted"} {
		if err := c.Report(t.Context(), l.Bootfile, protocol.ProbeReport{State: protocol.ProbeState(what)}); err != nil {
			t.Error(err)
		}
	}
	if !slices.Equal(r.reports, []string{"installed", "booted"}) {
		t.Errorf("reports %v", r.reports)
	}
	for base, want := range map[string]protocol.Code{r.base + "/b/other/": protocol.CodeNotFound, r.base + "/b/t": protocol.CodeInvalid, "": protocol.CodeInvalid} {
		if got := protocol.CodeOf(c.Report(t.Context(), base, protocol.ProbeReport{State: protocol.ProbeBooted, Message: "hello"})); got != want {
			t.Errorf("report to %q: %s, want %s", base, got, want)
		}
	}
}

// TestContentType: an exact type, or a known extension.
func TestContentType(t *testing.T) {
	for _, row := range []struct {
		file, contentType string
		ok                bool
	}{
		{"boot.efi", "application/octet-stream", true},
		{"BOOT.EFI", "application/octet-stream", true},
		{"boot", "application/efi", true},
		{"boot", "application/efi; charset=utf-8", false},
		{"boot", "application/octet-stream", false},
	} {
		r := newRack(t, protocol.BootAnswer{Action: protocol.AnswerBoot, Token: token, File: row.file})
		r.fileType = row.contentType
		r.write(row.file)
		_, err := r.machine().HTTPBoot(t.Context())
		if (err == nil) != row.ok || (err != nil && !errors.Is(err, firmware.ErrProtocol)) {
			t.Errorf("%s as %q: %v", row.file, row.contentType, err)
		}
	}
}

func TestBadClient(t *testing.T) {
	for name, c := range map[string]*firmware.Client{
		"no MAC":    {Interface: "lo"},
		"no server": {MAC: make(net.HardwareAddr, 6)},
		"both":      {MAC: make(net.HardwareAddr, 6), Interface: "lo", Server: &net.UDPAddr{}},
		"backwards": {MAC: make(net.HardwareAddr, 6), Interface: "lo", Speed: -1},
	} {
		if _, err := c.Plain(t.Context()); protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCancel(t *testing.T) {
	r := newRack(t, protocol.BootAnswer{Action: protocol.AnswerSilence})
	c := r.machine()
	c.Speed = 0 // a minute
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error)
	go func() {
		_, err := c.HTTPBoot(ctx)
		done <- err
	}()
	cancel(nil)
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
