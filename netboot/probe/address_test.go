package probe

import (
	"net/netip"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/insomniacslk/dhcp/dhcpv4"

	"rackboot/internal/doctable"
)

func TestRankRule(t *testing.T) {
	yn := doctable.YesNo()
	doctable.Of(t, "address.go", "rankRule").HoldOne(t, [][]string{yn, yn, yn, yn}, func(in []string) string {
		return strconv.Itoa(rankRule(in[0] == "yes", in[1] == "yes", in[2] == "yes", in[3] == "yes"))
	})
}

func TestOfferRank(t *testing.T) {
	in, router := netip.MustParsePrefix("10.7.0.50/24"), netip.MustParseAddr("10.7.0.254")
	for _, row := range []struct {
		name, base string
		o          offer
		want       int
	}{
		{"the agent is on the segment", "http://10.7.0.1/b/t/", offer{address: in}, 3},
		{"beyond a router", "http://10.8.0.1/b/t/", offer{address: in, router: router}, 2},
		{"no way", "http://10.8.0.1/b/t/", offer{address: in}, 1},
		{"URL by DHCP", "", offer{address: in, url: "http://10.7.0.1/b/t/"}, 3},
		{"no URL at all", "", offer{address: in, router: router}, 0},
		{"a name, which is resolved by nobody", "http://agent/b/t/", offer{address: in}, 1},
	} {
		if got := row.o.rank(row.base); got != row.want {
			t.Errorf("%s: %d, want %d", row.name, got, row.want)
		}
	}
}

func TestInOrder(t *testing.T) {
	all := []card{{"a", "02:00:00:00:00:0a", false}, {"b", "02:00:00:00:00:0b", true}, {"c", "02:00:00:00:00:0c", false}, {"d", "02:00:00:00:00:0d", true}}
	for bootif, want := range map[string]string{"": "bdac", "01-02-00-00-00-00-0D": "dbac", "01-02-00-00-00-00-0c": "cbda", "x": "bdac"} {
		got := ""
		for _, c := range inOrder(all, bootif) {
			got += c.name
		}
		if got != want {
			t.Errorf("BOOTIF=%s: %s, want %s", bootif, got, want)
		}
	}
}

func TestOfferOf(t *testing.T) {
	ack := func(m ...dhcpv4.Modifier) *dhcpv4.DHCPv4 {
		p, err := dhcpv4.New(append([]dhcpv4.Modifier{
			dhcpv4.WithYourIP([]byte{10, 7, 0, 50}), dhcpv4.WithNetmask([]byte{255, 255, 255, 0}), dhcpv4.WithRouter([]byte{10, 7, 0, 254}),
			dhcpv4.WithOption(dhcpv4.OptBootFileName("http://10.7.0.1/b/t/")),
		}, m...)...)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	got, err := offerOf("eth0", ack())
	want := offer{"eth0", netip.MustParsePrefix("10.7.0.50/24"), netip.MustParseAddr("10.7.0.254"), "http://10.7.0.1/b/t/"}
	if err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	for name, m := range map[string]dhcpv4.Modifier{
		"no mask":      func(p *dhcpv4.DHCPv4) { delete(p.Options, dhcpv4.OptionSubnetMask.Code()) },
		"a short mask": func(p *dhcpv4.DHCPv4) { p.Options[dhcpv4.OptionSubnetMask.Code()] = []byte{255} },
		"no address":   func(p *dhcpv4.DHCPv4) { p.YourIPAddr = nil },
	} {
		if got, err := offerOf("eth0", ack(m)); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// The message is that of RFC 3549 and rtnetlink(7), as ip route replace sends it.
func TestRouteMessage(t *testing.T) {
	b := routeMessage(netip.MustParseAddr("10.7.0.254"), 2)
	const size = 16 + 12 + 8 + 8
	if len(b) != size || b[0] != size || !strings.Contains(string(b), "\x0a\x07\x00\xfe") {
		t.Errorf("%x", b)
	}
}

func TestReportURL(t *testing.T) {
	for base, want := range map[string]string{
		"http://10.7.0.1/b/t/":       "http://10.7.0.1/b/t/report/failed",
		"http://10.7.0.1/b/t/\x00":   "http://10.7.0.1/b/t/report/failed",
		"https://[2001:db8::1]/b/t/": "https://[2001:db8::1]/b/t/report/failed",
		"http://10.7.0.1/b/t":        "",
		"tftp://10.7.0.1/b/t/":       "",
		"http:///b/t/":               "",
		"http://u:p@10.7.0.1/b/t/":   "",
		"http://10.7.0.1/b/t/?x=1":   "",
		"/boot/grub.efi":             "",
		"":                           "",
	} {
		got, err := reportURL(base, "failed")
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", base, got, err)
		}
		if err != nil && strings.Contains(err.Error(), "/b/t") {
			t.Errorf("the error has the token: %v", err)
		}
	}
}

func TestIsIPv6(t *testing.T) {
	got := []bool{isIPv6("http://[2001:db8::1]/b/t/"), isIPv6("http://10.7.0.1/"), isIPv6(""), isIPv6("http://agent/"), isIPv6("http://[::ffff:10.7.0.1]/")}
	if diff := cmp.Diff([]bool{true, false, false, false, false}, got); diff != "" {
		t.Error(diff)
	}
}
