package store

import (
	"context"
	"crypto/rand"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// What a hub is asked for is there, as far as it knows, and was removed through another hub meanwhile: that it is there
// already is said only of what is, and what is not is made. A hub that hears nothing says so.
func TestWhatIsThereIsInTheStore(t *testing.T) {
	request := StoredRequest{Request: resource.Request{Server: "n1", Action: resource.RequestReboot, By: "ops", Ref: "r", NotAfter: time.Now().Add(time.Hour)}, Rack: "r1"}
	for name, row := range map[string]struct {
		ask  func(ctx context.Context, s *Store) error
		undo func(ctx context.Context, s *Store) (n int, err error) // what there was, by another hub
	}{
		"a claim": {func(ctx context.Context, s *Store) error {
			_, err := s.Sets.Apply(ctx, []resource.Object{storetest.Claim("c1", "n1")}, ApplyOptions{By: "ops"})
			return err
		}, remove[*resource.Claim]},
		"a hold": {func(ctx context.Context, s *Store) error {
			_, err := s.Holds.Create(ctx, storetest.Hold("ops", "k", "n1"))
			return err
		}, remove[*resource.Hold]},
		"a request": {func(ctx context.Context, s *Store) error {
			r := request
			r.ID = rand.Text()
			_, err := s.Requests.Create(ctx, r)
			return err
		}, func(ctx context.Context, s *Store) (int, error) {
			open := s.Requests.Open()
			for _, r := range open {
				if _, err := s.Requests.Cancel(ctx, r.ID, "ops"); err != nil {
					return 0, err
				}
			}
			return len(open), nil
		}},
	} {
		for hearsAgain, wait := range map[string]time.Duration{"after 3 s": 3 * time.Second, "never": time.Hour} {
			t.Run(name+" "+hearsAgain, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					k := storetest.NewDeaf()
					ctx, stop := context.WithCancel(t.Context())
					defer stop()
					s, err := Open(ctx, Config{KV: k, Log: k.Memory, Clock: time.Now, NewID: rand.Text})
					if err != nil {
						t.Fatal(err)
					}
					go func() { _ = s.Run(ctx) }() // it returns nil
					if _, err := s.Sets.Apply(ctx, storetest.Site(), ApplyOptions{}); err != nil {
						t.Fatal(err)
					}
					if err := row.ask(ctx, s); err != nil {
						t.Fatal(err)
					}
					s.Units.Share()
					undo := func() int {
						n, err := row.undo(ctx, openOn(t, k.Memory))
						if err != nil {
							t.Fatal(err)
						}
						return n
					}
					if n := undo(); n != 1 {
						t.Fatalf("there were %d", n)
					}
					began := time.Now()
					hears := time.AfterFunc(wait, func() { close(k.Hears) })
					defer hears.Stop()
					err = row.ask(ctx, s)
					took := time.Since(began)
					there := undo()
					if wait < currentWait {
						if err != nil || there != 1 || took < wait {
							t.Errorf("after %s: %v, %d are there", took, err, there)
						}
					} else if protocol.CodeOf(err) != protocol.CodeUnavailable || there != 0 || took > currentWait+time.Second {
						t.Errorf("after %s: %v, %d are there", took, err, there)
					}
				})
			})
		}
	}
}

// remove removes all of a kind.
func remove[T resource.Object](ctx context.Context, s *Store) (int, error) {
	all := List[T](s.Objects)
	for _, o := range all {
		if err := s.Objects.Remove(ctx, Copy(s.Objects, o)); err != nil {
			return 0, err
		}
	}
	return len(all), nil
}

// What a hub is told to delete is being deleted, as far as it knows, and was made anew through another hub meanwhile: that
// it goes already is said only of what goes, and what does not is deleted. The same word on a maintenance is one on that
// maintenance alone.
func TestWhatGoesGoesInTheStore(t *testing.T) {
	maintenance := func() *resource.Maintenance {
		m := &resource.Maintenance{Spec: resource.MaintenanceSpec{ServerRef: resource.Ref{Name: "n1"}, Reason: "BIOS", Boot: resource.MaintenanceBoot{Image: "r/fw:1"}}}
		m.Metadata.Name = "m1"
		m.Default()
		return m
	}
	word := resource.MaintenanceApproval{By: "owner", Reason: "tonight"}
	for name, row := range map[string]struct {
		made func() resource.Object
		put  func(o resource.Object) // how the hub has it
		ask  func(ctx context.Context, s *Store) error
		done func(s *Store) bool // whether what was asked for is so
	}{
		"a claim": {
			made: func() resource.Object { return storetest.Claim("c1", "n1") },
			ask: func(ctx context.Context, s *Store) error {
				_, err := s.Delete(ctx, resource.KindClaim, "c1")
				return err
			},
			done: func(s *Store) bool {
				c, err := Get[*resource.Claim](s.Objects, "c1")
				return err == nil && c.Metadata.DeletedAt != nil
			},
		},
		"a maintenance": {
			made: func() resource.Object { return maintenance() },
			put:  func(o resource.Object) { o.(*resource.Maintenance).Status.State = resource.MaintenanceActive },
			ask: func(ctx context.Context, s *Store) error {
				_, err := s.Delete(ctx, resource.KindMaintenance, "m1")
				return err
			},
			done: func(s *Store) bool {
				m, err := Get[*resource.Maintenance](s.Objects, "m1")
				return err == nil && m.Metadata.DeletedAt != nil
			},
		},
		"a word on a maintenance": {
			made: func() resource.Object { return maintenance() },
			ask: func(ctx context.Context, s *Store) error {
				_, err := s.Maintenances.Judge(ctx, "m1", word)
				return err
			},
			done: func(s *Store) bool {
				m, err := Get[*resource.Maintenance](s.Objects, "m1")
				return err == nil && m.Status.Approval != nil
			},
		},
	} {
		for hearsAgain, wait := range map[string]time.Duration{"after 3 s": 3 * time.Second, "never": time.Hour} {
			t.Run(name+" "+hearsAgain, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					k := storetest.NewDeaf()
					ctx, stop := context.WithCancel(t.Context())
					defer stop()
					s, err := Open(ctx, Config{KV: k, Log: k.Memory, Clock: time.Now, NewID: rand.Text})
					if err != nil {
						t.Fatal(err)
					}
					go func() { _ = s.Run(ctx) }() // it returns nil
					makes := func(s *Store) {
						t.Helper()
						o := row.made()
						if _, err := s.Sets.Apply(ctx, []resource.Object{o}, ApplyOptions{By: "ops"}); err != nil {
							t.Fatal(err)
						}
						if row.put == nil {
							return
						}
						m, err := Get[*resource.Maintenance](s.Objects, o.Head().Metadata.Name)
						if err != nil {
							t.Fatal(err)
						}
						row.put(m)
						if err := s.Objects.Put(ctx, m); err != nil {
							t.Fatal(err)
						}
					}
					if _, err := s.Sets.Apply(ctx, storetest.Site(), ApplyOptions{}); err != nil {
						t.Fatal(err)
					}
					makes(s)
					if err := row.ask(ctx, s); err != nil || !row.done(s) {
						t.Fatalf("%v", err)
					}
					s.Units.Share()
					other := openOn(t, k.Memory)
					for _, o := range []func(context.Context, *Store) (int, error){remove[*resource.Claim], remove[*resource.Maintenance]} {
						if _, err := o(ctx, other); err != nil {
							t.Fatal(err)
						}
					}
					makes(other)
					began := time.Now()
					hears := time.AfterFunc(wait, func() { close(k.Hears) })
					defer hears.Stop()
					err = row.ask(ctx, s)
					took, done := time.Since(began), row.done(openOn(t, k.Memory))
					if wait < currentWait {
						if err != nil || !done || took < wait {
							t.Errorf("after %s: %v, done: %v", took, err, done)
						}
					} else if protocol.CodeOf(err) != protocol.CodeUnavailable || done || took > currentWait+time.Second {
						t.Errorf("after %s: %v, done: %v", took, err, done)
					}
				})
			})
		}
	}
}
