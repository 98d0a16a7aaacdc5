// Package iso keeps the files that people upload at the hub, ISO files and other archives
// that boot environments name, and gives agents what their documents name.
//
// # Layout
//
//	<dir>/content/            the contents by SHA-256; see package blob
//	<dir>/uploads/<id>.json   an upload that has not ended
//
// Names are in the book, which is in the hub's store ([store.ISO]). A name has one
// content, a content may have several names and is kept once.
//
// # The way of an upload
//
// Begin says name, SHA-256 and size, so that everything that can be refused before the
// first byte is. Pieces come in order; what Append has answered is on disk. The id of an
// upload follows from name and digest: after a break, of either side, the same Begin gives
// the offset to go on at. Finish compares the content with its digest, the signature and
// what environments say of the file, packs a compressed tar again so that it can be read
// in place, reads to their end the files in it that environments name, and only then
// writes the name into the book, in one step. A file that is
// replaced stays until then, and its content for as long as a document names it.
//
// Where the hub's store is on servers that other hubs share, the content is there too before the name is ([Depot]), and
// what another hub took is fetched from there.
//
// # What goes
//
// A content that no name, no package of agents, no upload and no document that an agent was sent names goes
// after [collectAfter]. An upload to which nothing comes goes after
// [protoapi.ISOUploadLife].
package iso
