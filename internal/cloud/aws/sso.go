package aws

import (
	"bytes"
	"context"
	"crypto/sha1" // it names a file, as with the AWS command line
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/cloud"
)

// ticket is what single sign-on leaves in its cache. Other members are kept.
type ticket struct {
	Token   string `json:"accessToken"`
	Expires moment `json:"expiresAt"`

	// These are there when it can be renewed.
	Refresh  string `json:"refreshToken"`
	Client   string `json:"clientId"`
	Secret   string `json:"clientSecret"`
	ClientTo moment `json:"registrationExpiresAt"`
}

// moment is a time as the AWS command line writes it, which in older versions
// ends with UTC instead of Z. What is no time is long past.
type moment struct{ time.Time }

// UnmarshalJSON implements [json.Unmarshaler].
func (m *moment) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return nil
	}
	if bare, ok := strings.CutSuffix(text, "UTC"); ok {
		text = bare + "Z"
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		m.Time = t
	}
	return nil
}

// signOn returns credentials of a profile with single sign-on.
func (s *Signer) signOn(ctx context.Context, f files, name string, p section) (keys, time.Time, error) {
	login := errors.New("AWS profile " + name + ": the sign-on has ended; run aws sso login --profile " + name)
	id, region := p["sso_start_url"], p["sso_region"]
	if session := p["sso_session"]; session != "" {
		group := f.config["sso-session "+session]
		if group == nil {
			return keys{}, time.Time{}, fmt.Errorf("AWS profile %s: there is no section sso-session %s", name, session)
		}
		id, region = session, group["sso_region"]
	}
	if p["sso_account_id"] == "" || p["sso_role_name"] == "" || !isRegion(region) {
		return keys{}, time.Time{}, fmt.Errorf("AWS profile %s: single sign-on needs sso_account_id, sso_role_name and sso_region", name)
	}
	if s.cfg.Home == "" {
		return keys{}, time.Time{}, fmt.Errorf("AWS profile %s: the sign-on is kept in the home folder, which is not known", name)
	}
	sum := sha1.Sum([]byte(id))
	file := filepath.Join(s.cfg.Home, ".aws", "sso", "cache", hex.EncodeToString(sum[:])+".json")
	raw, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return keys{}, time.Time{}, login
	}
	if err != nil {
		return keys{}, time.Time{}, fmt.Errorf("AWS profile %s: %w", name, err)
	}
	var t ticket
	if json.Unmarshal(raw, &t) != nil || t.Token == "" {
		return keys{}, time.Time{}, login
	}
	if !t.Expires.After(s.now().Add(time.Minute)) {
		if t.Refresh == "" || t.Client == "" || !t.ClientTo.After(s.now()) {
			return keys{}, time.Time{}, login
		}
		if t, err = s.renew(ctx, t, region, file, raw); err != nil {
			if oh.KindOf(err) == "" && ctx.Err() == nil {
				err = login
			}
			return keys{}, time.Time{}, err
		}
	}
	return s.roleKeys(ctx, t.Token, region, p, login)
}

// renew gets a new token of the sign-on and keeps it where it was, so that the
// AWS command line finds it.
func (s *Signer) renew(ctx context.Context, t ticket, region, file string, raw []byte) (ticket, error) {
	at := s.endpoint("SSO_OIDC", "https://oidc."+region+domain(region))
	body, err := oh.Marshal(map[string]string{"clientId": t.Client, "clientSecret": t.Secret, "grantType": "refresh_token", "refreshToken": t.Refresh})
	if err != nil {
		return t, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at+"/token", bytes.NewReader(body))
	if err != nil {
		return t, errors.New("the address of AWS single sign-on is no URL; correct AWS_ENDPOINT_URL_SSO_OIDC or AWS_ENDPOINT_URL")
	}
	req.Header.Set("Content-Type", "application/json")
	status, answer, err := cloud.Ask(req, s.remote, askLimit)
	if err != nil {
		return t, err
	}
	var got struct {
		Token   string `json:"accessToken"`
		Refresh string `json:"refreshToken"`
		Seconds int64  `json:"expiresIn"`
	}
	if status != http.StatusOK || json.Unmarshal(answer, &got) != nil || got.Token == "" {
		return t, cloud.Refused("AWS single sign-on", status, "the token was not renewed")
	}
	t.Token, t.Expires.Time = got.Token, s.now().Add(time.Duration(got.Seconds)*time.Second).UTC().Truncate(time.Second)
	if got.Refresh != "" {
		t.Refresh = got.Refresh
	}
	// A token that cannot be kept is good all the same; who comes next asks anew.
	_ = keepTicket(file, raw, t)
	return t, nil
}

// keepTicket writes a ticket over the old one. A crash leaves one or the other.
func keepTicket(file string, old []byte, t ticket) error {
	m := map[string]json.RawMessage{}
	if err := json.Unmarshal(old, &m); err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	for name, v := range map[string]any{"accessToken": t.Token, "refreshToken": t.Refresh, "expiresAt": t.Expires.Format(time.RFC3339)} {
		raw, err := oh.Marshal(v)
		if err != nil {
			return err
		}
		m[name] = raw
	}
	raw, err := oh.Marshal(m)
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), ".sso-*")
	if err != nil {
		return fmt.Errorf("keep the AWS sign-on: %w", err)
	}
	_, err = tmp.Write(raw)
	if closed := tmp.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(tmp.Name(), file)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
		return fmt.Errorf("keep the AWS sign-on: %w", err)
	}
	return nil
}

// roleKeys exchanges a token of the sign-on for the keys of a role.
func (s *Signer) roleKeys(ctx context.Context, token, region string, p section, login error) (keys, time.Time, error) {
	at := s.endpoint("SSO", "https://portal.sso."+region+domain(region))
	query := url.Values{"role_name": {p["sso_role_name"]}, "account_id": {p["sso_account_id"]}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at+"/federation/credentials?"+query.Encode(), http.NoBody)
	if err != nil {
		return keys{}, time.Time{}, errors.New("the address of AWS single sign-on is no URL; correct AWS_ENDPOINT_URL_SSO or AWS_ENDPOINT_URL")
	}
	req.Header.Set("X-Amz-Sso_bearer_token", token)
	status, raw, err := cloud.Ask(req, s.remote, askLimit)
	if err != nil {
		return keys{}, time.Time{}, err
	}
	var got struct {
		Role struct {
			ID      string `json:"accessKeyId"`
			Secret  string `json:"secretAccessKey"`
			Session string `json:"sessionToken"`
			Ends    int64  `json:"expiration"` // milliseconds since 1970
		} `json:"roleCredentials"`
		Message string `json:"message"`
	}
	bad := json.Unmarshal(raw, &got) != nil
	switch {
	case status == http.StatusUnauthorized:
		return keys{}, time.Time{}, login
	case status != http.StatusOK:
		return keys{}, time.Time{}, cloud.Refused("AWS single sign-on, role "+p["sso_role_name"]+" of account "+p["sso_account_id"], status, got.Message)
	case bad || got.Role.ID == "" || got.Role.Secret == "":
		return keys{}, time.Time{}, errors.New("AWS single sign-on told no credentials")
	}
	return keys{id: got.Role.ID, secret: got.Role.Secret, session: got.Role.Session}, time.UnixMilli(got.Role.Ends), nil
}
