package aws

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/openharness/oh/internal/cloud"
)

const (
	containerHost = "http://169.254.170.2"
	instanceHost  = "http://169.254.169.254"
	nearLimit     = 2 * time.Second
)

func (s *Signer) inContainer() bool {
	return s.env("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") != "" || s.env("AWS_CONTAINER_CREDENTIALS_FULL_URI") != ""
}

// container returns the credentials of the container this runs in.
func (s *Signer) container(ctx context.Context) (keys, time.Time, error) {
	at := s.env("AWS_CONTAINER_CREDENTIALS_FULL_URI")
	if rel := s.env("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"); rel != "" {
		at = containerHost + "/" + strings.TrimPrefix(rel, "/")
	}
	if at == "" {
		return keys{}, time.Time{}, errors.New("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI is not set: this is no AWS container")
	}
	u, err := url.Parse(at)
	if err != nil || !near(u) {
		return keys{}, time.Time{}, errors.New("AWS_CONTAINER_CREDENTIALS_FULL_URI must begin with https:// or name this machine or the container's agent")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody)
	if err != nil {
		return keys{}, time.Time{}, errors.New("the address of the AWS container's credentials is no URL")
	}
	token := s.env("AWS_CONTAINER_AUTHORIZATION_TOKEN")
	if file := s.env("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); file != "" {
		raw, err := os.ReadFile(file)
		if err != nil {
			return keys{}, time.Time{}, fmt.Errorf("read the AWS container's token: %w", err)
		}
		token = strings.TrimSpace(string(raw))
	}
	if token != "" {
		req.Header["Authorization"] = []string{token}
	}
	client := s.local
	if u.Scheme == "https" {
		client = s.remote
	}
	return s.told(req, client, "AWS container credentials")
}

// near reports whether a token may be sent to an address: over TLS, or to this
// machine or the agents of containers.
func near(u *url.URL) bool {
	if u.Scheme == "https" {
		return u.Host != ""
	}
	if u.Scheme != "http" {
		return false
	}
	if u.Hostname() == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(u.Hostname())
	if err != nil {
		return false
	}
	switch ip.String() {
	case "169.254.170.2", "169.254.170.23", "fd00:ec2::23":
		return true
	}
	return ip.IsLoopback()
}

// told asks for credentials and reads them.
func (s *Signer) told(req *http.Request, client *http.Client, who string) (keys, time.Time, error) {
	status, raw, err := cloud.Ask(req, client, nearLimit)
	if err != nil {
		return keys{}, time.Time{}, err
	}
	if status != http.StatusOK {
		return keys{}, time.Time{}, cloud.Refused(who, status, "")
	}
	var p printed
	if json.Unmarshal(raw, &p) != nil {
		return keys{}, time.Time{}, errors.New(who + ": the answer is no JSON")
	}
	k, ends, err := p.keys()
	if err != nil {
		err = fmt.Errorf("%s: %w", who, err)
	}
	return k, ends, err
}

// onInstance reports whether the metadata service of an instance may be asked.
func (s *Signer) onInstance() bool {
	return !strings.EqualFold(s.env("AWS_EC2_METADATA_DISABLED"), "true")
}

func (s *Signer) instanceURL() string {
	if v := s.env("AWS_EC2_METADATA_SERVICE_ENDPOINT"); v != "" {
		return strings.TrimRight(v, "/")
	}
	if strings.EqualFold(s.env("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE"), "ipv6") {
		return "http://[fd00:ec2::254]"
	}
	return instanceHost
}

// instance returns the credentials of the instance this runs on.
func (s *Signer) instance(ctx context.Context) (keys, time.Time, error) {
	const path = "/latest/meta-data/iam/security-credentials/"
	token, err := s.instanceToken(ctx)
	if err != nil {
		return keys{}, time.Time{}, err
	}
	role, err := s.metadata(ctx, token, path)
	if err != nil {
		return keys{}, time.Time{}, err
	}
	role, _, _ = strings.Cut(strings.TrimSpace(role), "\n")
	req, err := s.instanceRequest(ctx, http.MethodGet, path+url.PathEscape(role))
	if err != nil {
		return keys{}, time.Time{}, err
	}
	req.Header.Set("X-Aws-Ec2-Metadata-Token", token)
	return s.told(req, s.local, "AWS instance credentials")
}

func (s *Signer) instanceRegion(ctx context.Context) (string, error) {
	token, err := s.instanceToken(ctx)
	if err != nil {
		return "", err
	}
	region, err := s.metadata(ctx, token, "/latest/meta-data/placement/region")
	return strings.TrimSpace(region), err
}

func (s *Signer) instanceRequest(ctx context.Context, method, path string) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.instanceURL()+path, http.NoBody)
	if err != nil {
		return nil, errors.New("AWS_EC2_METADATA_SERVICE_ENDPOINT is no URL")
	}
	return req, nil
}

// instanceToken opens a session of the metadata service (its second version).
func (s *Signer) instanceToken(ctx context.Context) (string, error) {
	req, err := s.instanceRequest(ctx, http.MethodPut, "/latest/api/token")
	if err != nil {
		return "", err
	}
	req.Header.Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "300")
	return s.near(req)
}

func (s *Signer) metadata(ctx context.Context, token, path string) (string, error) {
	req, err := s.instanceRequest(ctx, http.MethodGet, path)
	if err != nil {
		return "", err
	}
	req.Header.Set("X-Aws-Ec2-Metadata-Token", token)
	return s.near(req)
}

func (s *Signer) near(req *http.Request) (string, error) {
	status, raw, err := cloud.Ask(req, s.local, nearLimit)
	if err == nil && status != http.StatusOK {
		err = cloud.Refused("AWS instance metadata", status, "")
	}
	return string(raw), err
}
