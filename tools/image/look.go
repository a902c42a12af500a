package image

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/workspace"
)

// lookLimit bounds an image that is looked at, in bytes. Services take no more.
const lookLimit = 5 << 20

type lookInput struct {
	Path   string `json:"image_path,omitempty"`
	Data   string `json:"image_data,omitempty"`
	Prompt string `json:"prompt,omitempty"`
	Type   string `json:"media_type,omitempty" oh:"default=image/png"`
	Tokens int    `json:"max_tokens,omitempty" oh:"min=256,max=16384,default=2048"`
}

func (t tools) look(_ context.Context, call *oh.Call, in lookInput) (oh.Action, error) {
	v, err := t.vision()
	if err != nil {
		return oh.Action{}, err
	}
	access := oh.Access{Upload: true, Parallel: true}
	if v.URL != "" {
		access.URLs = []string{v.URL}
	}
	var load func() ([]byte, string, error)
	switch {
	case in.Path != "" && in.Data != "":
		return oh.Action{}, errors.New("give image_path or image_data, not both")
	case in.Path != "":
		p, err := t.cfg.Workspace.Locate(call.Env.Dir, in.Path)
		if err != nil {
			return oh.Action{}, err
		}
		access.Paths = []oh.PathUse{{Path: p.Path}}
		load = func() ([]byte, string, error) { return t.readImage(p, lookLimit) }
	case in.Data != "":
		data, kind, err := decode(in.Data)
		if err != nil {
			return oh.Action{}, err
		}
		load = func() ([]byte, string, error) { return data, kind, nil }
	default:
		return oh.Action{}, errors.New("there is no image: give image_path or image_data")
	}
	return oh.Action{Access: access, Run: func(ctx context.Context, emit func(oh.Event)) (oh.Result, error) {
		data, kind, err := load()
		if err != nil {
			return oh.Result{}, err
		}
		return v.read(ctx, emit, in, oh.Image{MediaType: kind, Data: data})
	}}, nil
}

func (t tools) vision() (v Vision, err error) {
	if t.cfg.Vision != nil {
		if v, err = t.cfg.Vision(); err != nil {
			return v, fmt.Errorf("the vision model: %w", err)
		}
	}
	if v.Provider == nil || v.Model == "" {
		return v, errors.New("no vision model is configured. A person can set one: vision.model, vision.api_key and vision.base_url in the user's settings, or OPENHARNESS_VISION_MODEL, _API_KEY and _BASE_URL")
	}
	return v, nil
}

// decode reads an image in base64, also as a data address.
func decode(s string) (data []byte, kind string, err error) {
	if rest, ok := strings.CutPrefix(s, "data:"); ok {
		_, s, ok = strings.Cut(rest, ";base64,")
		if !ok {
			return nil, "", errors.New("image_data is a data address without base64")
		}
	}
	s = strings.Map(func(r rune) rune {
		switch r {
		case ' ', '\t', '\r', '\n', '=':
			return -1
		case '-':
			return '+'
		case '_':
			return '/'
		}
		return r
	}, s)
	if n := base64.RawStdEncoding.DecodedLen(len(s)); n > lookLimit {
		return nil, "", fmt.Errorf("image_data has %s bytes, and at most %s can be sent: give a smaller image", text.Number(n), text.Number(lookLimit))
	}
	if data, err = base64.RawStdEncoding.DecodeString(s); err != nil {
		return nil, "", fmt.Errorf("image_data is not base64: %w", err)
	}
	if kind = kindOf(data); kind == "" {
		return nil, "", errors.New("image_data is not a png, jpeg, gif or webp image")
	}
	return data, kind, nil
}

// read asks the model about an image.
func (v Vision) read(ctx context.Context, emit func(oh.Event), in lookInput, img oh.Image) (oh.Result, error) {
	prompt := strings.TrimSpace(text.Clean(in.Prompt))
	if prompt == "" {
		prompt = strings.TrimSpace(describe)
	}
	emit(oh.Status{Text: v.Model + " looks at the image."})
	msg, err := v.ask(ctx, &oh.Request{Profile: v.Profile, Model: v.Model, MaxTokens: in.Tokens, Messages: []oh.Message{
		{ID: "look", Role: oh.User, Content: oh.Blocks{img, oh.Text{Text: prompt}}},
	}})
	if err != nil {
		return oh.Result{}, fmt.Errorf("%s could not look at the image: %w", v.Model, err)
	}
	if msg.Usage != (oh.Usage{}) {
		emit(oh.SideUsage{For: lookName, Profile: v.Profile, Model: v.Model, Usage: msg.Usage})
	}
	answer := strings.TrimSpace(text.Clean(msg.Content.Text()))
	if answer == "" {
		return oh.Result{}, fmt.Errorf("%s said nothing about the image (it stopped with %q)", v.Model, string(msg.Stop))
	}
	if msg.Stop.Cut() {
		answer += "\n\n[The answer was cut at max_tokens.]"
	}
	res := oh.TextResult("What " + v.Model + " sees:\n\n" + answer)
	res.Display = oh.Markdown{Text: answer}
	if res.Meta, err = oh.Marshal(map[string]any{"model": v.Model, "media_type": img.MediaType, "bytes": len(img.Data)}); err != nil {
		return oh.Result{}, err
	}
	return res, nil
}

// ask returns the whole reply.
func (v Vision) ask(ctx context.Context, req *oh.Request) (oh.Message, error) {
	for chunk, err := range v.Provider.Stream(ctx, req) {
		if err != nil {
			return oh.Message{}, err
		}
		if done, ok := chunk.(oh.MessageDone); ok {
			return done.Message, nil
		}
	}
	if err := ctx.Err(); err != nil {
		return oh.Message{}, err
	}
	return oh.Message{}, errors.New("the answer broke off")
}

// places locates files to be read.
func (t tools) places(dir string, paths ...string) ([]workspace.Place, error) {
	var out []workspace.Place
	for _, path := range paths {
		p, err := t.cfg.Workspace.Locate(dir, path)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}
