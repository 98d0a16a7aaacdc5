// Package audit is rackctl's verbs of what was done and by whom: the audit log, events, and
// approvals with the key that signs them.
package audit
