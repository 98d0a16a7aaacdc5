// Package oldtls says what of a BMC's TLS is too old to be used without being asked for, and makes
// clients that complete such a handshake all the same.
//
// The web servers of old BMCs speak TLS 1.0 or 1.1 (deprecated by RFC 8996), exchange keys by RSA
// (RFC 9325 section 4.1: SHOULD NOT), or show certificates with a negative serial number, which RFC
// 5280 section 4.1.2.2 forbids. A client that refuses them in the handshake can say no more than that
// it failed. So the handshake is completed, and who dialed decides by what it was, before a byte is
// sent.
//
// The negative serial numbers are of a switch that Go has per process: a program that dials BMCs has
// the line //go:debug x509negativeserial=1 beside its main function.
package oldtls
