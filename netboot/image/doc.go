// Package image finds, fetches and makes boot images in OCI registries. [Resolve] turns
// a reference into the digests of its artefacts once; from then on everything goes
// by digest, and [Pull] brings the artefacts into a local store, so that a boot
// needs no registry.
//
// # Layout
//
// The reference leads to a manifest, or to an OCI index, a Docker manifest list or
// a nested index with one manifest per platform. The layers of the manifest are
// told apart by media type; layers of other types are not looked at. The accepted
// types are the current ones of ironcore-image, those of its next generation, those of
// Garden Linux, and the v1alpha1 ones. [Inspect] looks at what the layers begin with.
//
// # Credentials
//
// [Options.Accounts] gives them, by host. No docker configuration, no credential helper
// and no environment is read, except the proxy variables of net/http. They are sent to
// the registry's host, and for a token to hosts that the account names; never to where a
// registry stores its blobs, and never into an error.
package image
