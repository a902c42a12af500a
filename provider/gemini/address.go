package gemini

import (
	"errors"
	"net/url"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider"
)

// DefaultURL is the base URL when the configuration has none.
const DefaultURL = "https://generativelanguage.googleapis.com/v1beta"

// VertexURL is the base URL of Vertex AI in express mode: an API key, and
// neither project nor location.
const VertexURL = "https://aiplatform.googleapis.com/v1"

const method = ":streamGenerateContent"

// url returns where a request for a model goes.
func (c *codec) url(model string) (*url.URL, error) {
	vertex := c.link.Config().Host == provider.Vertex
	fallback := DefaultURL
	if vertex {
		fallback = VertexURL
	}
	u, err := c.link.BaseURL(fallback)
	if err != nil {
		return nil, err
	}
	name := strings.Trim(strings.TrimSpace(model), "/")
	if name == "" {
		return nil, c.link.Fail(oh.KindInvalid, errors.New("no model is named; set one, such as gemini-2.5-flash"))
	}
	base := bare(u.Path)
	if vertex || strings.HasSuffix(base, "/publishers/google") || strings.Contains(base, "/locations/") {
		u.Path = vertexPath(base, name)
	} else {
		u.Path = versioned(base, "/v1beta") + "/" + resource(name)
	}
	u.Path += method
	q := u.Query()
	q.Set("alt", "sse")
	u.RawQuery = q.Encode()
	return u, nil
}

// bare is a base path without what names a method or a collection, and without
// the address of the compatible API, which people copy from elsewhere.
func bare(path string) string {
	if i := strings.LastIndexByte(path, ':'); i >= 0 && strings.HasSuffix(strings.ToLower(path[i:]), "generatecontent") {
		path = path[:strings.LastIndexByte(path[:i], '/')+1]
	}
	path = strings.TrimSuffix(strings.TrimRight(path, "/"), "/models")
	if before, ok := strings.CutSuffix(path, "/openai"); ok && isVersion(last(before)) {
		path = before
	}
	return path
}

// versioned ends a base path with a version of the API.
func versioned(base, version string) string {
	if isVersion(last(base)) {
		return base
	}
	return base + version
}

// isVersion reports names such as v1 and v1beta1.
func isVersion(s string) bool {
	return len(s) > 1 && s[0] == 'v' && s[1] >= '0' && s[1] <= '9'
}

func last(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// resource names a model at Google AI.
func resource(name string) string {
	switch {
	case strings.HasPrefix(name, "tunedModels/"):
		return name
	case strings.HasPrefix(name, "models/"), strings.HasPrefix(name, "google/"),
		strings.HasPrefix(name, "publishers/"), strings.HasPrefix(name, "projects/"):
		return "models/" + last(name)
	}
	return "models/" + name
}

// vertexPath is the path of a model at Vertex AI: of a publisher's or, by its
// full name, of one that the project has.
func vertexPath(base, name string) string {
	i := strings.Index(base, "/projects/")
	switch {
	case strings.HasPrefix(name, "projects/"):
		if i >= 0 {
			base = base[:i]
		}
		return versioned(base, "/v1") + "/" + name
	case strings.HasPrefix(name, "endpoints/"):
		return base + "/" + name
	}
	publisher := "google"
	switch parts := strings.Split(name, "/"); {
	case len(parts) == 4 && parts[0] == "publishers" && parts[2] == "models":
		publisher, name = parts[1], parts[3]
	case len(parts) == 2 && parts[0] != "models":
		publisher, name = parts[0], parts[1]
	default:
		name = strings.TrimPrefix(name, "models/")
	}
	base = strings.TrimSuffix(base, "/publishers/google")
	if i < 0 {
		base = versioned(base, "/v1")
	}
	return base + "/publishers/" + publisher + "/models/" + name
}
