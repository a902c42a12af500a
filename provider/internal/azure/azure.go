// Package azure addresses OpenAI's wires at Azure: where a request goes for
// each form of base URL that people have, and in which header the key is.
//
// It knows nothing of messages, sends nothing and holds no key.
package azure

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/openharness/oh/provider"
)

// The versions for addresses that demand one when the base URL names none.
const (
	deploymentVersion = "2024-10-21"
	modelsVersion     = "2024-05-01-preview"
)

// firstResponses is the oldest version that knows the responses wire; an older
// one is not meant for it.
const firstResponses = "2025-03"

// endpoints are the ends of addresses that are copied whole out of the portal.
var endpoints = [...]string{"/chat/completions", "/responses"}

// URL returns the address of a wire, such as chat/completions or responses, for
// a base URL in one of these forms, each with or without ?api-version=:
//
//	https://RES.openai.azure.com        also *.cognitiveservices.azure.com and others
//	…/openai   …/openai/v1              also below a gateway's or a project's path
//	…/openai/deployments/NAME           the deployment is NAME whatever the model
//	https://RES.services.ai.azure.com/models
//
// or such an address with the wire's own path at its end. Without a version it
// is the v1 address, where the model goes in the body; with a dated one it is
// that of the deployment that the model names, or for the responses wire, which
// has none for deployments, the one below /openai. base is not changed.
func URL(base *url.URL, wirePath, model string) *url.URL {
	u := *base
	u.RawPath = ""
	path := strings.TrimRight(u.Path, "/")
	for _, end := range endpoints {
		path = strings.TrimSuffix(path, end)
	}
	chat := wirePath != "responses"
	root, rest := split(path)
	v := u.Query().Get("api-version")
	dated := isDated(v)
	switch name, named := strings.CutPrefix(rest, "/deployments/"); {
	case strings.HasSuffix(path, "/models") && rest == "" && chat:
		u.Path = path + "/" + wirePath
		version(&u, modelsVersion, false)
	case rest == "/v1", !dated && !(named && chat), !chat && v < firstResponses:
		u.Path = root + "/v1/" + wirePath
		undated(&u, dated)
	case !chat:
		u.Path = root + "/" + wirePath
	default:
		if name, _, _ = strings.Cut(name, "/"); name == "" {
			name = model
		}
		u.Path = root + "/deployments/" + name + "/" + wirePath
		u.RawPath = escaped(root) + "/deployments/" + url.PathEscape(name) + "/" + escaped(wirePath)
		version(&u, deploymentVersion, !dated)
	}
	return &u
}

// split divides a path behind its segment openai, which is added where it is
// missing: behind a gateway's own path, and in place of what Azure has beside it.
func split(path string) (root, rest string) {
	const segment = "/openai"
	if i := strings.LastIndex(path+"/", segment+"/"); i >= 0 {
		return path[:i+len(segment)], path[i+len(segment):]
	}
	for _, beside := range [...]string{"/models", "/v1"} {
		path = strings.TrimSuffix(path, beside)
	}
	return path + segment, ""
}

// isDated reports a version that the v1 address does not take.
func isDated(version string) bool {
	switch strings.ToLower(strings.TrimSpace(version)) {
	case "", "v1", "preview", "latest":
		return false
	}
	return true
}

// version puts a version into the query if there is none, or in any case.
func version(u *url.URL, v string, always bool) {
	q := u.Query()
	if q.Get("api-version") == "" || always {
		q.Set("api-version", v)
		u.RawQuery = q.Encode()
	}
}

// undated takes a dated version out of the query.
func undated(u *url.URL, dated bool) {
	if dated {
		q := u.Query()
		q.Del("api-version")
		u.RawQuery = q.Encode()
	}
}

func escaped(path string) string { return (&url.URL{Path: path}).EscapedPath() }

// ErrNoURL says that the configuration has no base URL, for which Azure has no
// default.
var ErrNoURL = errors.New("Azure needs a base URL, such as https://RESOURCE.openai.azure.com")

// Header returns a header with the credentials of the configuration: the key as
// api-key, the token as bearer.
func Header(cfg *provider.Config) http.Header {
	h := http.Header{}
	if cfg.Key != "" {
		h.Set("Api-Key", cfg.Key)
	}
	if cfg.Token != "" {
		h.Set("Authorization", "Bearer "+cfg.Token)
	}
	return h
}
