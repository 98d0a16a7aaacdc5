// Package bootimages decides which boot image the servers of a group are to have, and
// what of a group's history is kept (seed 001). It is pure: values in, values out.
package bootimages
