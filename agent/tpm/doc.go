// Package tpm enrols the TPMs of servers: it says whose attestation key a quote is to be signed by. And it asks
// booted servers for quotes, and says whether they prove the boot.
//
// A machine offers the keys of its TPM, and answers a challenge that only the TPM with both of them can
// answer. That the machine is the server, the challenge does not say; the way says it: both come with a
// token that went to the server through its BMC, in a discovery, by HTTPS. The caller has judged that.
package tpm
