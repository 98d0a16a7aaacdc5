// Package hold is rackctl's verbs that stop servers, keep them off and start them: holds with
// their receipts, reboots, and maintenances.
package hold
