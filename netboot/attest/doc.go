// Package attest says whether a server's TPM proves what it booted: a quote by the key that was
// enrolled for it, the event log that replays to the quoted values, and in it exactly what was
// expected. All of it is a pure function, [Verify]; package eventlog says what of a log is proof.
//
// The types of events and most of their data are in no digest, and an operating system can
// extend PCRs 0 to 15 as firmware does. So it is never enough that what is expected is
// somewhere in the log: of each PCR that is judged, every digest is accounted for. What is not
// expected makes the boot another one, whatever the log calls it.
//
//	PCR | is held against
//	  1 | Expectation.BootOption: the boot option was measured before firmware ended
//	  4 | Expectation.Images: each image that firmware started, in order
//	  7 | Expectation.SecureBoot and Authorities: Secure Boot was on, and who had signed
//	  8 | Expectation.Commands: GRUB's commands and command lines
//	  9 | Expectation.Files: what GRUB read, and what Linux' EFI stub measured
//	 11 | Expectation.Sections, and Phases: a unified kernel image's, by systemd-stub
//	 12 | Expectation.Parameters: command lines that took the place of the image's own
//	 13 | nothing: system extensions from beside the image
//
// What this does not show: what option ROMs did before, and on firmware that does not measure
// them at all; a discrete TPM that somebody resets or feeds by its pins; what GRUB reads, where
// PCR 9 is not judged; and anything of a machine whose TPM is off.
package attest
