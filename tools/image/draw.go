package image

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/workspace"
)

const (
	sourceLimit = 20 << 20 // bytes of one image that is edited
	sourceTotal = 64 << 20 // bytes of all of them, with the mask
	mostSources = 16
	mostPrompt  = 32_000 // code points
)

type drawInput struct {
	Prompt      string   `json:"prompt"`
	Provider    string   `json:"provider,omitempty" oh:"enum=auto|openai|codex,default=auto"`
	Images      []string `json:"image_paths,omitempty" oh:"maxItems=16"`
	Mask        string   `json:"mask_path,omitempty"`
	Path        string   `json:"output_path,omitempty"`
	Dir         string   `json:"output_dir,omitempty" oh:"default=generated_images"`
	Model       string   `json:"model,omitempty"`
	N           int      `json:"n,omitempty" oh:"min=1,max=10,default=1"`
	Size        string   `json:"size,omitempty" oh:"default=auto"`
	Quality     string   `json:"quality,omitempty" oh:"default=medium"`
	Background  string   `json:"background,omitempty" oh:"enum=transparent|opaque|auto"`
	Format      string   `json:"output_format,omitempty" oh:"enum=png|jpeg|webp,default=png"`
	Compression *int     `json:"output_compression,omitempty" oh:"min=0,max=100"`
	Fidelity    string   `json:"input_fidelity,omitempty" oh:"enum=low|high"`
	Moderation  string   `json:"moderation,omitempty"`
	Overwrite   bool     `json:"overwrite,omitempty" oh:"default=false"`
}

// drawing is a prepared call of image_generation.
type drawing struct {
	tools
	service Service
	in      drawInput
	env     *oh.Env
	sources []workspace.Place
	mask    []workspace.Place // one or none
	outputs []workspace.Place
}

func (t tools) draw(_ context.Context, call *oh.Call, in drawInput) (oh.Action, error) {
	in.Prompt = strings.TrimSpace(text.Clean(in.Prompt))
	if err := in.check(); err != nil {
		return oh.Action{}, err
	}
	s, err := t.service(&in)
	if err != nil {
		return oh.Action{}, err
	}
	d := drawing{tools: t, service: s, in: in, env: call.Env}
	if d.sources, err = t.places(call.Env.Dir, in.Images...); err != nil {
		return oh.Action{}, fmt.Errorf("image_paths: %w", err)
	}
	if in.Mask != "" {
		if d.mask, err = t.places(call.Env.Dir, in.Mask); err != nil {
			return oh.Action{}, fmt.Errorf("mask_path: %w", err)
		}
	}
	if d.outputs, err = t.outputs(call.Env.Dir, in); err != nil {
		return oh.Action{}, err
	}
	access := oh.Access{Upload: true, URLs: []string{s.address(len(in.Images) > 0)}}
	for _, p := range slices.Concat(d.sources, d.mask) {
		access.Paths = append(access.Paths, oh.PathUse{Path: p.Path})
	}
	for _, p := range d.outputs {
		access.Paths = append(access.Paths, oh.PathUse{Path: p.Path, Write: true})
	}
	return oh.Action{Access: access, Run: d.run}, nil
}

func (in drawInput) check() error {
	switch {
	case in.Prompt == "":
		return errors.New("prompt is empty: say what the image shows")
	case len([]rune(in.Prompt)) > mostPrompt:
		return fmt.Errorf("prompt has more than %s characters: shorten it", text.Number(mostPrompt))
	case len(in.Images) > mostSources:
		return fmt.Errorf("image_paths has %d images, and at most %d can be sent", len(in.Images), mostSources)
	case in.Mask != "" && len(in.Images) == 0:
		return errors.New("mask_path needs the image it belongs to in image_paths")
	case in.Fidelity != "" && len(in.Images) == 0:
		return errors.New("input_fidelity needs an image in image_paths")
	}
	return nil
}

func (d drawing) run(ctx context.Context, emit func(oh.Event)) (oh.Result, error) {
	if err := d.mayWrite(); err != nil {
		return oh.Result{}, err
	}
	files, err := d.load()
	if err != nil {
		return oh.Result{}, err
	}
	emit(oh.Status{Text: d.in.Model + " makes " + text.Plural(d.in.N, "image") + "."})
	made, err := d.service.send(ctx, request{d.in, files})
	if err != nil {
		return oh.Result{}, err
	}
	if made.usage != (oh.Usage{}) {
		emit(oh.SideUsage{For: drawName, Model: d.in.Model, Usage: made.usage})
	}
	return d.save(made)
}

// load reads the images that are edited, and the mask.
func (d drawing) load() ([]file, error) {
	var files []file
	total := 0
	for i, p := range slices.Concat(d.sources, d.mask) {
		data, kind, err := d.readImage(p, sourceLimit)
		if err != nil {
			return nil, err
		}
		mask := i == len(d.sources)
		if kind == "image/gif" || mask && kind != "image/png" {
			return nil, fmt.Errorf("%s is %s: images to edit have to be png, jpeg or webp, and a mask png; nothing was sent", p.Path, kind)
		}
		if total += len(data); total > sourceTotal {
			return nil, fmt.Errorf("the images have more than %s bytes together: give fewer or smaller ones; nothing was sent", text.Number(sourceTotal))
		}
		files = append(files, file{mask: mask, kind: kind, data: data})
	}
	return files, nil
}

// mayWrite finds out before anything is paid for whether the result can be
// saved.
func (d drawing) mayWrite() error {
	for _, p := range d.outputs {
		info, err := d.cfg.Workspace.Stat(p)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return fmt.Errorf("%s cannot be written: %w; nothing was sent", p.Path, err)
		case !info.Mode().IsRegular():
			return fmt.Errorf("%s is a %s; give another output_path; nothing was sent", p.Path, workspace.Kind(info.Mode()))
		case !d.in.Overwrite:
			return fmt.Errorf("%s exists; give another output_path, or overwrite: true; nothing was sent", p.Path)
		}
	}
	return nil
}
