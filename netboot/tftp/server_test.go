package tftp

import (
	"bytes"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/protocol"
)

// TestClients is what clients are known to do, each row with its source.
func TestClients(t *testing.T) {
	type step struct {
		name    string
		options []option
		mode    string
		sizing  bool
		want    error
		oack    map[string]string
	}
	edk2 := edk2Options()
	probe := append([]option{{"tsize", "0"}}, edk2...)
	for _, row := range []struct {
		source string
		steps  []step
		result string // of the last transfer; else of the request
		events int
	}{
		{"EDK2: size probe with ERROR 8, then the file", []step{
			{name: "boot.efi", options: probe, sizing: true, oack: map[string]string{"tsize": "100000", "blksize": "1468", "windowsize": "4"}},
			{name: "boot.efi", options: edk2, oack: map[string]string{"blksize": "1468", "windowsize": "4"}},
		}, "done", 1},
		{"EDK2: the probe alone is no failure", []step{{name: "boot.efi", options: probe, sizing: true}}, "probed", 0},
		{"EDK2 refuses an OACK with more than it asked for", []step{{name: "boot.efi", options: []option{{"windowsize", "2"}}, oack: map[string]string{"windowsize": "2"}}}, "done", 1},
		{"RFC 1350: no options", []step{{name: "boot.efi"}}, "done", 1},
		{"RFC 1350: a file that ends with a block", []step{{name: "block", options: []option{{"blksize", "1000"}}}}, "done", 1},
		{"RFC 1350: an empty file", []step{{name: "empty", options: probe, oack: map[string]string{"tsize": "0", "blksize": "1468", "windowsize": "4"}}}, "done", 1},
		{"RFC 1350: mode OCTET", []step{{name: "boot.efi", mode: "OCTET", options: edk2}}, "done", 1},
		{"RFC 1350: mode netascii", []step{{name: "boot.efi", mode: "netascii", want: gotError(0)}}, "mode", 0},
		{"RFC 1350: mode mail", []step{{name: "boot.efi", mode: "mail", want: gotError(0)}}, "mode", 0},
		{"RFC 2347: options in any case", []step{{name: "boot.efi", options: []option{{"BLKSIZE", "512"}, {"TSize", "0"}}, oack: map[string]string{"blksize": "512", "tsize": "100000"}}}, "done", 1},
		{"RFC 2347: unknown options only: no OACK", []step{{name: "boot.efi", options: []option{{"multicast", "0"}}}}, "done", 1},
		{"RFC 2348: a larger block than a frame", []step{{name: "boot.efi", options: []option{{"blksize", "65464"}}, oack: map[string]string{"blksize": "1468"}}}, "done", 1},
		{"RFC 2349: timeout", []step{{name: "boot.efi", options: []option{{"timeout", "3"}}, oack: map[string]string{"timeout": "3"}}}, "done", 1},
		{"RFC 7440: a window of 64", []step{{name: "boot.efi", options: []option{{"windowsize", "64"}, {"blksize", "16"}}}}, "done", 1},
		{"GRUB: blksize 1024 and tsize", []step{{name: "grub/grub.cfg", options: []option{{"blksize", "1024"}, {"tsize", "0"}}}}, "done", 1},
		{"backslashes, leading slash and 0xff behind", []step{{name: `\grub\grub.cfg` + "\xff", options: edk2}}, "done", 1},
		{"shim: doubled slash before a sibling", []step{{name: "/b/" + testToken + "//boot.efi", options: edk2}}, "done", 1},
		{"shim: a sibling that is not there", []step{{name: "/b/" + testToken + "/revocations.efi", options: edk2, want: gotError(1)}}, "not_found", 0},
		{"shim 15.8: a garbage name", []step{{name: "\xeaonboard", want: gotError(1)}}, "name", 0},
		{"GRUB: misses, then a hit", []step{
			{name: "grub/grub.cfg-01", want: gotError(1)}, {name: "grub/grub.cfg-0A", want: gotError(1)}, {name: "grub/grub.cfg"},
		}, "done", 1},
		{"unknown token", []step{{name: "b/other/boot.efi", want: gotError(1)}}, "not_found", 0},
		{"the token of refusals", []step{{name: "b/refused/refused.efi", want: gotError(1)}}, "name", 0},
		{"out of the tree", []step{{name: "../etc/passwd", want: gotError(1)}}, "name", 0},
	} {
		t.Run(row.source, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := start(t)
				w.files.files["block"] = pattern(3000)
				for _, s := range row.steps {
					begin := time.Now()
					c := w.client(clientAddr(), s.options...)
					c.mode, c.sizing = s.mode, s.sizing
					got, err := c.fetch(s.name)
					if !errors.Is(err, s.want) {
						t.Fatalf("%q: %v, want %v", s.name, err, s.want)
					}
					what, _ := parseName(s.name)
					if want := w.files.files[what.file]; err == nil && !s.sizing && !bytes.Equal(got, want) {
						t.Errorf("%q: %d bytes, want %d", s.name, len(got), len(want))
					}
					for k, v := range s.oack {
						if c.oack[k] != v {
							t.Errorf("%q: OACK %v, want %s %s", s.name, c.oack, k, v)
						}
					}
					if s.oack != nil && len(c.oack) != len(s.oack) {
						t.Errorf("%q: OACK %v, want %v", s.name, c.oack, s.oack)
					}
					if s.oack == nil && c.oack != nil && len(s.options) == 0 {
						t.Errorf("OACK %v, and nothing was asked", c.oack)
					}
					synctest.Wait()
					if took := time.Since(begin); took != 0 {
						t.Errorf("%q took %s", s.name, took)
					}
				}
				events := w.evidence.all()
				if len(events) != row.events {
					t.Fatalf("events %+v, want %d", events, row.events)
				}
				last, _ := parseName(row.steps[len(row.steps)-1].name)
				for _, e := range events {
					if e.Kind != protocol.EvidenceFetched || e.Token != last.token || e.File != last.file || e.Remote != clientAddr() || e.At.IsZero() {
						t.Errorf("event %+v", e)
					}
				}
				if w.count(t, "rackboot_tftp_transfers_total", row.result)+w.count(t, "rackboot_tftp_requests_total", row.result) != 1 {
					t.Errorf("not counted as %s", row.result)
				}
				if row.events == 1 && w.count(t, "rackboot_tftp_transfer_seconds", "") != 1 {
					t.Error("no duration")
				}
				w.stop()
				if strings.Contains(w.log.String(), testToken) || strings.Contains(w.log.String(), "boot.efi") {
					t.Errorf("a name in the log:\n%s", w.log)
				}
			})
		})
	}
}

// TestErrorsOfFiles: what a client hears of an error, and whether it is a warning.
func TestErrorsOfFiles(t *testing.T) {
	for _, row := range []struct {
		code protocol.Code
		want gotError
		warn bool
	}{
		{protocol.CodeNotFound, 1, false},
		{protocol.CodeDenied, 1, false}, // shim goes on only after code 1
		{protocol.CodeInvalid, 1, false},
		{protocol.CodeUnavailable, 0, true},
		{protocol.CodeTimeout, 0, true},
		{protocol.CodeInternal, 0, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := start(t)
			w.files.err = protocol.Errorf(row.code, "open", "why")
			if _, err := w.client(clientAddr()).fetch("boot.efi"); !errors.Is(err, row.want) {
				t.Errorf("%s: %v, want %v", row.code, err, row.want)
			}
			w.stop()
			if strings.Contains(w.log.String(), "level=WARN") != row.warn {
				t.Errorf("%s: log:\n%s", row.code, w.log)
			}
		})
	}
}

// TestRawPackets: packets to the server's port and what comes back, if anything.
func TestRawPackets(t *testing.T) {
	for _, row := range []struct {
		source, in string
		code       int // of the ERROR; -1 is silence
		count      string
	}{
		{"RFC 1350: write", "\x00\x02boot.efi\x00octet\x00", 2, "write"},
		{"RFC 1350: malformed", "\x00\x01boot.efi", 4, "malformed"},
		{"RFC 1350: ERROR is not answered", "\x00\x05\x00\x01x\x00", -1, "stray"},
		{"stray ACK", "\x00\x04\x00\x01", -1, "stray"},
		{"stray DATA", "\x00\x03\x00\x01x", -1, "stray"},
		{"no TFTP", "\xff\xff\xff\xff", -1, "stray"},
		{"one byte", "\x00", -1, "stray"},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := start(t)
			c := w.client(clientAddr())
			_, _ = c.sock.WriteToUDPAddrPort([]byte(row.in), c.server)
			_ = c.sock.SetReadDeadline(time.Now().Add(time.Minute))
			b := make([]byte, 100)
			n, from, err := c.sock.ReadFromUDPAddrPort(b)
			switch code, _ := number(b[:n]); {
			case row.code < 0 && err == nil:
				t.Errorf("%s: answered % x", row.source, b[:n])
			case row.code >= 0 && (err != nil || opcode(b) != opError || int(code) != row.code || from.Addr() != serverAddr() || from.Port() == Port):
				t.Errorf("%s: % x from %s, %v", row.source, b[:n], from, err)
			}
			if w.count(t, "rackboot_tftp_requests_total", row.count) != 1 {
				t.Errorf("%s: not counted as %s", row.source, row.count)
			}
			w.stop()
		})
	}
}

// TestStrangerIsDenied: the address decides about fixed names, not the name.
func TestStrangerIsDenied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := start(t)
		c := w.client(netip.MustParseAddr("10.99.0.66"))
		if _, err := c.fetch("boot.efi"); !errors.Is(err, gotError(1)) {
			t.Errorf("a fixed name: %v", err)
		}
		if b, err := c.fetch("b/" + testToken + "/boot.efi"); err != nil || len(b) != 100_000 {
			t.Errorf("a token: %d bytes, %v", len(b), err)
		}
		w.stop()
		if w.files.remote != netip.MustParseAddr("10.99.0.66") {
			t.Errorf("who asks with a token is said to be %s", w.files.remote)
		}
	})
}
