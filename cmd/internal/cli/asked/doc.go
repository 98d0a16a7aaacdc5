// Package asked shows one-shot requests, which are no resources.
package asked
