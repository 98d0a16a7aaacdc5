package dhcp6

import (
	"net/url"

	"github.com/insomniacslk/dhcp/dhcpv6"

	"rackboot/netboot"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// form is how a client is told what to boot, or that it may not.
type form string

const (
	formPlain    form = "plain"    // nothing about booting but where to report
	formHTTP     form = "http"     // a URL, and a vendor class HTTPClient
	formHTTPGone form = "http-404" // the same, and the URL answers 404
	formURL      form = "url"      // a URL
	formURLGone  form = "url-404"  // the same, and it answers 404
	formTFTP     form = "tftp"     // a TFTP URL
	formTFTPGone form = "tftp-1"   // the same, and it answers error 1
	formNothing  form = "nothing"  // no file: the client goes on by itself
)

// formRule chooses the form. The first row that fits decides; url says that the
// client loads over HTTP.
//
//	action | class      | url | form
//	lease  | *          | *   | plain
//	boot   | none       | *   | plain
//	refuse | none       | *   | plain
//	boot   | HTTPClient | *   | http
//	refuse | HTTPClient | *   | http-404
//	boot   | iPXE       | *   | url
//	refuse | iPXE       | *   | nothing
//	boot   | *          | yes | url
//	refuse | *          | yes | url-404
//	boot   | *          | no  | tftp
//	refuse | *          | no  | tftp-1
//	*      | *          | *   | nothing
//
// A lease without boot data would cost a refused client all its tries. iPXE without
// a file returns to the firmware at once.
func formRule(action protocol.AnswerAction, class protocol.ClientClass, loadsURL bool) form {
	boot := action == protocol.AnswerBoot
	switch {
	case action == protocol.AnswerLease:
		return formPlain
	case !boot && action != protocol.AnswerRefuse:
		return formNothing
	}
	choose := func(served, refused form) form {
		if boot {
			return served
		}
		return refused
	}
	switch class {
	case protocol.ClassNone:
		return formPlain
	case protocol.ClassHTTPClient:
		return choose(formHTTP, formHTTPGone)
	case protocol.ClassIPXE:
		return choose(formURL, formNothing)
	case protocol.ClassPXEClient, protocol.ClassUBoot, protocol.ClassGRUB, protocol.ClassRaspberryPi:
	}
	if loadsURL {
		return choose(formURL, formURLGone)
	}
	return choose(formTFTP, formTFTPGone)
}

// enterpriseIntel is the enterprise number that UEFI 2.5 section 24 gives vendor
// classes of boot clients.
const enterpriseIntel = 343

// bootData is the options that tell what to boot, in their order on the wire. EDK2
// reads option 59 as a string that a zero byte ends, which is the first byte of the
// next option's code: one always follows, of those here or DNS. Option 60 is never
// sent: EDK2 reads it as the file's size. PXE firmware gets no vendor class, which
// would send it to port 4011 first.
func bootData(r *request, name string, seg resource.SegmentIPv6Intent, a protocol.BootAnswer) (dhcpv6.Options, error) {
	link, err := bootURL(r, name, seg, a)
	if link == "" || err != nil {
		return nil, err
	}
	out := dhcpv6.Options{dhcpv6.OptBootFileURL(link)}
	if r.class == protocol.ClassHTTPClient {
		out.Add(&dhcpv6.OptVendorClass{EnterpriseNumber: enterpriseIntel, Data: [][]byte{[]byte(wordHTTP)}})
	}
	return out, nil
}

// bootURL is empty where there is nothing to boot.
func bootURL(r *request, name string, seg resource.SegmentIPv6Intent, a protocol.BootAnswer) (string, error) {
	token, file := a.Token, a.File
	f := formRule(a.Action, r.class, r.takesURL())
	switch f {
	case formNothing:
		return "", nil
	case formPlain:
		// An installer in the booted image asks where to report; a lease is worth more
		// than that.
		base, err := netboot.BaseURL6(name, seg)
		if token == "" || r.class != protocol.ClassNone || !r.wants(dhcpv6.OptionBootfileURL) || err != nil {
			return "", nil
		}
		return netboot.BootURL(base, token, ""), nil
	case formHTTPGone, formURLGone, formTFTPGone:
		token, file = netboot.RefusedToken, netboot.RefusedFile
	case formHTTP, formURL, formTFTP:
	}
	if f == formTFTP || f == formTFTPGone {
		if err := netboot.CheckHost6(name, seg.Address); err != nil {
			return "", err
		}
		path := url.URL{Path: "/" + netboot.TFTPPath(token, file)}
		return "tftp://[" + seg.Address.String() + "]" + path.EscapedPath(), nil
	}
	base, err := netboot.BaseURL6(name, seg)
	if err != nil {
		return "", err
	}
	return netboot.BootURL(base, token, file), nil
}
