// Package approval judges who may approve destructive actions, and has approvals signed
// by the destructive key, which may live outside of the hub.
package approval
