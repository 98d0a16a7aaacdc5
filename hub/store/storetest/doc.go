// Package storetest has in-memory stores for tests of what stands on hub/store.
package storetest
