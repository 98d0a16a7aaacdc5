// Package mirror is a caching proxy: trees of files behind HTTP or HTTPS, such as
// package repositories, as file systems that go on with what they have when the other
// side is away. Only trees that the site allows are asked, and nothing outside them.
//
// # Files
//
// A file that is opened is fetched whole, once for all who want it, and read while it
// arrives: a reader waits for its bytes, or, far ahead of them, goes past by a request
// of its own. What a reader gets is one version of the file: what comes of another is
// told by its validator (ETag, Last-Modified) and ends the read with an error. Without a
// validator that identifies bytes, nothing is resumed and nothing goes past.
//
// How long a file may be used without asking again follows RFC 9111, as far as that
// helps machines to boot: the cache is the site's own and has its credentials, hence
// private responses are kept; and what it has is given, marked as stale, whenever the
// other side cannot be asked or fails, must-revalidate or not. A file that is known to
// be gone is gone here too.
//
// # Pins
//
// [Mirror.Fetch] brings files whole and verified to the disk and pins them under a name:
// all or none, in place of those that the name had. A [Set] is what was pinned, the same
// after a restart, and asks nobody. What a server boots with before it has a kernel is
// pinned before it is powered on; what its installer loads later goes through [Mirror.FS].
//
// # Layout
//
//	<dir>/content/            the contents, by their digest; see package blob
//	<dir>/e-<sha256 of URL>   what is known of a URL: JSON, see sidecar.go
//	<dir>/p-<sha256 of name>  a pin: JSON
//	<dir>/t-*                 unfinished; removed by New
//
// Package blob keeps the contents: their room, pins and verification, and which goes
// first. This package knows which URL has which content. Each file is written aside,
// fsynced and renamed, a content before what names it; a URL names its content by hash,
// so that no crash joins one version's description with another's bytes. A content that
// nothing names and nobody pins or reads is removed.
package mirror
