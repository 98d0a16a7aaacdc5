// Package openpgp checks detached signatures of OpenPGP (RFC 9580) for package iso.
package openpgp
