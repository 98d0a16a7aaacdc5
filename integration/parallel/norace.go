//go:build !race

package parallel

// perProcessor is how many tests wait beside each other for each processor.
const perProcessor = 5
