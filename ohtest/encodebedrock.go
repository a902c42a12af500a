package ohtest

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/openharness/oh"
)

// frame encodes one message of an AWS event stream. The pairs are headers.
func frame(payload string, headers ...[2]string) []byte {
	var head []byte
	for _, h := range headers {
		head = append(append(head, byte(len(h[0]))), h[0]...)
		head = binary.BigEndian.AppendUint16(append(head, 7), uint16(len(h[1]))) // 7: a string
		head = append(head, h[1]...)
	}
	const prelude, checks = 8, 8
	out := binary.BigEndian.AppendUint32(nil, uint32(prelude+checks+len(head)+len(payload)))
	out = binary.BigEndian.AppendUint32(out, uint32(len(head)))
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out))
	out = append(append(out, head...), payload...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out))
}

// unframe returns the payloads of the events in a stream, with their types,
// and passes over what is damaged.
func unframe(stream []byte) (names []string, payloads [][]byte) {
	for len(stream) >= 16 {
		size, head := binary.BigEndian.Uint32(stream), binary.BigEndian.Uint32(stream[4:])
		if uint64(size) > uint64(len(stream)) || uint64(head)+16 > uint64(size) {
			return names, payloads
		}
		names = append(names, eventType(stream[12:12+head]))
		payloads = append(payloads, stream[12+head:size-4])
		stream = stream[size:]
	}
	return names, payloads
}

// eventType returns the value of the header :event-type.
func eventType(head []byte) string {
	for len(head) > 0 {
		n := int(head[0])
		if len(head) < n+4 || head[n+1] != 7 {
			return ""
		}
		size := int(binary.BigEndian.Uint16(head[n+2:]))
		if len(head) < n+4+size {
			return ""
		}
		if string(head[1:n+1]) == ":event-type" {
			return string(head[n+4 : n+4+size])
		}
		head = head[n+4+size:]
	}
	return ""
}

func bedrockEvent(name, format string, args ...any) []byte {
	return frame(fmt.Sprintf(format, args...), [2]string{":event-type", name}, [2]string{":content-type", "application/json"}, [2]string{":message-type", "event"})
}

func (e encoding) bedrock(parts []Part) (events [][]byte, open int) {
	add := func(name, format string, args ...any) { events = append(events, bedrockEvent(name, format, args...)) }
	add("messageStart", `{"role":"assistant"}`)
	open = len(events)
	n := 0
	for _, p := range parts {
		if body := e.bedrockBlock(p, n); body != nil {
			events = append(events, body...)
			open = len(events)
			add("contentBlockStop", `{"contentBlockIndex":%d}`, n)
			n++
		}
	}
	u := usageOf(parts)
	add("messageStop", `{"stopReason":%s}`, quote(bedrockStop(stopOf(parts))))
	add("metadata", `{"usage":{"inputTokens":%d,"outputTokens":%d,"totalTokens":%d,"cacheReadInputTokens":%d,"cacheWriteInputTokens":%d},"metrics":{"latencyMs":7}}`,
		u.InputTokens, u.OutputTokens, u.Prompt()+u.OutputTokens, u.CacheReadTokens, u.CacheWriteTokens)
	return events, open
}

// bedrockStop returns the wire's word for a stop reason.
func bedrockStop(stop oh.StopReason) string {
	if stop == oh.StopRefusal {
		return "content_filtered"
	}
	return string(stop)
}

// bedrockBlock returns the start and the deltas of block n, or nil for a part
// that is no block.
func (e encoding) bedrockBlock(p Part, n int) [][]byte {
	var events [][]byte
	delta := func(format string, args ...any) {
		events = append(events, bedrockEvent("contentBlockDelta", `{"contentBlockIndex":%d,"delta":{%s},"p":"abcdefgh"}`, n, fmt.Sprintf(format, args...)))
	}
	switch p := p.(type) {
	case Text:
		for _, s := range e.cut.runes(string(p)) {
			delta(`"text":%s`, quote(s))
		}
		if events == nil {
			delta(`"text":""`)
		}
	case Thinking:
		for _, s := range e.cut.runes(string(p)) {
			delta(`"reasoningContent":{"text":%s}`, quote(s))
		}
		delta(`"reasoningContent":{"signature":%s}`, quote(seal("bedrock "+string(p))))
	case Redacted:
		delta(`"reasoningContent":{"redactedContent":%s}`, quote(base64.StdEncoding.EncodeToString([]byte(p))))
	case ToolCall:
		events = append(events, bedrockEvent("contentBlockStart", `{"contentBlockIndex":%d,"start":{"toolUse":{"toolUseId":%s,"name":%s}}}`, n, quote(p.ID), quote(p.Name)))
		for _, s := range e.cut.runes(p.Input) {
			delta(`"toolUse":{"input":%s}`, quote(s))
		}
	}
	return events
}
