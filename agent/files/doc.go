// Package files is the room of the files that servers boot from: the artefacts of
// images, files that were uploaded to the hub, user data, and boot environments. It
// brings them before they are needed (P7), verifies them, keeps what documents and
// open boots name, and lets the rest go when room is needed.
//
// Goroutines, all ended by the context given to Run: one each for images, uploaded
// files, user data and environments. Each brings one thing at a time.
//
// The room does not know who may boot: it asks Boots, and the boot servers decide
// before they ask it for a file. It tells Servers what has come.
package files
