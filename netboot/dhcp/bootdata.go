package dhcp

import (
	"github.com/insomniacslk/dhcp/dhcpv4"

	"rackboot/netboot"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// form is how a client is told what to boot, or that it may not.
type form string

const (
	formPlain     form = "plain"     // nothing about booting but where to report
	formURL       form = "url"       // UEFI HTTP boot: option 60 HTTPClient and a URL
	formURLGone   form = "url-404"   // the same, and the URL answers 404
	formPXE       form = "pxe"       // option 60 PXEClient, option 43 and a TFTP path
	formPXELocal  form = "pxe-local" // a boot menu with "local disk" only
	formIPXE      form = "ipxe"      // a URL, and nothing to wait for
	formIPXEGone  form = "ipxe-gone" // no file, and nothing to wait for
	formTFTP      form = "tftp"      // a TFTP path
	formRaspberry form = "raspberry" // a TFTP server, marked as the Raspberry Pi wants it
	formNothing   form = "nothing"   // no file: the client goes on by itself
)

// formRule chooses the form. The first row that fits decides; url says that the
// client loads from a URL.
//
//	action | class       | url | form
//	lease  | *           | *   | plain
//	boot   | none        | *   | plain
//	boot   | iPXE        | *   | ipxe
//	boot   | PXEClient   | *   | pxe
//	boot   | RaspberryPi | *   | raspberry
//	boot   | HTTPClient  | *   | url
//	boot   | *           | yes | url
//	boot   | *           | no  | tftp
//	refuse | none        | *   | plain
//	refuse | iPXE        | *   | ipxe-gone
//	refuse | PXEClient   | *   | pxe-local
//	refuse | HTTPClient  | *   | url-404
//	refuse | RaspberryPi | *   | nothing
//	refuse | *           | yes | url-404
//	refuse | *           | no  | nothing
//	*      | *           | *   | nothing
//
// A plain lease would cost a refused PXE or HTTP client 60 s. A Raspberry Pi goes on
// to its next boot mode when no offer has the mark.
func formRule(action protocol.AnswerAction, class protocol.ClientClass, url bool) form {
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
	case protocol.ClassIPXE:
		return choose(formIPXE, formIPXEGone)
	case protocol.ClassPXEClient:
		return choose(formPXE, formPXELocal)
	case protocol.ClassHTTPClient:
		return choose(formURL, formURLGone)
	case protocol.ClassRaspberryPi:
		return choose(formRaspberry, formNothing)
	case protocol.ClassGRUB, protocol.ClassUBoot:
	}
	if url {
		return choose(formURL, formURLGone)
	}
	return choose(formTFTP, formNothing)
}

// bootData adds to an OFFER or ACK what the answer says, in the form that the
// client's class understands. An ACK has what its OFFER had: shim reads `file` and
// siaddr from the ACK, UEFI HTTP boot the URL from the OFFER.
func bootData(p *dhcpv4.DHCPv4, r *request, seg resource.SegmentIntent, a protocol.BootAnswer) error {
	switch formRule(a.Action, r.class, r.takesURL()) {
	case formPlain:
		reportURL(p, r, seg, a)
	case formURL:
		return httpBoot(p, seg, a.Token, a.File)
	case formURLGone:
		return httpBoot(p, seg, netboot.RefusedToken, netboot.RefusedFile)
	case formPXE:
		return pxeBoot(p, seg, a)
	case formPXELocal:
		localBoot(p, seg)
	case formIPXE:
		return ipxeBoot(p, seg, a)
	case formIPXEGone:
		ipxeHurry(p)
	case formTFTP:
		return tftpBoot(p, seg, a)
	case formRaspberry:
		return piBoot(p, seg, a)
	case formNothing:
	}
	return nil
}

// reportURL tells an installer in the booted image where to report: option 67,
// when it asks for it and the attempt is open. Boot ROMs never get it, they would
// try to boot from it. An operating system keeps its lease without it.
func reportURL(p *dhcpv4.DHCPv4, r *request, seg resource.SegmentIntent, a protocol.BootAnswer) {
	if a.Token == "" || r.class != protocol.ClassNone || !r.wants(dhcpv4.OptionBootfileName) {
		return
	}
	if base, err := netboot.BaseURL(seg); err == nil {
		setBootfile(p, netboot.BootURL(base, a.Token, ""))
	}
}

// setBootfile writes option 67 with a NUL: EDK2 overwrites the byte after the
// value with one, and old ROMs read on to the next.
func setBootfile(p *dhcpv4.DHCPv4, value string) {
	p.Options[dhcpv4.OptionBootfileName.Code()] = append([]byte(value), 0)
}
