// Package secret encrypts what is in Secrets before the hub's store has it.
//
// Each version of a Secret has a data key of its own. The data is encrypted with the
// data key, and the data key with the key-encryption key of the hub's file, both by
// AES-256-GCM with random nonces. What each was made for is its additional data, so that
// no envelope fits another Secret, another of the same name, or another version:
//
//	field of the additional data, each with a length before it (4 bytes, big-endian)
//	"rackboot secret key" or "rackboot secret data"
//	"Secret"
//	name, uid
//	version, 8 bytes, big-endian
//
// The key-encryption key never reaches the store; its id does, so that a hub with
// another key says which one it would need. Rotation encrypts the data keys anew and
// leaves the data as it is.
//
// Whoever has the store and no key learns names, types, versions, sizes and times. Who
// can write to the store can bring back an older version as a whole.
package secret
