package sim

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func (s *demoSite) apply(dir string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		out, err := s.rackctl(ctx, "apply", "-f", s.path(dir), "-o", "name")
		return strings.Join(strings.Fields(out), " "), err
	}
}

// applyFile applies one manifest of the scenario.
func (s *demoSite) applyFile(name string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		return s.apply("scenario/" + name)(ctx)
	}
}

func (s *demoSite) rackctlStep(detail string, args ...string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		_, err := s.rackctl(ctx, args...)
		return detail, err
	}
}

// event waits for the next event with the code.
func (s *demoSite) event(code resource.EventCode) func(context.Context) (string, error) {
	return func(ctx context.Context) (detail string, err error) {
		err = until(ctx, func() (bool, error) {
			list, err := s.client.Events(ctx, s.seen, 100)
			if err != nil {
				return false, err
			}
			for _, e := range list.Items {
				s.seen = e.Index
				if e.Code == resource.EventAttemptFailed || e.Code == resource.EventHoldViolated {
					return false, fmt.Errorf("%s: %s", e.Code, e.Message)
				}
				if e.Code == code {
					detail = strings.TrimSpace(e.Server + "  " + e.Message)
					return true, nil
				}
			}
			return false, nil
		})
		return detail, err
	}
}

// claimed is the server that the claim got.
func (s *demoSite) claimed(ctx context.Context) (string, error) {
	c, err := api.Get[*resource.Claim](ctx, s.client, "demo-claim")
	if err != nil {
		return "", err
	}
	return c.Status.Server, nil
}

// onClaimed runs rackctl on the server that the claim got.
func (s *demoSite) onClaimed(verb string, args ...string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		name, err := s.claimed(ctx)
		if err != nil {
			return "", err
		}
		_, err = s.rackctl(ctx, append([]string{verb, name}, args...)...)
		return name, err
	}
}

func (s *demoSite) reboot(ctx context.Context) (string, error) {
	name, err := s.claimed(ctx)
	if err != nil {
		return "", err
	}
	_, err = s.rackctl(ctx, "reboot", name, "--wait")
	return name, err
}

// quiet waits until no server and no BMC has a condition: what is shown is what was
// promised, and nothing else.
func (s *demoSite) quiet(ctx context.Context) (string, error) {
	var loud []string
	err := until(ctx, func() (bool, error) {
		loud = nil
		servers, err := api.GetAll[*resource.Server](ctx, s.client)
		if err != nil {
			return false, err
		}
		bmcs, err := api.GetAll[*resource.BMC](ctx, s.client)
		if err != nil {
			return false, err
		}
		for _, s := range servers {
			for _, c := range s.Status.Conditions {
				loud = append(loud, fmt.Sprintf("%s has %s: %s", s.Metadata.Name, c.Code, c.Message))
			}
		}
		for _, b := range bmcs {
			if b.Status.InventoryAt == nil {
				loud = append(loud, b.Metadata.Name+" was not read")
			}
			for _, c := range b.Status.Conditions {
				loud = append(loud, fmt.Sprintf("%s has %s: %s", b.Metadata.Name, c.Code, c.Message))
			}
		}
		return len(loud) == 0, nil
	})
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, strings.Join(loud, "; "))
	}
	return "no condition on any server or BMC", nil
}

// refused waits for a condition of the claim.
func (s *demoSite) refused(code resource.ConditionCode) func(context.Context) (string, error) {
	return func(ctx context.Context) (detail string, err error) {
		err = until(ctx, func() (bool, error) {
			c, err := api.Get[*resource.Claim](ctx, s.client, "demo-claim")
			if err != nil {
				return false, err
			}
			i := slices.IndexFunc(c.Status.Conditions, func(s resource.ConditionState) bool { return s.Code == code })
			if i >= 0 {
				detail = string(code) + ": " + c.Status.Conditions[i].Message
			}
			return i >= 0, nil
		})
		return detail, err
	}
}

func (s *demoSite) maintained(name string, want resource.MaintenanceState) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		err := until(ctx, func() (bool, error) {
			m, err := api.Get[*resource.Maintenance](ctx, s.client, name)
			return err == nil && m.Status.State == want, err
		})
		return string(want), err
	}
}
