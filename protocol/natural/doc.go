// Package natural puts names in the order that people count in: n2 before n10.
package natural
