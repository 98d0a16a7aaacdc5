// Package enrol says whether a TPM's keys may be those of a server, as functions of what the
// machine sends:
//
//   - [EndorsementKey] and [AttestationKey] hold public areas against the rules of their use;
//   - [Certificate] says who vouches for the endorsement key: an authority that the site gave, or
//     nobody, which is then said and not hidden;
//   - [Offer], [Challenge] and [Answer] are what is said between them;
//   - [NewChallenge] makes what only the TPM with both keys can answer (credential activation, TPM 2.0
//     Library part 1 section 24): so the attestation key needs no certificate.
//
// That the machine is the server is not said here: the challenge has to go the way that proves it.
package enrol
