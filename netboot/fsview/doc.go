// Package fsview puts together the files that one server boots with: a [View] is a
// read-only file system over mounts, later ones over earlier ones, with directories
// merged and links from path to path. A view never changes; a [Set] exchanges one for
// another at once.
//
// Mounts are whatever has [fs.FS]; made here are a folder on disk ([Disk]), files in
// memory ([Memory]) and archives that are read where they lie ([Archive]). Compressed tars
// are unpacked once, at import ([Repack]).
//
// Every regular file that is opened is a [Content]; who sends it asks for its [Sectioner]
// first. A symbolic link to a file is listed as that file, one to a directory as a link,
// so that who walks a tree comes to an end. Errors are [fs.PathError] around a
// protocol.Error with code and hint, and are [fs.ErrNotExist] and the like where they
// should be. All of it takes hostile bytes and names, works offline, and is safe for
// concurrent use but for single open files.
package fsview
