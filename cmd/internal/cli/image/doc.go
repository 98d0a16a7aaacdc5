// Package image is rackctl's verbs of boot images: they are built, pushed, and taken into the
// catalogue from vendors' metadata.
package image
