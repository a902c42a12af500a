// Package image holds the tools that have images read by a model and made by
// one: image_to_text and image_generation.
//
// They only speak to services that the user has configured, and say so when
// there is none. Both count as uploads and are never read-only; each call
// declares the files it sends and writes and the address it speaks to.
//
// Guarantees: what is no image is not sent; nothing is paid for that could not
// be saved, as far as that can be known before; what was paid for is not thrown
// away; files, answers and times are bounded; keys are in no result and no error.
package image

import (
	_ "embed"
	"net/http"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/workspace"
)

//go:embed look.md
var lookDoc string

//go:embed describe.md
var describe string

//go:embed draw.md
var drawDoc string

const (
	lookName = "image_to_text"
	drawName = "image_generation"
)

// Config says which services there are. The zero value has none.
type Config struct {
	Workspace *workspace.Workspace // nil has no roots

	// Vision returns the model that reads images, Service what makes them. They
	// are asked at each call, while it is prepared: they open nothing and do not
	// wait. Nil, or the zero value, means that none is configured; an error is
	// that of the call.
	Vision  func() (Vision, error)
	Service func() (Service, error)
}

// Vision is a model that reads images.
type Vision struct {
	Provider oh.Provider // nil: none is configured
	Profile  string      // that the provider belongs to
	Model    string
	URL      string // where images go, for the gate; may be empty
}

// Service is an images API in the form of OpenAI's.
type Service struct {
	Provider string        // auto (also ""), openai, or codex, which is refused
	BaseURL  string        // with scheme; "" is https://api.openai.com/v1, which needs a key
	Key      Key           // sent as a bearer token
	Model    string        // when a call names none; "" is gpt-image-2
	Client   *http.Client  // nil: a client of its own, with the proxies of the environment
	Timeout  time.Duration // of one request; 0 is 180 s
}

// Key is an API key. It prints as a placeholder.
type Key string

// String hides the key.
func (Key) String() string { return "[key]" }

// GoString hides the key.
func (Key) GoString() string { return "[key]" }

// Tools returns image_to_text and image_generation.
func Tools(cfg Config) []oh.Tool {
	t := tools{cfg}
	return []oh.Tool{
		oh.NewTool(oh.ToolDef[lookInput]{Name: lookName, Doc: lookDoc, Prepare: t.look}),
		oh.NewTool(oh.ToolDef[drawInput]{Name: drawName, Doc: drawDoc, SelfLimited: true, Prepare: t.draw}),
	}
}

type tools struct{ cfg Config }
