// Package netbox converts what NetBox exports as CSV: a list of devices, and one of their interfaces, with the
// columns of a table's export or those of a bulk import.
package netbox
