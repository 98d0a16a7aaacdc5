// Package fetch brings the files of boot images to the hub: by HTTP, on with what is there
// of them after a break of either side, into the store of uploaded files, and proves them.
//
// A file counts as verified when its SHA-256 is that of the entry, when the signature that
// the entry names is of a key in the hub's own keyring (isos.keyring), and when what is in
// it, where it is compressed, has the sum that the entry says. In that order: a signature
// is of the file as it is published.
//
// The digest decides what a file is, so that nothing else has to be believed: not the
// server, not the way to it, not an earlier part of the same file.
package fetch
