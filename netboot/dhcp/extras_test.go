package dhcp

import (
	"bytes"
	"net/netip"
	"slices"
	"testing"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// TestExtras: operating systems get what the segment's service says, firmware and BMCs
// do not; the default route is among the routes (RFC 3442).
func TestExtras(t *testing.T) {
	seg := testSegment()
	seg.Routers = []netip.Addr{netip.MustParseAddr("10.99.0.254")}
	seg.Service = &resource.ServiceIntent{
		Domain: "rack.example", Search: []string{"rack.example", "example"}, NTP: []netip.Addr{netip.MustParseAddr("10.99.0.2")},
		Routes: []resource.RouteIntent{{To: netip.MustParsePrefix("10.8.0.0/16"), Via: netip.MustParseAddr("10.99.0.3")}},
	}
	want := map[dhcpv4.OptionCode][]byte{
		dhcpv4.OptionDomainName:          []byte("rack.example"),
		dhcpv4.OptionNTPServers:          {10, 99, 0, 2},
		dhcpv4.OptionDNSDomainSearchList: []byte("\x04rack\x07example\x00\x07example\x00"),
		dhcpv4.OptionClasslessStaticRoute: {
			16, 10, 8, 10, 99, 0, 3,
			0, 10, 99, 0, 254,
		},
	}
	for _, action := range protocol.AnswerActions() {
		p, err := dhcpv4.New()
		if err != nil {
			t.Fatal(err)
		}
		network(p, seg, protocol.BootAnswer{Action: action, Server: "one"})
		for code, value := range want {
			got := p.Options.Get(code)
			if action == protocol.AnswerLease && !bytes.Equal(got, value) || action != protocol.AnswerLease && got != nil {
				t.Errorf("%s: option %d is %q", action, code.Code(), got)
			}
		}
	}
	seg.Service.Search = slices.Repeat([]string{"a-domain-of-some-length.example"}, 20)
	p, err := dhcpv4.New()
	if err != nil {
		t.Fatal(err)
	}
	if network(p, seg, protocol.BootAnswer{Action: protocol.AnswerLease, Server: "one"}); p.Options.Get(dhcpv4.OptionDNSDomainSearchList) != nil {
		t.Error("a search list that would be split over two options is sent")
	}
}
