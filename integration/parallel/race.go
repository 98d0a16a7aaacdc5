//go:build race

package parallel

// perProcessor is less where each test works longer: they would come to wait for
// processors, and for longer than the firmware that they play does.
const perProcessor = 2
