package wire

import (
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/provider/internal/eventstream"
	"github.com/openharness/oh/provider/internal/sse"
)

// isFrames reports whether start begins a stream of frames: no event stream of
// text begins with a zero byte, and every frame shorter than 16 MB does.
func isFrames(start []byte) bool { return len(start) > 0 && start[0] == 0 }

// nextFrame returns the next frame as an event: its type is the name. What the
// service tells as an exception is an error that a complete reply does not heal.
func (s *Stream) nextFrame() (sse.Event, error) {
	f, err := s.frames.Next()
	switch {
	case errors.Is(err, io.EOF) && s.ctx.Err() == nil:
		return sse.Event{}, err
	case errors.Is(err, eventstream.ErrBroken), errors.Is(err, eventstream.ErrTooLong):
		return sse.Event{}, s.Broken(err)
	case err != nil:
		return sse.Event{}, s.transport(errCut.Error(), err)
	}
	switch f.Get(":message-type") {
	case "exception":
		return sse.Event{}, told{s.Fault(exception(f.Get(":exception-type"), f.Payload))}
	case "error":
		return sse.Event{}, told{s.Fault(exception(f.Get(":error-code"), []byte(f.Get(":error-message"))))}
	}
	return sse.Event{Name: []byte(f.Get(":event-type")), Data: f.Payload}, nil
}

// exception writes an exception as other services do.
func exception(code string, raw []byte) []byte {
	f := readFault(raw)
	out := text.AppendJSON([]byte(`{"error":{"code":`), code)
	out = text.AppendJSON(append(out, `,"message":`...), f.words)
	return append(out, `}}`...)
}

// amazonCode returns the code that Amazon's services tell beside the error: in
// a header or in a member, both with an address before or behind it.
func amazonCode(h http.Header, member string) string {
	code := h.Get("X-Amzn-Errortype")
	if code == "" {
		code = member
	}
	code, _, _ = strings.Cut(code, ":")
	return code[strings.LastIndexByte(code, '#')+1:]
}

const (
	accessAdvice = "check that the account has access to this model in this region (Bedrock console, Model access) " +
		"and that its policy allows bedrock:InvokeModelWithResponseStream"
	loginAdvice   = "renew the AWS credentials (such as aws sso login) and try again"
	profileAdvice = "use the id of an inference profile, such as us. before the model's id"
	modelAdvice   = "check the model's id, and that the region has it"
)

// Amazon are the words of Amazon Bedrock, in order of precedence. Codes are the
// same in an answer's header and, but for the first letter, in its stream.
var Amazon = [...]Rule{
	{Code: "ThrottlingException", Words: "tokens per day", Kind: oh.KindQuota},
	{Code: "ThrottlingException", Kind: oh.KindLimited},
	{Code: "ServiceQuotaExceededException", Kind: oh.KindQuota},
	{Words: "input is too long", Kind: oh.KindTooLong},
	{Words: "input tokens exceed", Kind: oh.KindTooLong},
	{Words: "number of input tokens exceeds", Kind: oh.KindTooLong},
	{Words: "too many input tokens", Kind: oh.KindTooLong},
	{Words: "exceed context limit", Kind: oh.KindTooLong},
	{Words: "context window", Kind: oh.KindTooLong},
	{Words: "context length", Kind: oh.KindTooLong},
	{Words: "prompt is too long", Kind: oh.KindTooLong},
	{Words: "on-demand throughput", Kind: oh.KindInvalid, Advice: profileAdvice},
	{Code: "AccessDeniedException", Words: "bearer", Kind: oh.KindAuth, Advice: "make a new key for Amazon Bedrock"},
	{Code: "AccessDeniedException", Kind: oh.KindAuth, Advice: accessAdvice},
	{Code: "ExpiredTokenException", Kind: oh.KindAuth, Advice: loginAdvice},
	{Code: "ExpiredToken", Kind: oh.KindAuth, Advice: loginAdvice},
	{Code: "UnrecognizedClientException", Kind: oh.KindAuth, Advice: loginAdvice},
	{Code: "InvalidSignatureException", Kind: oh.KindAuth, Advice: "check the AWS secret key and this machine's clock"},
	{Code: "ModelNotReadyException", Kind: oh.KindOverloaded},
	{Code: "ServiceUnavailableException", Kind: oh.KindOverloaded},
	{Code: "ModelTimeoutException", Kind: oh.KindUnavailable},
	{Code: "ModelErrorException", Kind: oh.KindUnavailable},
	{Code: "ModelStreamErrorException", Kind: oh.KindUnavailable},
	{Code: "InternalServerException", Kind: oh.KindUnavailable},
	{Code: "ResourceNotFoundException", Kind: oh.KindInvalid, Advice: modelAdvice},
	{Words: "provided model identifier is invalid", Kind: oh.KindInvalid, Advice: modelAdvice},
	{Code: "ValidationException", Kind: oh.KindInvalid},
}
