// Package members lets agents join a rack, renews their certificates, and ends their terms.
package members
