package natural

import (
	"cmp"
	"strings"
)

// Compare orders a and b: digits by their number, all else by its bytes. What is the same number
// written otherwise (n1, n01) is ordered by its bytes, so that 0 means the same text.
func Compare(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		if digit(x[0]) && digit(y[0]) {
			var n, m string
			n, x = number(x)
			m, y = number(y)
			if c := cmp.Or(cmp.Compare(len(n), len(m)), strings.Compare(n, m)); c != 0 {
				return c
			}
			continue
		}
		if x[0] != y[0] {
			return cmp.Compare(x[0], y[0])
		}
		x, y = x[1:], y[1:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(a, b))
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// number is the number that a text begins with, without zeros before it, and what is behind it.
func number(s string) (n, rest string) {
	end := 0
	for end < len(s) && digit(s[end]) {
		end++
	}
	return strings.TrimLeft(s[:end], "0"), s[end:]
}
