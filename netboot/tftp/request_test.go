package tftp

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseRequest(t *testing.T) {
	plain := func(a asked) request { return request{name: "boot.efi", mode: modeOctet, asked: a} }
	rrq := func(rest string) string { return "\x00\x01boot.efi\x00octet\x00" + rest }
	for _, row := range []struct {
		source string
		in     string
		kind   kind
		want   request
	}{
		{"EDK2, size probe", rrq("tsize\x000\x00blksize\x001468\x00windowsize\x004\x00"), kindRead, plain(asked{blksize: 1468, windowsize: 4, tsize: true})},
		{"EDK2, transfer", rrq("blksize\x001468\x00windowsize\x004\x00"), kindRead, plain(asked{blksize: 1468, windowsize: 4})},
		{"RFC 1350, no options", rrq(""), kindRead, plain(asked{})},
		{"RFC 1350, mode in any case", "\x00\x01boot.efi\x00OCTET\x00", kindRead, plain(asked{})},
		{"RFC 1350, netascii", "\x00\x01boot.efi\x00NetASCII\x00", kindRead, request{name: "boot.efi", mode: "netascii"}},
		{"RFC 2347, options in any case", rrq("BlkSize\x001024\x00TSIZE\x000\x00"), kindRead, plain(asked{blksize: 1024, tsize: true})},
		{"RFC 2347, unknown options", rrq("multicast\x00\x00rollover\x001\x00blksize\x001024\x00"), kindRead, plain(asked{blksize: 1024})},
		{"RFC 2347, an option comes once", rrq("blksize\x001024\x00blksize\x00512\x00"), kindRead, plain(asked{blksize: 1024})},
		{"RFC 2348, 8 is the least", rrq("blksize\x008\x00"), kindRead, plain(asked{blksize: 8})},
		{"RFC 2348, too small", rrq("blksize\x007\x00"), kindRead, plain(asked{})},
		{"RFC 2348, too large is brought down", rrq("blksize\x0065535\x00"), kindRead, plain(asked{blksize: 65535})},
		{"RFC 2349, 1 to 255", rrq("timeout\x00255\x00"), kindRead, plain(asked{timeout: 255})},
		{"RFC 2349, too long", rrq("timeout\x00256\x00"), kindRead, plain(asked{})},
		{"RFC 2349, zero", rrq("timeout\x000\x00"), kindRead, plain(asked{})},
		{"RFC 7440, zero", rrq("windowsize\x000\x00"), kindRead, plain(asked{})},
		{"RFC 7440, 65535", rrq("windowsize\x0065535\x00"), kindRead, plain(asked{windowsize: 65535})},
		{"no number", rrq("blksize\x00big\x00"), kindRead, plain(asked{})},
		{"sign", rrq("blksize\x00+1468\x00"), kindRead, plain(asked{})},
		{"empty value", rrq("blksize\x00\x00"), kindRead, plain(asked{})},
		{"more than an int", rrq("tsize\x0099999999999999999999\x00"), kindRead, plain(asked{})},
		{"padding behind", rrq("\x00\x00\x00"), kindRead, plain(asked{})},
		{"half an option", rrq("blksize\x001468"), kindRead, plain(asked{})},
		{"empty name", "\x00\x01\x00octet\x00", kindRead, request{mode: modeOctet}},
		{"no mode", "\x00\x01boot.efi\x00", kindMalformed, request{}},
		{"mode without end", "\x00\x01boot.efi\x00octet", kindMalformed, request{}},
		{"name without end", "\x00\x01boot.efi", kindMalformed, request{}},
		{"opcode alone", "\x00\x01", kindMalformed, request{}},
		{"RFC 2347, 512 bytes", rrq(strings.Repeat("x", maxRequest)), kindMalformed, request{}},
		{"write", "\x00\x02boot.efi\x00octet\x00", kindWrite, request{}},
		{"DATA", "\x00\x03\x00\x01x", kindOther, request{}},
		{"ACK", "\x00\x04\x00\x01", kindOther, request{}},
		{"ERROR", "\x00\x05\x00\x01x\x00", kindOther, request{}},
		{"OACK", "\x00\x06tsize\x001\x00", kindOther, request{}},
		{"no opcode", "\x00", kindOther, request{}},
		{"nothing", "", kindOther, request{}},
	} {
		if k, r := parseRequest([]byte(row.in)); k != row.kind || r != row.want {
			t.Errorf("%s: %s %+v, want %s %+v", row.source, k, r, row.kind, row.want)
		}
	}
}

func TestAgree(t *testing.T) {
	const size, ceiling, room = 173792, 1468, 1 << 20
	for _, row := range []struct {
		source string
		asked  asked
		want   terms
	}{
		{"RFC 1350", asked{}, terms{512, 1, time.Second, false, nil}},
		{"EDK2, size probe", asked{blksize: 1468, windowsize: 4, tsize: true}, terms{1468, 4, time.Second, false, []byte("\x00\x06blksize\x001468\x00windowsize\x004\x00tsize\x00173792\x00")}},
		{"EDK2, transfer", asked{blksize: 1468, windowsize: 4}, terms{1468, 4, time.Second, false, []byte("\x00\x06blksize\x001468\x00windowsize\x004\x00")}},
		{"RFC 2348, down to what fits", asked{blksize: 65464}, terms{1468, 1, time.Second, false, []byte("\x00\x06blksize\x001468\x00")}},
		{"RFC 2348, never up", asked{blksize: 512}, terms{512, 1, time.Second, false, []byte("\x00\x06blksize\x00512\x00")}},
		{"RFC 7440, down to 64", asked{windowsize: 65535}, terms{512, 64, time.Second, false, []byte("\x00\x06windowsize\x0064\x00")}},
		{"RFC 2349, timeout as it came", asked{timeout: 7}, terms{512, 1, 7 * time.Second, true, []byte("\x00\x06timeout\x007\x00")}},
		{"RFC 2349, tsize alone", asked{tsize: true}, terms{512, 1, time.Second, false, []byte("\x00\x06tsize\x00173792\x00")}},
	} {
		got := agree(row.asked, size, ceiling, room, time.Second)
		if got.blksize != row.want.blksize || got.window != row.want.window || got.timer != row.want.timer || got.fixed != row.want.fixed || string(got.oack) != string(row.want.oack) {
			t.Errorf("%s: %+v %q", row.source, got, got.oack)
		}
	}
	if got := agree(asked{windowsize: 64}, size, ceiling, 5*516, time.Second); got.window != 5 {
		t.Errorf("room for 5 blocks gives a window of %d", got.window)
	}
	if got := agree(asked{windowsize: 64}, size, ceiling, 0, time.Second); got.window != 1 {
		t.Errorf("no room gives a window of %d", got.window)
	}
}

// TestAgreedIsTaken: EDK2's own check takes every OACK that agree makes.
func TestAgreedIsTaken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOf(rapid.SampledFrom([]string{"blksize", "BLKSIZE", "windowsize", "timeout", "Timeout", "tsize", "rollover", ""})).Draw(t, "names")
		var options []option
		seen := map[string]bool{}
		for _, n := range names {
			if !seen[strings.ToLower(n)] {
				options = append(options, option{n, rapid.StringMatching(`[0-9]{0,6}`).Draw(t, "value")})
			}
			seen[strings.ToLower(n)] = true
		}
		k, r := parseRequest(requestPacket("x", modeOctet, options...))
		if k != kindRead {
			t.Fatal(k)
		}
		size := rapid.Int64Range(0, 1<<40).Draw(t, "size")
		terms := agree(r.asked, size, rapid.IntRange(8, maxBlksize).Draw(t, "ceiling"), rapid.IntRange(0, 1<<24).Draw(t, "room"), time.Second)
		c := client{options: options, blksize: plainBlksize, window: 1}
		if terms.oack != nil && !c.agree(terms.oack[2:]) {
			t.Fatalf("refused: %q for %v", terms.oack, options)
		}
		if terms.oack == nil {
			return
		}
		if c.blksize != terms.blksize || c.window != terms.window {
			t.Fatalf("the client reads %d, %d: %+v", c.blksize, c.window, terms)
		}
	})
}

func FuzzParseRequest(f *testing.F) {
	f.Add(requestPacket(`\dir\boot.efi`+"\xff", "OCTET", option{"tsize", "0"}, option{"blksize", "1468"}, option{"windowsize", "4"}))
	f.Add(requestPacket("/b/token/grub/../x", "netascii", option{"timeout", "255"}, option{"timeout", "1"}))
	f.Add([]byte("\x00\x01\xeaonboard\x00octet\x00blksize\x007"))
	f.Add(requestPacket("x", strings.Repeat("\x9c", maxRequest/2)))
	f.Add([]byte{0, 2, 0, 0})
	f.Add([]byte{0})
	f.Fuzz(func(t *testing.T, b []byte) {
		k, r := parseRequest(b)
		if k != kindRead && r != (request{}) {
			t.Fatalf("%s has %+v", k, r)
		}
		if len(r.name)+len(r.mode) > maxRequest {
			t.Fatal("longer than the packet")
		}
		what, ok := parseName(r.name)
		if !ok && what != (target{}) {
			t.Fatalf("refused and %+v", what)
		}
		for part := range strings.SplitSeq(what.file, "/") {
			if ok && (part == "" || part == "." || part == ".." || strings.ContainsRune(part, '\\') || strings.ContainsFunc(part, odd)) {
				t.Fatalf("name %q", what.file)
			}
		}
		again := parseNameOf(what)
		if twice, ok2 := parseName(again); ok && (!ok2 || twice != what) {
			t.Fatalf("%q is %+v, and %q is %+v", r.name, what, again, twice)
		}
		terms := agree(r.asked, 1<<20, 1468, 1<<20, time.Second)
		if terms.blksize < minBlksize || terms.blksize > 1468 || terms.window < 1 || terms.window > maxWindow || len(terms.oack) > maxRequest {
			t.Fatalf("%+v", terms)
		}
	})
}

// parseNameOf writes a target as a name.
func parseNameOf(t target) string {
	if t.token == "" {
		return t.file
	}
	return "b/" + t.token + "/" + t.file
}
