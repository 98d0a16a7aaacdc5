// Package file replaces files so that a crash, a full disk or a power cut at any moment leaves
// the old one or the new one, whole.
//
// The content is written beside the file, into .new-<name>-<digits>, which has the file's mode
// before it has a byte, and is fsynced; then it is given the name, and the folder is fsynced. Only
// a crash leaves what was written aside; who owns the folder calls [Sweep] when it begins.
package file
