package dhcp6

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/netboot"
	"rackboot/protocol/resource"
)

// neighbourSays builds an unsolicited neighbour advertisement.
func neighbourSays(a string, mac ...byte) []byte {
	at := addr(a).As16()
	b := append([]byte{icmpNeighbour, 0, 0, 0, 0x20, 0, 0, 0}, at[:]...)
	if len(mac) > 0 {
		b = append(append(b, ndTargetLink, 1), mac...)
	}
	return b
}

func TestParseNeighbour(t *testing.T) {
	mac := []byte{0x52, 0x54, 0, 0, 0, 9}
	for _, row := range []struct {
		name string
		in   []byte
		ok   bool
		mac  string
	}{
		{"with an address", neighbourSays("2001:db8::1", mac...), true, "52:54:00:00:00:09"},
		{"without (RFC 4861 4.4)", neighbourSays("2001:db8::1"), true, ""},
		{"another option before", append(append(neighbourSays("2001:db8::1"), 14, 1, 0, 0, 0, 0, 0, 0), neighbourSays("::", mac...)[24:]...), true, "52:54:00:00:00:09"},
		{"an option of length 0", append(neighbourSays("2001:db8::1"), 2, 0, 0, 0, 0, 0, 0, 0), false, ""},
		{"an option cut off", append(neighbourSays("2001:db8::1"), 2, 1, 0, 0), false, ""},
		{"a group's address", neighbourSays("2001:db8::1", 0x33, 0x33, 0, 0, 0, 1), true, ""},
		{"short", neighbourSays("2001:db8::1")[:23], false, ""},
		{"a router's", routerSays(0, 1), false, ""},
	} {
		n, err := parseNeighbour(row.in)
		if (err == nil) != row.ok || n.mac != row.mac || row.ok && n.addr != addr("2001:db8::1") {
			t.Errorf("%s: %+v, %v", row.name, n, err)
		}
	}
}

// TestSpoofedNeighbour: who says that it has the agent's address is named, unless the message
// came through a router.
func TestSpoofedNeighbour(t *testing.T) {
	mac := []byte{0x52, 0x54, 0, 0, 0, 9}
	for _, row := range []struct {
		name string
		in   heard
		want int
	}{
		{"a neighbour has the agent's address", heard{neighbourSays("2001:db8::1", mac...), "fe80::9", 255}, 1},
		{"the agent itself", heard{neighbourSays("2001:db8::1", 0x52, 0x54, 0, 0, 0, 1), "fe80::1", 255}, 0},
		{"forwarded (RFC 4861 7.1.2)", heard{neighbourSays("2001:db8::1", mac...), "fe80::9", 254}, 0},
		{"another address", heard{neighbourSays("2001:db8::77", mac...), "fe80::9", 255}, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, lease1())
			w.now, w.mac = time.Now, "52:54:00:00:00:01"
			w.resolver.seg.Mode, w.resolver.seg.Address = resource.IPv6Stateless, addr("2001:db8::1")
			f := &fakeAdverts{in: make(chan heard), closed: make(chan struct{})}
			w.adverts = f
			ctx, cancel := context.WithCancel(t.Context())
			go func() { _ = w.hear(ctx) }() // ends with the context
			f.in <- row.in
			synctest.Wait()
			if got := w.notices.kinds(); len(got) != row.want || row.want == 1 && got[0] != netboot.NoticeSpoofed {
				t.Errorf("%s: told %v", row.name, got)
			}
			cancel()
			_ = f.Close()
			synctest.Wait()
		})
	}
}
