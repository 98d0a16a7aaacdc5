// Package settings compares how the firmware of a server is to be set with what its BMC shows. It is pure.
package settings
