package config

import (
	"bytes"
	"testing"
)

func TestHideUser(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", ""},
		{"https://api.example.com/v1", "https://api.example.com/v1"},
		{"https://api.example.com/v1/@cf/model", "https://api.example.com/v1/@cf/model"},
		{"https://u:pw@h.example:8443/v1", "https://[hidden]@h.example:8443/v1"},
		{"https://token@h.example", "https://[hidden]@h.example"},
		{"https://u:p@w@h.example/v1", "https://[hidden]@h.example/v1"},
		{"http://u:pw%zz@h/v1", "http://[hidden]@h/v1"},
		{"http://u:p w@h/v1", "http://[hidden]@h/v1"},
		{"http://u:pw/x@h/v1", "http://[hidden]@h/v1"},
		{"http://u:pw#x@h/v1", "http://[hidden]@h/v1"},
		{"http://[u:pw@::1", "http://[hidden]@::1"},
		{"u:pw@127.0.0.1:8080", "[hidden]@127.0.0.1:8080"},
		{"https://h/v1?api-version=2024-10-21", "https://h/v1?api-version=2024-10-21"},
		{"https://h/v1?api_key=pw&api-version=1&x=", "https://h/v1?api_key=[hidden]&api-version=1&x="},
		{"https://h/v1?pw", "https://h/v1?[hidden]"},
		{"https://h/v1#pw", "https://h/v1#[hidden]"},
		{"https://u:pw@h/v1?sig=pw#pw", "https://[hidden]@h/v1?sig=[hidden]#[hidden]"},
	} {
		if got := HideUser(tt.in); got != tt.want {
			t.Errorf("%s is shown as %s, want %s", tt.in, got, tt.want)
		}
	}
}

// TestListHides: no listing of settings shows what lies in an address, or in a
// variable that a profile takes its key from.
func TestListHides(t *testing.T) {
	p := newPlace(t, map[string]string{"user": `{
		"base_url": "http://127.0.0.1/v1?api_key=CANARY",
		"catalog_url": "https://h/list?sig=CANARY",
		"env": {"MY_THING": "CANARY", "HTTPS_PROXY": "u:CANARY@proxy:8080", "DATABASE": "pg://u:CANARY@h/db", "PLAIN": "me@example.com"},
		"profiles": {"me": {"base_url": "http://u:CANARY%zz@h/v1", "api_key_env": "MY_THING"}},
		"mcp_servers": {"x": {"type": "http", "url": "https://h/mcp?token=CANARY"}, "y": {"command": "run", "args": ["https://u:CANARY@h/x"]}}
	}`})
	plain := false
	for _, e := range p.load(false).List() {
		if bytes.Contains(e.Value, []byte("CANARY")) {
			t.Errorf("%s is shown as %s", e.Key, e.Value)
		}
		plain = plain || string(e.Value) == `"me@example.com"`
	}
	if !plain {
		t.Error("a text that is no address is hidden too")
	}
}
