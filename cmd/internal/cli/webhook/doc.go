// Package webhook is rackctl webhook: where the hub sends events, and what it gave up.
package webhook
