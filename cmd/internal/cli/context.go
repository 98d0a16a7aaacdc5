package cli

import (
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rackboot/protocol"
	"rackboot/protocol/api"
)

// maxSmallFile bounds a token or CA file in bytes.
const maxSmallFile = 256 << 10

func (a *app) contextCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "context", Short: "Keep the addresses and tokens of hubs", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.contextSetCmd(), &cobra.Command{
		Use: "use NAME", Short: "Choose the hub that commands talk to", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := a.loadContexts()
			if err != nil {
				return err
			}
			if _, err := f.pick(args[0]); err != nil {
				return err
			}
			f.Current = args[0]
			return a.saveContexts(f)
		},
	}, &cobra.Command{
		Use: "list", Short: "List the hubs that are known", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			f, err := a.loadContexts()
			if err != nil {
				return err
			}
			v := view{columns: []column{{name: "CURRENT"}, {name: "NAME"}, {name: "URL"}}}
			for _, c := range f.Contexts {
				mark := ""
				if c.Name == f.Current {
					mark = "*"
				}
				v.items = append(v.items, item{value: c, name: c.Name, cells: []string{mark, c.Name, c.URL}})
			}
			return a.print.show(v)
		},
	})
	return cmd
}

func (a *app) contextSetCmd() *cobra.Command {
	var url, ca, token string
	cmd := &cobra.Command{
		Use: "set NAME", Short: "Add or change a hub; the first one is also chosen", Args: cobra.ExactArgs(1),
		Example: "  rackctl context set lab --url https://hub.lab:8443 --ca ca.pem --token-file token",
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := a.loadContexts()
			if err != nil {
				return err
			}
			i := slices.IndexFunc(f.Contexts, func(c hubContext) bool { return c.Name == args[0] })
			if i < 0 {
				i = len(f.Contexts)
				f.Contexts = append(f.Contexts, hubContext{Name: args[0]})
			}
			c := &f.Contexts[i]
			if url != "" {
				c.URL = url
			}
			if ca != "" {
				if c.CA, err = a.readSmall(ca); err != nil {
					return err
				}
			}
			if token != "" {
				if c.Token, err = a.readSmall(token); err != nil {
					return err
				}
				c.Token = strings.TrimSpace(c.Token)
			}
			if _, err := api.NewClient(api.Config{BaseURL: c.URL, CA: []byte(c.CA), Token: c.Token}); err != nil {
				return err
			}
			if f.Current == "" {
				f.Current = c.Name
			}
			return a.saveContexts(f)
		},
	}
	cmd.Flags().StringVar(&url, "url", "", "https://host[:port] of the hub")
	cmd.Flags().StringVar(&ca, "ca", "", "file with the hub's CA in PEM; none: the system's")
	cmd.Flags().StringVar(&token, "token-file", "", "file with the token, or - for standard input")
	return cmd
}

// readSmall reads a file, or with - standard input.
func (a *app) readSmall(path string) (string, error) {
	r := a.cfg.In
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return "", protocol.Errorf(protocol.CodeNotFound, "read", "%w", err).WithHint("check the path %s", path)
		}
		defer f.Close()
		r = f
	}
	raw, err := io.ReadAll(io.LimitReader(r, maxSmallFile+1))
	if err != nil {
		return "", protocol.Errorf(protocol.CodeUnavailable, "read", "%w", err)
	}
	if len(raw) > maxSmallFile {
		return "", protocol.Errorf(protocol.CodeInvalid, "read", "%s is longer than %d bytes", path, maxSmallFile)
	}
	return string(raw), nil
}
