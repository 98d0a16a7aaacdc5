// Package eventlog reads the log that firmware keeps of what it measured into a TPM: the
// TCG PC Client Platform Firmware Profile's (PFP 1.05 and 1.06, section 10) log of
// TCG_PCR_EVENT2, as Linux shows it in binary_bios_measurements.
//
// A log is a claim of the machine. [Parse] reads it as hostile input, and [Log.Replay]
// computes the values that PCRs would have; only where a quote has the same values is
// the sequence of digests true. Of an event, only its PCR and its digests go into that
// value. Neither its type nor its data do: [Event.Binding] says how far the digest covers
// the data, and nothing is proof that it does not cover.
//
// All of it is a function of its arguments, and safe to call at once.
package eventlog
