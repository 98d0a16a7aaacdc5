// Package httpboot serves boot files to firmware and takes the reports of booted
// images, over HTTP/1.1, plain or with TLS:
//
//	GET, HEAD /b/{token}/{name}                     a file of an attempt, and its siblings
//	GET, HEAD /b/{token}/ignition                   the server's user data
//	GET, HEAD /{name}                               a fixed name, for the client's address
//	POST      /b/{token}/report/{state}            a report of the image, and
//	POST      /b/{token}/enrol/{offer or answer}   a step of enrolling a TPM
//	POST      /b/{token}/report                    with the state in its JSON body
//	anything else                                  404 at once
//
// It is a raw handler: http.ServeMux and http.FileServer answer a path with "//"
// by a redirect, firmware follows none, and shim asks for //grubx64.efi.
//
// # What firmware needs
//
// EDK2 compares Content-Type exactly, takes the size from the Content-Length of
// HEAD, waits 5 s for each read, resumes by Range with If-Match or
// If-Unmodified-Since, and loses the GET if the connection closes after HEAD. An
// unknown name is the normal case (GRUB asks for up to eleven) and quick.
//
// It also never gets a redirect, a compressed or a chunked body, several ranges, or a
// header without a value.
//
// # HTTPS
//
// No certificate suits all firmware. EDK2 without elliptic curves, the default up to
// edk2-stable202211, offers the suites 009f 009e 006b 0067 0039 0033 009d 009c 003d
// 003c 0035 002f and no ECDHE: it needs an RSA certificate, RSA key exchange, and an
// authority with an RSA key. EDK2 since 2025 refuses RSA-2048 and wants ECDHE. So
// there are two certificates, ECDSA P-256 and RSA-3072, and the ClientHello decides.
// RSA key exchange has no forward secrecy; only this listener speaks it.
//
// # Small files
//
// A GET or HEAD without a body is read and answered here, with the header and the file in
// one packet, or in one record of TLS; all else goes to net/http with its connection, which
// stays there. Handler and answers are the same.
//
// # Limits
//
// All connections, those of one client, and its requests in flight are bounded; so
// are the handshake and the header (10 s, and as much again for one beyond 4 KiB), a
// transfer that stands still (30 s for a MiB), and an idle connection (2 min).
//
// # Secrets
//
// The token in the path is a secret. Paths are never logged and are no label of a
// metric, and an error text never says why a file is not there.
package httpboot
