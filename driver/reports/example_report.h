// A finding as the analysis makes it, for the tests of the formats.
#pragma once

#include "driver/reports/report.h"

namespace allranks::reports {

struct Example {
  source::SourceFiles files;
  std::vector<findings::Finding> findings;
  std::vector<Site> ledger;

  source::Span SpanOf(std::string_view text, source::FileId file = source::FileId{0}) const {
    const auto begin = static_cast<uint32_t>(files[file].text.find(text));
    return {file, begin, begin + static_cast<uint32_t>(text.size())};
  }
  Report report() const {
    return {.files = files, .findings = findings, .ledger = ledger, .errors = {}, .files_checked = files.size(),
            .suppressed = {}, .known = {}, .verdicts = {}, .version = "1.2.3", .repository_path = {}};
  }
};

inline Example MakeExample() {
  using findings::LabelRole;
  Example e;
  e.files.Add(*source::MakeSourceFile("train loop.py",
                                      "def save(model, rank):\n"
                                      "    is_main = rank == 0\n"
                                      "    model.eval()\n"
                                      "    # only one writes\n"
                                      "    if is_main:\n"
                                      "        sync(model)\n"
                                      "    dist.all_reduce(loss)\n"));
  e.files.Add(*source::MakeSourceFile("helpers.py", "def sync(model):\n\tdist.barrier()\n"));
  const source::Span barrier = e.SpanOf("dist.barrier()", source::FileId{1});
  findings::Finding f{.code = "AR101", .span = e.SpanOf("sync(model)"),
                      .message = {"only {} reaches `{}`", {"rank 0", "torch.distributed.barrier"}},
                      .help = {"call it on every rank", {}}, .flight_record = findings::FlightRecord::TypeMismatch,
                      .function = "save"};
  f.labels = {{e.SpanOf("is_main"), LabelRole::Condition, {"`is_main` holds on rank 0 only", {}}},
              {e.SpanOf("rank == 0"), LabelRole::Why, {"the global rank", {}}},
              {f.span, LabelRole::Primary, {"rank 0 waits in here", {}}},
              {e.SpanOf("dist.all_reduce(loss)"), LabelRole::Victim, {"the other ranks wait here", {}}},
              {barrier, LabelRole::Call, {"the barrier", {}}}};
  witness::Witness w{.finding = "AR101/1", .world = 4};
  w.comms = {{"world", {0, 1, 2, 3}}};
  w.classes = {{"r0", {0}, "rank == 0"}, {"rest", {1, 2, 3}, ""}};
  w.ops = {{{.id = "a", .op = "barrier", .comm = "world", .redop = "", .source = "torch.distributed.barrier",
             .at = {"helpers.py", 2}}},
           {{.id = "b", .op = "all_reduce", .comm = "world", .redop = "sum",
             .source = "torch.distributed.all_reduce", .at = {"train loop.py", 7}}}};
  w.stuck = {{0, "a"}, {1, "b"}, {2, "b"}, {3, "b"}};
  f.witness = w;
  e.findings.push_back(std::move(f));
  e.ledger = {{barrier, "torch.distributed.barrier", Verdict::Flagged, ""},
              {e.SpanOf("dist.all_reduce(loss)"), "torch.distributed.all_reduce", Verdict::Unknown, "group unknown"}};
  return e;
}

}  // namespace allranks::reports
