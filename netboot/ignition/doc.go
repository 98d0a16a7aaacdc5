// Package ignition checks user data: Ignition of specification 1, 2.0 to 2.4 and 3.0 to
// 3.6, and Butane of Fedora CoreOS and Flatcar, which it turns into Ignition. It works
// offline, and embeds no file that the data only names.
//
// [Translate] writes the stub of a group, of specification 1 and 2, in the words of 3;
// [Inspect] and [CheckCA] say whom a stub trusts with the rest of the configuration.
// docs/adr/0044 has the reasons.
//
// # Errors
//
// User data is a secret, with keys and passwords in it. An error has the path of what is
// wrong, as $.storage.files[0].path, and a sentence of a fixed set. It never has a
// value, and no key that the specification does not know: libraries quote both, so that
// nothing of what they say is passed on but what [plain] knows.
//
// # Sources
//
// Specification 3 is checked by coreos/ignition itself, which knows no other. What
// specification 2 says is in the table of [schema2] (configuration-v2_4.md of
// coreos/ignition at spec2x): names of fields and their types, paths, and names of units.
// Where a stub is translated all of it is judged, by [stub2] and what it is in 3.
package ignition
