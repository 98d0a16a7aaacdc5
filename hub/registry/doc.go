// Package registry is a small OCI registry within the hub (OCI distribution specification
// 1.1, pull and push), so that a first boot needs no second server. It is for the boot images
// of a site, and no more: a folder, a bound.
//
// # Layout
//
//	<dir>/blobs/       layers, configs and manifests by SHA-256; see package blob
//	<dir>/book.json    which manifests and tags each repository has; replaced as a whole
//
// Where hubs share a store ([Shared]) the book is there, a record for each repository, and each hub fetches into its
// folder what that names. A blob is on the servers before a manifest that names it is in the book.
//
// A manifest is in the book only when everything that it names is there. What no manifest
// names is removed an hour after it came, also what an interrupted push has left.
//
// # What it does not do
//
// A blob comes in one request: with POST, or POST, one PATCH and PUT. There are no referrers,
// no catalog, and no deletion of single blobs: they go when the last manifest that names them
// was deleted.
package registry
