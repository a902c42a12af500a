package aws

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
)

const later = "2096-01-02T03:04:05Z"

// TestMain is a credential process as well.
func TestMain(m *testing.M) {
	if out := os.Getenv("OH_TEST_PROCESS"); out != "" {
		_, _ = os.Stderr.WriteString("sk-secret")
		_, _ = os.Stdout.WriteString(out)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// world is a home folder, an environment, and all services at one address.
type world struct {
	home string
	env  map[string]string
	url  string

	mu    sync.Mutex
	asked []string // guarded by mu: what came, in short
}

func (w *world) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, fmt.Sprintf(format, args...))
}

func newWorld(t *testing.T, config, credentials string) *world {
	t.Helper()
	w := &world{home: t.TempDir()}
	srv := httptest.NewServer(w)
	t.Cleanup(srv.Close)
	w.url = srv.URL
	w.env = map[string]string{"AWS_ENDPOINT_URL": w.url + "/aws", "AWS_EC2_METADATA_DISABLED": "true", "AWS_REGION": "us-west-2"}
	write(t, filepath.Join(w.home, ".aws", "config"), config)
	write(t, filepath.Join(w.home, ".aws", "credentials"), credentials)
	return w
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

const stsAnswer = `<R xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><X><Credentials><AccessKeyId>ASIA-%s</AccessKeyId>
<SecretAccessKey>hidden3</SecretAccessKey><SessionToken>a&amp;b</SessionToken><Expiration>` + later + `</Expiration></Credentials></X></R>`

// ServeHTTP plays STS, single sign-on, containers and instances.
func (w *world) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	switch path := r.URL.Path; {
	case path == "/aws/":
		w.sts(out, r)
	case path == "/aws/federation/credentials":
		w.note("sso %s %s with %s", r.URL.Query().Get("account_id"), r.URL.Query().Get("role_name"), r.Header.Get("X-Amz-Sso_bearer_token"))
		if r.Header.Get("X-Amz-Sso_bearer_token") == "refused" {
			out.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprintf(out, `{"roleCredentials":{"accessKeyId":"SSO","secretAccessKey":"s2","sessionToken":"t2","expiration":%d}}`, time.Now().Add(time.Hour).UnixMilli())
	case path == "/aws/token":
		raw, _ := io.ReadAll(r.Body)
		w.note("oidc %s", raw)
		_, _ = io.WriteString(out, `{"accessToken":"fresh","refreshToken":"again","expiresIn":3600}`)
	case path == "/container":
		w.note("container with %s", r.Header.Get("Authorization"))
		_, _ = io.WriteString(out, `{"AccessKeyId":"ECS","SecretAccessKey":"s4","Token":"t4","Expiration":"`+later+`"}`)
	case path == "/latest/api/token" && r.Method == http.MethodPut:
		_, _ = io.WriteString(out, "imds-token")
	case r.Header.Get("X-Aws-Ec2-Metadata-Token") != "imds-token":
		out.WriteHeader(http.StatusUnauthorized)
	case path == "/latest/meta-data/placement/region":
		_, _ = io.WriteString(out, "ap-south-1")
	case path == "/latest/meta-data/iam/security-credentials/":
		_, _ = io.WriteString(out, "my-role\n")
	case path == "/latest/meta-data/iam/security-credentials/my-role":
		_, _ = io.WriteString(out, `{"Code":"Success","AccessKeyId":"EC2","SecretAccessKey":"s5","Token":"t5","Expiration":"`+later+`"}`)
	default:
		http.NotFound(out, r)
	}
}

func (w *world) sts(out http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	form, _ := url.ParseQuery(string(raw))
	signer := "nobody"
	if _, rest, ok := strings.Cut(r.Header.Get("Authorization"), "Credential="); ok {
		signer, _, _ = strings.Cut(rest, ",")
		parts := strings.Split(signer, "/")
		signer = parts[0] + "/" + parts[2] + "/" + parts[3]
	}
	w.note("%s %s %s%s%s by %s", form.Get("Action"), form.Get("RoleArn"), form.Get("RoleSessionName"), form.Get("WebIdentityToken"), form.Get("ExternalId"), signer)
	switch form.Get("RoleArn") {
	case "denied":
		out.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(out, `<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>not you</Message></Error></ErrorResponse>`)
	case "down":
		out.WriteHeader(http.StatusBadGateway)
	default:
		fmt.Fprintf(out, stsAnswer, form.Get("RoleArn"))
	}
}

func (w *world) signer(profile string) *Signer {
	return New(Config{LookupEnv: lookup(w.env), Home: w.home, Profile: profile})
}

const config = `
[default]
region = eu-central-1
; comment
[profile role]
role_arn = arn1
source_profile = base
role_session_name = me
external_id = ext
region = us-east-2
[profile chain]
role_arn = arn2
source_profile = role
[profile self]
role_arn = arn3
source_profile = self
aws_access_key_id = SELF
aws_secret_access_key = s
[profile circle]
role_arn = x
source_profile = circle2
[profile circle2]
role_arn = y
source_profile = circle
[profile denied]
role_arn = denied
source_profile = base
[profile down]
role_arn = down
source_profile = base
[profile mfa]
role_arn = x
source_profile = base
mfa_serial = arn:mfa
[profile envrole]
role_arn = arn4
credential_source = Environment
[profile containerrole]
role_arn = arn5
credential_source = EcsContainer
[profile oddrole]
role_arn = arn6
[profile nosource]
role_arn = arn7
source_profile = default
[profile sso]
sso_session = corp
sso_account_id = 111
sso_role_name = dev
[sso-session corp]
sso_region = us-east-1
sso_start_url = https://corp
[profile "old sso"]
sso_start_url = https://old
sso_region = us-east-1
sso_account_id = 222
sso_role_name = ops
[profile badsso]
sso_session = nothing
sso_account_id = 1
sso_role_name = r
[profile nested]
s3 =
  aws_access_key_id = WRONG
aws_access_key_id = NESTED # a comment
aws_secret_access_key = s#1
`

const credentials = "\ufeff[base]\r\naws_access_key_id=BASE\r\naws_secret_access_key = s\r\naws_session_token=t\r\n[half]\naws_access_key_id = HALF\n"

func get(t *testing.T, s *Signer) (keys, error) {
	t.Helper()
	k, err := s.keys.Get(t.Context())
	if err != nil && (strings.Contains(err.Error(), "hidden") || strings.Contains(err.Error(), "sk-secret")) {
		t.Errorf("a secret shows: %v", err)
	}
	return k, err
}

func TestProfiles(t *testing.T) {
	for _, tt := range []struct {
		profile string
		env     map[string]string
		want    keys
		asked   []string
	}{
		{"base", nil, keys{id: "BASE", secret: "s", session: "t"}, nil},
		{"nested", nil, keys{id: "NESTED", secret: "s#1"}, nil},
		{"role", nil, keys{id: "ASIA-arn1", secret: "hidden3", session: "a&b"}, []string{"AssumeRole arn1 meext by BASE/us-east-2/sts"}},
		{"chain", nil, keys{id: "ASIA-arn2", secret: "hidden3", session: "a&b"}, []string{"AssumeRole arn1 meext by BASE/us-east-2/sts", "AssumeRole arn2 openharness by ASIA-arn1/us-west-2/sts"}},
		{"self", nil, keys{id: "ASIA-arn3", secret: "hidden3", session: "a&b"}, []string{"AssumeRole arn3 openharness by SELF/us-west-2/sts"}},
		{"envrole", map[string]string{"AWS_ACCESS_KEY_ID": "ENV", "AWS_SECRET_ACCESS_KEY": "s"}, keys{id: "ASIA-arn4", secret: "hidden3", session: "a&b"}, []string{"AssumeRole arn4 openharness by ENV/us-west-2/sts"}},
		{"", map[string]string{"AWS_ACCESS_KEY_ID": "ENV", "AWS_SECRET_ACCESS_KEY": "s", "AWS_PROFILE": "base"}, keys{id: "ENV", secret: "s"}, nil},
		{"base", map[string]string{"AWS_ACCESS_KEY_ID": "ENV", "AWS_SECRET_ACCESS_KEY": "s"}, keys{id: "BASE", secret: "s", session: "t"}, nil},
		{"", map[string]string{"AWS_PROFILE": "base"}, keys{id: "BASE", secret: "s", session: "t"}, nil},
		{"", map[string]string{"AWS_DEFAULT_PROFILE": "base"}, keys{id: "BASE", secret: "s", session: "t"}, nil},
	} {
		w := newWorld(t, config, credentials)
		for k, v := range tt.env {
			w.env[k] = v
		}
		s := w.signer(tt.profile)
		for range 2 { // the second time from memory
			if got, err := get(t, s); err != nil || got != tt.want {
				t.Errorf("%s: %+v, %v", tt.profile, got, err)
			}
		}
		if d := cmp.Diff(tt.asked, w.asked); d != "" {
			t.Errorf("%s: (-want +got)\n%s", tt.profile, d)
		}
	}
}

func TestProfileErrors(t *testing.T) {
	for profile, want := range map[string]string{
		"circle": "circle", "mfa": "mfa_serial", "envrole": "AWS_ACCESS_KEY_ID", "oddrole": "credential_source", "nosource": "default holds no credentials",
		"badsso": "sso-session nothing", "sso": "aws sso login --profile sso", "none": "no AWS profile none", "denied": "AccessDenied not you",
		"half": "AWS profile half has only one of", "containerrole": "no AWS container",
	} {
		w := newWorld(t, config, credentials)
		if got, err := get(t, w.signer(profile)); err == nil || got != (keys{}) || !strings.Contains(err.Error(), want) || oh.KindOf(err) != "" {
			t.Errorf("%s: %+v, %v", profile, got, err)
		}
	}
	w := newWorld(t, config, credentials)
	if _, err := get(t, w.signer("down")); oh.KindOf(err) != oh.KindUnavailable {
		t.Error(err)
	}
}

func TestSignOn(t *testing.T) {
	now := time.Now().UTC()
	hour := now.Add(time.Hour).Format(time.RFC3339)
	past := now.Add(-time.Hour).Format(time.RFC3339)
	for _, tt := range []struct {
		name, profile, start, cache string
		asked                       []string
		fails                       string
	}{
		{"session", "sso", "corp", `{"accessToken":"tok","expiresAt":"` + hour + `"}`, []string{"sso 111 dev with tok"}, ""},
		{"old form", "old sso", "https://old", `{"accessToken":"tok","expiresAt":"` + hour + `"}`, []string{"sso 222 ops with tok"}, ""},
		{"of an older program", "sso", "corp", `{"accessToken":"tok","expiresAt":"` + strings.Replace(hour, "Z", "UTC", 1) + `"}`, []string{"sso 111 dev with tok"}, ""},
		{"no time", "sso", "corp", `{"accessToken":"tok","expiresAt":7}`, nil, "aws sso login"},
		{"ended", "sso", "corp", `{"accessToken":"tok","expiresAt":"` + past + `"}`, nil, "aws sso login"},
		{"no JSON", "sso", "corp", `{`, nil, "aws sso login"},
		{"refused", "sso", "corp", `{"accessToken":"refused","expiresAt":"` + hour + `"}`, []string{"sso 111 dev with refused"}, "aws sso login"},
		{"renewed", "sso", "corp", `{"accessToken":"tok","expiresAt":"` + past + `","refreshToken":"r","clientId":"i","clientSecret":"c","registrationExpiresAt":"` + hour + `","region":"kept"}`,
			[]string{`oidc {"clientId":"i","clientSecret":"c","grantType":"refresh_token","refreshToken":"r"}`, "sso 111 dev with fresh"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, config, credentials)
			file := filepath.Join(w.home, ".aws", "sso", "cache", cacheName(tt.start))
			write(t, file, tt.cache)
			got, err := get(t, w.signer(tt.profile))
			if tt.fails == "" && (err != nil || got != (keys{id: "SSO", secret: "s2", session: "t2"})) || tt.fails != "" && (err == nil || !strings.Contains(err.Error(), tt.fails)) {
				t.Errorf("%+v, %v", got, err)
			}
			if d := cmp.Diff(tt.asked, w.asked); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
			if tt.name != "renewed" {
				return
			}
			raw, err := os.ReadFile(file)
			var kept map[string]string
			if err != nil || json.Unmarshal(raw, &kept) != nil || kept["accessToken"] != "fresh" || kept["refreshToken"] != "again" || kept["region"] != "kept" {
				t.Errorf("kept %s, %v", raw, err)
			}
		})
	}
}

// cacheName is how the AWS command line names what it keeps of a sign-on.
func cacheName(start string) string {
	return map[string]string{
		"corp":        "ee0bfd2552fbd840c02cc48b6e823320543c450f.json",
		"https://old": "3dbfcfb8178f8ce8f73712c57098fc9f2cb54d8c.json",
	}[start]
}

func TestWebIdentity(t *testing.T) {
	w := newWorld(t, "", "")
	token := filepath.Join(w.home, "token")
	write(t, token, "jwt\n")
	w.env["AWS_WEB_IDENTITY_TOKEN_FILE"], w.env["AWS_ROLE_ARN"], w.env["AWS_ROLE_SESSION_NAME"] = token, "arn9", "pod"
	got, err := get(t, w.signer(""))
	if err != nil || got.id != "ASIA-arn9" || cmp.Diff([]string{"AssumeRoleWithWebIdentity arn9 podjwt by nobody"}, w.asked) != "" {
		t.Errorf("%+v, %v, %q", got, err, w.asked)
	}
	w.env["AWS_WEB_IDENTITY_TOKEN_FILE"] = filepath.Join(w.home, "gone")
	if _, err := get(t, w.signer("")); err == nil || !strings.Contains(err.Error(), "web identity token") {
		t.Error(err)
	}
}

func TestMachines(t *testing.T) {
	w := newWorld(t, "", "")
	w.env["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = w.url + "/container"
	token := filepath.Join(w.home, "token")
	write(t, token, "auth\n")
	w.env["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"] = token
	if got, err := get(t, w.signer("")); err != nil || got != (keys{id: "ECS", secret: "s4", session: "t4"}) || w.asked[0] != "container with auth" {
		t.Errorf("%+v, %v, %q", got, err, w.asked)
	}
	for _, far := range []string{"http://example.com/x", "ftp://localhost/", "http://10.0.0.1/", "https://", "::"} {
		w.env["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = far
		if _, err := get(t, w.signer("")); err == nil || !strings.Contains(err.Error(), "FULL_URI") {
			t.Errorf("%s: %v", far, err)
		}
	}
	delete(w.env, "AWS_CONTAINER_CREDENTIALS_FULL_URI")
	delete(w.env, "AWS_EC2_METADATA_DISABLED")
	delete(w.env, "AWS_REGION")
	w.env["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = w.url + "/"
	s := w.signer("")
	if got, err := get(t, s); err != nil || got != (keys{id: "EC2", secret: "s5", session: "t5"}) {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := s.Region(t.Context()); got != "ap-south-1" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestRegion(t *testing.T) {
	w := newWorld(t, config, credentials)
	region := func(cfg Config) string {
		t.Helper()
		cfg.LookupEnv, cfg.Home = lookup(w.env), w.home
		got, err := New(cfg).Region(t.Context())
		if err != nil {
			return err.Error()
		}
		return got
	}
	if got := region(Config{Region: "sa-east-1"}); got != "sa-east-1" {
		t.Error(got)
	}
	if got := region(Config{}); got != "us-west-2" {
		t.Error(got)
	}
	delete(w.env, "AWS_REGION")
	if got := region(Config{}); got != "eu-central-1" {
		t.Error(got)
	}
	if got := region(Config{Profile: "role"}); got != "us-east-2" {
		t.Error(got)
	}
	if got := region(Config{Profile: "base"}); !strings.Contains(got, "set AWS_REGION") {
		t.Error(got)
	}
	if got := region(Config{Region: "not/one"}); !strings.Contains(got, "no AWS region") {
		t.Error(got)
	}
}

func TestProcess(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for out, want := range map[string]string{
		`{"Version":1,"AccessKeyId":"PROC","SecretAccessKey":"s6","SessionToken":"t6","Expiration":"` + later + `"}`: "",
		`{"Version":1,"AccessKeyId":"PROC","SecretAccessKey":"s6"}`:                                                  "",
		`{"Version":2,"AccessKeyId":"PROC","SecretAccessKey":"s6"}`:                                                  "Version 1",
		`{"Version":1}`: "no credentials",
		`sk-secret`:     "no JSON",
		`{"Version":1,"AccessKeyId":"PROC","SecretAccessKey":"s6","Expiration":"2001-01-01T00:00:00Z"}`: "ended already",
	} {
		t.Setenv("OH_TEST_PROCESS", out)
		t.Setenv("GORACE", "atexit_sleep_ms=0")
		w := newWorld(t, "[default]\ncredential_process = \""+self+"\" --flag 'a b'\n", "")
		got, err := get(t, w.signer(""))
		if want == "" && (err != nil || got.id != "PROC") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %+v, %v", out, got, err)
		}
	}
}

func TestNothingFound(t *testing.T) {
	w := newWorld(t, "", "")
	_, err := get(t, w.signer(""))
	if err == nil || !strings.Contains(err.Error(), "aws configure") || !strings.Contains(err.Error(), filepath.Join(w.home, ".aws", "config")) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.signer("role").Sign(request(t, "POST", "http://h/", "{}").WithContext(ctx)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// What a file says is read again when the service refused it.
func TestForget(t *testing.T) {
	w := newWorld(t, "", credentials)
	s := w.signer("base")
	if got, err := get(t, s); got.id != "BASE" || err != nil {
		t.Error(got, err)
	}
	write(t, filepath.Join(w.home, ".aws", "credentials"), "[base]\naws_access_key_id=NEW\naws_secret_access_key=s\n")
	if got, err := get(t, s); got.id != "BASE" || err != nil {
		t.Error(got, err)
	}
	s.Forget()
	if got, err := get(t, s); got.id != "NEW" || err != nil {
		t.Error(got, err)
	}
}

func TestUnreadableFile(t *testing.T) {
	w := newWorld(t, config, credentials)
	w.env["AWS_CONFIG_FILE"] = w.home // a folder
	if _, err := get(t, w.signer("base")); err == nil || !strings.Contains(err.Error(), "read the AWS file") {
		t.Error(err)
	}
	w.env["AWS_CONFIG_FILE"] = "~/.aws/credentials"
	if got := w.signer("").configFile(); got != filepath.Join(w.home, ".aws", "credentials") {
		t.Error(got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(config)
	f.Add(credentials)
	f.Fuzz(func(t *testing.T, text string) {
		for name, s := range parse(text) {
			if strings.ContainsAny(name, "\n]") {
				t.Errorf("section %q", name)
			}
			for k := range s {
				if strings.ContainsAny(k, "=\n") {
					t.Errorf("member %q", k)
				}
			}
		}
	})
}

// TestHalf: one half of a pair is told, not passed over.
func TestHalf(t *testing.T) {
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
		w := newWorld(t, config, credentials)
		w.env[name] = "half-of-it"
		if _, err := get(t, w.signer("")); err == nil || !strings.Contains(err.Error(), "only one of AWS_ACCESS_KEY_ID") || strings.Contains(err.Error(), "half-of-it") {
			t.Error(err)
		}
	}
}
