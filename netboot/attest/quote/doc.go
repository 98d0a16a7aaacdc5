// Package quote reads what a TPM says of its PCRs (TPMS_ATTEST of the type TPM_ST_ATTEST_QUOTE, TPM
// 2.0 Library part 2 section 10.12.12), as hostile input. What it reads is true where the
// key that signed it is one that only signs what its TPM made: see package enrol.
package quote
