package google

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/openharness/oh/internal/cloud"
)

// credential is a file of credentials. Which members count depends on its type.
type credential struct {
	Type         string `json:"type"`
	ProjectID    string `json:"project_id"`
	QuotaProject string `json:"quota_project_id"`

	// service_account
	Email   string `json:"client_email"`
	KeyID   string `json:"private_key_id"`
	Key     string `json:"private_key"`
	TokenTo string `json:"token_uri"`

	// authorized_user and external_account_authorized_user
	ClientID string `json:"client_id"`
	Secret   string `json:"client_secret"`
	Refresh  string `json:"refresh_token"`

	// external_account
	Audience    string `json:"audience"`
	SubjectType string `json:"subject_token_type"`
	TokenURL    string `json:"token_url"`
	Source      source `json:"credential_source"`
	UserProject string `json:"workforce_pool_user_project"`

	// external_account and impersonated_service_account
	Impersonate string      `json:"service_account_impersonation_url"`
	Delegates   []string    `json:"delegates"`
	From        *credential `json:"source_credentials"`
}

const maxFile = 1 << 20

// load reads the file of credentials. It returns nil and no path where there is
// none. A file that the user named must be there.
func (s *Signer) load() (*credential, string, error) {
	path, named := s.env("GOOGLE_APPLICATION_CREDENTIALS"), true
	if path == "" {
		path, named = s.gcloud("application_default_credentials.json"), false
	}
	if path == "" {
		return nil, "", nil
	}
	raw, err := readFile(path)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("read the Google credentials: %w", err)
	}
	c := &credential{}
	if err := json.Unmarshal(bytes.TrimPrefix(raw, []byte("\ufeff")), c); err != nil {
		return nil, "", fmt.Errorf("the Google credentials in %s are no JSON object of the right form", path)
	}
	return c, path, nil
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	raw, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(raw) > maxFile {
		err = fmt.Errorf("%s is longer than 1 MB", path)
	}
	return raw, err
}

// find gets a token of the first credentials there are.
func (s *Signer) find(ctx context.Context) (token, time.Time, error) {
	c, path, err := s.load()
	if err != nil {
		return token{}, time.Time{}, err
	}
	if c == nil {
		return s.ofMachine(ctx)
	}
	access, ends, err := s.access(ctx, c, 0)
	if err != nil {
		return token{}, time.Time{}, fmt.Errorf("the Google credentials in %s: %w", path, err)
	}
	return token{access: access, quota: s.first("", c.QuotaProject, "GOOGLE_CLOUD_QUOTA_PROJECT")}, ends, nil
}

// access gets a token with credentials of a file.
func (s *Signer) access(ctx context.Context, c *credential, depth int) (string, time.Time, error) {
	switch c.Type {
	case "service_account":
		return s.serviceAccount(ctx, c)
	case "authorized_user":
		return s.authorizedUser(ctx, c)
	case "external_account_authorized_user":
		return s.externalUser(ctx, c)
	case "external_account":
		return s.external(ctx, c)
	case "impersonated_service_account":
		if c.From == nil || c.Impersonate == "" || depth > 3 {
			return "", time.Time{}, errors.New("source_credentials or service_account_impersonation_url is missing")
		}
		access, _, err := s.access(ctx, c.From, depth+1)
		if err != nil {
			return "", time.Time{}, err
		}
		return s.impersonate(ctx, c, access)
	}
	return "", time.Time{}, fmt.Errorf("the type %q is not known; known are service_account, authorized_user, external_account, "+
		"external_account_authorized_user and impersonated_service_account", c.Type)
}

const metadataHost = "169.254.169.254"

// ofMachine gets a token of the account of the machine this runs on.
func (s *Signer) ofMachine(ctx context.Context) (token, time.Time, error) {
	raw, err := s.metadata(ctx, "instance/service-accounts/default/token?scopes="+scope)
	if ctx.Err() != nil {
		return token{}, time.Time{}, ctx.Err()
	}
	if err != nil {
		return token{}, time.Time{}, fmt.Errorf("no Google credentials were found; looked at GOOGLE_APPLICATION_CREDENTIALS, %s and "+
			"this machine's own account; run gcloud auth application-default login, or set the variable", s.gcloud("application_default_credentials.json"))
	}
	access, ends, err := readToken([]byte(raw))
	return token{access: access}, ends, err
}

// metadata asks the metadata server of the machine.
func (s *Signer) metadata(ctx context.Context, path string) (string, error) {
	host := s.first("", metadataHost, "GCE_METADATA_HOST")
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+host+"/computeMetadata/v1/"+path, http.NoBody)
	if err != nil {
		return "", errors.New("GCE_METADATA_HOST is no host")
	}
	req.Header.Set("Metadata-Flavor", "Google")
	status, raw, err := cloud.AskSigned(req, s.local, 2*time.Second, isMetadata)
	if err == nil && status != http.StatusOK {
		err = cloud.Refused("Google metadata server", status, "")
	}
	return string(raw), err
}

// isMetadata refuses answers of others who have the name or the address, such
// as the login page of a network.
func isMetadata(h http.Header) error {
	if h.Get("Metadata-Flavor") != "Google" {
		return errors.New("what answers is not the metadata server of Google")
	}
	return nil
}

// gcloudProject returns the project of gcloud's active configuration.
func (s *Signer) gcloudProject() string {
	name := s.env("CLOUDSDK_ACTIVE_CONFIG_NAME")
	if path := s.gcloud("active_config"); name == "" && path != "" {
		raw, _ := readFile(path) // missing is the usual case
		name = strings.TrimSpace(string(raw))
	}
	if name == "" {
		name = "default"
	}
	if strings.ContainsAny(name, `/\`) {
		return ""
	}
	path := s.gcloud("configurations", "config_"+name)
	if path == "" {
		return ""
	}
	raw, _ := readFile(path)
	core := false
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			core = line == "[core]"
		}
		if key, value, ok := strings.Cut(line, "="); ok && core && strings.TrimSpace(key) == "project" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
