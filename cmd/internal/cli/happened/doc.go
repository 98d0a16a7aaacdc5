// Package happened asks a hub for events, and shows them.
package happened
