// Package logtest makes event logs for tests, and has two that real firmware wrote.
package logtest
