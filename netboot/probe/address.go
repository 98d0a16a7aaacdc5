package probe

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// offer is what a lease on one interface gives.
type offer struct {
	device  string
	address netip.Prefix
	router  netip.Addr // invalid: none
	url     string     // option 67
}

// rankRule says how far an offer leads to the report. The first row that fits decides; url
// is of the kernel's command line, reaches says that its host is in the offer's subnet.
//
//	url | option 67 | reaches | router | rank
//	no  | yes       | *       | *      | 3
//	no  | no        | *       | *      | 0
//	yes | *         | yes     | *      | 3
//	yes | *         | no      | yes    | 2
//	yes | *         | no      | no     | 1
//
// 3 ends the search. With 0 nothing can be reported.
func rankRule(url, option, reaches, router bool) int {
	switch {
	case !url && option:
		return 3
	case !url:
		return 0
	case reaches:
		return 3
	case router:
		return 2
	}
	return 1
}

// rank is that of the offer for a report to a base URL.
func (o offer) rank(base string) int {
	reaches := false
	if u, err := url.Parse(base); err == nil {
		if host, err := netip.ParseAddr(u.Hostname()); err == nil {
			reaches = o.address.Contains(host.Unmap())
		}
	}
	return rankRule(base != "", o.url != "", reaches, o.router.IsValid())
}

// card is a network interface as a candidate for the lease.
type card struct {
	name string
	mac  string
	link bool
}

// inOrder sorts cards by hope: the one that loaded the kernel, then those with a link,
// then by name. bootif is BOOTIF of the kernel's command line.
func inOrder(cards []card, bootif string) []card {
	_, boot, _ := strings.Cut(strings.ToLower(bootif), "-") // 01- is the type, Ethernet
	boot = strings.ReplaceAll(boot, "-", ":")
	out := slices.Clone(cards)
	slices.SortStableFunc(out, func(a, b card) int {
		return score(b, boot) - score(a, boot)
	})
	return out
}

func score(c card, boot string) (n int) {
	if c.mac == boot {
		n += 2
	}
	if c.link {
		n++
	}
	return n
}

// isIPv6 says whether the host of a URL is an IPv6 address.
func isIPv6(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	host, err := netip.ParseAddr(u.Hostname())
	return err == nil && host.Is6() && !host.Is4In6()
}
