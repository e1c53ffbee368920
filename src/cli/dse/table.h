// SPDX-License-Identifier: Apache-2.0
// A CSV file that grows row by row; a sweep that continues reads it again.
//
// Input    columns; the first `keys` of them identify a row
// Output   rows appended and flushed one by one; a last line without its end (a run
//          that was killed, a disk that was full) is cut off when the file is opened
// Errors   Failure(kIo): cannot open or write, in use by another run
//          Failure(kBadInput): the file has other columns, or a line that is no row
// Note     RFC 4180 quoting; line breaks inside cells become spaces
#ifndef SLUICE_CLI_DSE_TABLE_H_
#define SLUICE_CLI_DSE_TABLE_H_

#include <map>
#include <string>
#include <vector>

namespace sluice::cli {

using Cells = std::vector<std::string>;

class SweepTable {
 public:
  SweepTable(std::string path, Cells columns, size_t keys);
  ~SweepTable();
  SweepTable(const SweepTable&) = delete;
  SweepTable& operator=(const SweepTable&) = delete;

  // The row with these key cells, or nullptr.
  const Cells* Find(const Cells& key) const;
  void Append(const Cells& row);
  // Appends the rows of another table with the same columns that are missing here;
  // returns their number. Of two rows for one key the smaller one stays, so that the
  // order in which tables are merged means nothing.
  size_t Merge(const std::string& path);
  // Writes the file once more with its rows in the order of these keys, others behind
  // them by their own: rows were appended as they came. Where no other file can be
  // written beside it, the file stays as it is.
  void Order(const std::vector<Cells>& keys) const;

 private:
  std::vector<Cells> Rows(const std::string& text, const std::string& path) const;
  Cells KeyOf(const Cells& row) const;
  void Write(const std::string& line);
  std::string Ordered(const std::vector<Cells>& keys) const;

  std::string path_;
  Cells columns_;
  size_t keys_;
  int descriptor_ = -1;
  std::map<Cells, Cells> rows_;
};

std::string CsvLine(const Cells& cells);
// False when the quoting is broken.
bool ParseCsvLine(const std::string& line, Cells* cells);

}  // namespace sluice::cli

#endif  // SLUICE_CLI_DSE_TABLE_H_
