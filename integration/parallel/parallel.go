package parallel

import (
	"flag"
	"runtime"
	"strconv"
	"testing"
)

// Main is what a TestMain does: it runs the tests, and of those that call t.Parallel more
// beside each other than there are processors, unless -parallel says how many.
func Main(m *testing.M) {
	const name = "test.parallel"
	flag.Parse()
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == name })
	if !asked {
		if err := flag.Set(name, strconv.Itoa(perProcessor*runtime.GOMAXPROCS(0))); err != nil {
			panic(err)
		}
	}
	m.Run()
}
