package dnsmasq

import (
	"bytes"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"unicode"

	"rackboot/cmd/internal/convert"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// maxLines bounds a file, and maxLine a line in bytes; dnsmasq reads lines of 1025.
const (
	maxLines = 100_000
	maxLine  = 4096
)

// suffixes are how hosts are called that are BMCs; what is before is the name of the server.
func suffixes() []string { return []string{"-bmc", "-ipmi", "-idrac", "-ilo", "-oob", "-mgmt"} }

// host is one line.
type host struct {
	*convert.Object
	fields  convert.Field
	name    string // fitted
	macs    []string
	bmcOf   string // the server, if it is a BMC
	named   []convert.Field
	ignored bool
}

// Convert reads host lists. A host whose name ends with -bmc, -ipmi, -idrac, -ilo, -oob or -mgmt is the BMC of
// the one without.
func Convert(c *convert.Conversion, files []convert.File) error {
	var hosts []*host
	for _, f := range files {
		read, err := parse(c, f)
		if err != nil {
			return err
		}
		hosts = append(hosts, read...)
	}
	bmcs := map[string]*host{}
	for _, h := range hosts {
		if h.bmcOf != "" && bmcs[h.bmcOf] == nil {
			bmcs[h.bmcOf] = h
		}
	}
	used := map[*host]bool{}
	for _, h := range hosts {
		if h.bmcOf == "" {
			b := bmcs[h.name]
			server(c, h, b)
			if b != nil {
				used[b] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(bmcs)) {
		if b := bmcs[name]; !used[b] { // of a server that is not in the list
			controller(b)
			c.Controller(b.name, c.Settings.Rack, convert.Controller{MAC: b.macs[0]})
			used[b] = true
		}
	}
	for _, h := range hosts {
		if h.bmcOf != "" && !used[h] {
			h.Refuse(convert.Duplicate)
		}
		h.Close()
	}
	return nil
}

// parse reads the lines of one file.
func parse(c *convert.Conversion, f convert.File) ([]*host, error) {
	bad := func(format string, args ...any) ([]*host, error) {
		return nil, protocol.Errorf(protocol.CodeInvalid, "read "+f.Name, format, args...).WithHint("give a file with lines dhcp-host=, of dhcp-hostsfile, or /etc/ethers")
	}
	if len(f.Data) > convert.MaxFile {
		return bad("is longer than %d bytes", convert.MaxFile)
	}
	lines := bytes.Split(f.Data, []byte("\n"))
	if len(lines) > maxLines {
		return bad("has more than %d lines", maxLines)
	}
	var out []*host
	for i, raw := range lines {
		if len(raw) > maxLine {
			return bad("line %d is longer than %d bytes", i+1, maxLine)
		}
		line := strings.TrimSpace(uncommented(string(raw)))
		if line == "" {
			continue
		}
		if h := parseLine(c, f.Name, fmt.Sprintf("line %d", i+1), line); h != nil {
			out = append(out, h)
		}
	}
	return out, nil
}

// uncommented is a line without its comment: # at its beginning or after white space.
func uncommented(line string) string {
	for i, r := range line {
		if r == '#' && (i == 0 || unicode.IsSpace(rune(line[i-1]))) {
			return line[:i]
		}
	}
	return line
}

// parseLine reads one line; nil for one that is no host, which is reported.
func parseLine(c *convert.Conversion, file, place, line string) *host {
	option, rest, assigned := strings.Cut(strings.TrimPrefix(line, "--"), "=")
	var words []string
	switch option = strings.TrimSpace(option); {
	case assigned && option == "dhcp-host":
		words = strings.Split(rest, ",")
	case strings.Contains(line, ",") && !assigned, strings.Contains(line, ",") && strings.ContainsAny(option, ",:"):
		words = strings.Split(line, ",") // of a file with hosts
	case !assigned && len(strings.Fields(line)) == 2:
		words = strings.Fields(line) // of /etc/ethers
	default:
		o := c.Object(file, place, map[string]any{"line": line})
		if strings.Trim(option, "abcdefghijklmnopqrstuvwxyz0123456789-") == "" { // an option of dnsmasq
			o.Field("line").NoEqual(convert.NetworkService)
		} else {
			o.Field("line").Refused(convert.BadValue)
		}
		o.Close()
		return nil
	}
	list := make([]any, len(words))
	for i, w := range words {
		list[i] = strings.TrimSpace(w)
	}
	h := &host{Object: c.Object(file, place, map[string]any{"host": list})}
	h.fields = h.Field("host")
	h.read()
	if h.name == "" || len(h.macs) == 0 || h.ignored {
		switch {
		case h.ignored:
			h.Refuse(convert.Ignored)
		case len(h.macs) == 0:
			h.Refuse(convert.NoMachine)
		default:
			h.Refuse(convert.NoName)
		}
		h.Close()
		return nil
	}
	return h
}

// read sorts the words of a line.
func (h *host) read() {
	for _, f := range h.fields.Items() {
		word := strings.Trim(f.Text(), `"`)
		address := strings.Trim(word, "[]")
		_, isIP := netip.ParseAddr(address)
		_, isPrefix := netip.ParsePrefix(address)
		switch mac, isMAC := convert.MAC(word); {
		case isMAC:
			if !slices.Contains(h.macs, mac) {
				h.macs = append(h.macs, mac)
			}
		case isIP == nil, isPrefix == nil:
			f.NoEqual(convert.Reservation)
		case word == "ignore":
			h.ignored = true
		case strings.HasPrefix(word, "set:"), strings.HasPrefix(word, "net:"), strings.HasPrefix(word, "tag:"):
			// A label: below.
		case strings.HasPrefix(word, "id:"), word == "infinite", duration(word):
			f.NoEqual(convert.NetworkService)
		case h.name == "" && word != "" && !strings.ContainsAny(word, ":*[]"):
			short, _, _ := strings.Cut(word, ".")
			h.name = convert.Name(short)
			h.named = append(h.named, f)
		}
	}
	for _, s := range suffixes() {
		if base, is := strings.CutSuffix(h.name, s); is && base != "" {
			h.bmcOf = base
		}
	}
}

// duration reports whether a word is a time of a lease: 45m, 12h, 300.
func duration(word string) bool {
	digits := strings.TrimRight(word, "smhdwSMHDW")
	return digits != "" && len(word)-len(digits) <= 1 && strings.Trim(digits, "0123456789") == ""
}

func server(c *convert.Conversion, h, b *host) {
	id := convert.ID(resource.KindServer, h.name)
	m := convert.Machine{Name: h.name, BootMAC: h.macs[0], MACs: h.macs[1:]}
	if b != nil {
		m.BMC.Name, m.BMC.MAC = b.name, b.macs[0]
	} else {
		m.BMC.Name, m.BMC.Elsewhere = convert.BMCName(h.name), true
	}
	for _, f := range h.fields.Items() {
		word := strings.Trim(f.Text(), `"`)
		mac, isMAC := convert.MAC(word)
		switch kind, tag, tagged := strings.Cut(word, ":"); {
		case isMAC && mac == h.macs[0] && len(h.macs) > 1:
			f.Changed(convert.FirstInterface, convert.At(id, "spec.bootMAC"))
		case isMAC && mac == h.macs[0]:
			f.Spelled(mac, convert.At(id, "spec.bootMAC"))
		case isMAC:
			f.Spelled(mac, convert.At(id, "spec.macs"))
		case tagged && slices.Contains([]string{"set", "net", "tag"}, kind) && tag != "" && !strings.ContainsAny(tag, " \t="):
			if m.Labels == nil {
				m.Labels = map[string]string{}
			}
			m.Labels["tag-"+tag] = "true"
			f.Changed(convert.ToLabel, convert.At(id, "metadata.labels.tag-"+tag))
		}
	}
	if !c.Machine(m) {
		h.Refuse(convert.Duplicate)
		return
	}
	for _, f := range h.named {
		f.Named(h.name, convert.At(id, "metadata.name"))
	}
	if b != nil {
		controller(b)
	}
}

// controller says of the words of a BMC's line where they went.
func controller(b *host) {
	id := convert.ID(resource.KindBMC, b.name)
	for _, f := range b.fields.Items() {
		mac, is := convert.MAC(strings.Trim(f.Text(), `"`))
		switch {
		case is && mac == b.macs[0]:
			f.Spelled(mac, convert.At(id, "spec.macAddress"))
		case is:
			f.NoEqual(convert.ByHand)
		}
	}
	for _, f := range b.named {
		f.Named(b.name, convert.At(id, "metadata.name"))
	}
}
