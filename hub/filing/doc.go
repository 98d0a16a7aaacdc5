// Package filing keeps what agents have signed: receipts of holds and records of installations. A fact is filed once,
// in a log that only grows, and is never taken back.
package filing
