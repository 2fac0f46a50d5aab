#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "temporary_folder.hpp"
import iap.core;

using namespace iap;
using Catch::Matchers::ContainsSubstring;

namespace {

struct Folder {
  TemporaryFolder folder;
  std::filesystem::path file(const std::string& content) const {
    write_file_atomic(folder.path() / "metrics.csv", content);
    return folder.path() / "metrics.csv";
  }
};

}  // namespace

TEST_CASE("metrics are read by column; empty cells are NaN") {
  const Folder folder;
  const Table metrics = read_table(folder.file("iteration,eval_mean\n0,1.5\n1,\n2,-3e2\n"));
  CHECK(metrics.column("iteration") == std::vector<double>{0, 1, 2});
  const auto eval = metrics.column("eval_mean");
  CHECK(eval[0] == 1.5);
  CHECK(std::isnan(eval[1]));
  CHECK(eval[2] == -300);
  CHECK_THROWS_WITH(metrics.column("eval_men"), ContainsSubstring("did you mean 'eval_mean'"));
}

TEST_CASE("damaged metrics are refused with file and line") {
  const Folder folder;
  CHECK_THROWS_WITH(read_table(folder.file("a,b\n1,2\n3\n")), ContainsSubstring("metrics.csv:3"));
  CHECK_THROWS_WITH(read_table(folder.file("a,b\n1,x\n")), ContainsSubstring("'x' is not a number"));
  CHECK_THROWS_WITH(read_table(folder.file("a,b\n1,12abc\n")), ContainsSubstring("'12abc' is not a number"));
  CHECK_THROWS_WITH(read_table(folder.file("")), ContainsSubstring("is empty"));
  const Table torn = read_table(folder.file("a,b\n1,2\n3\n\n4,x\n5,6"), Torn::skipped);
  REQUIRE(torn.rows.size() == 2);
  CHECK(torn.rows[0] == std::vector<double>{1, 2});
  CHECK((torn.rows[1][0] == 4 && std::isnan(torn.rows[1][1])));
  // A row that is being written, cut between two cells, in a cell, and before its end.
  for (const char* begun : {"3", "3,", "3,4", "x,4"})
    CHECK(read_table(folder.file(text("a,b\n1,2\n", begun))).rows == std::vector<std::vector<double>>{{1, 2}});
  CHECK(read_table(folder.file("a,b")).rows.empty());
  for (const char* nothing : {"", "a,b"}) CHECK(read_table(folder.file(nothing), Torn::skipped).columns.empty());
}

TEST_CASE("a table that an editor gave another form is refused with the form and the remedy") {
  const Folder folder;
  for (const Torn torn : {Torn::refused, Torn::skipped}) {
    CHECK_THROWS_WITH(read_table(folder.file("a,b\r\n1,2\r\n"), torn),
                      ContainsSubstring("metrics.csv: its lines end in CR LF") && ContainsSubstring("sed -i 's/\\r$//'"));
    CHECK_THROWS_WITH(read_table(folder.file(std::string("\xEF\xBB\xBF") + "a,b\n1,2\n"), torn),
                      ContainsSubstring("metrics.csv: begins with a byte order mark") && ContainsSubstring("sed -i '1s/"));
  }
}

TEST_CASE("an interrupt ends a long table and a long line, not short ones") {
  const Folder folder;
  std::string rows = "a,b\n";
  while (rows.size() < std::size_t{2} << 20) rows += "1,2\n";
  const auto table = folder.file(rows);
  const std::string line(std::size_t{2} << 20, ',');
  request_interrupt();
  CHECK_THROWS_AS(read_table(table), Interrupted);
  CHECK_THROWS_AS(csv_cells(line), Interrupted);
  CHECK(read_table(folder.file("a,b\n1,2\n")).rows.size() == 1);
  clear_interrupt();
  CHECK(csv_cells(line).size() == line.size() + 1);
}

TEST_CASE("a cell reads back as the number that it was written from") {
  for (const double value : {0.0, -0.0, 1.0, -3.0, 0.1, 1e308, 5e-324, 9007199254740993.0, 9223372036854775808.0, -1e-300}) {
    double read = 1;
    CAPTURE(value, csv_cell(value));
    CHECK(read_cell(csv_cell(value), read));
    CHECK((read == value && std::signbit(read) == std::signbit(value)));
  }
  CHECK(csv_cell(-3) == "-3");
  for (const char* none : {"", "12abc", "1 ", " 1", "1e", "1.5.2", "0x10", "1;2"}) {
    double untouched = 7;
    CAPTURE(none);
    CHECK_FALSE(read_cell(none, untouched));
    CHECK(untouched == 7);
  }
}

TEST_CASE("a line's cells are what stands between its commas") {
  using Cells = std::vector<std::string>;
  CHECK(csv_cells("") == Cells{""});
  CHECK(csv_cells("a") == Cells{"a"});
  CHECK(csv_cells("a,,b") == Cells{"a", "", "b"});
  CHECK(csv_cells(",a,") == Cells{"", "a", ""});
}
