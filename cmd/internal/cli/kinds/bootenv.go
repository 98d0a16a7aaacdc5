package kinds

import (
	"strconv"
	"strings"
	"time"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol/resource"
)

func bootEnvColumns(o *resource.BootEnv, now time.Time) []cell {
	valid := "yes"
	if !o.Status.Valid {
		valid = "no"
	}
	return []cell{
		col("NAME", o.Metadata.Name),
		col("OS", o.Spec.OS.Name),
		col("ARCHITECTURES", strings.Join(printer.SortedNames(o.Spec.OS.SupportedArchitectures), ",")),
		col("VALID", valid),
		col("SERVERS", strconv.Itoa(o.Status.Servers)),
		col("AGE", printer.Age(o.Metadata.CreatedAt, now)).aged(""),
		wide("FILES", isoNames(o.Spec.OS)),
		wide("REQUIRED-PARAMS", strings.Join(o.Spec.RequiredParams, ",")),
		wide("ERRORS", strings.Join(o.Status.Errors, "; ")),
		wide("DESCRIPTION", o.Spec.Description),
	}
}

func templateColumns(o *resource.Template, now time.Time) []cell {
	return []cell{
		col("NAME", o.Metadata.Name),
		col("BYTES", strconv.Itoa(len(o.Spec.Contents))),
		col("AGE", printer.Age(o.Metadata.CreatedAt, now)).aged(""),
		wide("DESCRIPTION", o.Spec.Description),
	}
}

func profileColumns(o *resource.Profile, now time.Time) []cell {
	secret := ""
	if o.Spec.ParamsSecretRef != nil {
		secret = o.Spec.ParamsSecretRef.Name
	}
	return []cell{
		col("NAME", o.Metadata.Name),
		col("PARAMS", strconv.Itoa(len(o.Spec.Params))),
		col("SECRET", secret),
		col("AGE", printer.Age(o.Metadata.CreatedAt, now)).aged(""),
		wide("NAMES", strings.Join(printer.SortedNames(o.Spec.Params), ",")),
		wide("DESCRIPTION", o.Spec.Description),
	}
}

func paramColumns(o *resource.Param, now time.Time) []cell {
	kind := ""
	if s, ok := o.Spec.Schema.(map[string]any); ok {
		kind, _ = s["type"].(string)
	}
	return []cell{
		col("NAME", o.Metadata.Name),
		col("PARAM", o.Spec.Name),
		col("TYPE", kind),
		col("AGE", printer.Age(o.Metadata.CreatedAt, now)).aged(""),
		wide("DESCRIPTION", o.Spec.Description),
	}
}

// isoNames are the files of an operating system, without repeats.
func isoNames(os resource.EnvOS) string {
	seen := map[string]bool{}
	if os.IsoFile != "" {
		seen[os.IsoFile] = true
	}
	for _, a := range os.SupportedArchitectures {
		if a.IsoFile != "" {
			seen[a.IsoFile] = true
		}
	}
	return strings.Join(printer.SortedNames(seen), ",")
}
