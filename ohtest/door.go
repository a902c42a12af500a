package ohtest

import (
	"fmt"
	"mime"
	"net/http"
	"strings"

	"github.com/openharness/oh"
)

// Ends of the paths of requests.
const (
	geminiPath  = ":streamGenerateContent"
	geminiWhole = ":generateContent"
	bedrockPath = "/converse-stream"
)

// wireOf returns the wire of a path, "" when it is that of none.
func wireOf(path string) Wire {
	for end, w := range map[string]Wire{
		"/messages": Anthropic, "/chat/completions": OpenAI, "/responses": Responses,
		geminiPath: Gemini, geminiWhole: Gemini, bedrockPath: Bedrock, "/api/chat": Ollama,
	} {
		if strings.HasSuffix(path, end) {
			return w
		}
	}
	return ""
}

// streamType returns the content type of a wire's streams.
func streamType(w Wire) string {
	switch w {
	case Bedrock:
		return "application/vnd.amazon.eventstream"
	case Ollama:
		return "application/x-ndjson"
	case Gemini:
		return "text/event-stream"
	}
	return "text/event-stream; charset=utf-8"
}

// door checks what comes before the body. It returns steps for a request that
// is not let in.
func (s *Server) door(req *Request) []Step {
	add := func(rule, format string, args ...any) {
		req.Violations = append(req.Violations, Violation{rule, "", fmt.Sprintf(format, args...)})
	}
	if req.Method != http.MethodPost {
		add("method", "the method is %s, not POST", req.Method)
	}
	if kind, _, err := mime.ParseMediaType(req.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		add("content-type", "the content type is %q, not application/json", req.Header.Get("Content-Type"))
	}
	if req.Wire == Anthropic && req.Header.Get("Anthropic-Version") == "" {
		add("version", "the header anthropic-version is required")
	}
	if req.Wire == Gemini && (!strings.HasSuffix(req.Path, geminiPath) || req.query.Get("alt") != "sse") {
		add("stream", "this server only streams: ask for %s?alt=sse", geminiPath)
	}
	key := keyOf(req)
	switch {
	case s.cfg.Key != "" && key != "" && key != s.cfg.Key:
		return []Step{Refusal(req.Wire, oh.KindAuth, 0, "")}
	case key == "" && s.cfg.Key == "" && (s.cfg.Rules.NoAuth || req.Wire == Ollama):
	case key == "" && s.cfg.Key != "":
		return []Step{Refusal(req.Wire, oh.KindAuth, 0, "the request carries no key")}
	case key == "":
		add("auth", "the request carries no key")
		return []Step{Refusal(req.Wire, oh.KindAuth, 0, "the request carries no key (rule auth)")}
	}
	return nil
}

// keyOf returns the key of a request, from where its vendor looks for it. A
// bearer token counts on every wire.
func keyOf(req *Request) string {
	auth := req.Header.Get("Authorization")
	bearer, ok := strings.CutPrefix(auth, "Bearer ")
	if !ok {
		bearer = ""
	}
	own := ""
	switch req.Wire {
	case Anthropic:
		own = req.Header.Get("X-Api-Key")
	case OpenAI, Responses:
		own = req.Header.Get("Api-Key") // Azure
	case Gemini:
		if own = req.Header.Get("X-Goog-Api-Key"); own == "" {
			own = req.query.Get("key")
		}
	case Bedrock:
		// A signature names the key that it was made with.
		if _, rest, ok := strings.Cut(auth, "Credential="); ok {
			own, _, _ = strings.Cut(rest, "/")
		}
	}
	if own != "" {
		return own
	}
	return bearer
}

// isGoogle reports whether a request looks like one to Google.
func isGoogle(req *Request) bool {
	return strings.Contains(req.Path, "/v1beta/") || req.Header.Get("X-Goog-Api-Key") != "" || req.query.Has("key")
}

// models answers the questions for models.
func (s *Server) models(req *Request) (body string, ok bool) {
	switch {
	case strings.HasSuffix(req.Path, "/api/tags"):
		return listOf(s.cfg.Models, `{"name":%[1]s,"model":%[1]s,"modified_at":"2026-01-01T00:00:00Z","size":1,"digest":"0"}`, `{"models":[%s]}`), true
	case isGoogle(req) && strings.HasSuffix(req.Path, "/models"):
		var names []string
		for _, m := range s.cfg.Models {
			names = append(names, "models/"+m)
		}
		return listOf(names, `{"name":%[1]s,"version":"001","displayName":%[1]s,"inputTokenLimit":1048576,"outputTokenLimit":65536,`+
			`"supportedGenerationMethods":["generateContent","countTokens"]}`, `{"models":[%s]}`), true
	case strings.HasSuffix(req.Path, "/models"):
		// One form that clients of both vendors can read.
		return listOf(s.cfg.Models, `{"id":%[1]s,"object":"model","type":"model","display_name":%[1]s,"created":1767225600,"created_at":"2026-01-01T00:00:00Z","owned_by":"ohtest"}`,
			`{"object":"list","data":[%s],"has_more":false}`), true
	}
	return "", false
}

// listOf makes a list of models of the forms of one and of all.
func listOf(models []string, one, all string) string {
	var items []string
	for _, m := range models {
		items = append(items, fmt.Sprintf(one, quote(m)))
	}
	return fmt.Sprintf(all, strings.Join(items, ","))
}
