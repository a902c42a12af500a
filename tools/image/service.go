package image

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
)

const (
	openAI       = "https://api.openai.com/v1"
	defaultModel = "gpt-image-2"
	defaultTime  = 180 * time.Second
	mostAnswer   = 256 << 20 // bytes
	mostWords    = 500       // code points of what a service says
)

// service returns the configured service, and fills in the model.
func (t tools) service(in *drawInput) (s Service, err error) {
	if t.cfg.Service != nil {
		if s, err = t.cfg.Service(); err != nil {
			return s, fmt.Errorf("the image service: %w", err)
		}
	}
	provider := in.Provider
	if provider == "auto" && s.Provider != "" {
		provider = s.Provider
	}
	switch provider {
	case "auto", "openai":
	case "codex":
		return s, errors.New("the provider codex draws on a ChatGPT subscription, which is not supported; use openai with an API key (image_generation.provider and image_generation.api_key)")
	default:
		return s, fmt.Errorf("the setting image_generation.provider is %q, but must be auto, openai or codex", text.OneLine(provider, 40))
	}
	if s.Key == "" && s.BaseURL == "" {
		return s, errors.New("no image service is configured. A person can set one: image_generation.api_key in the user's settings or OPENHARNESS_IMAGE_GENERATION_API_KEY, and image_generation.base_url for a service other than OpenAI")
	}
	if s.BaseURL == "" {
		s.BaseURL = openAI
	}
	u, err := url.Parse(s.BaseURL)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return s, errors.New("the setting image_generation.base_url is not an http or https address")
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return s, errors.New("the setting image_generation.base_url must be a plain address, without name and password, query or fragment")
	}
	s.BaseURL = strings.TrimRight(u.String(), "/")
	if in.Model = strings.TrimSpace(text.Clean(in.Model)); in.Model == "" {
		in.Model = s.Model
	}
	if in.Model == "" {
		in.Model = defaultModel
	}
	return s, nil
}

func (s Service) address(edit bool) string {
	if edit {
		return s.BaseURL + "/images/edits"
	}
	return s.BaseURL + "/images/generations"
}

// request is what a service is asked for. With files it is an edit.
type request struct {
	in    drawInput
	files []file
}

type file struct {
	mask bool
	kind string
	data []byte
}

// fields are the members of a request. Only OpenAI's own models know most of
// them, and only others have to be told to answer with the image itself.
func (r request) fields() map[string]any {
	in := r.in
	out := map[string]any{"model": in.Model, "prompt": in.Prompt, "n": in.N}
	set := func(name, value, unless string) {
		if value != "" && value != unless {
			out[name] = value
		}
	}
	if !strings.Contains(in.Model, "gpt-image") {
		out["response_format"] = "b64_json"
		set("size", in.Size, "auto")
		set("quality", in.Quality, "medium")
		return out
	}
	set("size", in.Size, "")
	set("quality", in.Quality, "")
	set("background", in.Background, "")
	set("output_format", in.Format, "")
	set("input_fidelity", in.Fidelity, "")
	if len(r.files) == 0 {
		set("moderation", in.Moderation, "")
	}
	if in.Compression != nil {
		out["output_compression"] = *in.Compression
	}
	return out
}

// body encodes the request: JSON, or a form when there are files.
func (r request) body() (body []byte, kind string, err error) {
	if len(r.files) == 0 {
		body, err = oh.Marshal(r.fields())
		return body, "application/json", err
	}
	var buf bytes.Buffer
	w := multipart.NewWriter(&buf)
	for name, value := range r.fields() {
		if err := w.WriteField(name, fmt.Sprint(value)); err != nil {
			return nil, "", err
		}
	}
	field := "image"
	if len(r.files) > 2 || len(r.files) == 2 && !r.files[1].mask {
		field = "image[]"
	}
	for i, f := range r.files {
		name := field
		if f.mask {
			name = "mask"
		}
		part, err := w.CreatePart(textproto.MIMEHeader{
			"Content-Disposition": {fmt.Sprintf(`form-data; name="%s"; filename="%d.%s"`, name, i+1, strings.TrimPrefix(f.kind, "image/"))},
			"Content-Type":        {f.kind},
		})
		if err != nil {
			return nil, "", err
		}
		if _, err := part.Write(f.data); err != nil {
			return nil, "", err
		}
	}
	if err := w.Close(); err != nil {
		return nil, "", err
	}
	return buf.Bytes(), w.FormDataContentType(), nil
}

// send asks the service once.
func (s Service) send(parent context.Context, r request) (made, error) {
	body, kind, err := r.body()
	if err != nil {
		return made{}, fmt.Errorf("encode the request for images: %w", err)
	}
	limit := s.Timeout
	if limit <= 0 {
		limit = defaultTime
	}
	ctx, cancel := context.WithTimeout(parent, limit)
	defer cancel()
	address := s.address(len(r.files) > 0)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return made{}, fmt.Errorf("image service: %w", err)
	}
	req.Header.Set("Content-Type", kind)
	req.Header.Set("Accept", "application/json")
	if s.Key != "" {
		req.Header.Set("Authorization", "Bearer "+string(s.Key))
	}
	status, answer, err := s.do(req)
	switch {
	case parent.Err() != nil:
		return made{}, parent.Err()
	case ctx.Err() != nil && err != nil:
		return made{}, fmt.Errorf("%s did not answer within %v; it may have made the images, and charge for them, all the same", req.URL.Host, limit)
	case err != nil:
		return made{}, fmt.Errorf("%s: %w", req.URL.Host, err)
	case status != http.StatusOK:
		return made{}, s.refusal(req.URL.Host, status, answer)
	}
	return read(req.URL.Host, answer)
}

func (s Service) do(req *http.Request) (status int, body []byte, err error) {
	client := http.Client{}
	if s.Client != nil {
		client = *s.Client
	} else {
		client.Transport = &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, DisableKeepAlives: true,
			TLSHandshakeTimeout: 20 * time.Second}
	}
	// The key and the images are for this address only.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := client.Do(req)
	if err != nil {
		if inner, ok := errors.AsType[*url.Error](err); ok {
			err = inner.Err // without the address, which is named already
		}
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err = io.ReadAll(io.LimitReader(resp.Body, mostAnswer+1))
	switch {
	case err != nil:
		return 0, nil, fmt.Errorf("the answer broke off: %w", err)
	case len(body) > mostAnswer:
		return 0, nil, fmt.Errorf("the answer has more than %s bytes", text.Number(mostAnswer))
	}
	return resp.StatusCode, body, nil
}

// refusal words an answer that is none.
func (s Service) refusal(host string, status int, body []byte) error {
	var e struct {
		Error struct {
			Message string `json:"message"`
			Code    any    `json:"code"`
		} `json:"error"`
	}
	words := ""
	if json.Unmarshal(body, &e) == nil && e.Error.Message != "" {
		words = e.Error.Message
	} else if !bytes.Contains(body[:min(len(body), 500)], []byte("<")) {
		words = string(body[:min(len(body), 4*mostWords)])
	}
	if s.Key != "" {
		words = strings.ReplaceAll(words, string(s.Key), "[key]")
	}
	msg := fmt.Sprintf("%s answered %d %s", host, status, http.StatusText(status))
	if words = text.OneLine(text.Clean(words), mostWords); words != "" {
		msg += ": " + words
	}
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		msg += " (a person can check the key: image_generation.api_key or OPENHARNESS_IMAGE_GENERATION_API_KEY)"
	case status == http.StatusNotFound:
		msg += " (check the model, and image_generation.base_url)"
	case status >= 300 && status < 400:
		msg += " (redirects are not followed: check image_generation.base_url)"
	}
	return errors.New(msg)
}

// made is what a service gave.
type made struct {
	images [][]byte
	links  []string // where images can be had that were not sent
	words  string   // the prompt as the service changed it
	usage  oh.Usage
}

// read takes the images out of an answer.
func read(host string, body []byte) (made, error) {
	var answer struct {
		Data []struct {
			B64     string `json:"b64_json"`
			URL     string `json:"url"`
			Revised string `json:"revised_prompt"`
		} `json:"data"`
		Usage struct {
			Input  int `json:"input_tokens"`
			Output int `json:"output_tokens"`
		} `json:"usage"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return made{}, fmt.Errorf("%s sent something else than the JSON of images: %w", host, err)
	}
	m := made{usage: oh.Usage{InputTokens: max(answer.Usage.Input, 0), OutputTokens: max(answer.Usage.Output, 0)}}
	for i, d := range answer.Data {
		if m.words == "" {
			m.words = text.OneLine(text.Clean(d.Revised), 1000)
		}
		switch data, err := base64.StdEncoding.DecodeString(d.B64); {
		case err != nil:
			return made{}, fmt.Errorf("%s sent image %d broken: %w", host, i+1, err)
		case len(data) > 0:
			m.images = append(m.images, data)
		case d.URL != "":
			m.links = append(m.links, text.OneLine(text.Clean(d.URL), 2000))
		}
	}
	if len(m.images) == 0 && len(m.links) == 0 {
		return made{}, fmt.Errorf("%s answered without an image", host)
	}
	return m, nil
}
