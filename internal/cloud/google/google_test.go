package google

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
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

// TestMain is a credential command as well.
func TestMain(m *testing.M) {
	if out := os.Getenv("OH_TEST_TOKEN"); out != "" && os.Getenv("GOOGLE_EXTERNAL_ACCOUNT_AUDIENCE") != "" {
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
	key  *rsa.PrivateKey

	mu    sync.Mutex
	asked []string // guarded by mu: what came, in short
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{home: t.TempDir(), env: map[string]string{}}
	srv := httptest.NewServer(w)
	t.Cleanup(srv.Close)
	w.url = srv.URL
	w.env["GCE_METADATA_HOST"] = "127.0.0.1:1" // nobody
	return w
}

func (w *world) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, fmt.Sprintf(format, args...))
}

// ServeHTTP plays token services, the metadata server and another party.
func (w *world) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	form, _ := url.ParseQuery(string(raw))
	switch r.URL.Path {
	case "/token":
		user, pass, _ := r.BasicAuth()
		w.note("%s %s%s%s as %s%s%s%s", form.Get("grant_type"), form.Get("refresh_token"), form.Get("subject_token"), form.Get("audience"), user, pass, form.Get("client_id"), form.Get("client_secret"))
		switch form.Get("refresh_token") {
		case "ended":
			out.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(out, `{"error":"invalid_grant","error_description":"Token has been expired or revoked."}`)
			return
		case "down":
			out.WriteHeader(http.StatusServiceUnavailable)
			return
		case "odd":
			_, _ = io.WriteString(out, `{"id_token":"hidden"}`)
			return
		}
		if jwt := form.Get("assertion"); jwt != "" && !w.valid(jwt) {
			out.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(out, `{"error":"invalid_grant","error_description":"bad signature"}`)
			return
		}
		_, _ = io.WriteString(out, `{"access_token":"at","expires_in":3599,"token_type":"Bearer"}`)
	case "/impersonate":
		w.note("impersonate with %s: %s", r.Header.Get("Authorization"), raw)
		fmt.Fprintf(out, `{"accessToken":"imp","expireTime":%q}`, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	case "/refuse":
		out.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(out, `{"error":{"code":403,"message":"Permission iam.serviceAccounts.getAccessToken denied","status":"PERMISSION_DENIED"}}`)
	case "/party":
		w.note("party with %s", r.Header.Get("X-Party"))
		_, _ = io.WriteString(out, `{"value":"party-token"}`)
	case "/computeMetadata/v1/instance/service-accounts/default/token":
		out.Header().Set("Metadata-Flavor", "Google")
		w.note("metadata %s", r.Header.Get("Metadata-Flavor"))
		_, _ = io.WriteString(out, `{"access_token":"vm","expires_in":1800}`)
	case "/computeMetadata/v1/project/project-id":
		out.Header().Set("Metadata-Flavor", "Google")
		_, _ = io.WriteString(out, "vm-project")
	default:
		http.NotFound(out, r)
	}
}

// valid checks the claim of a service account.
func (w *world) valid(jwt string) bool {
	parts := strings.Split(jwt, ".")
	if len(parts) != 3 {
		return false
	}
	sig, err := base64.RawURLEncoding.DecodeString(parts[2])
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if err != nil || rsa.VerifyPKCS1v15(&w.key.PublicKey, crypto.SHA256, sum[:], sig) != nil {
		return false
	}
	raw, _ := base64.RawURLEncoding.DecodeString(parts[1])
	var claims struct {
		Iss, Aud, Scope string
		Iat, Exp        int64
	}
	return json.Unmarshal(raw, &claims) == nil && claims.Iss == "sa@p" && claims.Aud == w.url+"/token" && claims.Scope == scope &&
		claims.Exp-claims.Iat == 3600
}

func (w *world) write(t *testing.T, path, text string) string {
	t.Helper()
	path = filepath.Join(w.home, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "URL", w.url)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func (w *world) signer(cfg Config) *Signer {
	cfg.LookupEnv = func(name string) (string, bool) {
		v, ok := w.env[name]
		return v, ok
	}
	cfg.Home = w.home
	return New(cfg)
}

// sign returns the headers that matter, or the error.
func (w *world) sign(t *testing.T) (string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://h/", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	err = w.signer(Config{}).Sign(req)
	if err != nil && strings.Contains(err.Error(), "hidden") {
		t.Errorf("a secret shows: %v", err)
	}
	return strings.TrimSpace(req.Header.Get("Authorization") + " " + req.Header.Get("X-Goog-User-Project")), err
}

const user = `{"type":"authorized_user","client_id":"id","client_secret":"-hidden","refresh_token":"rt","quota_project_id":"quota","token_uri":"URL/token"}`

func TestFiles(t *testing.T) {
	const (
		external = `{"type":"external_account","audience":"//aud","subject_token_type":"jwt","token_url":"URL/token"`
		exchange = "urn:ietf:params:oauth:grant-type:token-exchange "
	)
	for _, tt := range []struct {
		name, file, want string
		asked            []string
	}{
		{"user", user, "Bearer at quota", []string{"refresh_token rt as id-hidden"}},
		{"as some programs on Windows write it", "\ufeff" + user, "Bearer at quota", []string{"refresh_token rt as id-hidden"}},
		{"external user", `{"type":"external_account_authorized_user","client_id":"id","client_secret":"s","refresh_token":"rt","token_url":"URL/token"}`,
			"Bearer at", []string{"refresh_token rt as ids"}},
		{"impersonated", `{"type":"impersonated_service_account","service_account_impersonation_url":"URL/impersonate","delegates":["d"],"source_credentials":` + user + `}`,
			"Bearer imp", []string{"refresh_token rt as id-hidden", `impersonate with Bearer at: {"delegates":["d"],"lifetime":"3600s","scope":["` + scope + `"]}`}},
		{"from a file", external + `,"credential_source":{"file":"HOME/subject"}}`, "Bearer at", []string{exchange + "file-token//aud as "}},
		{"from a url", external + `,"service_account_impersonation_url":"URL/impersonate","credential_source":{"url":"URL/party","headers":{"X-Party":"ours"},"format":{"type":"json","subject_token_field_name":"value"}}}`,
			"Bearer imp", []string{"party with ours", exchange + "party-token//aud as ", `impersonate with Bearer at: {"lifetime":"3600s","scope":["` + scope + `"]}`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.write(t, "subject", "file-token\n")
			home, _ := json.Marshal(w.home)
			w.env["GOOGLE_APPLICATION_CREDENTIALS"] = w.write(t, "key.json", strings.ReplaceAll(tt.file, "HOME", strings.Trim(string(home), `"`)))
			if got, err := w.sign(t); got != tt.want || err != nil {
				t.Errorf("%q, %v", got, err)
			}
			if d := cmp.Diff(tt.asked, w.asked); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

func TestServiceAccount(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{
		"PKCS #8": {Type: "PRIVATE KEY", Bytes: p8}, "PKCS #1": {Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)},
	} {
		w := newWorld(t)
		w.key = key
		text, _ := json.Marshal(map[string]string{"type": "service_account", "client_email": "sa@p", "private_key_id": "kid", "project_id": "sap",
			"private_key": string(pem.EncodeToMemory(block)), "token_uri": w.url + "/token"})
		w.env["GOOGLE_APPLICATION_CREDENTIALS"] = w.write(t, "key.json", string(text))
		if got, err := w.sign(t); got != "Bearer at" || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if got, err := w.signer(Config{}).Project(t.Context()); got != "sap" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
}

func TestRefusals(t *testing.T) {
	for file, want := range map[string]string{
		strings.Replace(user, `"rt"`, `"ended"`, 1):           "expired or revoked.; run gcloud auth application-default login",
		strings.Replace(user, `"rt"`, `"odd"`, 1):             "without a token",
		strings.Replace(user, `"rt"`, `""`, 1):                "refresh_token or client_id is missing",
		strings.Replace(user, `URL`, `http://far.example`, 1): "https://",
		`{`: "no JSON object", `{"type":"gdch_service_account"}`: "not known",
		`{"type":"service_account"}`: "missing", `{"type":"service_account","client_email":"a","private_key":"hidden"}`: "PEM",
		`{"type":"external_account"}`: "missing", `{"type":"impersonated_service_account"}`: "missing",
		`{"type":"external_account","audience":"a","subject_token_type":"t","token_url":"URL/token","credential_source":{"environment_id":"aws1"}}`:                                                       "not supported",
		`{"type":"external_account","audience":"a","subject_token_type":"t","token_url":"URL/token","credential_source":{}}`:                                                                              "neither file",
		`{"type":"external_account","audience":"a","subject_token_type":"t","token_url":"URL/token","credential_source":{"executable":{"command":"x"}}}`:                                                  "ALLOW_EXECUTABLES",
		`{"type":"external_account","audience":"a","subject_token_type":"t","token_url":"URL/token","credential_source":{"url":"URL/party","format":{"type":"json","subject_token_field_name":"other"}}}`: `"other"`,
		`{"type":"impersonated_service_account","service_account_impersonation_url":"URL/refuse","source_credentials":` + user + `}`:                                                                      "getAccessToken denied",
	} {
		w := newWorld(t)
		w.env["GOOGLE_APPLICATION_CREDENTIALS"] = w.write(t, "key.json", file)
		if got, err := w.sign(t); err == nil || !strings.Contains(err.Error(), want) || oh.KindOf(err) != "" {
			t.Errorf("%s: %q, %v", file, got, err)
		}
	}
	w := newWorld(t)
	w.env["GOOGLE_APPLICATION_CREDENTIALS"] = w.write(t, "key.json", strings.Replace(user, `"rt"`, `"down"`, 1))
	if _, err := w.sign(t); oh.KindOf(err) != oh.KindUnavailable {
		t.Error(err)
	}
	w.env["GOOGLE_APPLICATION_CREDENTIALS"] = filepath.Join(w.home, "gone")
	if _, err := w.sign(t); err == nil || !strings.Contains(err.Error(), "gone") {
		t.Error(err)
	}
}

func TestExecutable(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GORACE", "atexit_sleep_ms=0")
	for out, want := range map[string]string{
		`{"version":1,"success":true,"id_token":"cmd-token","token_type":"x"}`:    "",
		`{"version":1,"success":false,"code":"401","message":"not in"}`:           "401 not in",
		`{"version":1,"success":true,"id_token":"hidden","expiration_time":1000}`: "ended already",
		`{"version":1,"success":true}`:                                            "no token",
		`hidden`:                                                                  "no JSON",
	} {
		t.Setenv("OH_TEST_TOKEN", out)
		w := newWorld(t)
		command, _ := json.Marshal(`"` + self + `" --x`)
		w.env["GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES"] = "1"
		w.env["GOOGLE_APPLICATION_CREDENTIALS"] = w.write(t, "key.json",
			`{"type":"external_account","audience":"aud","subject_token_type":"t","token_url":"URL/token","credential_source":{"executable":{"command":`+string(command)+`}}}`)
		got, err := w.sign(t)
		if want == "" && (err != nil || got != "Bearer at" || !strings.Contains(w.asked[0], "cmd-token")) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %q, %v", out, got, err)
		}
	}
}

func TestMachine(t *testing.T) {
	w := newWorld(t)
	w.env["GCE_METADATA_HOST"] = strings.TrimPrefix(w.url, "http://")
	if got, err := w.sign(t); got != "Bearer vm" || err != nil || w.asked[0] != "metadata Google" {
		t.Errorf("%q, %v, %q", got, err, w.asked)
	}
	if got, err := w.signer(Config{}).Project(t.Context()); got != "vm-project" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	w.env["GCE_METADATA_HOST"] = "127.0.0.1:1"
	if _, err := w.sign(t); err == nil || !strings.Contains(err.Error(), "gcloud auth application-default login") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://h/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.signer(Config{}).Sign(req); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// gcloud's own file is found without being named; one token serves all.
func TestWellKnown(t *testing.T) {
	w := newWorld(t)
	w.write(t, filepath.Join("cloudsdk", "application_default_credentials.json"), user)
	w.env["CLOUDSDK_CONFIG"] = filepath.Join(w.home, "cloudsdk")
	s := w.signer(Config{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://h/", http.NoBody)
			if err != nil || s.Sign(req) != nil || req.Header.Get("Authorization") != "Bearer at" {
				t.Errorf("%v", err)
			}
		})
	}
	wg.Wait()
	if len(w.asked) != 1 {
		t.Errorf("%q", w.asked)
	}
	s.Forget()
	if _, err := s.token.Get(t.Context()); err != nil || len(w.asked) != 2 {
		t.Errorf("%q, %v", w.asked, err)
	}
}

func TestProject(t *testing.T) {
	w := newWorld(t)
	w.env["CLOUDSDK_CONFIG"] = filepath.Join(w.home, "sdk")
	project := func(cfg Config) string {
		got, err := w.signer(cfg).Project(t.Context())
		if err != nil {
			return err.Error()
		}
		return got
	}
	if got := project(Config{}); !strings.Contains(got, "set GOOGLE_CLOUD_PROJECT") {
		t.Error(got)
	}
	w.write(t, filepath.Join("sdk", "application_default_credentials.json"), user)
	if got := project(Config{}); got != "quota" {
		t.Error(got)
	}
	w.write(t, filepath.Join("sdk", "configurations", "config_default"), "[core]\naccount = a\nproject = usual\n[compute]\nproject = wrong\n")
	if got := project(Config{}); got != "usual" {
		t.Error(got)
	}
	w.write(t, filepath.Join("sdk", "active_config"), "work\n")
	w.write(t, filepath.Join("sdk", "configurations", "config_work"), "[core]\nproject = work-project\n")
	if got := project(Config{}); got != "work-project" {
		t.Error(got)
	}
	w.env["GOOGLE_CLOUD_PROJECT"] = "env"
	w.env["ANTHROPIC_VERTEX_PROJECT_ID"] = "claude"
	if got := project(Config{}); got != "claude" {
		t.Error(got)
	}
	if got := project(Config{Project: "own"}); got != "own" {
		t.Error(got)
	}
}

func TestAddresses(t *testing.T) {
	for in, want := range map[[2]string]string{
		{"p-1", "us-east5"}:     "https://us-east5-aiplatform.googleapis.com/v1/projects/p-1/locations/us-east5",
		{"p-1", "global"}:       "https://aiplatform.googleapis.com/v1/projects/p-1/locations/global",
		{"p-1", "eu"}:           "https://aiplatform.eu.rep.googleapis.com/v1/projects/p-1/locations/eu",
		{"example.com:p", "us"}: "https://aiplatform.us.rep.googleapis.com/v1/projects/example.com:p/locations/us",
		{"p", "evil.com/"}:      "",
		{"p", "x.y"}:            "",
		{"", "global"}:          "",
		{"a/b", "global"}:       "",
	} {
		if got, err := VertexURL(in[0], in[1]); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
	w := newWorld(t)
	if got := w.signer(Config{}).Location(); got != "global" {
		t.Error(got)
	}
	for _, name := range []string{"GOOGLE_CLOUD_REGION", "VERTEXAI_LOCATION", "CLOUD_ML_REGION", "GOOGLE_CLOUD_LOCATION"} {
		w.env[name] = strings.ToLower(name)
		if got := w.signer(Config{}).Location(); got != strings.ToLower(name) {
			t.Error(got)
		}
	}
	if got, err := w.signer(Config{Project: "p", Location: "europe-west1"}).URL(t.Context()); got != "https://europe-west1-aiplatform.googleapis.com/v1/projects/p/locations/europe-west1" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func FuzzAnswers(f *testing.F) {
	f.Add([]byte(`{"access_token":"x","expires_in":3600}`))
	f.Add([]byte(`{"version":1,"success":true,"id_token":"x"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if access, ends, err := readToken(raw); (err == nil) != (access != "") || err == nil && time.Until(ends) < 30*time.Second {
			t.Errorf("%q until %v, %v", access, ends, err)
		}
		if subject, err := readExecutable(raw, time.Now()); (err == nil) != (subject != "") {
			t.Errorf("%q, %v", subject, err)
		}
	})
}

// A network that answers every name is not taken for the metadata server.
func TestNotTheMetadataServer(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "log in here") }))
	defer srv.Close()
	env := map[string]string{"GCE_METADATA_HOST": strings.TrimPrefix(srv.URL, "http://")}
	s := New(Config{LookupEnv: func(name string) (string, bool) { v, ok := env[name]; return v, ok }})
	if p, err := s.Project(t.Context()); err == nil || strings.Contains(err.Error(), "log in here") {
		t.Errorf("project %q, %v", p, err)
	}
}
