#include "driver/fixes/apply.h"

#include <algorithm>

#include "driver/fixes/notebook.h"

namespace allranks::fixes {
namespace {

using findings::Edit;

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// The edits of one file that were accepted so far, sorted and disjoint.
class FileEdits {
 public:
  enum class Fit { Free, Same, Overlaps };

  Fit FitOf(const Edit& edit) const {
    for (const Edit& other : edits_) {
      if (other.span == edit.span && other.replacement == edit.replacement) return Fit::Same;
      const bool is_apart = edit.span.end <= other.span.begin || edit.span.begin >= other.span.end;
      const bool both_insert = edit.span.begin == edit.span.end && other.span.begin == other.span.end;
      if (!is_apart || (both_insert && edit.span.begin == other.span.begin)) return Fit::Overlaps;
    }
    return Fit::Free;
  }

  void Add(Edit edit) {
    // What is put in stands before what is taken away at the same place.
    const auto place = [](const Edit& e) { return std::pair(e.span.begin, e.span.end); };
    const auto at = std::ranges::upper_bound(edits_, place(edit), {}, place);
    edits_.insert(at, std::move(edit));
  }

  const std::vector<Edit>& edits() const { return edits_; }

  std::string ApplyTo(std::string_view text) const {
    std::string out;
    uint32_t at = 0;
    for (const Edit& edit : edits_) {
      out += text.substr(at, edit.span.begin - at);
      out += edit.replacement;
      at = edit.span.end;
    }
    return out + std::string(text.substr(at));
  }

 private:
  std::vector<Edit> edits_;
};

class Applier {
 public:
  Applier(const source::SourceFiles& files, findings::Applicability least, const BytesOfPath& bytes_of)
      : files_(files), least_(least), bytes_of_(bytes_of) {}

  Application Run(std::span<const findings::Finding> findings) {
    for (const findings::Finding& finding : findings) {
      const auto fix = std::ranges::find_if(finding.fixes, [&](const findings::Fix& each) {
        return each.applicability >= least_ && !each.edits.empty();
      });
      if (fix != finding.fixes.end()) Apply(finding, *fix);
    }
    for (const auto& [file, edits] : edits_) {
      const source::SourceFile& source = files_[file];
      out_.edits[source.path] = edits.edits();
      if (source.is_notebook()) {
        ApplyToNotebook(source, edits.edits());
        continue;
      }
      const std::string text = edits.ApplyTo(source.text);
      out_.texts[source.path] = (source.has_bom ? std::string(kByteOrderMark) : std::string()) + text;
    }
    return std::move(out_);
  }

 private:
  void Apply(const findings::Finding& finding, const findings::Fix& fix) {
    const source::SourceFile& file = files_[finding.span.file];
    bool is_new = false;
    for (const Edit& edit : fix.edits) {
      const FileEdits::Fit fit = edits_[edit.span.file].FitOf(edit);
      if (fit == FileEdits::Fit::Overlaps) {
        ++out_.postponed;
        return;
      }
      is_new = is_new || fit == FileEdits::Fit::Free;
    }
    for (const Edit& edit : fix.edits) {
      FileEdits& edits = edits_[edit.span.file];
      if (edits.FitOf(edit) == FileEdits::Fit::Free) edits.Add(edit);
    }
    if (!is_new) return;
    out_.applied.push_back({.code = std::string(finding.code),
                            .path = file.path,
                            .line = source::Locate(file, finding.span.begin).line + 1,
                            .title = fix.title});
  }

  void ApplyToNotebook(const source::SourceFile& source, const std::vector<Edit>& edits) {
    if (!bytes_of_) return;
    const base::Result<std::string> json = bytes_of_(source.path);
    base::Result<std::string> text = json ? EditNotebook(*json, source, edits) : json;
    if (text) {
      out_.texts[source.path] = std::move(*text);
      return;
    }
    Refuse(source.path + ": not fixed: " + text.error().message + "; change it by hand");
    std::erase_if(out_.applied, [&](const AppliedFix& fix) { return fix.path == source.path; });
  }

  void Refuse(std::string why) {
    if (std::ranges::find(out_.refused, why) == out_.refused.end()) out_.refused.push_back(std::move(why));
  }

  const source::SourceFiles& files_;
  findings::Applicability least_;
  const BytesOfPath& bytes_of_;
  std::map<source::FileId, FileEdits> edits_;
  Application out_;
};

}  // namespace

std::string BytesOf(const source::SourceFile& file) {
  return (file.has_bom ? std::string(kByteOrderMark) : std::string()) + file.text;
}

Application ApplyFixes(const source::SourceFiles& files, std::span<const findings::Finding> findings,
                       findings::Applicability least, const BytesOfPath& bytes_of) {
  return Applier(files, least, bytes_of).Run(findings);
}

}  // namespace allranks::fixes
