//go:build unix

package e2e

import (
	"crypto/sha1" // it names a file, as with the AWS command line
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// cloudWorld stands for the services of a cloud. It notes who came with a
// request to a model, and refuses all of those.
type cloudWorld struct {
	*box
	url  string
	mu   sync.Mutex
	came []string
}

func newCloudWorld(t *testing.T) *cloudWorld {
	t.Helper()
	w := &cloudWorld{box: newBox(t, "")}
	srv := httptest.NewServer(w)
	t.Cleanup(srv.Close)
	w.url = srv.URL
	w.env["AWS_ENDPOINT_URL"], w.env["AWS_EC2_METADATA_DISABLED"] = srv.URL, "true"
	w.env["GCE_METADATA_HOST"] = "127.0.0.1:1"
	return w
}

func (w *cloudWorld) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	later := time.Now().Add(time.Hour)
	switch {
	case r.URL.Path == "/": // the token service of AWS
		fmt.Fprintf(out, "<Credentials><AccessKeyId>ROLE</AccessKeyId><SecretAccessKey>%s</SecretAccessKey><SessionToken>st</SessionToken><Expiration>%s</Expiration></Credentials>",
			canary, later.UTC().Format(time.RFC3339))
	case r.URL.Path == "/federation/credentials":
		fmt.Fprintf(out, `{"roleCredentials":{"accessKeyId":"SIGNON","secretAccessKey":%q,"sessionToken":"st","expiration":%d}}`, canary, later.UnixMilli())
	case r.URL.Path == "/token":
		fmt.Fprintf(out, `{"access_token":"ACCESS","expires_in":3600,"token_type":"Bearer"}`)
	case r.URL.Path == "/refuse":
		out.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(out, `{"error":"invalid_grant","error_description":"you sent %s"}`, body)
	case strings.HasPrefix(r.URL.Path, "/computeMetadata/"):
		out.Header().Set("Metadata-Flavor", "Google")
		_, _ = io.WriteString(out, `{"access_token":"MACHINE","expires_in":3600}`)
	default:
		w.mu.Lock()
		w.came = append(w.came, r.Header.Get("Authorization"))
		w.mu.Unlock()
		out.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(out, `{"message":"you came with %s %s"}`, r.Header.Get("Authorization"), r.Header.Get("X-Amz-Security-Token"))
	}
}

// ask runs a prompt and returns who came to the model, and what was said.
func (w *cloudWorld) ask(t *testing.T, args ...string) (who string, r result) {
	t.Helper()
	r = w.oh(append([]string{"-p", "--debug", "hi"}, args...)...)
	w.mu.Lock()
	defer w.mu.Unlock()
	if strings.Contains(r.out+r.err, canary) {
		t.Errorf("a secret is shown: %v", r)
	}
	who = strings.Join(w.came, " ")
	if m := regexp.MustCompile(`Credential=(\w+)/\d+/([\w-]+)/`).FindStringSubmatch(who); m != nil {
		who = m[1] + " in " + m[2]
	}
	return who, r
}

// TestAmazon: the places where the AWS command line keeps credentials, in the
// forms in which people have them.
func TestAmazon(t *testing.T) {
	t.Parallel()
	process := "#!/bin/sh\nprintf '{\"Version\":1,\"AccessKeyId\":\"%s\",\"SecretAccessKey\":\"" + canary + "\"}' \"$1$2\"\n"
	signOn := "[profile s]\nsso_session=corp\nsso_account_id=1\nsso_role_name=r\nregion=us-east-1\n[sso-session corp]\nsso_region=us-east-1\n"
	sum := sha1.Sum([]byte("corp"))
	cache := "/.aws/sso/cache/" + hex.EncodeToString(sum[:]) + ".json"
	until := func(d time.Duration) string { return time.Now().Add(d).UTC().Format("2006-01-02T15:04:05UTC") }
	keys := "aws_access_key_id=%s\r\naws_secret_access_key = " + canary + "\r\n"
	for _, tt := range []struct {
		name   string
		env    string // NAME=VALUE, by spaces
		config string
		files  map[string]string // below the home folder
		want   string            // who comes, or what is said
		code   int
	}{
		{"environment", "AWS_REGION=us-east-1 AWS_ACCESS_KEY_ID=ENV AWS_SECRET_ACCESS_KEY=" + canary, "", nil, "ENV in us-east-1", 4},
		{"half of it", "AWS_REGION=us-east-1 AWS_ACCESS_KEY_ID=ENV", "", nil, "only one of AWS_ACCESS_KEY_ID", 3},
		{"no region", "AWS_ACCESS_KEY_ID=ENV AWS_SECRET_ACCESS_KEY=" + canary, "", nil, "no AWS region is set", 3},
		{"files of Windows", "", "\ufeff# mine\r\n[default] ; x\r\nregion = eu-west-1 # here\r\n", map[string]string{"/.aws/credentials": "\ufeff[default]\r\n" + fmt.Sprintf(keys, "FILE")}, "FILE in eu-west-1", 4},
		{"a role of a role", "AWS_REGION=us-east-1 AWS_PROFILE=a", "[profile a]\nrole_arn=a\nsource_profile=b\n[profile b]\nrole_arn=b\nsource_profile=c\n", map[string]string{"/.aws/credentials": "[c]\n" + fmt.Sprintf(keys, "C")}, "ROLE in us-east-1", 4},
		{"roles in a circle", "AWS_REGION=us-east-1 AWS_PROFILE=a", "[profile a]\nrole_arn=a\nsource_profile=b\n[profile b]\nrole_arn=b\nsource_profile=a\n", nil, "in a circle", 3},
		{"a command with spaces and quotes", "AWS_REGION=us-east-1", `[default]` + "\n" + `credential_process = "HOME/my tools/p.sh" "PRO" 'CESS'` + "\n", map[string]string{"/my tools/p.sh": process}, "PROCESS in us-east-1", 4},
		{"a command that fails with the key", "AWS_REGION=us-east-1", "[default]\ncredential_process = HOME/p.sh\n", map[string]string{"/p.sh": "#!/bin/sh\necho " + canary + "\necho " + canary + " >&2\nexit 3\n"}, "p.sh failed: exit status 3", 3},
		{"a sign-on", "AWS_PROFILE=s", signOn, map[string]string{cache: `{"accessToken":"` + canary + `","expiresAt":"` + until(time.Hour) + `"}`}, "SIGNON in us-east-1", 4},
		{"a sign-on that has ended", "AWS_PROFILE=s", signOn, map[string]string{cache: `{"accessToken":"` + canary + `","expiresAt":"` + until(-time.Hour) + `"}`}, "aws sso login --profile s", 3},
		{"no such profile", "AWS_REGION=us-east-1 AWS_PROFILE=nobody", "[default]\n", nil, "no AWS profile nobody", 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newCloudWorld(t)
			for _, set := range strings.Fields(tt.env) {
				name, value, _ := strings.Cut(set, "=")
				w.env[name] = value
			}
			w.below("/.aws/config", tt.config)
			for name, text := range tt.files {
				w.below(name, text)
			}
			who, r := w.ask(t, "--profile", "bedrock")
			r.wantCode(t, tt.code)
			if who != tt.want && !strings.Contains(r.err, tt.want) {
				t.Errorf("%q came, want %q: %v", who, tt.want, r)
			}
		})
	}
}

// below writes a file that may be run into the home folder.
func (w *cloudWorld) below(name, text string) {
	path := filepath.Join(w.home, name)
	must(w.t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(w.t, os.WriteFile(path, []byte(strings.NewReplacer("HOME", w.home, "SERVER", w.url).Replace(text)), 0o700))
}

// TestGoogle: the credentials of Google's tools and of a machine.
func TestGoogle(t *testing.T) {
	t.Parallel()
	secrets, err := json.Marshal(map[string]string{"type": "external_account_authorized_user", "client_id": "id", "client_secret": canary, "refresh_token": canary + "-2", "token_url": "SERVER/refuse"})
	must(t, err)
	for _, tt := range []struct {
		name, file, want string
		machine          bool
		code             int
	}{
		{"a person's", strings.Replace(string(secrets), "/refuse", "/token", 1), "Bearer ACCESS", false, 4},
		{"with a byte order mark", "\ufeff" + strings.Replace(string(secrets), "/refuse", "/token", 1), "Bearer ACCESS", false, 4},
		{"refused, with what was sent", string(secrets), "refresh_token=[hidden]", false, 3},
		{"cut off", string(secrets[:len(secrets)-3]), "are no JSON object", false, 3},
		{"the machine's", "", "Bearer MACHINE", true, 4},
		{"none", "", "no Google credentials were found", false, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newCloudWorld(t)
			if tt.file != "" {
				w.below("/.config/gcloud/application_default_credentials.json", tt.file)
			}
			if tt.machine {
				w.env["GCE_METADATA_HOST"] = strings.TrimPrefix(w.url, "http://")
			}
			w.env["GOOGLE_API_KEY"] = "AIza" + canary // another service's
			who, r := w.ask(t, "--profile", "vertex", "--base-url", w.url+"/v1/projects/p/locations/global")
			r.wantCode(t, tt.code)
			if who != tt.want && !strings.Contains(r.err, tt.want) {
				t.Errorf("%q came, want %q: %v", who, tt.want, r)
			}
		})
	}
}
