// Package sight puts images into words for models that see none: another model
// describes each, once.
//
// It is not for the tool by which a model asks about an image, and not for
// deciding which model sees: who uses it knows.
//
// Guarantees: what stands for an image is the same in every request of a
// session, and after a resume, since descriptions are of record; an image is
// described once, and one that could not be described is left in place, for the
// codec to leave out with a note, and not tried again by this process.
package sight

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
)

//go:embed words.md
var words string

const (
	maxTokens = 2048
	maxWords  = 12_000 // code points of a description
)

// Config is how images are described. All but Seen are required.
type Config struct {
	Provider oh.Provider
	Profile  string
	Model    string

	// Seen returns the words for an image that was described before, by the
	// SHA-256 of its data in hex.
	Seen func(hash string) (string, bool)
}

// Describer describes images. It is safe for concurrent use.
type Describer struct {
	cfg Config

	mu     sync.Mutex // guards what follows, and is held while an image is described
	failed map[string]bool
	done   map[string]oh.Message // by id, with what stands for its images
}

// New returns a describer.
func New(cfg Config) *Describer {
	return &Describer{cfg: cfg, failed: map[string]bool{}, done: map[string]oh.Message{}}
}

// Fit returns messages in which words stand for images. What it records is a
// [oh.SideUsage] for each request, the description as an [oh.StateChanged], and
// an [oh.Notice] for an image that could not be described. The error is that of
// the context or of record.
func (d *Describer) Fit(ctx context.Context, msgs []oh.Message, record func(oh.Event) error) ([]oh.Message, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	shared := true
	for i, m := range msgs {
		if !hasImage(m.Content) {
			continue
		}
		fit, err := d.message(ctx, m, record)
		if err != nil {
			return nil, err
		}
		if shared {
			msgs, shared = slices.Clone(msgs), false
		}
		msgs[i] = fit
	}
	return msgs, nil
}

func hasImage(list oh.Blocks) bool {
	return slices.ContainsFunc(list, func(b oh.Block) bool {
		switch b := b.(type) {
		case oh.Image:
			return true
		case oh.ToolResult:
			return hasImage(b.Content)
		}
		return false
	})
}

// message replaces the images of one message, which then has an id of its own.
func (d *Describer) message(ctx context.Context, m oh.Message, record func(oh.Event) error) (oh.Message, error) {
	if fit, ok := d.done[m.ID]; ok && m.ID != "" {
		return fit, nil
	}
	content, err := d.blocks(ctx, m.Content, record)
	if err != nil {
		return m, err
	}
	fit := m
	fit.Content = content
	if m.ID != "" {
		fit.ID = m.ID + ".words"
		d.done[m.ID] = fit
	}
	return fit, nil
}

func (d *Describer) blocks(ctx context.Context, list oh.Blocks, record func(oh.Event) error) (oh.Blocks, error) {
	out := make(oh.Blocks, 0, len(list))
	for _, b := range list {
		switch x := b.(type) {
		case oh.Image:
			said, ok, err := d.image(ctx, x, record)
			if err != nil {
				return nil, err
			}
			if ok {
				b = oh.Text{Text: said, Context: true}
			}
		case oh.ToolResult:
			inner, err := d.blocks(ctx, x.Content, record)
			if err != nil {
				return nil, err
			}
			x.Content = inner
			b = x
		}
		out = append(out, b)
	}
	return out, nil
}

// image returns what stands for an image; ok is false when nothing does.
func (d *Describer) image(ctx context.Context, img oh.Image, record func(oh.Event) error) (said string, ok bool, err error) {
	sum := sha256.Sum256(img.Data)
	hash := hex.EncodeToString(sum[:])
	if said, ok := d.cfg.Seen(hash); ok {
		return said, true, nil
	}
	if d.failed[hash] {
		return "", false, nil
	}
	said, err = d.describe(ctx, img, record)
	if stopped := ctx.Err(); stopped != nil {
		return "", false, stopped
	}
	if fault, is := errors.AsType[recordError](err); is {
		return "", false, fault.error
	}
	if err != nil {
		d.failed[hash] = true
		return "", false, record(oh.Notice{Level: oh.Warning, Text: fmt.Sprintf(
			"An image could not be put into words for a model that sees none: %v", err)})
	}
	said = strings.NewReplacer("{model}", d.cfg.Model, "{words}", said).Replace(word("seen"))
	return said, true, record(oh.StateChanged{Images: map[string]string{hash: said}})
}

// recordError is an error of the record and not of the request.
type recordError struct{ error }

// describe asks the model.
func (d *Describer) describe(ctx context.Context, img oh.Image, record func(oh.Event) error) (string, error) {
	if err := record(oh.Status{Text: d.cfg.Model + " looks at an image."}); err != nil {
		return "", recordError{err}
	}
	req := &oh.Request{Profile: d.cfg.Profile, Model: d.cfg.Model, MaxTokens: maxTokens, Messages: []oh.Message{
		{ID: "image", Role: oh.User, Content: oh.Blocks{img, oh.Text{Text: word("ask")}}},
	}}
	var msg oh.Message
	for chunk, err := range d.cfg.Provider.Stream(ctx, req) {
		if err != nil {
			return "", err
		}
		if done, ok := chunk.(oh.MessageDone); ok {
			msg = done.Message
		}
	}
	if msg.Usage != (oh.Usage{}) {
		use := oh.SideUsage{For: "image_description", Profile: d.cfg.Profile, Model: d.cfg.Model, Usage: msg.Usage}
		if err := record(use); err != nil {
			return "", recordError{err}
		}
	}
	said := strings.TrimSpace(text.Clean(msg.Content.Text()))
	if said == "" {
		return "", fmt.Errorf("%s said nothing about it (it stopped with %q)", d.cfg.Model, string(msg.Stop))
	}
	return text.Cut(said, maxWords), nil
}

// word returns the text under a heading of words.md.
func word(heading string) string {
	_, rest, _ := strings.Cut(words, "## "+heading+"\n")
	body, _, _ := strings.Cut(rest, "\n## ")
	return strings.TrimSpace(body)
}
