package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/protocol/api"
	"rackboot/protocol/natural"
	"rackboot/protocol/resource"
)

const (
	// completeIn bounds how long a shell waits for words.
	completeIn = 3 * time.Second
	// completeMost bounds how many words it is given.
	completeMost = 1000
)

// completer gives shells the words that a command takes. What the hub does not say in time is not
// offered: a shell shows no errors.
type completer struct{ hubs *client.Hubs }

// complete adds completions to the commands of rackctl.
func complete(root *cobra.Command, hubs *client.Hubs) {
	k := completer{hubs}
	for path, words := range map[string]cobra.CompletionFunc{
		"get": k.resources, "describe": k.resources, "delete": k.resources, "edit": k.resources, "patch": k.resources, "label": k.resources,
		"annotate": k.resources, "wait": k.resources, "explain": k.explained,
		"hold": k.servers, "fence": k.servers, "reboot": k.servers, "power-off": k.servers, "resume": k.servers, "confirm-down": k.names(resource.KindHold),
		"release": k.names(resource.KindHold), "receipt": k.names(resource.KindHold), "trace": k.servers,
		"agent-package get": k.packages, "agent-package delete": k.packages,
		"config use-context": k.contexts, "config delete-context": k.contexts,
	} {
		if cmd, _, err := root.Find(strings.Fields(path)); err == nil {
			cmd.ValidArgsFunction = words
		}
	}
	k.flags(root)
}

// flags adds completions to flags, wherever they are.
func (k completer) flags(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		k.flags(c)
	}
	for name, words := range map[string]cobra.CompletionFunc{
		"context": k.contexts, "key": k.keys, "server": k.servers, "rack": k.names(resource.KindRack), "code": cobra.FixedCompletions(codeWords(), cobra.ShellCompDirectiveNoFileComp),
		"selector": k.labels, "output": cobra.FixedCompletions([]string{"table", "wide", "json", "yaml", "name", "jsonpath=", "custom-columns=", "go-template="}, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace),
	} {
		if cmd.LocalFlags().Lookup(name) != nil {
			// A flag of the same name that a parent has completions for already keeps them.
			_ = cmd.RegisterFlagCompletionFunc(name, words)
		}
	}
}

func codeWords() (out []string) {
	for _, c := range resource.EventCodes() {
		out = append(out, string(c))
	}
	return out
}

// kindWords are the kinds as they are typed.
func kindWords() (out []string) {
	for _, k := range resource.Kinds() {
		out = append(out, strings.ToLower(string(k)), k.Plural())
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// resources completes a kind, then names of it; or KIND/NAME.
func (k completer) resources(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	kind, _, slash := strings.Cut(word, "/")
	switch of, known := resource.ParseKind(kind); {
	case slash && known:
		var out []string
		for _, n := range k.list(cmd.Context(), of) {
			out = append(out, kind+"/"+n)
		}
		return matching(out, word)
	case len(args) == 0:
		return matching(append(kindWords(), "all"), word)
	}
	of, known := resource.ParseKind(args[0])
	if !known {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return matching(slices.DeleteFunc(k.list(cmd.Context(), of), func(n string) bool { return slices.Contains(args[1:], n) }), word)
}

// explained completes a kind, or the code of a condition.
func (k completer) explained(_ *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	out := kindWords()
	for _, c := range resource.Conditions() {
		out = append(out, string(c.Code))
	}
	return matching(out, word)
}

func (k completer) servers(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	return k.names(resource.KindServer)(cmd, args, word)
}

// names completes names of one kind, each once.
func (k completer) names(kind resource.Kind) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		return matching(slices.DeleteFunc(k.list(cmd.Context(), kind), func(n string) bool { return slices.Contains(args, n) }), word)
	}
}

// contexts completes hubs that are known.
func (k completer) contexts(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	f, err := k.hubs.Load()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []string
	for _, c := range f.Contexts {
		out = append(out, c.Name)
	}
	return matching(out, word)
}

// packages completes the digest of a package of agents.
func (k completer) packages(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	c, err := k.hubs.Connect()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx := cmd.Context()
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, completeIn)
	defer cancel()
	list, _ := c.AgentPackages.List(ctx) // a shell shows no errors
	var out []string
	for _, p := range list.Items {
		out = append(out, p.Digest)
	}
	return matching(out, word)
}

// keys completes the keys of the holds that lie.
func (k completer) keys(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	return k.each(cmd, resource.KindHold, word, func(o resource.Object) []string { return []string{o.(*resource.Hold).Spec.Key} })
}

// labels completes labels of servers and racks, which is what selectors mostly mean.
func (k completer) labels(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	of := func(o resource.Object) (out []string) {
		for key, value := range o.Head().Metadata.Labels {
			out = append(out, key+"="+value)
		}
		return out
	}
	servers, _ := k.each(cmd, resource.KindServer, word, of)
	racks, _ := k.each(cmd, resource.KindRack, word, of)
	return matching(append(servers, racks...), word)
}

func (k completer) list(ctx context.Context, kind resource.Kind) (out []string) {
	for _, o := range k.objects(ctx, kind) {
		out = append(out, o.Head().Metadata.Name)
	}
	return out
}

func (k completer) each(cmd *cobra.Command, kind resource.Kind, word string, words func(resource.Object) []string) ([]string, cobra.ShellCompDirective) {
	var out []string
	for _, o := range k.objects(cmd.Context(), kind) {
		out = append(out, words(o)...)
	}
	return matching(out, word)
}

// objects are what the hub says in time.
func (k completer) objects(ctx context.Context, kind resource.Kind) []resource.Object {
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, completeIn)
	defer cancel()
	var c *api.Client
	c, err := k.hubs.Connect()
	if err != nil {
		return nil
	}
	objs, _ := c.Objects.List(ctx, kind) // what is left is offered
	return objs
}

// matching are the words that begin as somebody has begun, in the order that people count in.
func matching(words []string, begun string) ([]string, cobra.ShellCompDirective) {
	out := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !strings.HasPrefix(w, begun) })
	slices.SortFunc(out, natural.Compare)
	out = slices.Compact(out)
	return out[:min(len(out), completeMost)], cobra.ShellCompDirectiveNoFileComp
}
