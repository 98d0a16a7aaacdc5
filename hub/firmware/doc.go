// Package firmware keeps the marks of servers whose firmware is changed: meanwhile no hold powers one off, unless
// it says so. Each mark ends by itself.
package firmware
