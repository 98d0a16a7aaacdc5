package site

import (
	"fmt"

	"github.com/spf13/cobra"

	"rackboot/cmd/internal/cli/client"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/cmd/internal/firstrack"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func rackCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	cmd := &cobra.Command{
		Use: "rack", Short: "Let agents join racks, and end their terms", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(joinTokenCmd(hubs, pr), revokeCmd(hubs, pr), replaceAgentCmd(hubs, pr), keepAgentCmd(hubs, pr), failoverCmd(hubs, pr), settleCmd(hubs, pr))
	return cmd
}

func joinTokenCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	config := ""
	var q api.TokenRequest
	cmd := &cobra.Command{
		Use: "join-token RACK", Short: "Make a one-time token and print the command that joins an agent", Args: cobra.ExactArgs(1),
		Long: "Make a one-time token and print the command that joins an agent. A rack\n" +
			"has one agent: while it has one, no other can join but, with --standby, one on a second host that\n" +
			"serves nothing until it takes over: rackctl rack failover. The token names the hub's\n" +
			"certificate too, so that the agent sends nothing to anybody else.\n\n" +
			"Run the command as root, with sudo before it, or as the agent's user: as root it becomes the user\n" +
			"whom the agent's folder belongs to.",
		Example: "  rackctl rack join-token r1\n  rackctl rack join-token r1 --standby\n  sh -c \"$(rackctl rack join-token r1 --config try/agent/agent.yaml)\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			hub, err := hubs.Chosen()
			if err != nil {
				return err
			}
			c, err := hub.Client()
			if err != nil {
				return err
			}
			t, err := c.Agents.NewToken(cmd.Context(), args[0], q)
			if err != nil {
				return err
			}
			return pr.Text(t, []string{t.Token}, joinText(t, hub.URL, config))
		},
	}
	cmd.Flags().StringVar(&config, "config", "", "the agent's file on its host, if not /etc/rackboot/agent.yaml")
	cmd.Flags().BoolVar(&q.Standby, "standby", false, "for an agent on a second host that stands by")
	return cmd
}

// joinText is the command that joins an agent. The token goes through the environment:
// a process list shows arguments.
func joinText(t api.JoinToken, hub, config string) string {
	if config != "" {
		config = " --config " + firstrack.Word(config)
	}
	return fmt.Sprintf("# On the agent's host of rack %s, once, until %s:\n"+
		"RACKBOOT_JOIN_TOKEN=%s rackboot-agent join --hub %s%s", t.Rack, printer.Stamp(&t.Expires), t.Token, hub, config)
}

func revokeCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	var r api.EndRequest
	cmd := &cobra.Command{
		Use: "revoke RACK|AGENT --reason REASON", Short: "Refuse an agent's certificate and key from now on", Args: cobra.ExactArgs(1),
		Long: "Refuse an agent's certificate and key from now on, for ever: for a host or disk that was stolen or\n" +
			"copied. Its connection is cut and nothing of it is heeded. The rack has no agent until another\n" +
			"joins: what was held stays off unless something else powers it on, and nobody forces it off then.\n" +
			"An agent that has no way to the hub cannot hear of it; see docs/guide/agents.md for how to fence it.",
		Example: "  rackctl rack revoke r1 --reason 'host stolen from the rack'",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			agent, err := agentOf(cmd, c, args[0])
			if err != nil {
				return err
			}
			out, err := c.Agents.Revoke(cmd.Context(), agent, r)
			if err != nil {
				return err
			}
			text := fmt.Sprintf("agent %s of rack %s is revoked, %d connections cut", out.Agent, out.Rack, out.Cut)
			if out.Broker != "" {
				text += "; " + out.Broker
			}
			return pr.Text(out, []string{out.Agent}, text)
		},
	}
	cmd.Flags().StringVar(&r.Reason, "reason", "", "why, for the record (required)")
	return cmd
}

func replaceAgentCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	var r api.EndRequest
	cmd := &cobra.Command{
		Use: "replace-agent RACK --reason REASON", Short: "End the term of a rack's agent and make a token for the next", Args: cobra.ExactArgs(1),
		Long: "End the term of a rack's agent and make a token for the next. The one before is told when it is\n" +
			"heard, and answers no boot and orders no power from then on. The next one serves nothing and powers\n" +
			"nothing until the hub has told it what is held.\n" +
			"Make sure that the one before is off, or can hear the hub; see docs/guide/agents.md for what it does else.",
		Example: "  rackctl rack replace-agent r1 --reason 'disk failed'\n  rackctl rack replace-agent r1 --standby --reason 'a newer host'",
		RunE: func(cmd *cobra.Command, args []string) error {
			hub, err := hubs.Chosen()
			if err != nil {
				return err
			}
			c, err := hub.Client()
			if err != nil {
				return err
			}
			out, err := c.Agents.Replace(cmd.Context(), args[0], r)
			if err != nil {
				return err
			}
			text := joinText(*out.Token, hub.URL, "")
			if out.Agent != "" {
				text = fmt.Sprintf("# The term of agent %s is over.\n%s", out.Agent, text)
			}
			return pr.Text(out, []string{out.Token.Token}, text)
		},
	}
	cmd.Flags().StringVar(&r.Reason, "reason", "", "why, for the record (required)")
	cmd.Flags().BoolVar(&r.Standby, "standby", false, "the agent that stands by, and not the one that serves the rack")
	return cmd
}

func keepAgentCmd(hubs *client.Hubs, pr *printer.Printer) *cobra.Command {
	var r api.KeepRequest
	cmd := &cobra.Command{
		Use: "keep-agent RACK RUN --reason REASON", Short: "Say which of two agents that have one disk goes on", Args: cobra.ExactArgs(2),
		Long: "Say which of two agents that have one disk goes on: after a data folder or a virtual machine was\n" +
			"copied (AgentCopied), both only guard holds until then. RUN is that of the agent, or its first\n" +
			"characters: rackctl describe agent AGENT lists the runs, where they are and when they were heard.\n" +
			"It takes a new incarnation and goes on; any other does nothing any more, also after a restart.\n" +
			"Stop the other one, and remove its copy. If you do not know it, revoke the agent and replace it.",
		Example: "  rackctl rack keep-agent r1 0a6e4c --reason 'the other is a clone for a test'",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := hubs.Connect()
			if err != nil {
				return err
			}
			r.Run = args[1]
			out, err := c.Agents.Keep(cmd.Context(), args[0], r)
			if err != nil {
				return err
			}
			return pr.Text(out, []string{out.Run}, fmt.Sprintf("agent %s of rack %s goes on as run %s", out.Agent, out.Rack, out.Run))
		},
	}
	cmd.Flags().StringVar(&r.Reason, "reason", "", "why, for the record (required)")
	return cmd
}

// agentOf is the agent that a name means: an agent's own, or that of the rack.
func agentOf(cmd *cobra.Command, c *api.Client, name string) (string, error) {
	r, err := api.Get[*resource.Rack](cmd.Context(), c, name)
	switch {
	case protocol.CodeOf(err) == protocol.CodeNotFound:
		return name, nil // also of an agent that was deleted
	case err != nil:
		return "", err
	}
	if _, err := api.Get[*resource.Agent](cmd.Context(), c, name); err == nil {
		return "", protocol.Errorf(protocol.CodeConflict, "revoke", "%q is a rack and an agent", name).
			WithHint("POST /v1/agents/%s/revoke of the hub's API means the agent", name)
	}
	if r.Status.Agent == "" {
		return "", protocol.Errorf(protocol.CodeConflict, "revoke", "rack %s has no agent", name).
			WithHint("name the agent: rackctl get agents")
	}
	return r.Status.Agent, nil
}
