// Whatever is typed into a program: what is found by following the edits is what is found from nothing.
//
// ALLRANKS_EDITS_FOLDER and ALLRANKS_EDITS take another program, and more edits, than the test run does.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "analyzer/ir/outline.h"
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

// The same, and what every parameter and every expression is.
std::string AllIn(const pipeline::Analysed& analysed, const pipeline::Output& out) {
  std::string all = FoundIn(analysed, out);
  const binding::Program& program = analysed.program;
  const auto add = [&](variation::ValueId value) {
    all += (value ? analysed.facts.values_store.Print(value, program, *analysed.knowledge) : std::string("nothing")) + "\n";
  };
  for (uint32_t f = 0; f < program.funcs.size(); ++f) {
    const binding::FuncId function{f};
    for (uint32_t i = 0; i < program.function(function).params.size(); ++i) add(analysed.facts.param(function, i));
  }
  for (const auto& exprs : analysed.facts.exprs) {
    for (const variation::ValueId value : exprs) add(value);
  }
  return all;
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

// An edit of one file that matters to functions of another one.
struct EditOfOther {
  const char* what;
  Files before;
  const char* path;
  const char* after;
};

std::vector<EditOfOther> EditsOfOthers() {
  return {
      {"a helper reads a file now",
       {{"run.py", "import torch.distributed as dist\nfrom helper import load\ndef run(path):\n    try:\n        load(path)\n    except:\n        dist.barrier()\n"},
        {"helper.py", "import torch.distributed as dist\ndef load(path):\n    print(path)\n    return None\n"}},
       "helper.py",
       "import torch.distributed as dist\ndef load(path):\n    open(path)\n    return None\n"},
      {"the function around the one around is given the rank",
       {{"run.py", "import torch.distributed as dist\ndef outer(flag):\n    def middle():\n        def inner():\n            if flag:\n                dist.barrier()\n"
                   "        inner()\n    middle()\n"},
        {"main.py", "import torch.distributed as dist\nfrom run import outer\ndef main():\n    outer(True)\nmain()\n"}},
       "main.py",
       "import torch.distributed as dist\nfrom run import outer\ndef main():\n    outer(dist.get_rank() == 0)\nmain()\n"},
      {"two scripts are one program now",
       {{"run.py", "import torch.distributed as dist\ndef step(args):\n    if args.main:\n        dist.barrier()\n"},
        {"main.py", "import torch.distributed as dist\ndef main(args):\n    args.main = dist.get_rank() == 0\n    print(args)\n"}},
       "main.py",
       "import torch.distributed as dist\ndef main(args):\n    args.main = dist.get_rank() == 0\n    import run\n    print(args)\n"},
      {"a method has to be overridden now",
       {{"run.py", "import torch.distributed as dist\nfrom base import Base\nclass Own(Base):\n    def is_first(self):\n        return dist.get_rank() == 0\n"
                   "def run(object: Base):\n    if object.is_first():\n        dist.barrier()\n"},
        {"base.py", "import torch.distributed as dist\nclass Base:\n    def is_first(self):\n        pass\n"}},
       "base.py",
       "import torch.distributed as dist\nclass Base:\n    def is_first(self):\n        raise NotImplementedError\n"},
      {"nothing behind an assertion is reached any more",
       {{"run.py", "import torch.distributed as dist\nfrom helper import is_ready\ndef run():\n    assert is_ready()\n    if dist.get_rank() == 0:\n        dist.barrier()\n"},
        {"helper.py", "import torch.distributed as dist\ndef is_ready():\n    return True\n"}},
       "helper.py",
       "import torch.distributed as dist\ndef is_ready():\n    return False\n"},
      {"the rank of an adapter is not known any more",
       {{"run.py", "import torch.distributed as dist\nfrom config import Config\ndef run(config: Config):\n    if config.rank == 0:\n        dist.barrier()\n"},
        {"config.py", "import torch.distributed as dist\nfrom helper import usual\nclass Config:\n    rank: int = usual()\n"},
        {"helper.py", "import torch.distributed as dist\ndef usual():\n    return 8\n"}},
       "helper.py",
       "import torch.distributed as dist\ndef usual():\n    return dist.get_world_size()\n"},
      {"what is called behind a read returns something else, and stores what was read",
       {{"run.py", "import torch.distributed as dist\nimport counts\nfrom start import start\ndef use(count):\n    if count == 0:\n        dist.barrier()\n"
                   "def main():\n    use(counts.count)\n    start()\nmain()\n"},
        {"counts.py", "import torch.distributed as dist\ncount = 0\n"},
        {"start.py", "import torch.distributed as dist\nimport counts\ndef start():\n    counts.count = dist.get_rank()\n    return 1\n"}},
       "start.py",
       "import torch.distributed as dist\nimport counts\ndef start():\n    counts.count = dist.get_rank()\n    return 2\n"},
      {"another thing is asked for, and is made once as well",
       {{"run.py", "import torch.distributed as dist\nimport groups\nfrom ask import is_there\ndef run():\n    if not is_there():\n        groups.one = dist.new_group([0])\n"
                   "        groups.other = dist.new_group([1])\ndef main():\n    if dist.get_rank() == 0:\n        groups.one = dist.new_group([0])\n    run()\nmain()\n"},
        {"ask.py", "from deep import has_group\ndef is_there():\n    return has_group()\n"},
        {"deep.py", "import groups\ndef has_group():\n    return groups.one is not None\ndef has_other():\n    return groups.other is not None\n"},
        {"groups.py", "import torch.distributed as dist\none = None\nother = None\n"}},
       "deep.py",
       "import groups\ndef has_group():\n    return groups.other is not None\ndef has_other():\n    return groups.other is not None\n"},
  };
}

TEST(EditsTest, WhatAnEditMattersToInOtherFilesIsFoundAgain) {
  for (const EditOfOther& edit : EditsOfOthers()) {
    Files after = edit.before;
    after[edit.path] = edit.after;
    pipeline::Options options;
    pipeline::Analysed anew;
    const auto expected = pipeline::Run(options, source::MemoryFileSystem{after}, anew);
    ASSERT_TRUE(expected);
    const std::string found = AllIn(anew, *expected);

    const source::MemoryFileSystem disk{edit.before};
    pipeline::Memory memory;
    pipeline::Analysed in_memory;
    ASSERT_TRUE(pipeline::Run(options, disk, in_memory, &memory));
    options.overlays = {{edit.path, edit.after}};
    memory.disk_is_unchanged = true;
    const auto out = pipeline::Run(options, disk, in_memory, &memory);
    ASSERT_TRUE(out);
    EXPECT_EQ(AllIn(in_memory, *out), found) << edit.what;
  }
}

uint64_t OutlineOfText(const std::string& text) {
  pipeline::Analysed analysed;
  const source::MemoryFileSystem disk{{{"train.py", text}}};
  EXPECT_TRUE(pipeline::Run({}, disk, analysed));
  const ir::Module& module = analysed.program.modules[ir::ModuleId{0}];
  return ir::OutlineOf(module, analysed.files[module.file].text, analysed.names);
}

TEST(EditsTest, TheOutlineHoldsWhatOtherModulesAskOfBodies) {
  const std::string head = "import torch.distributed as dist\nclass Job(Base):\n    def step(self):\n        ";
  const auto outline = [&](const std::string& body) { return OutlineOfText(head + body + "\n"); };
  const uint64_t plain = outline("dist.barrier()");
  EXPECT_EQ(outline("dist.barrier(async_op=True)"), plain);
  for (const char* other : {"pass", "raise NotImplementedError", "super().step()", "Base.step(self)", "import other", "global done; done = 1",
                            "yield dist", "class Inner: limit = 1", "class Inner: limit = 2"}) {
    EXPECT_NE(outline(other), plain) << other;
  }
  EXPECT_NE(outline("pass"), outline("raise NotImplementedError"));
  EXPECT_NE(outline("class Inner(Base): pass"), outline("Base = None\n        class Inner(Base): pass"));
  EXPECT_NE(outline("class Inner: limit = 1"), outline("class Inner: limit = 2"));
}

}  // namespace
}  // namespace allranks
