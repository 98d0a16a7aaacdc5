// Package agentpackage has the signed manifest of a package of agents: which program of which release is for
// which architecture. Whoever publishes releases signs it; an agent runs only what a key of its own file signed.
//
// A package is an uncompressed tar: [ManifestFile] first, then one [BinaryFile] for each architecture of the manifest, in
// its order.
package agentpackage
