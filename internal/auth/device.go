package auth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/config"
	"github.com/openharness/oh/internal/text"
)

// Device asks GitHub for a token by the device flow: a person opens a page and
// types a code there.
type Device struct {
	Client   *http.Client // nil: [http.DefaultClient]
	ClientID string       // of an OAuth app with the device flow enabled
	Domain   string       // of an enterprise; "" is github.com. See [CheckDomain]

	// Show tells the person where to go and what to type there.
	Show func(url, code string)
}

// Grant is what GitHub gave.
type Grant struct {
	Token   Secret
	Expires time.Time // zero: it does not
}

// The limits of the flow, where GitHub does not say.
const (
	deviceInterval = 5 * time.Second
	deviceExpires  = 15 * time.Minute
	deviceCall     = 30 * time.Second // for one call
	deviceSlack    = time.Second      // between the clocks of both sides
	maxDeviceBody  = 64 << 10         // bytes
	deviceTries    = 5                // calls in a row that may fail
)

// CheckDomain returns an enterprise's domain as it is kept: a host, or a whole
// address on this machine. "" and github.com are "".
func CheckDomain(domain string) (string, error) {
	d := strings.TrimRight(strings.TrimSpace(domain), "/")
	if rest, ok := strings.CutPrefix(d, "http://"); ok {
		if u, err := url.Parse(d); err != nil || u.Host != rest || !loopback(d) {
			return "", fmt.Errorf("%q: only https is used, so give the domain alone, such as company.ghe.com", text.Clean(config.HideUser(domain)))
		}
		return d, nil
	}
	d = strings.ToLower(strings.TrimPrefix(d, "https://"))
	if d == "" || d == "github.com" {
		return "", nil
	}
	u, err := url.Parse("https://" + d)
	if err != nil || u.Host != d || u.Hostname() == "" || !strings.Contains(d, ".") || net.ParseIP(u.Hostname()) != nil {
		return "", fmt.Errorf("%q is no domain; give it like company.ghe.com", text.Clean(config.HideUser(domain)))
	}
	return d, nil
}

// CopilotURL is where Copilot of an enterprise's domain is reached.
func CopilotURL(domain string) string {
	if strings.Contains(domain, "://") {
		return domain
	}
	return "https://copilot-api." + domain
}

func (d Device) address(path string) string {
	switch {
	case d.Domain == "":
		return "https://github.com" + path
	case strings.Contains(d.Domain, "://"):
		return d.Domain + path
	}
	return "https://" + d.Domain + path
}

// deviceCode is the answer to the first question.
type deviceCode struct {
	Code     string  `json:"device_code"`
	User     string  `json:"user_code"`
	URL      string  `json:"verification_uri"`
	Interval float64 `json:"interval"`
	Expires  float64 `json:"expires_in"`
	fault
}

// fault is how GitHub tells that something is wrong, with status 200 too.
type fault struct {
	Error string `json:"error"`
	Words string `json:"error_description"`
}

// Login runs the flow until there is a token, the person refuses, the code
// expires or the context ends.
func (d Device) Login(ctx context.Context) (Grant, error) {
	if d.ClientID == "" {
		return Grant{}, noClient()
	}
	code, err := d.begin(ctx)
	if err != nil {
		return Grant{}, fmt.Errorf("ask GitHub for a code: %w", err)
	}
	d.Show(code.URL, code.User)
	expires := seconds(code.Expires, deviceExpires)
	ctx2, cancel := context.WithTimeoutCause(ctx, expires, errDeviceLate)
	defer cancel()
	grant, err := d.poll(ctx2, code.Code, seconds(code.Interval, deviceInterval))
	switch {
	case ctx.Err() != nil:
		return Grant{}, context.Cause(ctx)
	case ctx2.Err() != nil:
		return Grant{}, errDeviceLate
	case err != nil:
		return Grant{}, fmt.Errorf("wait for GitHub's token: %w", err)
	}
	return grant, nil
}

var errDeviceLate = errors.New("the code was not used in time and is void; run the command again")

func noClient() error {
	return &config.Error{File: "settings", Key: "copilot_client_id", Problem: `is not set, and oh brings none of its own. Ask for the one of your organisation, or make one at github.com ` +
		`(Settings, Developer settings, OAuth Apps, New OAuth App, tick "Enable Device Flow"); then: oh config set copilot_client_id ID, or set OPENHARNESS_COPILOT_CLIENT_ID`}
}

func (d Device) begin(ctx context.Context) (deviceCode, error) {
	var code deviceCode
	if err := d.post(ctx, "/login/device/code", map[string]string{"client_id": d.ClientID, "scope": "read:user"}, &code); err != nil {
		return code, err
	}
	if code.fault.Error != "" {
		return code, code.fault.err()
	}
	u, err := url.Parse(code.URL)
	if code.Code == "" || code.User == "" || err != nil || u.Host == "" || u.Scheme != "https" && !(u.Scheme == "http" && loopback(code.URL)) {
		return code, errors.New("its answer names no code or no page")
	}
	code.User, code.URL = text.Clean(code.User), u.String()
	return code, nil
}

func (d Device) poll(ctx context.Context, code string, every time.Duration) (Grant, error) {
	form := map[string]string{"client_id": d.ClientID, "device_code": code, "grant_type": "urn:ietf:params:oauth:grant-type:device_code"}
	failed := 0
	for {
		if err := sleep(ctx, every+deviceSlack); err != nil {
			return Grant{}, err
		}
		var answer struct {
			Token    string  `json:"access_token"`
			Expires  float64 `json:"expires_in"`
			Interval float64 `json:"interval"`
			fault
		}
		err := d.post(ctx, "/login/oauth/access_token", form, &answer)
		if _, passes := errors.AsType[passing](err); passes && failed+1 < deviceTries && ctx.Err() == nil {
			failed++
			every += deviceInterval
			continue
		}
		if err != nil {
			return Grant{}, err
		}
		failed = 0
		switch answer.fault.Error {
		case "":
		case "authorization_pending":
			continue
		case "slow_down":
			every = max(seconds(answer.Interval, 0), every+deviceInterval)
			continue
		default:
			answer.Words = strings.ReplaceAll(answer.Words, code, "[hidden]")
			return Grant{}, answer.fault.err()
		}
		return granted(answer.Token, answer.Expires)
	}
}

// granted makes a grant of a token that counts for some seconds, 0 for ever.
func granted(token string, expires float64) (Grant, error) {
	key, err := clean(token, "GitHub's answer")
	if err != nil {
		return Grant{}, err
	}
	grant := Grant{Token: key}
	if expires > 0 {
		grant.Expires = time.Now().Add(seconds(expires, 0))
	}
	return grant, nil
}

func (f fault) err() error {
	switch f.Error {
	case "access_denied":
		return errors.New("the login was refused on GitHub's page")
	case "expired_token":
		return errDeviceLate
	case "device_flow_disabled", "unauthorized_client":
		return errors.New("the OAuth app does not allow the device flow; enable it in the app's settings at GitHub")
	case "incorrect_client_credentials", "invalid_client":
		return errors.New("GitHub knows no OAuth app of this client id (setting copilot_client_id)")
	}
	if f.Words == "" {
		f.Words = f.Error
	}
	return errors.New(text.OneLine(text.Clean(f.Words), 300))
}

// passing is a failure of the network or of a server that may be over at the
// next try.
type passing struct{ error }

// Unwrap returns the cause.
func (p passing) Unwrap() error { return p.error }

// post sends a form as JSON. No error of it holds what was sent.
func (d Device) post(ctx context.Context, path string, form map[string]string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, deviceCall)
	defer cancel()
	body, err := oh.Marshal(form)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.address(path), bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "openharness")
	client := http.DefaultClient
	if d.Client != nil {
		client = d.Client
	}
	own := *client
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := own.Do(req)
	if err != nil {
		return passing{err}
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxDeviceBody))
	if err != nil {
		return passing{err}
	}
	if resp.StatusCode != http.StatusOK {
		return refused(resp, raw)
	}
	if json.Unmarshal(raw, into) != nil {
		return fmt.Errorf("%s gave an answer that is not JSON", req.URL.Host)
	}
	return nil
}

// refused makes an error of an answer that is no success.
func refused(resp *http.Response, raw []byte) error {
	var f fault
	if json.Unmarshal(raw, &f) == nil && f.Error != "" {
		return fmt.Errorf("%s: %w", resp.Status, f.err())
	}
	err := fmt.Errorf("%s answered %s", resp.Request.URL.Host, resp.Status)
	if resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests {
		return passing{err}
	}
	return err
}

// seconds reads a number of seconds of a service; fallback when it is none.
func seconds(n float64, fallback time.Duration) time.Duration {
	if n <= 0 || n > 1e9 {
		return fallback
	}
	return time.Duration(n * float64(time.Second))
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Expiry is how the end of a grant is kept beside its token; see [Store.Put].
func (g Grant) Expiry() string {
	if g.Expires.IsZero() {
		return ""
	}
	return g.Expires.UTC().Format(time.RFC3339)
}

// expired reports whether what is stored under a name counts no more.
func expired(s Store, name string) bool {
	text, err := s.Detail(name, "expires")
	if err != nil || text == "" {
		return false
	}
	end, err := time.Parse(time.RFC3339, text)
	return err == nil && !time.Now().Before(end)
}
