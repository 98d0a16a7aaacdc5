// Package firstrack writes the files of a first rack: the manifests, a claim to try, the
// agent's file and the account of its BMCs. It asks nobody and reads no BMC.
package firstrack
