package sim

import (
	"reflect"
	"testing"
	"time"
)

// Every time of a personality but the wrong clock is divided.
func TestFaster(t *testing.T) {
	p := Personality{Latency: Latency{Slow: []SlowPath{{"x", time.Hour}}}}
	n := setTimes(reflect.ValueOf(&p).Elem())
	if n != len(p.times())+1 {
		t.Errorf("%d times, of which %d are known", n, len(p.times()))
	}
	fast := p.Faster(60)
	for _, d := range fast.times() {
		if *d != time.Minute {
			t.Errorf("one is %s", *d)
		}
	}
	if fast.Report.Clock != time.Hour || fast.Latency.Slow[0].Takes != time.Minute || p.Latency.Slow[0].Takes != time.Hour {
		t.Errorf("clock %s, slow path %s, and before %s", fast.Report.Clock, fast.Latency.Slow[0].Takes, p.Latency.Slow[0].Takes)
	}
}

// setTimes makes every time of a structure an hour, and counts them.
func setTimes(v reflect.Value) (n int) {
	for _, f := range v.Fields() {
		switch {
		case f.Type() == reflect.TypeFor[time.Duration]():
			f.SetInt(int64(time.Hour))
			n++
		case f.Kind() == reflect.Struct:
			n += setTimes(f)
		}
	}
	return n
}
