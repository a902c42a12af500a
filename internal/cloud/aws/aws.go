// Package aws puts the credentials of Amazon Web Services on requests: a
// signature of version 4 or a bearer token. Where they come from follows the
// AWS command line: environment, shared files with roles, single sign-on and
// credential processes, web identity, container, instance.
//
// Nothing is read or asked before the first request. Credentials are renewed
// before they end; what cannot be had is an error that says what was looked at
// and holds no secret.
package aws

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/openharness/oh/internal/cloud"
)

// Config says where to look. Without LookupEnv no environment is read, without
// Home no file.
type Config struct {
	LookupEnv func(name string) (string, bool)
	Home      string // the user's home folder

	// Region and Profile win over environment and files.
	Region, Profile string

	// Client asks token services on the network; nil is a usual one. Redirects
	// are not followed.
	Client *http.Client
}

// Signer signs requests. It is safe for concurrent use.
type Signer struct {
	cfg    Config
	keys   *cloud.Cell[keys]
	region *cloud.Cell[string]
	remote *http.Client
	local  *http.Client
	now    func() time.Time
}

// keys are credentials: a bearer token, or an id with its secret.
type keys struct {
	bearer              string
	id, secret, session string
}

const service = "bedrock"

// New returns a signer for Amazon Bedrock. It reads nothing yet.
func New(cfg Config) *Signer {
	if cfg.LookupEnv == nil {
		cfg.LookupEnv = func(string) (string, bool) { return "", false }
	}
	s := &Signer{cfg: cfg, remote: cloud.Remote(cfg.Client), local: cloud.Local(), now: time.Now}
	s.keys = cloud.NewCell(s.find)
	s.region = cloud.NewCell(s.findRegion)
	return s
}

// Sign puts credentials on a request. Its body is read through GetBody. The
// region is that of an address of Amazon, otherwise [Signer.Region].
func (s *Signer) Sign(req *http.Request) error {
	ctx := req.Context()
	k, err := s.keys.Get(ctx)
	if err != nil {
		return err
	}
	if k.bearer != "" {
		req.Header.Set("Authorization", "Bearer "+k.bearer)
		return nil
	}
	region := hostRegion(req.URL.Hostname())
	if region == "" {
		if region, err = s.Region(ctx); err != nil {
			return err
		}
	}
	return s.sign(req, k, service, region)
}

// Forget drops what is known of credentials: the next request looks again. It
// is for when the service refused them.
func (s *Signer) Forget() { s.keys.Forget() }

// sign signs a request. Of its headers only the content type is part of the
// signature, beside Amazon's own: what a gateway may change is not.
func (s *Signer) sign(req *http.Request, k keys, service, region string) error {
	sum, err := bodySum(req)
	if err != nil {
		return fmt.Errorf("sign the request: %w", err)
	}
	bare := req.Clone(req.Context())
	bare.Header, bare.Body, bare.ContentLength = http.Header{}, nil, 0
	if ct := req.Header.Get("Content-Type"); ct != "" {
		bare.Header.Set("Content-Type", ct)
	}
	creds := sdk.Credentials{AccessKeyID: k.id, SecretAccessKey: k.secret, SessionToken: k.session}
	if err := v4.NewSigner().SignHTTP(req.Context(), creds, bare, sum, service, region, s.now()); err != nil {
		return fmt.Errorf("sign the request: %w", err)
	}
	for _, name := range []string{"Authorization", "X-Amz-Date", "X-Amz-Security-Token"} {
		if v := bare.Header.Get(name); v != "" {
			req.Header.Set(name, v)
		}
	}
	return nil
}

// bodySum returns the SHA-256 of the body in hexadecimal.
func bodySum(req *http.Request) (string, error) {
	h := sha256.New()
	if req.Body != nil && req.Body != http.NoBody {
		if req.GetBody == nil {
			return "", errors.New("its body cannot be read twice")
		}
		b, err := req.GetBody()
		if err != nil {
			return "", err
		}
		defer func() { _ = b.Close() }()
		if _, err := io.Copy(h, b); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// hostRegion reads the region from an address of Amazon, "" from any other.
func hostRegion(host string) string {
	host = strings.ToLower(host)
	rest, ok := strings.CutSuffix(host, ".amazonaws.com")
	if !ok {
		rest, ok = strings.CutSuffix(host, ".amazonaws.com.cn")
	}
	if !ok {
		if rest, ok = strings.CutSuffix(host, ".api.aws"); !ok {
			return ""
		}
	}
	rest = strings.TrimSuffix(rest, ".vpce")
	region := rest[strings.LastIndexByte(rest, '.')+1:]
	if !isRegion(region) || strings.Count(region, "-") < 2 {
		return ""
	}
	return region
}

func isRegion(s string) bool {
	ok := s != "" && len(s) <= 40 && s[0] != '-'
	for i := 0; ok && i < len(s); i++ {
		c := s[i]
		ok = c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-'
	}
	return ok
}

// BedrockURL returns the base URL of Amazon Bedrock in a region.
func BedrockURL(region string) (string, error) {
	if !isRegion(region) {
		return "", fmt.Errorf("%q is no AWS region; write it like us-east-1", region)
	}
	return "https://bedrock-runtime." + region + domain(region), nil
}

func domain(region string) string {
	if strings.HasPrefix(region, "cn-") {
		return ".amazonaws.com.cn"
	}
	return ".amazonaws.com"
}

// URL returns the base URL of Amazon Bedrock: AWS_ENDPOINT_URL_BEDROCK_RUNTIME
// or AWS_ENDPOINT_URL where one is set, else the one of the region.
func (s *Signer) URL(ctx context.Context) (string, error) {
	if u := s.endpoint("BEDROCK_RUNTIME", ""); u != "" {
		return u, nil
	}
	region, err := s.Region(ctx)
	if err != nil {
		return "", err
	}
	return BedrockURL(region)
}

// Region returns the region of the configuration, of AWS_REGION or
// AWS_DEFAULT_REGION, of the profile, or of the instance this runs on.
func (s *Signer) Region(ctx context.Context) (string, error) { return s.region.Get(ctx) }

func (s *Signer) findRegion(ctx context.Context) (string, time.Time, error) {
	region := strings.TrimSpace(s.cfg.Region)
	for _, name := range []string{"AWS_REGION", "AWS_DEFAULT_REGION"} {
		if region == "" {
			region = s.env(name)
		}
	}
	if region == "" {
		files, err := s.load()
		if err != nil {
			return "", time.Time{}, err
		}
		region = files.profile(s.profile())["region"]
	}
	if region == "" && s.onInstance() {
		region, _ = s.instanceRegion(ctx) // nobody there is the usual case
	}
	switch {
	case ctx.Err() != nil:
		return "", time.Time{}, ctx.Err()
	case region == "":
		return "", time.Time{}, fmt.Errorf("no AWS region is set; set AWS_REGION, or region in profile %s of %s", s.profile(), s.configFile())
	case !isRegion(region):
		return "", time.Time{}, fmt.Errorf("%q is no AWS region; write it like us-east-1", region)
	}
	return region, time.Time{}, nil
}

// env returns a variable without white space around it.
func (s *Signer) env(name string) string {
	v, _ := s.cfg.LookupEnv(name)
	return strings.TrimSpace(v)
}

// profile names the profile of the shared files.
func (s *Signer) profile() string {
	if s.cfg.Profile != "" {
		return s.cfg.Profile
	}
	for _, name := range []string{"AWS_PROFILE", "AWS_DEFAULT_PROFILE"} {
		if v := s.env(name); v != "" {
			return v
		}
	}
	return "default"
}

func (s *Signer) configFile() string { return s.file("AWS_CONFIG_FILE", "config") }

func (s *Signer) credentialsFile() string {
	return s.file("AWS_SHARED_CREDENTIALS_FILE", "credentials")
}

// file returns the path of a shared file, "" when there is no home.
func (s *Signer) file(variable, name string) string {
	if v := s.env(variable); v != "" {
		if rest, ok := strings.CutPrefix(v, "~/"); ok && s.cfg.Home != "" {
			return filepath.Join(s.cfg.Home, rest)
		}
		return v
	}
	if s.cfg.Home == "" {
		return ""
	}
	return filepath.Join(s.cfg.Home, ".aws", name)
}

const onWindows = runtime.GOOS == "windows"
