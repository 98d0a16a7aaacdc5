package redfish

import (
	"strings"

	"rackboot/protocol"
)

// placeholder stands for a URI that is not known yet.
const placeholder = "{uri}"

// What must follow a write before firmware acts on it.
const (
	resetNone    = "none: the next boot uses it"
	resetBIOS    = "one reset, at which the firmware takes the BIOS settings"
	resetBIOSJob = "one reset, at which the BIOS job runs that the write makes (ApplyTime OnReset makes it; a second job is refused, quads #726)"
)

// httpBoot is the ladder of ways to an HTTP boot. DHCP is first: it is the one
// that works with every vendor, once the firmware has an HTTP client.
func httpBoot(v bootView, offered bool, bios attributes, biosAt, uri string) []protocol.HTTPBoot {
	if uri == "" {
		uri = placeholder
	}
	dhcp := protocol.HTTPBoot{Way: protocol.HTTPByDHCP, Present: true, Write: map[string]string{}, Current: map[string]string{}}
	standard := standardURI(v, uri)
	ladder := []protocol.HTTPBoot{standard, dellDevice(bios, biosAt, uri), hpeURL(bios, biosAt, uri)}
	stack := httpStack(bios, biosAt)
	needs := func(from protocol.HTTPBoot, names ...string) {
		for _, name := range names {
			if value, ok := from.Write[name]; ok {
				dhcp.Write[name] = value
				dhcp.Where, dhcp.Reset = from.Where, from.Reset
			}
		}
	}
	for name := range stack.Write {
		needs(stack, name)
	}
	if dell := ladder[1]; dell.Present { // without a device there is no boot option
		needs(dell, "HttpDev1EnDis", "HttpDev1DhcpEnDis", "HttpDev1TlsMode")
		if bios["HttpDev1Uri"] != "" {
			dhcp.Write["HttpDev1Uri"] = ""
			dhcp.Where, dhcp.Reset = dell.Where, dell.Reset
		}
	}
	switch {
	case !offered:
		dhcp.Why = "the BMC does not offer the boot target UefiHttp; use Pxe"
	case len(dhcp.Write) > 0:
		dhcp.Why = "the firmware's HTTP client is not set up for a URI from DHCP"
	case standard.Current[keyHTTPURI] == "set":
		dhcp.Why = "HttpBootUri is set; it is cleared with the override"
	}
	dhcp.Ready = offered && len(dhcp.Write) == 0
	return append(append([]protocol.HTTPBoot{dhcp}, ladder...), stack)
}

// standardURI is Boot.HttpBootUri, at the resource that shows it. Writing it
// does not select the target UefiHttp.
func standardURI(v bootView, uri string) protocol.HTTPBoot {
	h := protocol.HTTPBoot{Way: protocol.HTTPByBootURI, Why: "the BMC shows no HttpBootUri"}
	if b := v.uriPlace(); b != nil {
		h = protocol.HTTPBoot{
			Way: protocol.HTTPByBootURI, Present: true, Where: b.uri, Reset: resetNone,
			Current: map[string]string{keyHTTPURI: isSet(b.httpURI)}, Write: map[string]string{keyHTTPURI: uri},
		}
	}
	return h
}

// isSet hides a URI: its path may carry somebody's token.
func isSet(uri string) string {
	if uri == "" {
		return ""
	}
	return "set"
}

// dellDevice is the first of Dell's HTTP devices (bmclib #463, #464, #470;
// libredfish #75).
func dellDevice(bios attributes, at, uri string) protocol.HTTPBoot {
	h := protocol.HTTPBoot{Way: protocol.HTTPByDellDevice, Why: "there are no such BIOS attributes"}
	if _, _, ok := bios.find("HttpDev1EnDis"); !ok {
		return h
	}
	tls := "None"
	if strings.HasPrefix(uri, "https:") {
		tls = "OneWay"
	}
	h = withAttributes(h, bios, at, map[string]string{
		"HttpDev1EnDis": "Enabled", "HttpDev1DhcpEnDis": "Enabled", "HttpDev1TlsMode": tls, "HttpDev1Uri": uri,
	})
	h.Reset = resetBIOSJob
	h.Current["HttpDev1Interface"] = bios["HttpDev1Interface"]
	switch {
	case h.Write["HttpDev1EnDis"] != "":
		h.Why = "the other attributes are read-only until HttpDev1EnDis is Enabled (iDRAC-Redfish-Scripting #306): two writes, two resets"
	case h.Write["HttpDev1TlsMode"] == "None":
		h.Why = "with this TLS mode firmware refuses a plain http URI (UEFI0417) and boots the next device"
	}
	return h
}

// hpeURL is HPE's boot from a URL (libredfish #76).
func hpeURL(bios attributes, at, uri string) protocol.HTTPBoot {
	h := protocol.HTTPBoot{Way: protocol.HTTPByHPEURL, Why: "there are no such BIOS attributes"}
	if _, _, ok := bios.find("UrlBootFile"); !ok {
		return h
	}
	h = withAttributes(h, bios, at, map[string]string{"UrlBootFile": uri})
	h.Reset = resetBIOS
	for _, name := range []string{"PreBootNetwork", "HttpSupport"} {
		if full, value, ok := bios.find(name); ok {
			h.Current[full] = value
			if value == "Disabled" {
				h.Write[full] = "Auto"
			}
		}
	}
	h.Why = "it makes the boot option \"URL File\""
	return h
}

// httpStack is the switch of the firmware's HTTP client where it has one.
func httpStack(bios attributes, at string) protocol.HTTPBoot {
	h := protocol.HTTPBoot{Way: protocol.HTTPByStack, Why: "there is no such BIOS attribute"}
	for _, name := range httpStackAttributes {
		full, _, ok := bios.find(name)
		if !ok {
			continue
		}
		want := map[string]string{full: "Enabled"}
		if stack, value, ok := bios.find("NetworkStack"); ok && value == "Disabled" {
			want[stack] = "Enabled"
		}
		h = withAttributes(h, bios, at, want)
		h.Reset = resetBIOS
		return h
	}
	return h
}

// withAttributes fills in what there is and what would have to be written.
func withAttributes(h protocol.HTTPBoot, bios attributes, at string, want map[string]string) protocol.HTTPBoot {
	h.Present, h.Why, h.Where = true, "", at
	h.Current, h.Write = map[string]string{}, map[string]string{}
	for name, value := range want {
		full, now, ok := bios.find(name)
		if !ok {
			continue
		}
		shown := now
		if strings.Contains(strings.ToLower(name), "uri") || strings.HasPrefix(name, "UrlBootFile") {
			shown = isSet(now)
		}
		h.Current[full] = shown
		if now != value {
			h.Write[full] = value
		}
	}
	h.Ready = len(h.Write) == 0
	return h
}

// offersHTTP reports whether some resource allows UefiHttp.
func (v bootView) offersHTTP() bool {
	return v.planArm(protocol.Override{Target: protocol.TargetUefiHTTP, Enabled: protocol.OverrideOnce}).why == ""
}
