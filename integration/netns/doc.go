// Package netns makes networks for tests out of Linux network namespaces.
//
// A namespace has no name and no file: it lives as long as this process holds it
// open or a process runs in it. Whatever way a run ends, the kernel takes the
// namespace away with all its interfaces, and two runs cannot disturb each other.
// Everything here needs root.
package netns
