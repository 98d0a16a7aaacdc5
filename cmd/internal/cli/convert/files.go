package convert

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/cmd/internal/convert"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// read reads the files of the input; - is standard input.
func read(args []string, src *files.Input) ([]convert.File, error) {
	if len(args) > convert.MaxFiles {
		return nil, protocol.Errorf(protocol.CodeInvalid, "read", "there are %d files; give at most %d", len(args), convert.MaxFiles)
	}
	var out []convert.File
	for _, name := range args {
		f, err := readOne(name, src)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

func readOne(name string, src *files.Input) (convert.File, error) {
	in, shown := src.Stdin, "stdin"
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return convert.File{}, protocol.Errorf(protocol.CodeNotFound, "read", "%w", err).WithHint("check the path %s", name)
		}
		defer f.Close()
		in, shown = f, name
	}
	raw, err := io.ReadAll(io.LimitReader(in, convert.MaxFile+1))
	if err != nil {
		return convert.File{}, protocol.Errorf(protocol.CodeUnavailable, "read", "%s: %w", shown, err).WithHint("give files, no folders")
	}
	if len(raw) > convert.MaxFile {
		return convert.File{}, protocol.Errorf(protocol.CodeInvalid, "read", "%s is longer than %d bytes", shown, convert.MaxFile).WithHint("split it")
	}
	return convert.File{Name: shown, Data: raw}, nil
}

// writeReport writes the report, if it was asked for.
func (o *options) writeReport(r convert.Report) error {
	if o.report == "" {
		return nil
	}
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return protocol.Errorf(protocol.CodeInternal, "convert", "%w", err)
	}
	return files.WriteNew(o.report, append(raw, '\n'))
}

// write writes the manifests: to standard output, a file, or a folder.
func (o *options) write(out convert.Result, pr *printer.Printer) error {
	if len(out.Objects) == 0 {
		return nil
	}
	parts, err := convert.Parts(out.Objects)
	if err != nil {
		return err
	}
	info, err := os.Stat(o.to)
	switch {
	case o.to == "":
		if pr.Form == printer.FormName {
			_, err = fmt.Fprintln(pr.Out, strings.Join(out.Report.Written, "\n"))
			return err
		}
		for i, p := range parts {
			if i > 0 {
				p = append([]byte("---\n"), p...)
			}
			if _, err := pr.Out.Write(p); err != nil {
				return protocol.Errorf(protocol.CodeUnavailable, "write", "%w", err)
			}
		}
		if len(parts) > 1 {
			pr.Progress("this is more than rackctl apply takes at once: give --to a folder, and apply its files one by one")
		}
		return nil
	case err == nil && info.IsDir():
		for i, p := range parts {
			name := filepath.Join(o.to, fmt.Sprintf("converted-%03d.yaml", i+1))
			if err := files.WriteNew(name, p); err != nil {
				return err
			}
			pr.Progress("wrote %s", name)
		}
		return nil
	case len(parts) > 1:
		return protocol.Errorf(protocol.CodeInvalid, "write", "the manifests are more than rackctl apply takes at once").
			WithHint("give --to a folder that is there: it gets %d files, which are applied one by one", len(parts))
	}
	if err := files.WriteNew(o.to, parts[0]); err != nil {
		return err
	}
	pr.Progress("wrote %s", o.to)
	return nil
}

// secrets is how many Secrets were made.
func secrets(written []string) int {
	n := 0
	for _, id := range written {
		if strings.HasPrefix(id, strings.ToLower(string(resource.KindSecret))+"/") {
			n++
		}
	}
	return n
}
