// Package packages has the packages of agents that people push: the signed manifests in the book, and which of their
// programs are here. The programs are contents of the uploaded files, by their digests, so that agents fetch them as they
// fetch other files.
//
// A push says the manifest first. From then on its programs are needed, and come in pieces; one that is whole was compared
// with the manifest's digest and size. A package with a program that is not here is ordered by nobody.
package packages
