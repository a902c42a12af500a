// Package google puts the credentials of Google Cloud on requests, by the rules
// of Application Default Credentials: the file of
// GOOGLE_APPLICATION_CREDENTIALS, the one that gcloud writes, the machine's own
// account.
//
// Nothing is read or asked before the first request. Tokens are renewed before
// they end; what cannot be had is an error that says what was looked at and
// holds no secret.
package google

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/openharness/oh/internal/cloud"
)

// Config says where to look. Without LookupEnv no environment is read, without
// Home no file of gcloud.
type Config struct {
	LookupEnv func(name string) (string, bool)
	Home      string // the user's home folder

	// Project and Location win over environment and files.
	Project, Location string

	// Client asks token services on the network; nil is a usual one. Redirects
	// are not followed.
	Client *http.Client
}

// Signer signs requests. It is safe for concurrent use.
type Signer struct {
	cfg     Config
	token   *cloud.Cell[token]
	project *cloud.Cell[string]
	remote  *http.Client
	local   *http.Client
}

// token is what goes on a request.
type token struct {
	access string
	quota  string // the project that is charged, "" for the account's own
}

const scope = "https://www.googleapis.com/auth/cloud-platform"

// New returns a signer for Vertex AI. It reads nothing yet.
func New(cfg Config) *Signer {
	if cfg.LookupEnv == nil {
		cfg.LookupEnv = func(string) (string, bool) { return "", false }
	}
	s := &Signer{cfg: cfg, remote: cloud.Remote(cfg.Client), local: cloud.Local()}
	s.token = cloud.NewCell(s.find)
	s.project = cloud.NewCell(s.findProject)
	return s
}

// Sign puts a token on a request.
func (s *Signer) Sign(req *http.Request) error {
	t, err := s.token.Get(req.Context())
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+t.access)
	if t.quota != "" && req.Header.Get("X-Goog-User-Project") == "" {
		req.Header.Set("X-Goog-User-Project", t.quota)
	}
	return nil
}

// Forget drops the token: the next request gets a new one. It is for when the
// service refused it.
func (s *Signer) Forget() { s.token.Forget() }

// Location returns the location of the configuration or the environment, else
// global.
func (s *Signer) Location() string {
	return s.first(s.cfg.Location, "global", "GOOGLE_CLOUD_LOCATION", "CLOUD_ML_REGION", "VERTEXAI_LOCATION", "GOOGLE_CLOUD_REGION")
}

// Project returns the project of the configuration or the environment, of the
// credentials, of gcloud's configuration, or of the machine this runs on.
func (s *Signer) Project(ctx context.Context) (string, error) { return s.project.Get(ctx) }

func (s *Signer) findProject(ctx context.Context) (string, time.Time, error) {
	p := s.first(s.cfg.Project, "", "ANTHROPIC_VERTEX_PROJECT_ID", "GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT", "VERTEXAI_PROJECT")
	if p != "" {
		return p, time.Time{}, nil
	}
	cred, path, err := s.load()
	if err != nil {
		return "", time.Time{}, err
	}
	if cred != nil {
		p = cred.ProjectID
	}
	if p == "" {
		p = s.gcloudProject()
	}
	if p == "" && cred != nil {
		p = cred.QuotaProject
	}
	if p == "" && path == "" {
		p, _ = s.metadata(ctx, "project/project-id") // nobody there is the usual case
	}
	if p = strings.TrimSpace(p); p == "" {
		if ctx.Err() != nil {
			return "", time.Time{}, ctx.Err()
		}
		return "", time.Time{}, fmt.Errorf("no Google Cloud project is set; set GOOGLE_CLOUD_PROJECT or run gcloud config set project NAME")
	}
	return p, time.Time{}, nil
}

// VertexURL returns the base URL of Vertex AI for a project in a location: a
// region, global, or the multi-regions us and eu.
func VertexURL(project, location string) (string, error) {
	if !isName(location) || strings.ContainsAny(location, ".:") {
		return "", fmt.Errorf("%q is no location of Google Cloud; write it like us-east5, or global", location)
	}
	if !isName(project) {
		return "", fmt.Errorf("%q is no project of Google Cloud", project)
	}
	host := location + "-aiplatform.googleapis.com"
	switch location {
	case "global":
		host = "aiplatform.googleapis.com"
	case "us", "eu":
		host = "aiplatform." + location + ".rep.googleapis.com"
	}
	return "https://" + host + "/v1/projects/" + url.PathEscape(project) + "/locations/" + location, nil
}

// isName allows what projects (also with a domain before a colon) and locations
// are named with.
func isName(s string) bool {
	ok := s != "" && len(s) <= 100 && s[0] != '-' && s[0] != '.'
	for i := 0; ok && i < len(s); i++ {
		c := s[i]
		ok = c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == ':'
	}
	return ok
}

// URL returns the base URL of Vertex AI as configuration, environment and
// credentials have it.
func (s *Signer) URL(ctx context.Context) (string, error) {
	p, err := s.Project(ctx)
	if err != nil {
		return "", err
	}
	return VertexURL(p, s.Location())
}

// env returns a variable without white space around it.
func (s *Signer) env(name string) string {
	v, _ := s.cfg.LookupEnv(name)
	return strings.TrimSpace(v)
}

// first returns own, the first of the variables that is set, or usual.
func (s *Signer) first(own, usual string, names ...string) string {
	if own = strings.TrimSpace(own); own != "" {
		return own
	}
	for _, name := range names {
		if v := s.env(name); v != "" {
			return v
		}
	}
	return usual
}

// gcloud returns the path of a file of gcloud, "" when there is no folder.
func (s *Signer) gcloud(elem ...string) string {
	dir := s.env("CLOUDSDK_CONFIG")
	switch {
	case dir != "":
	case runtime.GOOS == "windows" && s.env("APPDATA") != "":
		dir = filepath.Join(s.env("APPDATA"), "gcloud")
	case s.cfg.Home != "":
		dir = filepath.Join(s.cfg.Home, ".config", "gcloud")
	default:
		return ""
	}
	return filepath.Join(append([]string{dir}, elem...)...)
}
