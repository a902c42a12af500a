package google

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/cloud"
)

// source says where the token of another party is.
type source struct {
	Environment string            `json:"environment_id"`
	File        string            `json:"file"`
	URL         string            `json:"url"`
	Headers     map[string]string `json:"headers"`
	Format      struct {
		Type  string `json:"type"`
		Field string `json:"subject_token_field_name"`
	} `json:"format"`
	Executable *struct {
		Command string `json:"command"`
		Millis  int64  `json:"timeout_millis"`
		Output  string `json:"output_file"`
	} `json:"executable"`
	Certificate json.RawMessage `json:"certificate"`
}

// external gets a token for what another party says of who we are.
func (s *Signer) external(ctx context.Context, c *credential) (string, time.Time, error) {
	if c.Audience == "" || c.SubjectType == "" || c.TokenURL == "" {
		return "", time.Time{}, errors.New("audience, subject_token_type or token_url is missing")
	}
	subject, err := s.subject(ctx, c)
	if err != nil {
		return "", time.Time{}, err
	}
	form := url.Values{
		"grant_type":           {"urn:ietf:params:oauth:grant-type:token-exchange"},
		"requested_token_type": {"urn:ietf:params:oauth:token-type:access_token"},
		"audience":             {c.Audience}, "scope": {scope},
		"subject_token": {subject}, "subject_token_type": {c.SubjectType},
	}
	if c.UserProject != "" && c.ClientID == "" {
		options, err := oh.Marshal(map[string]string{"userProject": c.UserProject})
		if err != nil {
			return "", time.Time{}, err
		}
		form.Set("options", string(options))
	}
	access, ends, err := s.grant(ctx, c.TokenURL, form, c, "check the identity pool and what its token says")
	if err != nil || c.Impersonate == "" {
		return access, ends, err
	}
	return s.impersonate(ctx, c, access)
}

// subject reads the other party's token.
func (s *Signer) subject(ctx context.Context, c *credential) (string, error) {
	from := &c.Source
	var raw []byte
	var err error
	switch {
	case from.Executable != nil:
		return s.executable(ctx, c)
	case from.Environment != "", len(from.Certificate) > 0:
		return "", errors.New("a credential_source of AWS or of a certificate is not supported; use one with a file, a url or an executable")
	case from.File != "":
		if raw, err = readFile(from.File); err != nil {
			return "", fmt.Errorf("read the other party's token: %w", err)
		}
	case from.URL != "":
		if raw, err = s.subjectAt(ctx, from); err != nil {
			return "", err
		}
	default:
		return "", errors.New("credential_source names neither file, url nor executable")
	}
	if from.Format.Type != "json" {
		return strings.TrimSpace(string(raw)), nil
	}
	var m map[string]json.RawMessage
	var out string
	if json.Unmarshal(raw, &m) != nil || json.Unmarshal(m[from.Format.Field], &out) != nil || out == "" {
		return "", fmt.Errorf("the other party's token is not in the member %q of a JSON object", from.Format.Field)
	}
	return out, nil
}

func (s *Signer) subjectAt(ctx context.Context, from *source) ([]byte, error) {
	if err := safe(from.URL); err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from.URL, http.NoBody)
	if err != nil {
		return nil, errors.New("the url of credential_source is no URL")
	}
	for name, value := range from.Headers {
		req.Header.Set(name, value)
	}
	client := s.remote
	if isLocal(req.URL.Hostname()) {
		client = s.local
	}
	status, raw, err := cloud.Ask(req, client, askLimit)
	if err == nil && status != http.StatusOK {
		err = cloud.Refused("the other party's token", status, "")
	}
	return raw, err
}

// executable runs the command that prints the other party's token.
func (s *Signer) executable(ctx context.Context, c *credential) (string, error) {
	from := c.Source.Executable
	if s.env("GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES") != "1" {
		return "", errors.New("credential_source runs a command, which is only done when GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES is 1")
	}
	if from.Output != "" {
		if raw, err := readFile(from.Output); err == nil {
			if subject, err := readExecutable(raw, time.Now()); err == nil {
				return subject, nil
			}
		}
	}
	words, err := cloud.Words(from.Command, runtime.GOOS == "windows")
	if err != nil {
		return "", err
	}
	limit := 30 * time.Second
	if from.Millis > 0 {
		limit = min(time.Duration(from.Millis)*time.Millisecond, 2*time.Minute)
	}
	raw, err := cloud.Run(ctx, words, []string{
		"GOOGLE_EXTERNAL_ACCOUNT_AUDIENCE=" + c.Audience, "GOOGLE_EXTERNAL_ACCOUNT_TOKEN_TYPE=" + c.SubjectType,
		"GOOGLE_EXTERNAL_ACCOUNT_INTERACTIVE=0", "GOOGLE_EXTERNAL_ACCOUNT_OUTPUT_FILE=" + from.Output,
	}, limit)
	if err != nil {
		return "", err
	}
	return readExecutable(raw, time.Now())
}

// readExecutable reads what such a command prints.
func readExecutable(raw []byte, now time.Time) (string, error) {
	var out struct {
		Version int    `json:"version"`
		Success *bool  `json:"success"`
		IDToken string `json:"id_token"`
		SAML    string `json:"saml_response"`
		Expires int64  `json:"expiration_time"`
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	switch {
	case json.Unmarshal(raw, &out) != nil || out.Success == nil || out.Version > 1:
		return "", errors.New("what the credential command prints is no JSON of version 1")
	case !*out.Success:
		return "", fmt.Errorf("the credential command says: %s %s", out.Code, out.Message)
	case out.Expires != 0 && out.Expires <= now.Unix():
		return "", errors.New("the token of the credential command has ended already")
	}
	if out.IDToken == "" {
		out.IDToken = out.SAML
	}
	if out.IDToken == "" {
		return "", errors.New("the credential command prints no token")
	}
	return out.IDToken, nil
}
