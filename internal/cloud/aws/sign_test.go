package aws

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

const exampleToken = "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA=="

func request(t *testing.T, method, url, body string) *http.Request {
	t.Helper()
	var r io.Reader = http.NoBody
	if body != "" {
		r = bytes.NewReader([]byte(body))
	}
	req, err := http.NewRequestWithContext(t.Context(), method, url, r)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

// The vectors are those of Amazon's test suite for signatures of version 4.
func TestKnownSignatures(t *testing.T) {
	for _, tt := range []struct{ method, path, body, contentType, session, want string }{
		{"GET", "/", "", "", "", "host;x-amz-date, Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
		{"POST", "/", "", "", "", "host;x-amz-date, Signature=5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
		{"GET", "/?Param2=value2&Param1=value1", "", "", "", "host;x-amz-date, Signature=b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
		{"POST", "/", "Param1=value1", "application/x-www-form-urlencoded", "", "content-type;host;x-amz-date, Signature=ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"},
		{"POST", "/", "", "", exampleToken, "host;x-amz-date;x-amz-security-token, Signature=85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead"},
	} {
		s := New(Config{})
		s.now = func() time.Time { return time.Date(2015, 8, 30, 12, 36, 0, 0, time.UTC) }
		req := request(t, tt.method, "https://example.amazonaws.com"+tt.path, tt.body)
		if tt.contentType != "" {
			req.Header.Set("Content-Type", tt.contentType)
		}
		req.Header.Set("X-Gateway", "may change")
		k := keys{id: "AKIDEXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", session: tt.session}
		if err := s.sign(req, k, "service", "us-east-1"); err != nil {
			t.Fatal(err)
		}
		got := req.Header.Get("Authorization")
		want := "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=" + tt.want
		if got != want || req.Header.Get("X-Amz-Date") != "20150830T123600Z" || req.Header.Get("X-Amz-Security-Token") != tt.session {
			t.Errorf("%s %s: %v\nwant %s", tt.method, tt.path, req.Header, want)
		}
		if raw, err := io.ReadAll(req.Body); err != nil || string(raw) != tt.body {
			t.Errorf("the body is %q, %v", raw, err)
		}
	}
}

// What is signed is the body, the path as it is sent, the region of the host.
func TestSign(t *testing.T) {
	env := map[string]string{"AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "sk-secret", "AWS_SESSION_TOKEN": "st", "AWS_REGION": "eu-west-1"}
	sign := func(url, body string) http.Header {
		s := New(Config{LookupEnv: lookup(env)})
		s.now = func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }
		req := request(t, "POST", url, body)
		if err := s.Sign(req); err != nil {
			t.Fatal(err)
		}
		return req.Header
	}
	a := sign("https://bedrock-runtime.us-west-2.amazonaws.com/model/a%3A0/converse-stream", "{}")
	if got := a.Get("Authorization"); !strings.Contains(got, "Credential=AKID/20260102/us-west-2/bedrock/aws4_request") || a.Get("X-Amz-Security-Token") != "st" {
		t.Errorf("%v", a)
	}
	for _, other := range []http.Header{
		sign("https://bedrock-runtime.us-west-2.amazonaws.com/model/a%3A0/converse-stream", "{ }"),
		sign("https://bedrock-runtime.us-west-2.amazonaws.com/model/b%3A0/converse-stream", "{}"),
	} {
		if a.Get("Authorization") == other.Get("Authorization") {
			t.Error("two requests have one signature")
		}
	}
	if got := sign("http://gateway.local/model/a/converse-stream", "{}").Get("Authorization"); !strings.Contains(got, "/eu-west-1/bedrock/") {
		t.Error(got)
	}
	req := request(t, "POST", "http://h/", "{}")
	req.GetBody = nil
	if err := New(Config{LookupEnv: lookup(env)}).Sign(req); err == nil {
		t.Error("a body that cannot be read twice was signed")
	}
}

func TestBearer(t *testing.T) {
	s := New(Config{LookupEnv: lookup(map[string]string{"AWS_BEARER_TOKEN_BEDROCK": " tok\n", "AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "x"})})
	req := request(t, "POST", "http://h/", "{}")
	if err := s.Sign(req); err != nil || req.Header.Get("Authorization") != "Bearer tok" || req.Header.Get("X-Amz-Date") != "" {
		t.Errorf("%v, %v", req.Header, err)
	}
}

func TestHostRegion(t *testing.T) {
	for host, want := range map[string]string{
		"bedrock-runtime.us-east-1.amazonaws.com":               "us-east-1",
		"bedrock-runtime-fips.us-gov-west-1.amazonaws.com":      "us-gov-west-1",
		"bedrock-runtime.cn-north-1.amazonaws.com.cn":           "cn-north-1",
		"vpce-1-x.bedrock-runtime.eu-west-1.vpce.amazonaws.com": "eu-west-1",
		"bedrock-runtime.eu-west-1.api.aws":                     "eu-west-1",
		"bedrock-runtime.amazonaws.com":                         "",
		"x.execute-api.us-east-1.amazonaws.com":                 "us-east-1",
		"localhost":                                             "",
		"us-east-1.example.com":                                 "",
	} {
		if got := hostRegion(host); got != want {
			t.Errorf("%s: %q, want %q", host, got, want)
		}
	}
}

func TestURLs(t *testing.T) {
	for region, want := range map[string]string{
		"us-east-1": "https://bedrock-runtime.us-east-1.amazonaws.com", "cn-north-1": "https://bedrock-runtime.cn-north-1.amazonaws.com.cn",
		"": "", "evil.com/": "", "us east": "", "-x": "", "US-EAST-1": "",
	} {
		if got, err := BedrockURL(region); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", region, got, err)
		}
	}
	for want, env := range map[string]map[string]string{
		"http://local/x": {"AWS_ENDPOINT_URL_BEDROCK_RUNTIME": "http://local/x/", "AWS_ENDPOINT_URL": "http://y"},
		"http://y":       {"AWS_ENDPOINT_URL": "http://y"},
		"https://bedrock-runtime.eu-north-1.amazonaws.com": {"AWS_DEFAULT_REGION": "eu-north-1"},
	} {
		if got, err := New(Config{LookupEnv: lookup(env)}).URL(context.Background()); got != want || err != nil {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
}

func lookup(env map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		v, ok := env[name]
		return v, ok
	}
}
