// Package backupfile reads and writes backups of a hub: one file, written and verified in one pass
// with bounded memory. Who has no key can tell whether it is whole; with the key all of it is
// verified without unpacking it.
//
// # From the outside in
//
//	rackboot-backup 1\n        the kind of the file, and its version
//	{"made":…,"sealed":…}\n    the Header, JSON in one line: what may be read without a key
//	frames                     length, 4 bytes big-endian, at most 1 MiB; content; sum
//	end                        length 0; SHA-256 of all bytes before
//
// The sum of a frame is the first 8 bytes of the SHA-256 of all bytes before it, those of its length
// and content included. So what was cut, changed, moved or put in is found in the frame where it
// begins. Nothing comes after the end.
//
// The contents of the frames are one stream: encrypted as age does it (age-encryption.org/v1) unless
// the header says that it is plain; in that a zstd stream; in that a tar archive (POSIX.1-2001, ustar
// and pax headers) of regular files, the members, each named once. The last is manifest.json, the
// [Manifest], with the names of the others in their order, their sizes and SHA-256. A backup with a
// member that the manifest does not have, or the other way round, is refused.
//
// # What it does not show
//
// That the hub made it: who may write where backups are kept, and knows the public key that they are
// encrypted for, can make another one.
package backupfile
