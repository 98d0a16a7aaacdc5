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
// # Parts
//
//	driver hands on to
//	  inventory ──► power, overrides, survey
//	  power, overrides, media, restorePolicy, accounts ──► locator
//	  events, subscriber, orders
//	                                     │
//	  locator ──► learned                ▼
//	            call ──► link ──► login, lane, breaker ──► exchanger ──► reporter
//
// Each part has its own state, its own lock and its constructor, and knows only those below
// it; newDriver puts together what one system has, newLink what it has of its BMC. A host
// and an account are shared by the drivers of one BMC. An operation is a call: it reads
// and writes resources, each in its turn. locator reads the system itself, and learned has
// what reads have taught. What an answer means is said by reporter, which has the secrets
// that no error may repeat.
//
// What is known of vendors and cannot be seen in what their BMCs show is in quirks.go: the
// profiles, the messages and the names of attributes, each with its source.
//
// # Rules of the transport
//
//   - A BMC is trusted by the fingerprint of its certificate or by a given CA,
//     never blindly. Plain http is for loopback addresses.
//   - One exchange at a time per BMC, body included, whatever the number of
//     systems behind it; inventories have a second queue of their own, so that
//     nothing waits for them. ForceOff overtakes what waits. Every exchange has its
//     own deadline.
//   - One session per BMC and account, kept by a [SessionStore], renewed twice at most for a request, when
//     the BMC ends it; basic authentication (RFC 7617) where a BMC has none to give.
//     After one refusal the same credentials are not tried again before
//     [Config].DeniedPause has passed: BMCs lock accounts and block addresses.
//   - After three exchanges in a row without an answer a BMC is left alone, for
//     seconds; then one request probes it. ForceOff is sent all the same.
//   - A write is sent a second time only where the BMC refused the first with a
//     status of 4xx, in another form, or at another place.
//   - A power state is read by a whole answer: no request is conditional. An ETag
//     that does not change with the power state would turn a 304 into a false
//     proof, and what it would save is one object of some KiB.
//
// # Boot overrides
//
// SetBoot reads the system and its settings, plans (bootplan.go: pure), writes
// down a ladder of ETags, reads back and classifies (bootoutcome.go: pure). Where
// a property is written is decided by what the BMC shows; what it does not show
// is in the table of profiles, each field with its source (quirks.go).
//
// Objects are decoded field by field: a field of an odd type is an absent field,
// it never fails the read of the others.
package redfish
