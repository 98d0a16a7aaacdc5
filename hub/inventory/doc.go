// Package inventory keeps what is known of BMCs: which were found and accepted, what is behind them, and the
// accounts by which agents reach them.
package inventory
