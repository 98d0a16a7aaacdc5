// Package holds runs the vectors of reboot holds and fencing: what the peers' own
// tests pin (B, P and R), what they do not (V), and the values of metal3's reboot
// annotation. They are data, in testdata: each row says where it comes from, what the
// peer does, what we do, and where the two differ, why.
//
// A row is run in a synctest bubble of its own: the real hub (store, control and API),
// the real agent over an in-memory store, the real Redfish driver over gofish and TLS,
// and a simulated BMC with its server, joined by an in-memory network. A soft timeout of
// 180 s costs milliseconds.
//
//	go test ./integration/holds -run Vectors/V6
//	RACKBOOT_TEST_LOG=1 go test ./integration/holds -run Vectors/B15 -v
//
// A row that could not fail is no row. The loader refuses unknown keys, rows without an
// expectation and missing ids. Every expectation is also compared, where it is checked,
// with everything that it must not be, and [TestWrongExpectations] runs rows whose last
// expectation was made wrong.
package holds
