package app

import (
	"context"
	"errors"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/sight"
)

// describeImages lets the vision model of the settings put images into words
// for models that see none. Without one codecs leave images out, with a note.
func (r *Runtime) describeImages() {
	v, err := r.vision()
	if err == nil && v.Provider == nil && r.loaded.Settings.Vision.Model != "" {
		err = errors.New("is not asked, since neither vision.api_key nor vision.base_url is set")
	}
	if err != nil {
		r.passOver("vision.model", r.loaded.Origin("vision.model"), err)
		return
	}
	if v.Provider == nil {
		return
	}
	d := sight.New(sight.Config{Provider: v.Provider, Profile: v.Profile, Model: v.Model,
		Seen: func(hash string) (string, bool) { return r.conv.Seen(hash) }})
	r.config.Fit = func(ctx context.Context, req *oh.Request, record func(oh.Event) error) error {
		if !r.service.blind(req.Model) {
			return nil
		}
		msgs, err := d.Fit(ctx, req.Messages, record)
		if err == nil {
			req.Messages = msgs
		}
		return err
	}
}

// blind reports whether a model is known to see no images.
func (s *service) blind(model string) bool {
	t := s.catalog.Traits(s.profile, model)
	return t.NoImages
}
