// Package redfish drives servers through their BMC's Redfish service
// (DMTF DSP0266). It is the only package that imports gofish, of which it uses
// the schemas: every byte goes through this package's own HTTP transport, which
// implements schemas.Client.
//
// The transport exists because of what gofish's own client does (v0.25.0): it
// can turn off certificate checks for the whole process, follows a looping
// nextLink for ever, limits concurrency to headers, loses Retry-After, sends its
// session token to another host on a redirect and knows no response limits.
//
// # Rules of the transport
//
//   - A BMC is trusted by the fingerprint of its certificate or by a given CA,
//     never blindly. Plain http is for loopback addresses.
//   - One exchange at a time per BMC, body included, whatever the number of
//     systems behind it. Every exchange has its own deadline.
//   - Basic authentication per request (RFC 7617), so that no session slot of the
//     BMC is held. After one 401 the same credentials are not tried again before
//     [Config].DeniedPause has passed: BMCs block addresses that keep trying.
//   - A write is sent once and never repeated.
//
// Objects are decoded field by field: a field of an odd type is an absent field,
// it never fails the read of the others.
package redfish
