package main

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"

	"github.com/rogpeppe/go-internal/testscript"

	"rackboot/protocol/api"
)

// archive FILE TEXT writes a tar with one file.
func archive(ts *testscript.TestScript, _ bool, args []string) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	err := w.WriteHeader(&tar.Header{Name: "linux", Mode: 0o644, Size: int64(len(args[1])), Format: tar.FormatUSTAR})
	_, writeErr := w.Write([]byte(args[1]))
	ts.Check(errors.Join(err, writeErr, w.Close(), os.WriteFile(ts.MkAbs(args[0]), b.Bytes(), 0o600)))
}

// digest NAME FILE sets a variable to the beginning of a file's SHA-256.
func digest(ts *testscript.TestScript, _ bool, args []string) {
	ts.Setenv(args[0], fmt.Sprintf("%x", sha256.Sum256([]byte(ts.ReadFile(args[1]))))[:12])
}

// begin FILE NAME begins an upload of a file and sends nothing.
func begin(ts *testscript.TestScript, _ bool, args []string) {
	raw := []byte(ts.ReadFile(args[0]))
	_, err := hubOf(ts).ISOs.Begin(context.Background(), api.ISOUploadRequest{
		File: args[1], Digest: fmt.Sprintf("sha256:%x", sha256.Sum256(raw)), Size: int64(len(raw)),
	}, "ann")
	ts.Check(err)
}
