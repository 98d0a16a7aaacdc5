// Package iso reads and writes ISO 9660 images (ECMA-119), for boot and for virtual media:
//
//   - [OpenFS] is the tree of files in an image as an [io/fs.FS], read in place by random
//     access, with the names of Rock Ridge, Joliet, or neither;
//   - [Check] says whether UEFI firmware of an architecture boots an image, by El Torito;
//   - [Write] makes the small image that tells a booted system about its boot.
//
// It works offline and on untrusted bytes.
//
// Written is what every reader takes: one folder, names of level 1 in the primary
// volume, and the real names by Joliet. Rock Ridge is left out: Linux, the BSDs and
// Windows all read Joliet.
package iso
