// Package bootcert makes, checks and renews the certificates of HTTPS boot.
//
// A folder holds them:
//
//	ca.pem, ca.key        the boot authority, RSA-3072, for 20 years
//	ca.cer, ca.esl        its certificate as firmware takes it: DER for a set-up
//	                      menu, an EFI signature list for the variable TlsCaCertificate
//	ecdsa.pem, ecdsa.key  P-256, for firmware that can use it
//	rsa.pem, rsa.key      RSA-3072, for firmware without elliptic curves
//
// Certificates of one's own go under the last four names; without ca.key they are
// checked and served, and never replaced.
//
// # Why this shape
//
// EDK2 without elliptic curves, the default up to edk2-stable202211, verifies no
// signature of an ECDSA authority either: a P-256 authority over an RSA certificate
// was refused by OVMF 2022.11, and an RSA authority was not. EDK2 since 2025 refuses
// RSA keys of 2048 bits (tianocore/edk2#12651). Firmware compares the host of the URL
// with the iPAddress names of the certificate; some refuses a wildcard
// (tianocore/edk2#9894). It knows no authority until one is enrolled.
package bootcert
