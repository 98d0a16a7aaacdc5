// Package rollout draws how far a roll-out is: its servers counted by state, as a bar and in a line.
package rollout
