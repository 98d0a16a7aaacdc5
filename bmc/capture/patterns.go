package capture

import (
	"net/netip"
	"regexp"
	"strings"
)

// forms are what is found by how it is written.
type forms struct {
	// mac is an address; one that is longer is a DUID or a fingerprint.
	mac *regexp.Regexp
	// macWord stands before an address in NVIDIA's names.
	macWord *regexp.Regexp
	uuid    *regexp.Regexp
	// disk is a partition's GUID, or the number of a disk or port, in a device path (UEFI 2.10 section 10.6).
	disk *regexp.Regexp
	// url stands alone or in a device path's node.
	url        *regexp.Regexp
	ipv4, ipv6 *regexp.Regexp
	run        *regexp.Regexp // of letters and digits
}

func newForms() forms {
	return forms{
		mac:     regexp.MustCompile(`(?i)[0-9a-f]{2}(?:[:-][0-9a-f]{2}){5,}|[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4}|[0-9a-f]{12}`),
		macWord: regexp.MustCompile(`(?i)\bmac[:-]`),
		uuid:    regexp.MustCompile(`(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32}`),
		disk:    regexp.MustCompile(`(?i)(HD\([0-9]+,GPT,|NVMe\(0x[0-9a-f]+,|SAS\(0x|SasEx\(0x|Fibre\(0x|FibreEx\(0x|iSCSI\()([0-9a-z.:-]{8,})`),
		url:     regexp.MustCompile(`(?i)\b(https?|nfs|cifs|smb|tftp|ftp)://[^\s)"]+`),
		ipv4:    regexp.MustCompile(`[0-9]{1,3}(?:\.[0-9]{1,3}){3}`),
		ipv6:    regexp.MustCompile(`(?i)[0-9a-f]*:[0-9a-f]*:[0-9a-f:.]*`),
		run:     regexp.MustCompile(`[0-9A-Za-z]+`),
	}
}

// digitsOf are the digits of an address or UUID, in lower case.
func digitsOf(s string) string {
	return strings.ToLower(strings.NewReplacer(":", "", "-", "", ".", "").Replace(s))
}

// written is digits in the form that another text of as many digits has.
func written(digits, form string) string {
	upper := form != strings.ToLower(form)
	var b strings.Builder
	for i, n := 0, 0; i < len(form); i++ {
		if c := form[i]; c == ':' || c == '-' || c == '.' {
			b.WriteByte(c)
			continue
		}
		b.WriteByte(digits[n])
		n++
	}
	if upper {
		return strings.ToUpper(b.String())
	}
	return b.String()
}

// paired is an address with a separator between its pairs.
func paired(digits string, by byte) string {
	var b strings.Builder
	for i := range digits {
		if i > 0 && i%2 == 0 {
			b.WriteByte(by)
		}
		b.WriteByte(digits[i])
	}
	return b.String()
}

// alone says whether what stands from..to in a text is no part of a longer word of those characters.
func alone(s string, from, to int, more string) bool {
	part := func(c byte) bool {
		return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte(more, c) >= 0
	}
	return (from == 0 || !part(s[from-1])) && (to == len(s) || !part(s[to]))
}

// each hands over what has a form and stands alone, and replaces it by the answer.
func each(form *regexp.Regexp, s, more string, do func(found string) string) string {
	var b strings.Builder
	at := 0
	for _, m := range form.FindAllStringIndex(s, -1) {
		if !alone(s, m[0], m[1], more) {
			continue
		}
		b.WriteString(s[at:m[0]])
		b.WriteString(do(s[m[0]:m[1]]))
		at = m[1]
	}
	if at == 0 {
		return s
	}
	b.WriteString(s[at:])
	return b.String()
}

// addressOf is the IP address that a text is.
func addressOf(s string) (netip.Addr, bool) {
	a, err := netip.ParseAddr(strings.Trim(s, "."))
	return a, err == nil
}
