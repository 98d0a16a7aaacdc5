package conns

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

// ServeTLS serves srv on l, with the bounds of c and the TLS of srv, until ctx ends; then it
// waits up to grace for open requests and closes what is left. It closes l. The error is nil
// after an ordinary end.
func ServeTLS(ctx context.Context, srv *http.Server, l net.Listener, c Config, grace time.Duration) error {
	ended := make(chan error, 1)
	go func() { ended <- srv.ServeTLS(Limit(l, c), "", "") }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	err := srv.Shutdown(end)
	if err != nil {
		err = errors.Join(err, srv.Close())
	}
	<-ended
	return err
}
