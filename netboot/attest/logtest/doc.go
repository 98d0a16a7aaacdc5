// Package logtest makes event logs for tests, and has two that real firmware wrote. As root on Debian 12,
//
//	go test -tags=soak ./integration/tpm -run Firmware -record
//
// boots those two machines again, and writes their logs anew.
package logtest
