// Package cloud holds what the clouds have in common: a value that is renewed
// before it ends, short requests to token services, commands that print
// credentials, and a model service whose address is found when it is needed.
//
// It knows no vendor and keeps no state of its own. Nothing secret is in an
// error: of an answer only the words that a service says of a failure, of a
// command only its exit status.
package cloud

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/openharness/oh"
)

// maxAnswer is how many bytes of an answer are read.
const maxAnswer = 1 << 20

// Local is a client for addresses of this machine and of the cloud it runs in:
// it uses no proxy and gives up quickly where nobody answers.
func Local() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{DialContext: (&net.Dialer{Timeout: time.Second}).DialContext, DisableKeepAlives: true},
		CheckRedirect: stay,
	}
}

// Remote is client, or a usual one when it is nil, without redirects: they would
// take a secret along.
func Remote(client *http.Client) *http.Client {
	own := http.Client{Transport: http.DefaultTransport}
	if client != nil {
		own = *client
	}
	own.CheckRedirect = stay
	return &own
}

func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Ask sends a request and returns the status and body of the answer. It takes
// at most limit. An error is one of the network, as [oh.KindUnavailable], and
// does not hold the address's query. What a refusal repeats of the secrets that
// were sent is hidden.
func Ask(req *http.Request, client *http.Client, limit time.Duration) (status int, body []byte, err error) {
	return AskSigned(req, client, limit, nil)
}

// AskSigned is [Ask] of a service that shows itself by its headers: what signed
// returns for another is the error.
func AskSigned(req *http.Request, client *http.Client, limit time.Duration, signed func(http.Header) error) (status int, body []byte, err error) {
	ctx, cancel := context.WithTimeout(req.Context(), limit)
	defer cancel()
	resp, err := client.Do(req.WithContext(ctx))
	if err == nil {
		defer func() { _ = resp.Body.Close() }()
		if signed != nil {
			if err := signed(resp.Header); err != nil {
				return 0, nil, err
			}
		}
		body, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	}
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err
		}
		if cause := req.Context().Err(); cause != nil {
			return 0, nil, cause
		}
		if ctx.Err() != nil {
			err = fmt.Errorf("no answer within %v", limit)
		}
		return 0, nil, &oh.Error{Op: "credentials", Kind: oh.KindUnavailable, Err: fmt.Errorf("ask %s: %w", req.URL.Host, err)}
	}
	if resp.StatusCode > 299 {
		body = withhold(req, body)
	}
	return resp.StatusCode, body, nil
}

// Refused is the error of an answer that is no success. words are those of the
// service, which must hold nothing secret.
func Refused(who string, status int, words string) error {
	if words = strings.TrimSpace(words); words == "" {
		words = http.StatusText(status)
	}
	err := fmt.Errorf("%s: %d: %s", who, status, words)
	if status >= 500 || status == http.StatusTooManyRequests {
		return &oh.Error{Op: "credentials", Kind: oh.KindUnavailable, Err: err}
	}
	return err
}
