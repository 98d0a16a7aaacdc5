package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

const (
	passes = `{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"quiet\n"}
{"Action":"pass","Package":"p","Test":"TestA","Elapsed":0.1}
{"Action":"pass","Package":"p","Elapsed":0.2}
{"Action":"skip","Package":"untested"}
`
	fails = `{"Action":"output","Package":"q","Test":"TestB","Output":"loud\n"}
{"Action":"fail","Package":"q","Test":"TestB"}
{"Action":"output","Package":"q","Output":"FAIL\tq\n"}
{"Action":"fail","Package":"q","Elapsed":1}
`
	panics = `{"Action":"run","Package":"q","Test":"TestB"}
{"Action":"output","Package":"q","Test":"TestB","Output":"panic: loud\n"}
{"Action":"fail","Package":"q","Elapsed":1}
`
	skips = `{"Action":"output","Package":"p","Test":"TestC","Output":"no root\n"}
{"Action":"skip","Package":"p","Test":"TestC"}
`
	build = `{"ImportPath":"r [r.test]","Action":"build-output","Output":"r.go:1: loud\n"}
{"ImportPath":"r [r.test]","Action":"build-fail"}
{"Action":"fail","Package":"r","Elapsed":0,"FailedBuild":"r [r.test]"}
`
)

func TestRun(t *testing.T) {
	for _, c := range []struct {
		name, in string
		code     int
		says     []string
		not      string
	}{
		{"pass", passes, 0, []string{"ok  \tp\t0.200s\n", "1 passed, 0 failed, 0 skipped\n"}, "quiet"},
		{"fail", passes + fails, 1, []string{"loud\n", "FAIL\tq\t1.000s\n", "1 passed, 1 failed, 0 skipped\n"}, "quiet"},
		{"panic", passes + panics, 1, []string{"panic: loud\n", "1 passed, 1 failed, 0 skipped\n"}, "quiet"},
		{"skip", passes + skips, 1, []string{"no root\n", "skipped: p TestC\n", "1 passed, 0 failed, 1 skipped\n"}, "quiet"},
		{"build", passes + build, 1, []string{"r.go:1: loud\n", "1 passed, 1 failed, 0 skipped\n"}, "quiet"},
		{"not an event", passes + "go: downloading x", 0, []string{"go: downloading x\n"}, "quiet"},
		{"no tests", `{"Action":"skip","Package":"untested"}`, 1, []string{"no test ran\n"}, "ok"},
		{"nothing", "", 1, []string{"no test ran\n"}, "ok"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			if code := run(nil, strings.NewReader(c.in), &out, &errs); code != c.code {
				t.Errorf("exit code %d, want %d; %s", code, c.code, errs.String())
			}
			for _, s := range c.says {
				if !strings.Contains(out.String(), s) {
					t.Errorf("does not say %q:\n%s", s, out.String())
				}
			}
			if strings.Contains(out.String(), c.not) {
				t.Errorf("says %q:\n%s", c.not, out.String())
			}
		})
	}
}

func TestTotal(t *testing.T) {
	file := filepath.Join(t.TempDir(), "results")
	total := func() (int, string) {
		var out bytes.Buffer
		code := run([]string{"-total", file}, strings.NewReader(""), &out, &out)
		return code, out.String()
	}
	add := func(in string) {
		run([]string{"-add", file}, strings.NewReader(in), &bytes.Buffer{}, &bytes.Buffer{})
	}
	if code, out := total(); code != 1 || out != "0 passed, 0 failed, 0 skipped\n" {
		t.Errorf("before any run: %d %q", code, out)
	}
	add(passes)
	add(passes)
	if code, out := total(); code != 0 || out != "ok  \tp\t0.200s\nok  \tp\t0.200s\n2 passed, 0 failed, 0 skipped\n" {
		t.Errorf("two good runs: %d %q", code, out)
	}
	add(skips)
	if code, out := total(); code != 1 || !strings.HasSuffix(out, "\n2 passed, 0 failed, 1 skipped\n") {
		t.Errorf("with a skip: %d %q", code, out)
	}
}
