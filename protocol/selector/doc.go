// Package selector reads what selects resources in a list, in the words of kubectl's -l and
// --field-selector, and reports which resources match. The hub and rackctl both use it, so that they agree.
package selector
