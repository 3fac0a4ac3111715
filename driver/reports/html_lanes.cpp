#include <algorithm>
#include <vector>

#include "driver/reports/html_page.h"
#include "driver/reports/lanes.h"
#include "driver/reports/markup.h"
#include "driver/reports/text_width.h"

namespace allranks::reports {
namespace {

// In pixels; the text is set in 12 px of a typeface whose characters are all equally wide.
constexpr uint32_t kCharacter = 8;
constexpr uint32_t kLaneHeight = 46;
constexpr uint32_t kTop = 22;
constexpr uint32_t kSign = 6;
constexpr uint32_t kGap = 22;

std::string Number(uint32_t value) { return std::to_string(value); }

std::string TextAt(uint32_t x, uint32_t y, std::string_view style, std::string_view text) {
  return "<text x=\"" + Number(x) + "\" y=\"" + Number(y) + "\" class=\"" + std::string(style) + "\">" + Escaped(text) + "</text>";
}
std::string LineFromTo(uint32_t from, uint32_t to, uint32_t y, std::string_view style) {
  return "<line x1=\"" + Number(from) + "\" x2=\"" + Number(to) + "\" y1=\"" + Number(y) + "\" y2=\"" + Number(y) +
         "\" class=\"" + std::string(style) + "\"/>";
}

class Picture {
 public:
  explicit Picture(const Lanes& lanes) : lanes_(lanes) {
    uint32_t names = 0;
    for (const Lane& lane : lanes.lanes) {
      names = std::max(names, Width(lane.name));
      endings_ = std::max(endings_, Width(lane.ending));
      columns_.resize(std::max(columns_.size(), lane.steps.size()));
      for (size_t i = 0; i < lane.steps.size(); ++i) columns_[i] = std::max(columns_[i], Width(lane.steps[i].text));
    }
    start_ = (names + 2) * kCharacter;
  }

  std::string Draw() const {
    uint32_t width = start_ + kGap;
    for (const uint32_t column : columns_) width += column * kCharacter + kGap;
    const uint32_t end = width;
    width += (endings_ + 2) * kCharacter;
    const uint32_t height = kTop + static_cast<uint32_t>(lanes_.lanes.size()) * kLaneHeight;
    std::string out = "<svg class=\"lanes\" role=\"img\" width=\"" + Number(width) + "\" height=\"" + Number(height) +
                      "\" viewBox=\"0 0 " + Number(width) + " " + Number(height) + "\"><title>" + Escaped(Words()) + "</title>";
    uint32_t y = kTop;
    for (const Lane& lane : lanes_.lanes) {
      out += DrawLane(lane, y, end);
      y += kLaneHeight;
    }
    return out + "</svg>";
  }

 private:
  std::string DrawLane(const Lane& lane, uint32_t y, uint32_t end) const {
    std::string out = TextAt(0, y + 4, "name", lane.name);
    std::string signs;
    uint32_t x = start_, stop = end;
    for (size_t i = 0; i < lane.steps.size(); ++i) {
      const Step& step = lane.steps[i];
      signs += step.waits ? "<rect class=\"waits\" x=\"" + Number(x) + "\" y=\"" + Number(y - kSign) + "\" width=\"" +
                                Number(2 * kSign) + "\" height=\"" + Number(2 * kSign) + "\"/>"
                          : "<circle class=\"done\" cx=\"" + Number(x + kSign) + "\" cy=\"" + Number(y) + "\" r=\"" + Number(kSign) + "\"/>";
      signs += TextAt(x, y + 20, step.waits ? "op waits" : "op", step.text);
      if (step.waits) stop = x;
      x += columns_[i] * kCharacter + kGap;
    }
    out += LineFromTo(start_, stop, y, "goes");
    if (stop < end) out += LineFromTo(stop + 2 * kSign, end, y, "waiting");
    out += signs;
    if (!lane.ending.empty()) out += TextAt(end + kCharacter, y + 4, lane.waits ? "ending waits" : "ending", lane.ending);
    return out;
  }

  std::string Words() const {
    std::string out;
    for (const Lane& lane : lanes_.lanes) {
      out += lane.name + ":";
      for (const Step& step : lane.steps) out += (step.waits ? " waits in " : " ") + step.text + ",";
      out += " " + lane.ending + ". ";
    }
    return out;
  }

  const Lanes& lanes_;
  std::vector<uint32_t> columns_;  // widest text, in characters
  uint32_t endings_ = 0;
  uint32_t start_ = 0;
};

}  // namespace

std::string HtmlLanes(const witness::Witness& witness, std::string_view path, const source::SourceFiles& files) {
  const Lanes lanes = LanesOf(witness, path, files);
  std::string out = "<figure class=\"timeline\">";
  if (lanes.hidden > 0) out += "<figcaption>after " + std::to_string(lanes.hidden) + " steps that all ranks share</figcaption>";
  return out + "<div class=\"scroll\" tabindex=\"0\">" + Picture(lanes).Draw() + "</div></figure>";
}

}  // namespace allranks::reports
