// Package copytest is the stream of audit logs in memory, for tests.
package copytest
