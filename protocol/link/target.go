package link

import "crypto/tls"

// target is where one connection goes.
type target struct {
	at  endpoint
	tls *tls.Config
}

// target is that of the next connection. Errors: invalid for an address that cannot be
// dialled; the next try takes the next of the list.
func (l *Link) target() (target, error) {
	to := target{l.at, l.cfg.TLS}
	if l.cfg.Next == nil {
		return to, nil
	}
	brokers, conf := l.cfg.Next()
	if conf != nil {
		to.tls = conf
	}
	if len(brokers) > 0 {
		at, err := parseBroker(brokers[l.failed%len(brokers)])
		if err != nil {
			l.failed++
			return to, err
		}
		to.at = at
	}
	if to.at.secure && to.tls == nil {
		l.failed++
		return to, invalid("broker %s needs a TLS configuration", to.at.address)
	}
	return to, nil
}
