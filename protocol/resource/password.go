package resource

import (
	"crypto/rand"
	"strings"
)

// The bounds of a new password. 16 is what IPMI 1.5 has, and what every BMC takes;
// less than 12 are refused by some policies.
const (
	MinNewPassword     = 12
	DefaultNewPassword = 16
	MaxNewPassword     = 64
)

// The characters of a new password: of each group there is one at least, which policies
// of BMCs want. Quotes, spaces and what shells and URLs read are left out.
const passwordGroups = "ABCDEFGHJKLMNPQRSTUVWXYZ abcdefghijkmnopqrstuvwxyz 23456789 _-.+="

// NewPassword makes a random password of n characters, of more than 5 bits each.
func NewPassword(n int) string {
	groups := strings.Fields(passwordGroups)
	all := strings.Join(groups, "")
	for {
		p := make([]byte, 0, n)
		for len(p) < n {
			var b [1]byte
			rand.Read(b[:]) //nolint:errcheck // it does not return if there is no randomness
			if i := int(b[0]); i < 256/len(all)*len(all) {
				p = append(p, all[i%len(all)])
			}
		}
		whole := n >= len(groups)
		for _, g := range groups {
			whole = whole && strings.ContainsAny(string(p), g)
		}
		if whole || n < len(groups) {
			return string(p)
		}
	}
}
