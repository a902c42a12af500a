package oh

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// EventType returns the name that tells an event apart in JSON.
func EventType(e Event) string { return e.eventType() }

// AppendEvent appends the JSON form of e to dst: an object whose first member
// is "type".
func AppendEvent(dst []byte, e Event) ([]byte, error) {
	switch e := e.(type) {
	case nil:
		return nil, errors.New("encode event: nil")
	case UnknownEvent:
		if len(e.Raw) == 0 {
			return nil, fmt.Errorf("encode event of type %q: no content", e.Type)
		}
		if !json.Valid(e.Raw) {
			return nil, fmt.Errorf("encode event of type %q: its content is no JSON", e.Type)
		}
		return append(dst, Compact(e.Raw)...), nil
	case Sub:
		inner, err := AppendEvent(nil, e.Event)
		if err != nil {
			return nil, err
		}
		return appendTagged(dst, e.eventType(), subJSON{Call: e.Call, Event: inner})
	}
	return appendTagged(dst, e.eventType(), e)
}

type subJSON struct {
	Call  string          `json:"call"`
	Event json.RawMessage `json:"event"`
}

// DecodeEvent reads an event as [AppendEvent] writes it. An unknown type gives
// an [UnknownEvent], not an error.
func DecodeEvent(raw []byte) (Event, error) {
	kind, err := typeOf(raw)
	if err != nil {
		return nil, fmt.Errorf("decode event: %w", err)
	}
	if kind == "sub" {
		var s subJSON
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, fmt.Errorf("decode sub event: %w", err)
		}
		inner, err := DecodeEvent(s.Event)
		return Sub{Call: s.Call, Event: inner}, err
	}
	if decode := eventDecoder(kind); decode != nil {
		return decode(raw)
	}
	return UnknownEvent{Type: kind, Raw: Compact(raw)}, nil
}

func eventDecoder(kind string) func([]byte) (Event, error) {
	switch kind {
	case "text_delta":
		return decodeEventAs[TextDelta]
	case "thinking_delta":
		return decodeEventAs[ThinkingDelta]
	case "tool_input_delta":
		return decodeEventAs[ToolInputDelta]
	case "message_done":
		return decodeEventAs[MessageDone]
	case "rate_limit":
		return decodeEventAs[RateLimit]
	case "user_turn":
		return decodeEventAs[UserTurn]
	case "retrying":
		return decodeEventAs[Retrying]
	case "tool_started":
		return decodeEventAs[ToolStarted]
	case "tool_output":
		return decodeEventAs[ToolOutput]
	case "tool_done":
		return decodeEventAs[ToolDone]
	case "asked":
		return decodeEventAs[Asked]
	case "decided":
		return decodeEventAs[Decided]
	case "status":
		return decodeEventAs[Status]
	case "notice":
		return decodeEventAs[Notice]
	case "side_usage":
		return decodeEventAs[SideUsage]
	case "compaction":
		return decodeEventAs[Compaction]
	case "error":
		return decodeEventAs[ErrorEvent]
	case "command_output":
		return decodeEventAs[CommandOutput]
	case "run_done":
		return decodeEventAs[RunDone]
	case "session_started":
		return decodeEventAs[SessionStarted]
	case "state_changed":
		return decodeEventAs[StateChanged]
	}
	return nil
}

func decodeEventAs[T Event](raw []byte) (Event, error) {
	var e T
	if err := json.Unmarshal(raw, &e); err != nil {
		return nil, fmt.Errorf("decode %s event: %w", e.eventType(), err)
	}
	return e, nil
}

type entryJSON struct {
	ID    string          `json:"id"`
	Time  time.Time       `json:"time"`
	Event json.RawMessage `json:"event"`
}

// MarshalJSON implements [json.Marshaler]: {"id","time","event"}.
func (e Entry) MarshalJSON() ([]byte, error) {
	return marshalAround(struct {
		ID   string    `json:"id"`
		Time time.Time `json:"time"`
	}{e.ID, e.Time}, e.Event)
}

// marshalAround encodes head, an object with members, and adds the event as
// its last member. The event is not scanned again, which for long results is
// most of the work.
func marshalAround(head any, ev Event) ([]byte, error) {
	out, err := Marshal(head)
	if err != nil {
		return nil, err
	}
	out = append(out[:len(out)-1], `,"event":`...)
	if out, err = AppendEvent(out, ev); err != nil {
		return nil, err
	}
	return append(out, '}'), nil
}

// UnmarshalJSON implements [json.Unmarshaler].
func (e *Entry) UnmarshalJSON(data []byte) error {
	var raw entryJSON
	if err := json.Unmarshal(data, &raw); err != nil {
		return fmt.Errorf("decode entry: %w", err)
	}
	if len(raw.Event) == 0 {
		return errors.New("decode entry: no event")
	}
	ev, err := DecodeEvent(raw.Event)
	if err != nil {
		return err
	}
	*e = Entry{ID: raw.ID, Time: raw.Time, Event: ev}
	return nil
}

type envelopeJSON struct {
	Seq     uint64          `json:"seq"`
	Time    time.Time       `json:"time"`
	Session string          `json:"session"`
	Event   json.RawMessage `json:"event"`
}

// MarshalJSON implements [json.Marshaler]: {"seq","time","session","event"}.
func (e Envelope) MarshalJSON() ([]byte, error) {
	return marshalAround(struct {
		Seq     uint64    `json:"seq"`
		Time    time.Time `json:"time"`
		Session string    `json:"session"`
	}{e.Seq, e.Time, e.Session}, e.Event)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (e *Envelope) UnmarshalJSON(data []byte) error {
	var raw envelopeJSON
	if err := json.Unmarshal(data, &raw); err != nil {
		return fmt.Errorf("decode envelope: %w", err)
	}
	ev, err := DecodeEvent(raw.Event)
	if err != nil {
		return err
	}
	*e = Envelope{Seq: raw.Seq, Time: raw.Time, Session: raw.Session, Event: ev}
	return nil
}
