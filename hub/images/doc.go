// Package images finds out what servers boot: an OCI reference becomes an image with digests, the files of
// the catalogue's entries are fetched and verified, and signatures are checked.
//
// All of that waits for others, so it is done in the background, each with its pause after a failure;
// a turn that asks gets what is known, and its unit is woken when there is an answer.
package images
