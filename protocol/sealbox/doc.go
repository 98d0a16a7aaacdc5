// Package sealbox seals the credentials of a BMC for one agent with HPKE (RFC 9180), so
// that whoever carries or stores them in between learns nothing; so it does user data and
// the bundles of boot environments, each with additional data of its own.
//
// The suite is DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-256-GCM, in base mode: who
// sealed is known by the signature of the document that carries the result. info is
// [Info]; the additional data are those of [Binding].
//
//	field of the additional data, each with a length before it (4 bytes, big-endian)
//	"rackboot credentials"
//	agent     name of the agent that may open it
//	BMC       name of the BMC that it is for
//	secret    name of the Secret
//	uid       of the Secret
//	version   of the Secret's data, 8 bytes, big-endian
package sealbox
