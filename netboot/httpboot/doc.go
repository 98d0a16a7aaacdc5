// Package httpboot serves boot files to firmware and takes the reports of booted
// images, over plain HTTP/1.1:
//
//	GET, HEAD /b/{token}/{name}                     a file of an attempt
//	POST      /b/{token}/report/installed|booted   a report of the image
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
// # Secrets
//
// The token in the path is a secret. Paths are never logged and are no label of a
// metric, and an error text never says why a file is not there.
package httpboot
