// Package quotetest signs quotes for tests, with keys that are in no TPM.
package quotetest
