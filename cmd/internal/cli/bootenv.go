package cli

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rackboot/protocol/resource"
)

func (a *app) bootEnvCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "bootenv", Short: "Choose, check and try out boot environments", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.bootEnvSetCmd(), a.bootEnvLintCmd(), a.bootEnvRenderCmd())
	return cmd
}

// bootEnvCells are those of what describes boot environments.
func bootEnvCells(obj resource.Object, now time.Time) []string {
	m := obj.Head().Metadata
	switch o := obj.(type) {
	case *resource.BootEnv:
		valid := "yes"
		if !o.Status.Valid {
			valid = "no"
		}
		return []string{
			m.Name, o.Spec.OS.Name, strings.Join(sortedNames(o.Spec.OS.SupportedArchitectures), ","), valid, strconv.Itoa(o.Status.Servers), age(m.CreatedAt, now),
			isoNames(o.Spec.OS), strings.Join(o.Spec.RequiredParams, ","), strings.Join(o.Status.Errors, "; "), o.Spec.Description,
		}
	case *resource.Template:
		return []string{m.Name, strconv.Itoa(len(o.Spec.Contents)), age(m.CreatedAt, now), o.Spec.Description}
	case *resource.Profile:
		secret := ""
		if o.Spec.ParamsSecretRef != nil {
			secret = o.Spec.ParamsSecretRef.Name
		}
		return []string{m.Name, strconv.Itoa(len(o.Spec.Params)), secret, age(m.CreatedAt, now), strings.Join(sortedNames(o.Spec.Params), ","), o.Spec.Description}
	case *resource.Param:
		kind := ""
		if s, ok := o.Spec.Schema.(map[string]any); ok {
			kind, _ = s["type"].(string)
		}
		return []string{m.Name, o.Spec.Name, kind, age(m.CreatedAt, now), o.Spec.Description}
	}
	return []string{m.Name}
}

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

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
	return strings.Join(sortedNames(seen), ",")
}

// bootSource is what a claim or a maintenance boots.
func bootSource(image string, from *resource.ImageFrom, env *resource.Ref) string {
	switch {
	case env != nil:
		return resource.EnvImagePrefix + env.Name
	case from != nil:
		return groupPrefix + from.Group
	}
	return image
}
