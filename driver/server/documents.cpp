#include "driver/server/documents.h"

#include <algorithm>

#include "driver/pipeline/enumerate.h"
#include "driver/pipeline/launch_scan.h"
#include "driver/server/json_rpc.h"
#include "driver/server/uri.h"

namespace allranks::server {
namespace {

RequestError Wrong(const std::string& what) { return {ErrorCode::InvalidParams, what}; }

std::string ReadString(const Json& object, const char* key) {
  const Json& value = server::At(object, key);
  if (!value.is_string()) throw Wrong(std::string("`") + key + "` is no string");
  return value.get<std::string>();
}

int64_t ReadVersion(const Json& text_document) {
  const Json& version = server::At(text_document, "version");
  return version.is_number_integer() ? version.get<int64_t>() : 0;
}

// Lines and columns of a document are those of its text, whatever kind of file it is.
source::SourceFile FileOf(std::string text) {
  base::Result<source::SourceFile> file = source::MakeSourceFile("document", std::move(text));
  if (!file) throw Wrong(file.error().message);
  return std::move(*file);
}

// By how the client calls the language: the end of a file's name says it to all others.
std::string_view EndingOf(std::string_view language) {
  if (language == "python") return ".py";
  if (language == "c") return ".c";
  if (language == "cpp") return ".cpp";
  if (language == "cuda" || language == "cuda-cpp") return ".cu";
  return {};
}

}  // namespace

std::string Documents::PathOf(const Json& text_document) const {
  const std::string uri = ReadString(text_document, "uri");
  const std::string name = UntitledName(uri);
  if (name.empty()) return PathOfUri(uri);
  std::string path = name.starts_with('/') ? name : pipeline::Normalized(pipeline::Join(untitled_folder_, name));
  const Json& language = server::At(text_document, "languageId");
  if (!pipeline::IsCodeName(path) && language.is_string()) path += EndingOf(language.get<std::string>());
  return path;
}

void Documents::Open(const Json& text_document) {
  Document document;
  document.uri = ReadString(text_document, "uri");
  document.path = PathOf(text_document);
  document.version = ReadVersion(text_document);
  document.file = FileOf(ReadString(text_document, "text"));
  documents_.insert_or_assign(document.uri, std::move(document));
}

Document& Documents::At(const Json& text_document) {
  const auto found = documents_.find(ReadString(text_document, "uri"));
  if (found == documents_.end()) throw Wrong("the document is not open");
  return found->second;
}

void Documents::Change(const Json& text_document, const Json& changes) {
  Document& document = At(text_document);
  if (!changes.is_array()) throw Wrong("`contentChanges` is no array");
  // All or nothing: half of the changes would leave another text than the client's.
  Document changed = document;
  for (const Json& change : changes) ApplyChange(changed, change);
  changed.version = ReadVersion(text_document);
  document = std::move(changed);
}

void Documents::ApplyChange(Document& document, const Json& change) const {
  std::string text = ReadString(change, "text");
  if (server::At(change, "range").is_null()) {
    document.file = FileOf(std::move(text));
    return;
  }
  const Range range = ReadRange(change["range"]);
  const uint32_t begin = source::OffsetOf(document.file, range.start, unit_);
  const uint32_t end = source::OffsetOf(document.file, range.end, unit_);
  std::string whole = std::move(document.file.text);
  whole.replace(begin, end - begin, text);
  document.file = FileOf(std::move(whole));
}

void Documents::Close(const Json& text_document) {
  At(text_document);
  documents_.erase(ReadString(text_document, "uri"));
}

void Documents::OpenNotebook(const Json& params) {
  const Json& described = server::At(params, "notebookDocument");
  Notebook notebook{.uri = ReadString(described, "uri"), .path = {}, .cells = {}, .is_code = {}};
  notebook.path = PathOfUri(notebook.uri);
  for (const Json& cell : server::At(described, "cells")) {
    notebook.cells.push_back(ReadString(cell, "document"));
    notebook.is_code.push_back(server::At(cell, "kind") == 2);
  }
  for (const Json& text : server::At(params, "cellTextDocuments")) Open(text);
  notebooks_.insert_or_assign(notebook.uri, std::move(notebook));
}

void Documents::ChangeNotebook(const Json& params) {
  const auto found = notebooks_.find(ReadString(server::At(params, "notebookDocument"), "uri"));
  if (found == notebooks_.end()) throw Wrong("the notebook is not open");
  const Json& cells = server::At(params, "change", "cells");
  ChangeCells(found->second, cells);
  for (const Json& text : server::At(cells, "textContent")) {
    Change(server::At(text, "document"), server::At(text, "changes"));
  }
}

void Documents::ChangeCells(Notebook& notebook, const Json& cells) {
  const Json& array = server::At(cells, "structure", "array");
  if (array.is_object()) {
    const size_t start = std::min<size_t>(ReadNumber(server::At(array, "start"), "start"), notebook.cells.size());
    const size_t count = std::min<size_t>(ReadNumber(server::At(array, "deleteCount"), "deleteCount"), notebook.cells.size() - start);
    std::vector<std::string> uris;
    std::vector<bool> is_code;
    for (const Json& cell : server::At(array, "cells")) {
      uris.push_back(ReadString(cell, "document"));
      is_code.push_back(server::At(cell, "kind") == 2);
    }
    const auto at = static_cast<ptrdiff_t>(start);
    const auto end = static_cast<ptrdiff_t>(start + count);
    notebook.cells.erase(notebook.cells.begin() + at, notebook.cells.begin() + end);
    notebook.is_code.erase(notebook.is_code.begin() + at, notebook.is_code.begin() + end);
    notebook.cells.insert(notebook.cells.begin() + at, uris.begin(), uris.end());
    notebook.is_code.insert(notebook.is_code.begin() + at, is_code.begin(), is_code.end());
  }
  for (const Json& text : server::At(cells, "structure", "didOpen")) Open(text);
  for (const Json& text : server::At(cells, "structure", "didClose")) documents_.erase(ReadString(text, "uri"));
}

void Documents::CloseNotebook(const Json& params) {
  const auto found = notebooks_.find(ReadString(server::At(params, "notebookDocument"), "uri"));
  if (found == notebooks_.end()) throw Wrong("the notebook is not open");
  for (const std::string& cell : found->second.cells) documents_.erase(cell);
  notebooks_.erase(found);
}

const Document* Documents::Find(std::string_view uri) const {
  const auto found = documents_.find(uri);
  return found == documents_.end() ? nullptr : &found->second;
}

const Notebook* Documents::NotebookOf(std::string_view cell_uri, uint32_t* number) const {
  for (const auto& [uri, notebook] : notebooks_) {
    const auto cell = std::ranges::find(notebook.cells, cell_uri);
    if (cell == notebook.cells.end()) continue;
    *number = static_cast<uint32_t>(cell - notebook.cells.begin()) + 1;
    return &notebook;
  }
  return nullptr;
}

std::string Documents::UriOf(const std::string& path) const {
  for (const auto& [uri, document] : documents_) {
    if (document.path == path && !path.empty()) return uri;
  }
  for (const auto& [uri, notebook] : notebooks_) {
    if (notebook.path == path) return uri;
  }
  return {};
}

std::string Documents::CellUri(const std::string& path, uint32_t number) const {
  for (const auto& [uri, notebook] : notebooks_) {
    if (notebook.path == path && number >= 1 && number <= notebook.cells.size()) return notebook.cells[number - 1];
  }
  return {};
}

std::map<std::string, std::string> Documents::Overlays() const {
  std::map<std::string, std::string> overlays;
  for (const auto& [uri, document] : documents_) {
    const bool is_code = pipeline::IsCodeName(document.path) && !document.path.ends_with(".ipynb");
    if (is_code || pipeline::MayHoldSettings(document.path)) {
      overlays.emplace(document.path, document.file.text);
    }
  }
  for (const auto& [uri, notebook] : notebooks_) {
    if (notebook.path.ends_with(".ipynb")) overlays.emplace(notebook.path, NotebookBytes(notebook));
  }
  return overlays;
}

// As the file would be if it were saved now.
std::string Documents::NotebookBytes(const Notebook& notebook) const {
  Json cells = Json::array();
  for (size_t i = 0; i < notebook.cells.size(); ++i) {
    const Document* cell = Find(notebook.cells[i]);
    cells.push_back({{"cell_type", notebook.is_code[i] ? "code" : "markdown"},
                     {"source", cell == nullptr ? std::string() : cell->file.text}});
  }
  return Dump({{"cells", std::move(cells)}, {"metadata", {{"language_info", {{"name", "python"}}}}},
               {"nbformat", 4}, {"nbformat_minor", 5}});
}

}  // namespace allranks::server
