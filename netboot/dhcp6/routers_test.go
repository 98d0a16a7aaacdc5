package dhcp6

import (
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/netboot"
	"rackboot/protocol/resource"
)

// routerSays builds a router advertisement with on-link prefixes.
func routerSays(flags byte, lifetime uint16, prefixes ...string) []byte {
	b := append([]byte{icmpAdvertisement, 0, 0, 0, 64, flags}, binary.BigEndian.AppendUint16(nil, lifetime)...)
	b = append(b, make([]byte, 8)...)
	for _, text := range prefixes {
		p := netip.MustParsePrefix(text)
		a := p.Addr().As16()
		b = append(b, ndPrefix, ndPrefixUnits, byte(p.Bits()), ndPrefixOnLink, 0, 0, 14, 16, 0, 0, 7, 8, 0, 0, 0, 0)
		b = append(b, a[:]...)
	}
	return b
}

func TestParseAdvert(t *testing.T) {
	edit := func(b []byte, at int, v byte) []byte { b[at] = v; return b }
	for _, row := range []struct {
		name    string
		in      []byte
		ok      bool
		managed bool
		other   bool
		reaches bool // 2001:db8::1
	}{
		{"M and O, default route", routerSays(0xc0, 1800), true, true, true, true},
		{"O only", routerSays(advertOther, 1800), true, false, true, true},
		{"no default route", routerSays(advertManaged, 0), true, true, false, false},
		{"no default route, on the link", routerSays(0, 0, "fd00::/64", "2001:db8::/64"), true, false, false, true},
		{"another prefix", routerSays(0, 0, "fd00::/64"), true, false, false, false},
		{"prefix not on the link (RFC 4861 4.6.2)", edit(routerSays(0, 0, "2001:db8::/64"), 19, 0x40), true, false, false, false},
		{"prefix with the lifetime 0", slices.Replace(routerSays(0, 0, "2001:db8::/64"), 20, 24, 0, 0, 0, 0), true, false, false, false},
		{"prefix of 129 bits", edit(routerSays(0, 0, "2001:db8::/64"), 18, 129), true, false, false, false},
		{"unknown option", append(routerSays(0, 1), 25, 1, 0, 0, 0, 0, 0, 0), true, false, false, true},
		{"option of length 0 (6.1.2)", append(routerSays(0, 1), 25, 0, 0, 0, 0, 0, 0, 0), false, false, false, false},
		{"option cut off", append(routerSays(0, 1), 25, 2, 0, 0, 0, 0, 0, 0), false, false, false, false},
		{"half an option", append(routerSays(0, 1), 25), false, false, false, false},
		{"code not 0", edit(routerSays(0, 1), 1, 1), false, false, false, false},
		{"solicitation", solicitation(), false, false, false, false},
		{"redirect", edit(routerSays(0, 1), 0, 137), false, false, false, false},
	} {
		a, err := parseAdvert(row.in)
		if (err == nil) != row.ok || a.managed != row.managed || a.other != row.other || row.ok && a.reaches(addr("2001:db8::1")) != row.reaches {
			t.Errorf("%s: %+v, %v", row.name, a, err)
		}
	}
}

type heard struct {
	b    []byte
	from string
	hops int
}

// fakeAdverts answers each solicitation with what its routers say.
type fakeAdverts struct {
	in        chan heard
	closed    chan struct{}
	answer    []heard
	solicited int
	down      int // solicitations that fail
}

func (f *fakeAdverts) Read(b []byte) (int, netip.Addr, int, error) {
	select {
	case h := <-f.in:
		return copy(b, h.b), netip.MustParseAddr(h.from), h.hops, nil
	case <-f.closed:
		return 0, netip.Addr{}, 0, net.ErrClosed
	}
}

func (f *fakeAdverts) Solicit() error {
	f.solicited++
	if f.solicited <= f.down {
		return net.ErrWriteToConnected
	}
	for _, h := range f.answer {
		f.in <- h
	}
	return nil
}

func (f *fakeAdverts) Close() error { close(f.closed); return nil }

// TestRouters: what the routers of a segment lack is told once an hour (fact 1.3:
// EDK2 waits 10 s for a route).
func TestRouters(t *testing.T) {
	stateful, stateless := resource.IPv6Stateful, resource.IPv6Stateless
	const ll = "fe80::fe"
	for _, row := range []struct {
		name   string
		mode   resource.IPv6Mode
		answer []heard
		want   netboot.NoticeKind // empty for none
		router string
		seen   int
	}{
		{"silence", stateful, nil, netboot.NoticeNoRouter, "", 0},
		{"M", stateful, []heard{{routerSays(advertManaged, 1800), ll, 255}}, "", "", 1},
		{"no flags", stateful, []heard{{routerSays(0, 1800), ll, 255}}, netboot.NoticeUnmanaged, ll, 1},
		{"O is not enough for addresses", stateful, []heard{{routerSays(advertOther, 1800), ll, 255}}, netboot.NoticeUnmanaged, ll, 1},
		{"O is enough without", stateless, []heard{{routerSays(advertOther, 1800), ll, 255}}, "", "", 1},
		{"no route", stateful, []heard{{routerSays(advertManaged, 0), ll, 255}}, netboot.NoticeNoRouter, "", 1},
		{"on-link prefix", stateful, []heard{{routerSays(advertManaged, 0, "2001:db8::/64"), ll, 255}}, "", "", 1},
		{"one of two routers sends clients here", stateful, []heard{{routerSays(advertManaged, 0), ll, 255}, {routerSays(0, 1800), "fe80::fd", 255}}, "", "", 2},
		{"forwarded (RFC 4861 6.1.2)", stateful, []heard{{routerSays(advertManaged, 1800), ll, 254}}, netboot.NoticeNoRouter, "", 0},
		{"not link-local (6.1.2)", stateful, []heard{{routerSays(advertManaged, 1800), "2001:db8::fe", 255}}, netboot.NoticeNoRouter, "", 0},
		{"malformed", stateful, []heard{{routerSays(advertManaged, 1800)[:12], ll, 255}}, netboot.NoticeNoRouter, "", 0},
		{"nothing is served", resource.IPv6None, nil, "", "", 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, lease1())
			w.now = time.Now
			w.resolver.seg.Mode = row.mode
			f := &fakeAdverts{in: make(chan heard), closed: make(chan struct{}), answer: row.answer}
			w.adverts = f
			ctx, cancel := context.WithCancel(t.Context())
			go func() { _ = w.hear(ctx) }() // ends with the context
			go w.checkRouters(ctx)
			time.Sleep(routerWait - time.Second)
			if synctest.Wait(); len(w.notices.kinds()) != 0 {
				t.Errorf("%s: told before routers could answer", row.name)
			}
			time.Sleep(2 * time.Second)
			synctest.Wait()
			told := w.notices.kinds()
			if row.want == "" && len(told) != 0 || row.want != "" && !slices.Equal(told, []netboot.NoticeKind{row.want}) {
				t.Errorf("%s: told %v", row.name, told)
			}
			if row.want != "" && row.router != "" && w.notices.list[0].Address != addr(row.router) {
				t.Errorf("%s: names %s", row.name, w.notices.list[0].Address)
			}
			if n := len(w.routers.now(time.Now())); n != row.seen {
				t.Errorf("%s: %d routers", row.name, n)
			}
			time.Sleep(noticeAgain + routerCheck)
			synctest.Wait()
			if again := len(w.notices.kinds()); again != 2*len(told) {
				t.Errorf("%s: told %d times in an hour", row.name, again)
			}
			cancel()
			_ = f.Close()
			synctest.Wait()
		})
	}
}

// TestLinkComesUp: what cannot be asked is not judged, and asked again soon.
func TestLinkComesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, lease1())
		w.now = time.Now
		f := &fakeAdverts{in: make(chan heard), closed: make(chan struct{}), down: 30}
		w.adverts = f
		ctx, cancel := context.WithCancel(t.Context())
		go w.checkRouters(ctx)
		time.Sleep(30*routerRetry + routerWait - time.Second)
		if synctest.Wait(); f.solicited != 30+routerTries || len(w.notices.kinds()) != 0 {
			t.Errorf("asked %d times, told %v", f.solicited, w.notices.kinds())
		}
		time.Sleep(2 * time.Second)
		if synctest.Wait(); len(w.notices.kinds()) != 1 {
			t.Errorf("told %v", w.notices.kinds())
		}
		cancel()
		synctest.Wait()
	})
}

// TestRoutersTable: forged sources cannot make the table grow, and what is old does
// not count.
func TestRoutersTable(t *testing.T) {
	r, now := newRouters(), time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for i := range uint64(3 * routersMax) {
		r.saw(router{addr: nth(addr("fe80::1"), i), at: now})
		r.saw(router{addr: nth(addr("fe80::1"), i), at: now})
	}
	if n := len(r.now(now)); n != routersMax {
		t.Errorf("%d routers", n)
	}
	if n := len(r.now(now.Add(routerMemory))); n != 0 {
		t.Errorf("%d old routers", n)
	}
}
