#include "frontends/cpp/exchange.h"

#include <xxhash.h>

#include <algorithm>

#include "analyzer/base/byte_stream.h"

namespace allranks::cpp {
namespace {

using base::ByteReader;
using base::ByteWriter;

constexpr std::string_view kRequestMagic = "allranks-clang request";
constexpr std::string_view kReplyMagic = "allranks-clang reply";

void WriteTexts(ByteWriter& out, const std::vector<std::string>& texts) {
  out.U32(static_cast<uint32_t>(texts.size()));
  for (const std::string& text : texts) out.Text(text);
}

std::vector<std::string> ReadTexts(ByteReader& in) {
  std::vector<std::string> texts(in.Count(sizeof(uint32_t)));
  for (std::string& text : texts) text = in.Text();
  return texts;
}

void WriteHash(ByteWriter& out, const Hash& hash) {
  out.U64(hash.low);
  out.U64(hash.high);
}

Hash ReadHash(ByteReader& in) {
  Hash hash;
  hash.low = in.U64();
  hash.high = in.U64();
  return hash;
}

bool HasHead(ByteReader& in, std::string_view magic) { return in.Text() == magic && in.U32() == kExchangeVersion; }

}  // namespace

Hash HashOf(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {.low = hash.low64, .high = hash.high64};
}

Hash HashOfNames(std::vector<std::string> names) {
  std::ranges::sort(names);
  std::string all;
  for (const std::string& name : names) all += name + '\0';
  return HashOf(all);
}

std::string Framed(std::string_view bytes) {
  ByteWriter out;
  out.Text(bytes);
  return out.Finish();
}

size_t FrameLength(std::string_view head) { return ByteReader(head).U32(); }

std::string Write(const Request& request) {
  ByteWriter out;
  out.Text(kRequestMagic);
  out.U32(kExchangeVersion);
  out.Text(request.path);
  out.Text(request.text);
  out.Text(request.directory);
  WriteTexts(out, request.args);
  WriteTexts(out, request.roots);
  return out.Finish();
}

base::Result<Request> ReadRequest(std::string_view bytes) {
  ByteReader in(bytes);
  if (!HasHead(in, kRequestMagic)) return base::Fail("this is no request of this version of allranks");
  Request request;
  request.path = in.Text();
  request.text = in.Text();
  request.directory = in.Text();
  request.args = ReadTexts(in);
  request.roots = ReadTexts(in);
  if (!in.ok() || !in.AtEnd()) return base::Fail("the request is cut off");
  return request;
}

std::string Write(const Reply& reply) {
  ByteWriter out;
  out.Text(kReplyMagic);
  out.U32(kExchangeVersion);
  out.U32(static_cast<uint32_t>(reply.parts.size()));
  for (const FilePart& part : reply.parts) {
    out.Text(part.path);
    out.U32(part.bytes);
    out.Text(part.module);
    out.U32(static_cast<uint32_t>(part.skipped.size()));
    for (const Stretch& stretch : part.skipped) {
      out.U32(stretch.begin);
      out.U32(stretch.end);
    }
  }
  out.U32(reply.error_count);
  out.U32(static_cast<uint32_t>(reply.errors.size()));
  for (const ReadError& error : reply.errors) {
    out.Text(error.path);
    out.U32(error.offset);
    out.U32(error.length);
    out.Text(error.text);
  }
  out.U32(static_cast<uint32_t>(reply.asked.size()));
  for (const Asked& asked : reply.asked) {
    out.Text(asked.path);
    out.U32(static_cast<uint32_t>(asked.told));
    WriteHash(out, asked.hash);
  }
  out.U32(reply.is_complete ? 1 : 0);
  return out.Finish();
}

base::Result<Reply> ReadReply(std::string_view bytes) {
  ByteReader in(bytes);
  if (!HasHead(in, kReplyMagic)) return base::Fail("this is no answer of this version of allranks-clang");
  Reply reply;
  reply.parts.resize(in.Count(4 * sizeof(uint32_t)));
  for (FilePart& part : reply.parts) {
    part.path = in.Text();
    part.bytes = in.U32();
    part.module = in.Text();
    part.skipped.resize(in.Count(2 * sizeof(uint32_t)));
    for (Stretch& stretch : part.skipped) {
      stretch.begin = in.U32();
      stretch.end = in.U32();
    }
  }
  reply.error_count = in.U32();
  reply.errors.resize(in.Count(4 * sizeof(uint32_t)));
  for (ReadError& error : reply.errors) {
    error.path = in.Text();
    error.offset = in.U32();
    error.length = in.U32();
    error.text = in.Text();
  }
  reply.asked.resize(in.Count(2 * sizeof(uint32_t) + sizeof(Hash)));
  for (Asked& asked : reply.asked) {
    asked.path = in.Text();
    const uint32_t told = in.U32();
    if (told >= kToldCount) return base::Fail("the answer of allranks-clang makes no sense");
    asked.told = static_cast<Told>(told);
    asked.hash = ReadHash(in);
  }
  reply.is_complete = in.U32() == 1;
  if (!in.ok() || !in.AtEnd()) return base::Fail("the answer of allranks-clang is cut off");
  return reply;
}

}  // namespace allranks::cpp
