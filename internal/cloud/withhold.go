package cloud

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// minSecret is the length, in bytes, from which on a value is hidden: what is
// shorter is found in other words too.
const minSecret = 6

// withhold takes the secrets of a request out of an answer that repeats them.
func withhold(req *http.Request, answer []byte) []byte {
	for _, secret := range sent(req) {
		for _, form := range []string{secret, url.QueryEscape(secret), strings.ReplaceAll(secret, "\n", `\n`)} {
			answer = bytes.ReplaceAll(answer, []byte(form), []byte("[hidden]"))
		}
	}
	return answer
}

// sent returns the secrets that a request holds, in its headers and in its form
// or object.
func sent(req *http.Request) []string {
	var out []string
	add := func(text string) {
		if len(text) >= minSecret {
			out = append(out, text)
		}
	}
	for name, values := range req.Header {
		for _, v := range values {
			if _, word, ok := strings.Cut(v, " "); ok && name == "Authorization" {
				add(word)
			} else if name == "Authorization" || secretName(name) {
				add(v)
			}
		}
	}
	for name, text := range members(req) {
		if secretName(name) {
			add(text)
		}
	}
	return out
}

// members returns the body of a request as names with texts.
func members(req *http.Request) map[string]string {
	out := map[string]string{}
	if req.GetBody == nil {
		return out
	}
	body, err := req.GetBody()
	if err != nil {
		return out
	}
	defer func() { _ = body.Close() }()
	raw, err := io.ReadAll(body)
	if err != nil || json.Unmarshal(raw, &out) == nil {
		return out
	}
	form, err := url.ParseQuery(string(raw))
	if err != nil {
		return out
	}
	for name := range form {
		out[name] = form.Get(name)
	}
	return out
}

func secretName(name string) bool {
	s := strings.ToLower(name)
	if strings.HasSuffix(s, "_type") || strings.HasSuffix(s, "ttl-seconds") {
		return false
	}
	return strings.Contains(s, "secret") || strings.Contains(s, "token") || strings.Contains(s, "assertion")
}
