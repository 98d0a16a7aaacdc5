package object

import (
	"time"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/files"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func secretCmd(hubs *client.Hubs, src *files.Input, pr *printer.Printer) *cobra.Command {
	cmd := &cobra.Command{
		Use: "secret", Short: "Set and list secrets; what is in one is never shown again", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(secretSetCmd(hubs, src, pr), secretListCmd(hubs, src, pr), secretDescribeCmd(hubs, pr), secretDeleteCmd(hubs, src, pr), secretRotateCmd(hubs, pr))
	return cmd
}

func secretListCmd(hubs *client.Hubs, src *files.Input, pr *printer.Printer) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List secrets, without what is in them", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return run(cmd, getCmd(hubs, src, pr), "secrets") },
	}
}

func secretDescribeCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	return &cobra.Command{
		Use: "describe NAME", Short: "Show who uses a secret, and its version", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(cmd, describeCmd(hubs, pr), "secret", args[0])
		},
	}
}

func secretDeleteCmd(hubs *client.Hubs, src *files.Input, pr *printer.Printer) *cobra.Command {
	return &cobra.Command{
		Use: "delete NAME", Short: "Delete a secret that nothing refers to", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(cmd, deleteCmd(hubs, src, pr), "secret", args[0])
		},
	}
}

// run runs another command in this one's place.
func run(cmd, other *cobra.Command, args ...string) error {
	other.SetContext(cmd.Context())
	return other.RunE(other, args)
}

func secretSetCmd(hubs *client.Hubs, src *files.Input, pr *printer.Printer) *cobra.Command {
	var in secretInput
	var kind string
	cmd := &cobra.Command{
		Use: "set NAME --type TYPE --from-file NAME=FILE…", Short: "Make a secret, or replace all that is in it", Args: cobra.ExactArgs(1),
		Long: "Make a secret, or replace all that is in it. Values come from files, from standard input or\n" +
			"from environment variables, never from arguments, which process lists and shell histories show.\n\n" +
			"Types and their values: bmc-credentials (username, password), registry (username, password;\n" +
			"or token), ignition (ignition), generic (any names). One line end at the end of a user name,\n" +
			"password or token is left out, as editors and echo add it; other values are taken as they are.",
		Example: "  rackctl secret set bmc --type bmc-credentials --from-file username=user --from-file password=pw\n" +
			"  pass show rack/bmc | rackctl secret set bmc --from-env username=BMC_USER --from-stdin password\n" +
			"  rackctl secret set worker --type ignition --from-file ignition=worker.ign",
		RunE: func(cmd *cobra.Command, args []string) error {
			data, err := in.read(src)
			if err != nil {
				return err
			}
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			s, err := api.Get[*resource.Secret](cmd.Context(), c, args[0])
			switch {
			case protocol.CodeOf(err) == protocol.CodeNotFound:
				s = &resource.Secret{}
				s.Metadata.Name = args[0]
			case err != nil:
				return err
			}
			s.Status = resource.SecretStatus{}
			if kind != "" {
				s.Spec.Type = resource.SecretType(kind)
			}
			if s.Spec.Type == "" {
				return protocol.Errorf(protocol.CodeInvalid, "", "give --type for a new secret").WithHint("rackctl secret set --help lists the types")
			}
			s.Spec.Data = trimmed(s.Spec.Type, data)
			s.Default()
			if wrong := s.Validate(); len(wrong) > 0 {
				return protocol.Errorf(protocol.CodeInvalid, "set secret", "%w", wrong).WithHint("nothing was changed")
			}
			out, err := c.Objects.Apply(cmd.Context(), []resource.Object{s}, false)
			if err != nil {
				return err
			}
			return pr.Text(out.Results[0], []string{"secret/" + args[0]}, "secret/"+args[0]+" "+out.Results[0].Outcome)
		},
	}
	cmd.Flags().StringVar(&kind, "type", "", "bmc-credentials, registry, ignition or generic; needed for a new secret")
	in.flags(cmd)
	return cmd
}

func secretRotateCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	return &cobra.Command{
		Use: "rotate-key", Short: "Have the hub read its key for secrets again and use it for all of them", Args: cobra.NoArgs,
		Long: "Have the hub read its key-encryption key again and put every secret under it. Before, change\n" +
			"what secrets.keyFile, keyEnv or keyCommand of the hub's file gives, with the old key under\n" +
			"secrets.previous; see docs/guide/secrets.md. What is in the secrets does not change, and no agent notices.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			began := time.Now()
			done, err := c.RotateSecretKey(cmd.Context())
			if err != nil {
				return err
			}
			pr.Progress("%s of %d under key %s now, in %s", printer.Plural(done.Rewrapped, "secret"), done.Secrets, done.Key, time.Since(began).Round(time.Millisecond))
			if done.Unreadable > 0 {
				return protocol.Errorf(protocol.CodeUnavailable, "rotate the key of secrets", "%s under a key that is not configured", printer.Plural(done.Unreadable, "secret")).
					WithHint("keep the old key under secrets.previous of the hub's file; rackctl secret list shows which")
			}
			return pr.Text(done, []string{done.Key}, "key "+done.Key+" is in use; the previous one may be removed")
		},
	}
}
