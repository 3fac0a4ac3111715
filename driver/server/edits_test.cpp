// Whatever is typed into a program: what is found by following the edits is what is found from nothing.
//
// ALLRANKS_EDITS_FOLDER and ALLRANKS_EDITS take another program, and more edits, than the test run does.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "driver/pipeline/pipeline.h"

namespace allranks {
namespace {

using Files = std::map<std::string, std::string>;

Files PythonFilesIn(const std::filesystem::path& folder) {
  Files files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file() || entry.path().extension() != ".py") continue;
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    files.emplace(std::filesystem::relative(entry.path(), folder).generic_string(), text.str());
  }
  return files;
}

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(std::move(line));
  return lines;
}

std::string FoundIn(const pipeline::Analysed& analysed, const pipeline::Output& out) {
  std::string found;
  const auto place = [&](const source::Span& span) {
    return analysed.files[span.file].path + ":" + std::to_string(span.begin) + "-" + std::to_string(span.end) + " ";
  };
  for (const findings::Finding& finding : out.findings) {
    found += place(finding.span) + std::string(finding.code) + " " + findings::Render(finding.message) + " " +
             std::to_string(static_cast<int>(finding.confidence)) + "\n";
    for (const findings::Label& label : finding.labels) found += "  " + place(label.span) + findings::Render(label.text) + "\n";
  }
  for (const traces::LedgerEntry& entry : out.ledger) {
    found += place(entry.span) + entry.name + " " + std::to_string(static_cast<int>(entry.verdict)) + entry.reason + "\n";
  }
  return found;
}

class Typist {
 public:
  explicit Typist(const Files& files) : files_(files) {
    for (const auto& [path, text] : files) paths_.push_back(path);
  }

  // Mostly into the file that is open already, as people do.
  std::string Edit(Files& texts) {
    if (open_.empty() || Below(12) == 0) open_ = paths_[Below(paths_.size())];
    const std::string before = texts.contains(open_) ? texts[open_] : files_.at(open_);
    texts[open_] = Below(10) == 0 ? files_.at(open_) : Edited(before);
    return open_;
  }

 private:
  size_t Below(size_t end) { return random_() % end; }

  std::string Edited(const std::string& text) {
    std::vector<std::string> lines = LinesOf(text);
    if (lines.empty()) return "import torch.distributed as dist\n";
    const size_t at = Below(lines.size());
    const std::string indent = lines[at].substr(0, lines[at].find_first_not_of(' '));
    switch (Below(9)) {
      case 0:
        lines.erase(lines.begin() + static_cast<ptrdiff_t>(at));
        break;
      case 1:
        lines.insert(lines.begin() + static_cast<ptrdiff_t>(at), lines[at]);
        break;
      case 2:
        lines.insert(lines.begin() + static_cast<ptrdiff_t>(at), indent + "dist.barrier()");
        break;
      case 3:
        lines.insert(lines.begin() + static_cast<ptrdiff_t>(at), "");
        break;
      case 4:
        lines.insert(lines.begin() + static_cast<ptrdiff_t>(at), indent + "if dist.get_rank() == 0: return");
        break;
      case 5:
        lines[at] += " + 1";
        break;
      case 6:
        std::swap(lines[at], lines[Below(lines.size())]);
        break;
      case 7:
        Replace(lines[at], "==", "!=");
        break;
      default:
        if (lines[at].size() > indent.size()) lines[at].erase(indent.size() + Below(lines[at].size() - indent.size()), 1);
    }
    std::string edited;
    for (const std::string& line : lines) edited += line + "\n";
    return edited;
  }

  static void Replace(std::string& line, std::string_view old_part, std::string_view new_part) {
    if (const size_t at = line.find(old_part); at != std::string::npos) line.replace(at, old_part.size(), new_part);
  }

  const Files& files_;
  std::vector<std::string> paths_;
  std::string open_;
  std::mt19937 random_{7};
};

TEST(EditsTest, FollowingFindsWhatStartingAnewFinds) {
  const char* folder = std::getenv("ALLRANKS_EDITS_FOLDER");
  const char* count = std::getenv("ALLRANKS_EDITS");
  const Files texts = PythonFilesIn(folder != nullptr ? folder : ALLRANKS_SOURCE_DIR "/fixtures/AR101");
  ASSERT_FALSE(texts.empty());
  const source::MemoryFileSystem disk{texts};
  pipeline::Options options;
  pipeline::Analysed followed;
  pipeline::Memory memory;
  Typist typist(texts);
  std::string last;
  for (int edit = 0; edit < (count != nullptr ? std::atoi(count) : 60); ++edit) {
    std::string edited;
    if (edit > 0) edited = typist.Edit(options.overlays);
    memory.disk_is_unchanged = edit > 0;
    const auto out = pipeline::Run(options, disk, followed, &memory);
    ASSERT_TRUE(out);
    if (!out->is_same) last = FoundIn(followed, *out);
    pipeline::Analysed anew;
    const auto expected = pipeline::Run(options, disk, anew);
    ASSERT_TRUE(expected);
    ASSERT_EQ(last, FoundIn(anew, *expected)) << "edit " << edit << " in " << edited << ":\n" << options.overlays[edited];
  }
}

}  // namespace
}  // namespace allranks
