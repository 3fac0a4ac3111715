#include "explain/readers/pickle.h"

#include <bit>
#include <unordered_map>

namespace allranks::explain {
namespace {

// An opcode that would import or call something, by its name; empty for any other.
std::string_view RefusedName(uint8_t opcode) {
  switch (opcode) {
    case 'c': return "GLOBAL";
    case 0x93: return "STACK_GLOBAL";
    case 'R': return "REDUCE";
    case 'b': return "BUILD";
    case 0x81: return "NEWOBJ";
    case 0x92: return "NEWOBJ_EX";
    case 'i': return "INST";
    case 'o': return "OBJ";
    case 0x82: return "EXT1";
    case 0x83: return "EXT2";
    case 0x84: return "EXT4";
    case 'P': return "PERSID";
    case 'Q': return "BINPERSID";
    default: return {};
  }
}

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  ReadDocument Read() {
    while (error_.empty() && !stopped_) Step();
    if (error_.empty() && stack_.size() != 1) Fail("ends with other than one value");
    if (error_.empty()) return {.document = std::move(document_), .root = stack_[0], .error = {}};
    return {.document = {}, .root = kNoValue, .error = error_};
  }

 private:
  void Fail(const std::string& what) {
    if (error_.empty()) error_ = "not a readable pickle: " + what + " (byte " + std::to_string(at_) + ")";
  }

  std::string_view Take(uint64_t size) {
    if (size > bytes_.size() - at_) return Fail("it is cut off"), std::string_view();
    const std::string_view taken = bytes_.substr(at_, size);
    at_ += size;
    return taken;
  }

  uint64_t Number(size_t size) {
    uint64_t number = 0;
    const std::string_view bytes = Take(size);
    for (size_t i = 0; i < bytes.size(); ++i) number |= uint64_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
    return number;
  }

  void Push(ValueIndex value) { stack_.push_back(value); }

  // `count` values from the top; none if there are fewer above the last mark.
  const ValueIndex* Top(size_t count) {
    const size_t floor = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() < floor + count) return Fail("too few values on its stack"), nullptr;
    return stack_.data() + (stack_.size() - count);
  }

  // How many values lie above the last mark, which is taken away.
  size_t PopMark() {
    if (marks_.empty()) return Fail("a mark is missing"), 0;
    const size_t count = stack_.size() - marks_.back();
    marks_.pop_back();
    return count;
  }

  // The top `count` values go into a new container.
  void Collect(ValueKind kind, size_t count) {
    const ValueIndex* values = Top(count);
    if (values == nullptr) return;
    const ValueIndex container = document_.AddContainer(kind);
    document_.Append(container, values, count);
    stack_.resize(stack_.size() - count);
    Push(container);
  }

  // The top `count` values go to the end of the container below them.
  void AppendTo(ValueKind kind, size_t count) {
    const ValueIndex* values = Top(count + 1);
    if (values == nullptr) return;
    if (document_[values[0]].kind != kind) return Fail("it appends to what is no list and no dict");
    if (kind == ValueKind::Dict && count % 2 != 0) return Fail("a key has no value");
    document_.Append(values[0], values + 1, count);
    stack_.resize(stack_.size() - count);
  }

  void Remember(uint64_t key) {
    const ValueIndex* top = Top(1);
    if (top == nullptr) return;
    // Writers count up; a file that jumps gets no more memory for it than one that does not.
    if (key < memo_.size()) memo_[key] = *top;
    else if (key == memo_.size()) memo_.push_back(*top);
    else sparse_[key] = *top;
  }

  void Recall(uint64_t key) {
    if (key < memo_.size()) return Push(memo_[key]);
    const auto found = sparse_.find(key);
    if (found == sparse_.end()) return Fail("it recalls what it never remembered");
    Push(found->second);
  }

  // Two's complement of any length; what has more than 64 bits is no number we read.
  void PushLong(uint64_t size) {
    const std::string_view bytes = Take(size);
    if (bytes.size() > 8) return Push(document_.AddNone());
    uint64_t number = 0;
    for (size_t i = 0; i < bytes.size(); ++i) number |= uint64_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
    const bool negative = !bytes.empty() && (static_cast<uint8_t>(bytes.back()) & 0x80) != 0;
    if (negative && bytes.size() < 8) number |= ~uint64_t{0} << (8 * bytes.size());
    Push(document_.AddInt(static_cast<int64_t>(number)));
  }

  void PushFloat() {
    uint64_t bits = 0;
    for (const char byte : Take(8)) bits = (bits << 8) | static_cast<uint8_t>(byte);
    Push(document_.AddFloat(std::bit_cast<double>(bits)));
  }

  void Step() {
    const auto opcode = static_cast<uint8_t>(Number(1));
    if (!error_.empty()) return;
    if (const std::string_view name = RefusedName(opcode); !name.empty()) {
      error_ = "the pickle would run code when loaded (" + std::string(name) + " at byte " + std::to_string(at_ - 1) +
               "), which no Flight Recorder writes; it was not read";
      return;
    }
    if (!Scalar(opcode) && !Container(opcode) && !Housekeeping(opcode)) {
      Fail("opcode " + std::to_string(opcode) + " is none of protocols 2 to 5 for data");
    }
  }

  bool Scalar(uint8_t opcode) {
    switch (opcode) {
      case 'N': return Push(document_.AddNone()), true;
      case 0x88: return Push(document_.AddBool(true)), true;
      case 0x89: return Push(document_.AddBool(false)), true;
      case 'J': return Push(document_.AddInt(static_cast<int32_t>(Number(4)))), true;
      case 'K': return Push(document_.AddInt(static_cast<int64_t>(Number(1)))), true;
      case 'M': return Push(document_.AddInt(static_cast<int64_t>(Number(2)))), true;
      case 0x8a: return PushLong(Number(1)), true;
      case 0x8b: return PushLong(Number(4)), true;
      case 'G': return PushFloat(), true;
      case 'X': case 'B': case 'T': return Push(document_.AddText(Take(Number(4)))), true;
      case 0x8c: case 'C': case 'U': return Push(document_.AddText(Take(Number(1)))), true;
      case 0x8d: case 0x8e: case 0x96: return Push(document_.AddText(Take(Number(8)))), true;
      default: return false;
    }
  }

  bool Container(uint8_t opcode) {
    switch (opcode) {
      case ']': case ')': case 0x8f: return Push(document_.AddContainer(ValueKind::List)), true;
      case '}': return Push(document_.AddContainer(ValueKind::Dict)), true;
      case 'a': return AppendTo(ValueKind::List, 1), true;
      case 's': return AppendTo(ValueKind::Dict, 2), true;
      case 'e': case 0x90: return AppendTo(ValueKind::List, PopMark()), true;
      case 'u': return AppendTo(ValueKind::Dict, PopMark()), true;
      case 't': case 'l': case 0x91: return Collect(ValueKind::List, PopMark()), true;
      case 'd': return Collect(ValueKind::Dict, PopMark() / 2 * 2), true;
      case 0x85: return Collect(ValueKind::List, 1), true;
      case 0x86: return Collect(ValueKind::List, 2), true;
      case 0x87: return Collect(ValueKind::List, 3), true;
      default: return false;
    }
  }

  bool Housekeeping(uint8_t opcode) {
    switch (opcode) {
      case 0x80:
        if (const uint64_t protocol = Number(1); protocol < 2 || protocol > 5) Fail("protocol " + std::to_string(protocol));
        return true;
      case 0x95: return Number(8), true;
      case '(': return marks_.push_back(stack_.size()), true;
      case '.': return stopped_ = true;
      case 'q': return Remember(Number(1)), true;
      case 'r': return Remember(Number(4)), true;
      case 0x94: return Remember(memo_.size() + sparse_.size()), true;
      case 'h': return Recall(Number(1)), true;
      case 'j': return Recall(Number(4)), true;
      case '0':
        if (Top(1) != nullptr) stack_.pop_back();
        return true;
      default: return false;
    }
  }

  std::string_view bytes_;
  size_t at_ = 0;
  bool stopped_ = false;
  std::string error_;
  Document document_;
  std::vector<ValueIndex> stack_;
  std::vector<size_t> marks_;
  std::vector<ValueIndex> memo_;
  std::unordered_map<uint64_t, ValueIndex> sparse_;
};

}  // namespace

ReadDocument ReadPickle(std::string_view bytes) { return Reader(bytes).Read(); }

}  // namespace allranks::explain
