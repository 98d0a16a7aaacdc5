package firmware

import (
	"net/netip"
	"net/url"
	"strings"

	"github.com/insomniacslk/dhcp/dhcpv4"
)

// httpOffer is an offer as EDK2's HttpBootDhcp4.c reads it.
type httpOffer struct {
	packet *dhcpv4.DHCPv4
	proxy  bool   // yiaddr 0
	http   bool   // option 60 begins HTTPClient
	uri    string // of an HTTP offer: option 67, else file
	ip     bool   // the URI's host is an IP literal
	dns    bool   // option 6
}

// classify reads an offer; ok is false for one that EDK2 drops.
func classify(p *dhcpv4.DHCPv4) (o httpOffer, ok bool) {
	o = httpOffer{
		packet: p,
		proxy:  len(p.YourIPAddr) != 4 || p.YourIPAddr[0] == 0, // EDK2 looks at the first byte
		http:   strings.HasPrefix(string(p.Options.Get(dhcpv4.OptionClassIdentifier)), prefixHTTP),
		dns:    len(p.Options.Get(dhcpv4.OptionDomainNameServer)) >= 4,
	}
	if !o.http {
		return o, !o.proxy // a PXE proxy's offer is dropped
	}
	if o.uri = optionString(p, dhcpv4.OptionBootfileName); o.uri == "" {
		o.uri = p.BootFileName
	}
	u, err := url.Parse(o.uri)
	if err != nil || u.Hostname() == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return o, false
	}
	_, err = netip.ParseAddr(u.Hostname())
	o.ip = err == nil
	return o, true
}

// choice is what EDK2 boots from: address and URI come from the OFFER.
type choice struct {
	offer *dhcpv4.DHCPv4
	uri   string
}

// choose applies EDK2's order of offer classes, in HttpBootSelectDhcpOffer. Inside
// a class the first one received wins. With a URI in the boot option, only the
// address is wanted, and offers with option 6 come first.
func choose(packets []*dhcpv4.DHCPv4, bootURI string) (choice, bool) {
	var offers []httpOffer
	for _, p := range packets {
		if o, ok := classify(p); ok {
			offers = append(offers, o)
		}
	}
	find := func(match func(httpOffer) bool) *httpOffer {
		for i := range offers {
			if match(offers[i]) {
				return &offers[i]
			}
		}
		return nil
	}
	if bootURI != "" {
		for _, match := range []func(httpOffer) bool{
			func(o httpOffer) bool { return !o.proxy && !o.http && o.dns },
			func(o httpOffer) bool { return !o.proxy && o.http && o.ip && o.dns },
			func(o httpOffer) bool { return !o.proxy && o.http && !o.ip && o.dns },
			func(o httpOffer) bool { return !o.proxy && !o.http },
			func(o httpOffer) bool { return !o.proxy && o.http && o.ip },
		} {
			if o := find(match); o != nil {
				return choice{offer: o.packet, uri: bootURI}, true
			}
		}
		return choice{}, false
	}
	for _, match := range []func(httpOffer) bool{
		func(o httpOffer) bool { return !o.proxy && o.http && o.ip },
		func(o httpOffer) bool { return !o.proxy && o.http && o.dns },
	} {
		if o := find(match); o != nil {
			return choice{offer: o.packet, uri: o.uri}, true
		}
	}
	plain := find(func(o httpOffer) bool { return !o.proxy && !o.http })
	plainDNS := find(func(o httpOffer) bool { return !o.proxy && !o.http && o.dns })
	withIP := find(func(o httpOffer) bool { return o.proxy && o.http && o.ip })
	withName := find(func(o httpOffer) bool { return o.proxy && o.http && !o.ip })
	switch {
	case plain != nil && withIP != nil:
		return choice{offer: plain.packet, uri: withIP.uri}, true
	case plainDNS != nil && withName != nil:
		return choice{offer: plainDNS.packet, uri: withName.uri}, true
	}
	other := find(func(o httpOffer) bool { return !o.proxy && o.http && !o.ip && !o.dns })
	if plainDNS != nil && other != nil {
		return choice{offer: plainDNS.packet, uri: other.uri}, true
	}
	return choice{}, false
}
