package account

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"rackboot/agent/store"
	"rackboot/bmc"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

const (
	// callTimeout bounds one call to a BMC.
	callTimeout = 15 * time.Second
	// changeSteps bounds the steps of a change in one turn; the longest way has eight.
	changeSteps = 12
	// changeTurn bounds a turn: what a hold may have to wait for.
	changeTurn = callTimeout
	// changeTries is how often the next account is tried after a write that the BMC
	// took, with two polls between: a BMC may answer before the change is in force.
	changeTries = 5
	// forgottenPassword is the length of a password that nobody keeps; IPMI has 16.
	forgottenPassword = 16
)

// changer does the change of one BMC's account, in the loop of a server behind it.
type changer struct {
	*change
	cfg  *ChangesConfig
	log  *slog.Logger
	in   message.ServerIntent
	rec  store.AccountChange
	have message.BMCCredentials
	was  bmc.Credentials
}

// run takes the steps of one turn: one of them only while a server behind the BMC is
// held, or boots.
func (c *changer) run(ctx context.Context, every time.Duration) *Trouble {
	ctx, cancel := context.WithTimeout(ctx, changeTurn)
	defer cancel()
	for i := range changeSteps {
		if ctx.Err() != nil || i > 0 && c.cfg.occupied(c.in.BMC.Name) {
			return c.waiting()
		}
		c.facts.Busy = c.facts.Phase == decide.AccountNew && c.cfg.occupied(c.in.BMC.Name)
		c.facts.Spent = c.tries >= changeTries
		err := error(nil)
		switch step := decide.ChangeAccount(c.facts); step {
		case decide.AccountDone:
			if c.rec.Phase == decide.AccountLost {
				return trouble(resource.CondBMCDenied, errors.New(c.rec.Reason))
			}
			return nil
		case decide.AccountWait:
			c.after = c.cfg.Clock().Add(2 * every)
			r := c.waiting()
			c.facts = c.facts.Later()
			return r
		case decide.AccountTryCurrent:
			c.facts.Current = c.try(ctx, c.was)
		case decide.AccountTryNext:
			c.tries++
			c.facts.Again = c.facts.Current == decide.LoginDenied
			c.facts.Next = c.try(ctx, bmc.Credentials(*c.have.Next))
		case decide.AccountWriteNext:
			err = c.write(ctx)
		case decide.AccountNoteProved:
			err = c.note(decide.AccountProved, "")
		case decide.AccountDropOld:
			err = c.note(decide.AccountRotated, c.drop(ctx))
		case decide.AccountNoteKept:
			c.takeBack(ctx)
			err = c.note(decide.AccountKept, c.kept())
		case decide.AccountNoteLost:
			err = c.note(decide.AccountLost, "the BMC refuses both the former and the next account: "+c.why)
		}
		if err != nil {
			return trouble(resource.CondGuardMode, err)
		}
	}
	return c.waiting()
}

// waiting returns nil where the former account is not known to be refused.
func (c *changer) waiting() *Trouble {
	if c.facts.Phase == decide.AccountWriting && c.facts.Current != decide.LoginOK && c.facts.Current != decide.LoginLimited && c.facts.Current != decide.LoginUntried ||
		c.facts.Phase == decide.AccountWriting && c.facts.Next == decide.LoginUnreachable {
		return trouble(resource.CondRotating, errors.New("the BMC does not answer: "+c.why))
	}
	return nil
}

// with makes a driver, and does with it what is asked; the call is bounded.
func (c *changer) with(ctx context.Context, as bmc.Credentials, do func(context.Context, bmc.Accounts) error) error {
	d, err := c.cfg.OpenBMC(bmc.Target{
		Server: c.in.Server, Address: c.in.BMC.Address, SystemURI: c.in.SystemURI,
		Fingerprint: c.in.BMC.Fingerprint, CA: []byte(c.in.BMC.CA), LegacyTLS: c.in.BMC.LegacyTLS, Credentials: as,
	})
	if err != nil {
		return err
	}
	defer d.Close() //nolint:errcheck // the session ends by itself
	accounts, ok := d.(bmc.Accounts)
	if !ok {
		return protocol.Errorf(protocol.CodeUnsupported, "change account", "the driver cannot change accounts")
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return do(ctx, accounts)
}

func (c *changer) try(ctx context.Context, as bmc.Credentials) decide.Login {
	err := c.with(ctx, as, func(ctx context.Context, d bmc.Accounts) error { return d.Prove(ctx) })
	if err != nil {
		c.why = err.Error()
	}
	_, limited := errors.AsType[*bmc.Limited](err)
	switch {
	case err == nil:
		return decide.LoginOK
	case limited:
		return decide.LoginLimited
	case protocol.CodeOf(err) == protocol.CodeDenied:
		return decide.LoginDenied
	}
	return decide.LoginUnreachable
}

// write records that the next account may be at the BMC, and then writes it.
func (c *changer) write(ctx context.Context) error {
	if err := c.note(decide.AccountWriting, ""); err != nil {
		return err
	}
	role := bmc.RoleOperator
	if c.have.Drop != resource.DropNever {
		role = bmc.RoleAdministrator
	}
	err := c.with(ctx, c.was, func(ctx context.Context, d bmc.Accounts) error {
		return d.PutAccount(ctx, bmc.Credentials(*c.have.Next), role)
	})
	c.cfg.Crash.At("agent.account.written")
	c.facts.Current, c.facts.Next, c.facts.Again, c.facts.Written, c.tries = "", "", false, decide.WriteAccepted, 0
	switch code := protocol.CodeOf(err); code {
	case "":
	case protocol.CodeUnavailable, protocol.CodeTimeout:
		c.facts.Written, c.why = decide.WriteUnknown, err.Error()
	default:
		c.facts.Written, c.why = decide.WriteRefused, err.Error()
		if hint := protocol.HintOf(err); hint != "" {
			c.why += " (" + hint + ")"
		}
	}
	c.log.Info("next account written", "bmc", c.in.BMC.Name, "change", c.rec.Change, "answer", c.facts.Written, "err", err)
	return nil
}

// takeBack writes the former password once more where the BMC took the next one of the
// same user and may still put it in force: the last write is what stays. Some refuse a
// password that they have; that is no loss.
func (c *changer) takeBack(ctx context.Context) {
	if c.facts.Written == decide.WriteRefused || c.facts.Current != decide.LoginOK || c.was.Username != c.have.Next.Username {
		return
	}
	err := c.with(ctx, c.was, func(ctx context.Context, d bmc.Accounts) error { return d.PutAccount(ctx, c.was, bmc.RoleOperator) })
	c.log.Info("former password written again", "bmc", c.in.BMC.Name, "err", err)
}

// kept is why the next account was given up.
func (c *changer) kept() string {
	if c.facts.Written == decide.WriteRefused {
		return "the BMC refused the next account: " + c.why
	}
	if c.facts.Next == decide.LoginLimited {
		return "the next account logs in and has not the rights that are needed: " + c.why
	}
	return "the BMC may have taken the next account and does not let it log in: " + c.why
}

// drop does what shall become of the former user, and says what did not succeed.
func (c *changer) drop(ctx context.Context) string {
	if c.have.Drop == resource.DropNever || c.was.Username == "" || c.was.Username == c.have.Next.Username {
		return ""
	}
	err := c.with(ctx, bmc.Credentials(*c.have.Next), func(ctx context.Context, d bmc.Accounts) error {
		if c.have.Drop == resource.DropDisable {
			return d.DisableAccount(ctx, c.was.Username)
		}
		return d.PutAccount(ctx, bmc.Credentials{Username: c.was.Username, Password: resource.NewPassword(forgottenPassword)}, bmc.RoleAdministrator)
	})
	c.cfg.Crash.At("agent.account.dropped")
	if err != nil {
		return "the former user could not be dropped: " + err.Error()
	}
	return ""
}

// note records how far it has come.
func (c *changer) note(p decide.AccountPhase, why string) error {
	c.rec.Phase, c.rec.Reason = p, why
	if err := c.cfg.Store.Accounts.KeepChange(c.rec); err != nil {
		return err
	}
	c.facts.Phase = p
	c.cfg.Crash.At("agent.account." + string(p))
	c.log.Info("change of an account", "bmc", c.in.BMC.Name, "change", c.rec.Change, "phase", p, "why", why)
	return nil
}
