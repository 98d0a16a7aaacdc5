// Package tpm has tests of netboot/attest with a real TPM, swtpm, with what tpm2-tools and
// systemd-measure make of the same logs and images, and with images of Debian. They run in `make
// integration`.
package tpm
