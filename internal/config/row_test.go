package config

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRowsMatchSettings holds that the table and the struct name the same
// settings.
func TestRowsMatchSettings(t *testing.T) {
	want := []string{"hooks", "lsp_servers", "mcp_servers", "status_line"} // not in the struct under their names
	var walk func(prefix string, typ reflect.Type)
	walk = func(prefix string, typ reflect.Type) {
		for i := range typ.NumField() {
			f := typ.Field(i)
			name := f.Tag.Get("json")
			if name == "-" {
				continue
			}
			if f.Type.Kind() == reflect.Struct && f.Type != reflect.TypeFor[Secret]() {
				walk(prefix+name+".", f.Type)
				continue
			}
			want = append(want, prefix+name)
		}
	}
	walk("", reflect.TypeFor[Settings]())
	var s Settings
	var got []string
	for _, r := range rows(&s) {
		got = append(got, r.key)
		if strings.Contains(r.key, "permission") && !strict(r.key) {
			t.Errorf("%s is not strict", r.key)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, v := range variables() {
		if !slices.Contains(got, v.key) {
			t.Errorf("%s sets %s, which is no setting", v.name, v.key)
		}
	}
}

func TestSecretName(t *testing.T) {
	for name, want := range map[string]bool{
		"api_key": true, "ANTHROPIC_API_KEY": true, "GITHUB_TOKEN": true, "Authorization": true, "X-Api-Key": true, "DB_PASSWORD": true, "aws_secret_access_key": true, "token": true,
		"max_tokens": false, "model": false, "keybindings": false, "PATH": false, "monkey": false, "tokenizer": false, "image_token_estimate": false,
	} {
		if got := SecretName(name); got != want {
			t.Errorf("SecretName(%s) = %v", name, got)
		}
	}
}
