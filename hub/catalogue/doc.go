// Package catalogue makes entries of the catalogue of boot images out of what vendors
// publish: the stream metadata and the release metadata of Fedora CoreOS and its kin
// (coreos/fedora-coreos-tracker, metadata/), and OCI indexes. It asks nobody for anything:
// it reads bytes, and is bounded by them.
//
// What the formats do not say comes from the caller: which line of images it is, and the
// highest Ignition specification that the image reads. No part of the format has that.
package catalogue
