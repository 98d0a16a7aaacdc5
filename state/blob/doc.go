// Package blob stores large content by its SHA-256: loaders, kernels, initrds,
// ISOs. A blob is complete and verified or it is not there.
//
// # Layout
//
//	<dir>/<64 lower-case hex digits>   a blob, read-only
//	<dir>/tmp-*                        a write in progress; removed by Open
//	<dir>/part-<64 hex digits>         a blob that comes in pieces; see [Part]
//	<dir>/part-<64 hex digits>.sum     how much of it is on disk, and its hash
//
// A write goes to a temporary file, which is hashed on the way, fsynced and
// renamed; then the directory is fsynced. Blobs are served from their files, so
// the kernel's sendfile path stays open to the reader. A blob whose file has
// another length than it was written with is gone.
//
// A write knows its digest beforehand ([Store.Write], [Store.Part]) or learns it
// from the content ([Store.Make], [Draft]). A Draft can be read while it comes.
//
// # Space
//
// Blobs that are not pinned are removed, least recently used first, when a
// write needs their room. Room is known to suffice before the first byte is
// read, where the size is known. Pins live in memory: after a start the owner
// pins again what it needs before it writes. The time of last use is the file's
// access time, to the minute, so it survives a restart; the modification time
// never changes, because HTTP clients compare it.
package blob
