package cloud

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestAskWithholds: a service that repeats in a refusal what it was sent does
// not get its secrets shown; what is no secret and what is granted stays.
func TestAskWithholds(t *testing.T) {
	status := 400
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "no: "+r.Header.Get("Authorization")+" "+r.Header.Get("X-Amz-Sso_bearer_token")+" "+string(body))
	}))
	defer srv.Close()
	ask := func(body string) string {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer secret-1")
		req.Header.Set("X-Amz-Sso_bearer_token", "secret-2")
		_, answer, err := Ask(req, srv.Client(), time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		return string(answer)
	}
	for body, want := range map[string]string{
		"RoleArn=arn:role&WebIdentityToken=secret%2F3&subject_token_type=urn:jwt":   "RoleArn=arn:role&WebIdentityToken=[hidden]&subject_token_type=urn:jwt",
		`{"clientId":"the-id","clientSecret":"secret-4","refreshToken":"secret-5"}`: `{"clientId":"the-id","clientSecret":"[hidden]","refreshToken":"[hidden]"}`,
		"not a form; %zz": "not a form; %zz",
		"":                "",
	} {
		if got := ask(body); got != "no: Bearer [hidden] [hidden] "+want {
			t.Errorf("%s: %s", body, got)
		}
	}
	status = 200
	if got := ask("refresh_token=secret-6"); !strings.Contains(got, "secret-6") {
		t.Error(got)
	}
}
