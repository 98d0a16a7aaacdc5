package firstrack

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"rackboot/protocol"
)

// quoted is a text as YAML has it: JSON is YAML.
func quoted(s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		return `""` // texts have no error
	}
	return string(raw)
}

// remark is what a BMC says, in a comment: one line, and of no more than 80 letters.
func remark(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
	if runes := []rune(s); len(runes) > 80 {
		s = string(runes[:80])
	}
	return strings.TrimSpace(s)
}

func (s *Site) rackFile() (string, error) {
	from, to, err := s.Pool()
	if err != nil {
		return "", err
	}
	routers := "  # routers: [ADDRESS] # of the network, where servers need one\n"
	if s.Router.IsValid() {
		routers = fmt.Sprintf("  routers: [%s]\n", s.Router)
	}
	return fmt.Sprintf(`# One place with one agent.
apiVersion: rackboot/v1
kind: Rack
metadata:
  name: %[1]s
spec:
  # User data goes over the boot segment, to the server's address. Leave this out where others are on
  # the segment: then a boot with user data waits for a way through the BMC.
  secrets: segment
---
# The network that its servers boot on. On which interface it is, the agent's own file says.
apiVersion: rackboot/v1
kind: Segment
metadata:
  name: %[2]s
spec:
  rackRef: {name: %[1]s}
  prefix: %[3]s
  address: %[4]s # the agent's own
  # Leased by the agent's DHCP server. Nobody else may lease these.
  pool: {from: %[5]s, to: %[6]s}
%[7]s  # What firmware fetches from: the address http in the agent's file.
  baseURL: http://%[4]s:%[8]d
`, s.Rack, s.segment(), s.Address.Masked(), s.Address.Addr(), from, to, routers, s.HTTPPort), nil
}

func (s *Site) hostFile(h Host) (string, error) {
	var b strings.Builder
	if sys := h.System; sys.SystemURI != "" {
		b.WriteString("# As its BMC said: " + remark(sys.Vendor+" "+sys.Model))
		if sys.Serial != "" {
			b.WriteString(", serial number " + remark(sys.Serial))
		}
		b.WriteString(".\n")
	} else {
		b.WriteString("# Its BMC was not read: compare it with `rackctl bmc probe` once the agent is there.\n")
	}
	fmt.Fprintf(&b, `apiVersion: rackboot/v1
kind: BMC
metadata:
  name: %s
spec:
  rackRef: {name: %s}
  address: %s
  credentialsRef: local:%s # a file at the agent; the hub never has the password
  tls:
`, h.bmc(), s.Rack, quoted(h.Address), s.Rack)
	switch {
	case h.TLS.Fingerprint != "":
		fmt.Fprintf(&b, "    fingerprint: %s # of the BMC's certificate: another one is refused\n", h.TLS.Fingerprint)
	case h.TLS.CA != "":
		fmt.Fprintf(&b, "    ca: |\n%s", indent(h.TLS.CA, "      "))
	default:
		b.WriteString("    {} # none on loopback\n")
	}
	mac := protocol.InterfaceMAC(h.mac())
	if mac == "" {
		return "", fmt.Errorf("%s: no MAC address to boot from is known", h.Name)
	}
	fmt.Fprintf(&b, `---
apiVersion: rackboot/v1
kind: Server
metadata:
  name: %s
  labels: {try: %s}
spec:
  bmcRef: {name: %s}
  segmentRef: {name: %s}
  bootMAC: %q # it boots from this one: the first network boot option, or the first port
`, h.Name, s.Rack, h.bmc(), s.segment(), mac)
	if sys := h.System; sys.SystemURI != "" {
		fmt.Fprintf(&b, "  systemURI: %s\n", quoted(sys.SystemURI))
		if more := without(sys.HostMACs(), mac); len(more) > 0 {
			fmt.Fprintf(&b, "  macs: [\"%s\"]\n", strings.Join(more, `", "`))
		}
		if sys.Identifies() {
			fmt.Fprintf(&b, "  uuid: %s\n", quoted(strings.ToLower(sys.UUID)))
		}
		if arch := sys.HostArchitecture(); arch != "" {
			fmt.Fprintf(&b, "  architecture: %s\n", arch)
		}
	}
	return b.String(), nil
}

func without(list []string, one string) (out []string) {
	for _, m := range list {
		if m != one {
			out = append(out, m)
		}
	}
	return out
}

func indent(text, by string) string {
	return by + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+by) + "\n"
}

func (s *Site) claimFile() string {
	return fmt.Sprintf(`# Any free server of these files gets the image: once from the network, and from its disk ever
# after. rackctl apply -f of the folder above does not read this one: it powers a server on.
apiVersion: rackboot/v1
kind: Claim
metadata:
  name: %s
spec:
  serverSelector:
    matchLabels: {try: %s}
  power: "On"
  image: %s # rackctl image push puts one into a registry
  bootPolicy:
    firstBoot: UefiHttp # or Pxe, or VirtualMedia with an ISO image; rackctl bmc probe says what a server can
    boot: Hdd
`, s.claim(), s.Rack, quoted(s.Image))
}
