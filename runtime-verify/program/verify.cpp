#include "runtime-verify/program/verify.h"

#include <cerrno>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "analyzer/files/write_file.h"
#include "runtime-verify/backends/nccl/nccl_backend.h"
#include "runtime-verify/coordinator/rendezvous.h"
#include "runtime-verify/coordinator/self_test.h"
#include "runtime-verify/coordinator/shown_text.h"
#include "runtime-verify/coordinator/verdict_json.h"
#include "runtime-verify/coordinator/verdict_text.h"
#include "runtime-verify/program/options.h"
#include "runtime-verify/worker/worker.h"
#include "witness/json.h"

namespace allranks::verify {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kNothing = 0, kReproduced = 1, kError = 2, kUnavailable = 4, kInterrupted = 130;
constexpr int kFormatVersion = 1;

void Complain(const std::string& text) { std::cerr << "allranks: error: " + OneLine(text) + "\n" << std::flush; }

bool IsUtf8Terminal() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const std::string_view text = value;
    return text.find("UTF-8") != std::string_view::npos || text.find("utf8") != std::string_view::npos;
  }
  return false;
}

TextStyle StyleOf(const Options& options) {
  const bool is_plain = std::getenv("NO_COLOR") != nullptr || isatty(STDOUT_FILENO) == 0;
  return {.color = options.color == "always" || (options.color == "auto" && !is_plain),
          .ascii = !IsUtf8Terminal()};
}

bool WriteFile(const std::string& path, const std::string& text) {
  const int error = files::WriteTo(path, text, ".");
  if (error == 0) return true;
  Complain("cannot write " + path + ": " + (error == EXDEV ? "a link leads out of the working directory" : std::generic_category().message(error)));
  return false;
}

bool Print(const std::string& text) {
  std::cout << text << std::flush;
  if (std::cout) return true;
  Complain("cannot write the output");
  return false;
}

// What the verdicts rest on; `unavailable`: nothing of what was asked for is here.
struct Chosen {
  std::unique_ptr<Rendezvous> rendezvous;  // of a launched job
  std::optional<RankBackend> backend;
  std::string description;
  std::string unavailable;
};

// What is left to do when there is nothing to verify here; nothing: go on.
std::optional<int> ExitEarly(const Options& options, const Chosen& chosen) {
  if (chosen.unavailable.empty()) return std::nullopt;
  Complain("backend " + options.backend + " is unavailable: " + chosen.unavailable);
  return kUnavailable;
}

// Rank 0 of a launched job leads; every other process of it is a relay until the end. Returns the relay's
// exit code.
std::optional<int> JoinJob(Options& options, Chosen& chosen, InterruptGuard& interrupt) {
  std::string error;
  const std::optional<LaunchEnvironment> job = ReadLaunchEnvironment(&error);
  constexpr size_t kShortestToken = 16;
  if (job && options.allow_remote && job->token.size() < kShortestToken) {
    error =
        "--allow-remote needs a secret of at least 16 characters in ALLRANKS_TOKEN, the same on all ranks";
  }
  if (error.empty() && job->rank > 0) {
    std::vector<Launcher*> launchers;
    for (const RankBackend::Variant& variant : chosen.backend->variants)
      launchers.push_back(variant.launcher.get());
    const int code = RunRelay(*job, launchers, options.allow_remote, interrupt, &error);
    // What was found is the leader's to say: launchers take any other exit code for a failure of the job.
    if (error.empty()) return code == kReproduced ? kNothing : code;
  }
  if (error.empty()) chosen.rendezvous = Rendezvous::Listen(*job, options.allow_remote, interrupt, &error);
  if (!error.empty()) {
    Complain(error);
    return kError;
  }
  constexpr uint32_t kMostOfJob = 1024;
  chosen.backend->most_ranks = kMostOfJob;
  chosen.backend->is_launched = true;
  options.verifier.ranks = job->size;
  options.ranks = {job->size};
  for (uint32_t i = 0; i < chosen.backend->variants.size(); ++i) {
    std::unique_ptr<Launcher>& launcher = chosen.backend->variants[i].launcher;
    launcher = std::make_unique<LaunchedLauncher>(std::move(launcher), *chosen.rendezvous, i);
  }
  return std::nullopt;
}

Chosen Choose(const Options& options, InterruptGuard& interrupt) {
  Chosen chosen;
  const auto take = [&](Found found) {
    chosen.backend = std::move(found.backend);
    chosen.description = found.description;
    chosen.unavailable = found.missing;
  };
  if (options.backend == "gloo") take(FindGloo(options.machine, interrupt));
  if (options.backend == "nccl") take(FindNccl(options.machine, interrupt));
  if (options.backend != "auto") return chosen;
  if (options.launched) {
    // A model has no need of a job.
    take(FindNccl(options.machine, interrupt));
    if (!chosen.backend) take(FindGloo(options.machine, interrupt));
    return chosen;
  }
  take(FindNccl(options.machine, interrupt));
  if (!chosen.backend && !options.quiet) {
    std::cerr << "allranks: note: verdicts are those of the simulator: " << OneLine(chosen.unavailable) << "\n";
  }
  chosen.unavailable.clear();
  return chosen;
}

class Progress {
 public:
  explicit Progress(bool quiet) : enabled_(!quiet && isatty(STDERR_FILENO) == 1) {}
  ~Progress() { Show(""); }
  void Show(const std::string& text) {
    if (enabled_) std::cerr << "\r\x1b[K" << text << std::flush;
  }

 private:
  bool enabled_;
};

struct Entry {
  std::string file;
  ReportFinding finding;
  Verdict verdict;
};

std::string JsonOf(const std::vector<Entry>& entries, std::string_view version,
                   const std::vector<std::string>& errors) {
  Json findings = Json::array();
  for (const Entry& entry : entries) {
    findings.push_back({{"file", entry.file},
                        {"code", entry.finding.code},
                        {"place", entry.finding.place},
                        {"verify", Json::parse(VerdictJson(entry.verdict))}});
  }
  const Json root = {{"version", kFormatVersion},
                     {"tool", "allranks " + std::string(version)},
                     {"findings", std::move(findings)},
                     {"errors", errors}};
  return ShownJson(root.dump(-1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

class Run {
 public:
  Run(Options options, std::string_view version) : options_(std::move(options)), version_(version) {}

  int All() {
    std::vector<ReportFile> files;
    for (const std::string& path : options_.paths) {
      std::string error;
      std::optional<ReportFile> file = ReportFile::Read(path, &error);
      if (!file) {
        Fail(path + ": " + error);
        continue;
      }
      if (options_.output_format == "sarif" && file->kind() != ReportFile::Kind::Sarif) {
        Fail(path + ": is no SARIF report, so there is none to write; use --output-format json");
        continue;
      }
      files.push_back(std::move(*file));
      names_.push_back(path);
    }
    if (files.empty()) return kError;
    Chosen chosen = Choose(options_, interrupt_);
    if (const std::optional<int> code = ExitEarly(options_, chosen)) return *code;
    if (options_.launched) {
      if (const std::optional<int> code = JoinJob(options_, chosen, interrupt_)) return *code;
    }
    Verifier verifier(options_.verifier, chosen.backend ? &*chosen.backend : nullptr, interrupt_);
    for (size_t f = 0; f < files.size() && !interrupt_.HasCome(); ++f)
      VerifyFile(files[f], names_[f], verifier);
    const int code = Finish();
    if (chosen.rendezvous && !interrupt_.HasCome()) chosen.rendezvous->Dismiss(code);
    return code;
  }

 private:
  void Fail(const std::string& text) {
    Complain(text);
    errors_.push_back(text);
  }

  void VerifyFile(const ReportFile& file, const std::string& name, Verifier& verifier) {
    std::vector<std::optional<Verdict>> verdicts;
    const TextStyle style = StyleOf(options_);
    const std::vector<ReportFinding>& findings = file.findings();
    Progress progress(options_.quiet);
    for (size_t i = 0; i < findings.size() && !interrupt_.HasCome(); ++i) {
      const ReportFinding& finding = findings[i];
      verdicts.emplace_back();
      if (!finding.refused.empty())
        Fail(name + ": the witness of " + (finding.code.empty() ? "finding " + std::to_string(i + 1) : finding.code) +
             " is refused: " + finding.refused);
      if (!finding.witness) continue;
      progress.Show(
          fmt::format("allranks: verify {}/{} {} {}", i + 1, findings.size(), OneLine(finding.code), OneLine(finding.place)));
      verdicts.back() = verifier.Verify(*finding.witness);
      progress.Show("");
      if (interrupt_.HasCome()) {
        // It has not been seen to its end. What was stays: the report is written with it.
        verdicts.back().reset();
        break;
      }
      const Verdict& verdict = *verdicts.back();
      if (options_.output_format == "full") Deliver(VerdictText(finding, verdict, style) + "\n");
      if (options_.output_format == "concise") Deliver(VerdictLine(finding, verdict, style));
      entries_.push_back({name, finding, verdict});
    }
    if (options_.output_format == "sarif") Deliver(file.WithVerdicts(verdicts));
    if (!options_.output_file.empty())
      delivered_ = WriteFile(options_.output_file, file.WithVerdicts(verdicts)) && delivered_;
  }

  void Deliver(const std::string& text) { delivered_ = Print(text) && delivered_; }

  int Finish() {
    if (interrupt_.HasCome()) Fail(fmt::format("interrupted after {} findings; all ranks were ended", entries_.size()));
    size_t reproduced = 0, clean = 0;
    for (const Entry& entry : entries_) {
      reproduced += entry.verdict.kind == VerdictKind::Reproduced;
      clean += entry.verdict.kind == VerdictKind::NotReproduced;
    }
    if (options_.output_format == "json") Deliver(JsonOf(entries_, version_, errors_));
    if (options_.output_format == "full" || options_.output_format == "concise") {
      Deliver(fmt::format("{} verified: {} reproduced, {} not reproduced, {} inconclusive\n", entries_.size(),
                          reproduced, clean, entries_.size() - reproduced - clean));
    }
    if (interrupt_.HasCome()) return kInterrupted;
    if (!delivered_ || !errors_.empty()) return kError;
    return reproduced > 0 ? kReproduced : kNothing;
  }

  Options options_;
  std::string_view version_;
  InterruptGuard interrupt_;
  std::vector<std::string> names_, errors_;
  std::vector<Entry> entries_;
  bool delivered_ = true;
};

Json SelfTestJson(const std::vector<SelfTestLine>& lines) {
  Json list = Json::array();
  for (const SelfTestLine& line : lines) {
    list.push_back({{"ranks", line.world},
                    {"good", IsGood(line)},
                    {"matched", Json::parse(VerdictJson(line.matched))},
                    {"deadlock", Json::parse(VerdictJson(line.deadlock))}});
  }
  return list;
}

// Beside what was seen of a mismatch, what the model says of it.
Json MismatchJson(const Mismatch& mismatch, const Verdict& verdict) {
  const witness::Schedule schedule = witness::MakeSchedule(mismatch.witness);
  Json foretold = Json::object();
  for (const Protocol protocol : {Protocol::LowLatency, Protocol::Simple}) {
    foretold[std::string(NameOf(protocol))] =
        witness::EffectName(SimulateRing(schedule, protocol, true).effect);
  }
  return {{"name", mismatch.name},
          {"foretold", std::move(foretold)},
          {"seen", Json::parse(VerdictJson(verdict))}};
}

std::string MismatchText(const Json& one) {
  std::string out =
      fmt::format("{:56} foretold: LL {}, Simple {}; seen:", one["name"].get<std::string>(),
                  one["foretold"]["LL"].get<std::string>(), one["foretold"]["Simple"].get<std::string>());
  if (!one["seen"].contains("trials")) return out + " " + one["seen"].value("reason", "nothing") + "\n";
  for (const Json& trial : one["seen"]["trials"]) {
    out += fmt::format(" {} {},", trial["name"].get<std::string>(), trial["effect"].get<std::string>());
  }
  out.back() = '\n';
  return out;
}

int SelfTest(Options options, std::string_view version) {
  InterruptGuard interrupt;
  Chosen chosen = Choose(options, interrupt);
  if (const std::optional<int> code = ExitEarly(options, chosen)) return *code;
  if (options.launched) {
    if (const std::optional<int> code = JoinJob(options, chosen, interrupt)) return *code;
  }
  const std::string name = chosen.backend ? chosen.backend->name : "sim";
  const bool as_json = options.output_format == "json";
  if (!as_json) {
    Print(fmt::format("allranks {} on {}: {}\n", version, name,
                      chosen.backend ? chosen.description : "strict matching and NCCL's ring"));
  }
  const std::vector<uint32_t> worlds = options.ranks.empty() ? std::vector<uint32_t>{2, 4, 8} : options.ranks;
  Verifier verifier(options.verifier, chosen.backend ? &*chosen.backend : nullptr, interrupt);
  const std::vector<SelfTestLine> lines = RunSelfTest(verifier, worlds);
  bool is_good = lines.size() == worlds.size();
  for (const SelfTestLine& line : lines) {
    is_good = is_good && IsGood(line);
    if (!as_json) Print(SelfTestText(line));
  }
  Json table = Json::array();
  if (options.mismatches) {
    for (const Mismatch& mismatch : Mismatches(worlds)) {
      if (interrupt.HasCome()) break;
      table.push_back(MismatchJson(mismatch, verifier.Verify(mismatch.witness)));
      if (!as_json) Print(MismatchText(table.back()));
    }
  }
  if (as_json) {
    Json root = {{"version", kFormatVersion},
                 {"tool", "allranks " + std::string(version)},
                 {"backend", name},
                 {"description", chosen.description},
                 {"selfTest", SelfTestJson(lines)}};
    if (options.mismatches) root["mismatches"] = std::move(table);
    Print(ShownJson(root.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n");
  }
  if (interrupt.HasCome()) return kInterrupted;
  if (!is_good) Complain("the self-test failed on " + name);
  if (chosen.rendezvous) chosen.rendezvous->Dismiss(is_good ? kNothing : kError);
  return is_good ? kNothing : kError;
}

}  // namespace

int RunVerify(int argc, const char* const* argv, std::string_view version) {
  // A reader that left is an error of the write, not our death.
  signal(SIGPIPE, SIG_IGN);
  Options options = ParseOptions(argc, argv);
  options.machine.is_remote = options.allow_remote;
  options.verifier.model_instead = options.backend == "auto";
  if (options.launched) {
    std::string missing;
    if (const auto job = ReadLaunchEnvironment(&missing)) options.machine.local_rank = static_cast<int32_t>(job->local_rank);
  }
  if (options.exit_code >= 0) {
    (options.exit_code == 0 ? std::cout : std::cerr) << options.message << std::flush;
    return options.exit_code;
  }
  try {
    return options.self_test ? SelfTest(options, version) : Run(options, version).All();
  } catch (const std::exception& error) {
    Complain(std::string("internal error: ") + error.what() + "; please report it");
    return kError;
  }
}

int RunNcclWorker() {
  const std::unique_ptr<Backend> backend = MakeNcclBackend();
  const int code = RunWorker(*backend);
  // Libraries with operations under way must not be asked to clean up.
  _exit(code);
}

}  // namespace allranks::verify
