// Package imports takes what another hub exported. What agents and people there have said of installations counts
// only as far as whoever imports accepts it.
package imports
