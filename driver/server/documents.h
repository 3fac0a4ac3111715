// The texts that the client has open: they stand in for the files on disk.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/source/source_file.h"
#include "driver/server/json.h"
#include "driver/server/positions.h"

namespace allranks::server {

struct Document {
  std::string uri;      // as the client writes it
  std::string path;     // absolute; empty: neither a file nor one to be, or a cell of a notebook
  int64_t version = 0;
  source::SourceFile file;
};

struct Notebook {
  std::string uri;
  std::string path;
  std::vector<std::string> cells;   // URIs, in order
  std::vector<bool> is_code;
};

// All functions throw RequestError for parameters that make no sense; then nothing has changed.
class Documents {
 public:
  void SetEncoding(ColumnUnit unit) { unit_ = unit; }
  // Where texts that were never saved are taken to stand.
  void SetUntitledFolder(std::string folder) { untitled_folder_ = std::move(folder); }
  ColumnUnit encoding() const { return unit_; }

  void Open(const Json& text_document);
  void Change(const Json& text_document, const Json& changes);
  void Close(const Json& text_document);
  void OpenNotebook(const Json& params);
  void ChangeNotebook(const Json& params);
  void CloseNotebook(const Json& params);

  const Document* Find(std::string_view uri) const;
  // The notebook that a cell belongs to, and the cell's number from one; nullptr: it is no cell.
  const Notebook* NotebookOf(std::string_view cell_uri, uint32_t* number) const;
  // Of an open file or notebook, as the client writes it; empty: it is not open.
  std::string UriOf(const std::string& path) const;
  std::string CellUri(const std::string& path, uint32_t number) const;

  // Path -> bytes, of files that hold code.
  std::map<std::string, std::string> Overlays() const;

 private:
  Document& At(const Json& text_document);
  std::string PathOf(const Json& text_document) const;
  void ApplyChange(Document& document, const Json& change) const;
  void ChangeCells(Notebook& notebook, const Json& cells);
  std::string NotebookBytes(const Notebook& notebook) const;

  ColumnUnit unit_ = ColumnUnit::Utf16;
  std::string untitled_folder_;
  std::map<std::string, Document, std::less<>> documents_;  // by URI
  std::map<std::string, Notebook, std::less<>> notebooks_;
};

}  // namespace allranks::server
