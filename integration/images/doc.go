// Package images has tests that read ISO images which xorriso and genisoimage make: what
// they write is another reading of the standards than that of netboot/iso's own tests; and
// one that gives debconf the preseed files of configs/bootenvs. They run in `make integration`.
package images
