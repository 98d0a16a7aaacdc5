// Package status says what is so: it fills in the status of what is printed and scraped.
//
// Nothing of it is stored. It is made of what is stored, of what the agents said last, and of what the rooms found in
// their last turns.
package status
