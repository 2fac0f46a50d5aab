module;
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "core/fork_mutex.hpp"
module iap.envs.take_cover;

namespace iap::take_cover {
namespace {

constexpr int fraction_bits = 16;
constexpr double fraction = 1 << fraction_bits;
enum class Cover : std::uint8_t { none, opaque, glow };

double columns_an_output(int width) { return static_cast<double>(screen_width) / width; }

}  // namespace

/// What does not change from frame to frame, and takes megabytes.
struct SmallTables {
  SmallTables(const Art& art, const View& view, int width) : palette(light_palette(art)) {
    // The eye is at least 32 above the floor and 54 under the ceiling. The far wall stands 544 from where the player starts and
    // comes nearer only after a hit from behind; rows without a table are summed column by column.
    constexpr double farthest = room_east - room_west, start = 540;
    const double pixels = columns_an_output(width);
    const auto nearest = [](double height_over) { return height_over * focal_y / (view_height / 2.0 + 1); };
    blurs.emplace_back(view.surfaces()[0], palette, pixels, View::floor_light, nearest(32), farthest);
    blurs.emplace_back(view.surfaces()[1], palette, pixels, View::floor_light, std::min(farthest, nearest(54)), farthest);
    blurs.emplace_back(view.surfaces()[2], palette, pixels, View::far_light, start, farthest);
  }

  LitPalette palette;
  std::vector<Blur> blurs;
};

namespace {

std::shared_ptr<const SmallTables> tables_of(const Stage& stage, const View& view, int width) {
  static ForkMutex mutex;
  const std::lock_guard lock(mutex);
  auto& kept = stage.small_tables[width];
  auto tables = kept.lock();
  if (!tables) kept = tables = std::make_shared<const SmallTables>(stage.art, view, width);
  return tables;
}

}  // namespace

struct SmallPainter::Impl {
  Impl(const Stage& used, int height, int width)
      : stage(&used),
        view(used.art, used.scenery),
        rows(screen_height, height),
        columns(screen_width, width),
        tables(tables_of(used, view, width)),
        palette(tables->palette),
        blurs(tables->blurs),
        line(static_cast<std::size_t>(width) + 2),
        other_line(line.size()),
        sums(line.size()),
        upper(line.size()),
        lower(line.size()),
        bar(line.size() * static_cast<std::size_t>(height + 1 - last_of_view())),
        status_bar(used.art) {
    constexpr std::size_t most_boards = 512, most_board_columns = std::size_t{1} << 15;
    boards.reserve(most_boards);
    shown_boards.reserve(most_boards + 1);
    pieces.reserve(screen_width);
    board_columns.reserve(most_board_columns);
    taps = columns.taps();
    runs.assign(line.size() + 1, screen_width);
    for (int c = screen_width - 1; c >= 0; --c) runs[static_cast<std::size_t>(taps[static_cast<std::size_t>(c)].output + 1)] = c;
    for (std::size_t i = runs.size() - 1; i-- > 0;) runs[i] = std::min(runs[i], runs[i + 1]);
    for (int c = 0; c <= screen_width; ++c) {
      int first = 1, end = width - 1;
      while (first < width && columns.range(first)[0] < c) ++first;
      while (end > 0 && columns.range(end - 1)[1] > c) --end;
      first_from.push_back(first);
      end_until.push_back(end);
    }
  }

  void draw(const World& world, Condition condition, std::span<std::uint8_t> rgb) {
    view.look(world);
    see_walls();
    see_boards();
    if (condition != shown) draw_bar_lines(condition);
    shown = condition;
    std::ranges::fill(upper, 0);
    std::ranges::fill(lower, 0);
    int output = rows.taps()[0].output;
    for (int r = 0; r < view_height;) {
      const auto& tap = rows.taps()[static_cast<std::size_t>(r)];
      if (tap.output != output) finish_row(output++, rgb);
      draw_row(r++);
      // Two rows that feed the same outputs are added in one go.
      if (r < view_height && rows.taps()[static_cast<std::size_t>(r)].output == output) {
        std::swap(line, other_line);
        draw_row(r++);
        add_rows(other_line, tap, line, rows.taps()[static_cast<std::size_t>(r) - 1]);
      } else {
        add_rows(line, tap, line, {});
      }
    }
    for (const Packed* below = bar.data(); output < rows.outputs(); below += line.size()) {
      for (std::size_t i = 0; i < line.size(); ++i) upper[i] += below[i];
      finish_row(output++, rgb);
    }
  }

  void draw_row(int r) {
    draw_room(r);
    draw_boards(r);
  }

  void add_rows(std::span<const Packed> first, Shrink::Tap tap, std::span<const Packed> second, Shrink::Tap second_tap) {
    for (std::size_t i = 0; i < first.size(); ++i) {
      upper[i] += first[i] * tap.weight + second[i] * second_tap.weight;
      lower[i] += first[i] * tap.next_weight + second[i] * second_tap.next_weight;
    }
  }

  // What `upper` has gathered is a row of the result; `lower` becomes the next one.
  void finish_row(int output, std::span<std::uint8_t> rgb) {
    if (output >= 0) {
      std::uint8_t* out = &rgb[static_cast<std::size_t>(output) * columns.outputs() * 3];
      for (std::size_t i = 1; i + 1 < line.size(); ++i, out += 3) std::ranges::copy(unpack(rounded(upper[i], Shrink::bits)), out);
    }
    std::swap(upper, lower);
    std::ranges::fill(lower, 0);
  }

  struct Wall {
    const std::uint8_t* texels;
    const Packed* palette;
    std::int32_t step;  ///< rows of the texture that a row of the screen goes down
  };

  /// Neighbouring columns of the screen that show one column of a side wall's texture in one light and feed the same outputs.
  /// Small, because every row goes through hundreds of them.
  struct Piece {
    Wall wall;
    std::uint16_t run, weight = 0, next_weight = 0;
    std::int16_t begin, end;
  };

  void see_walls() {
    for (std::size_t c = 0; c < screen_width; ++c) {
      const Column& column = view.columns()[c];
      constexpr double beyond = 2048;  // deeper columns show no wall
      walls[c] = {column.texels, palette[static_cast<std::size_t>(column.light)].data(),
                  static_cast<std::int32_t>(fraction * std::min(column.depth, beyond) / focal_y)};
    }
    wall_start = static_cast<std::int32_t>(fraction * view.above_eye());
    pieces.clear();
    for (int c = 0; c < screen_width; ++c) {
      const auto column = static_cast<std::size_t>(c);
      const auto& tap = taps[column];
      const Wall& wall = walls[column];
      const auto run = static_cast<std::uint16_t>(tap.output + 1);
      const auto at = static_cast<std::int16_t>(c);
      if (pieces.empty() || pieces.back().run != run || pieces.back().wall.texels != wall.texels ||
          pieces.back().wall.palette != wall.palette || c == screen_width / 2)
        pieces.push_back({.wall = wall, .run = run, .begin = at, .end = at});
      Piece& piece = pieces.back();
      piece.end = static_cast<std::int16_t>(c + 1);
      piece.weight = static_cast<std::uint16_t>(piece.weight + tap.weight);
      piece.next_weight = static_cast<std::uint16_t>(piece.next_weight + tap.next_weight);
      piece.wall.step = walls[(column + static_cast<std::size_t>(piece.begin)) / 2].step;
      piece_of[column] = static_cast<int>(pieces.size()) - 1;
    }
  }

  Packed wall_colour(const Wall& wall, std::int32_t below) const {
    const std::int32_t row = (wall_start + below * (wall.step >> 1)) >> fraction_bits & (stage->art.wall.height - 1);
    return wall.palette[wall.texels[row]];
  }

  // As `gather` for side walls, where neighbouring columns that show the same texels count as one.
  void gather_walls(int begin, int end, std::int32_t below) {
    const auto one_by_one = [&](int from, int to) {
      gather(from, to, [&](int c) { return wall_colour(walls[static_cast<std::size_t>(c)], below); });
    };
    if (begin >= end) return;
    auto piece = static_cast<std::size_t>(piece_of[static_cast<std::size_t>(begin)]);
    if (pieces[piece].begin < begin) {
      one_by_one(begin, std::min<int>(end, pieces[piece].end));
      ++piece;
    }
    for (; piece < pieces.size() && pieces[piece].end <= end; ++piece) {
      const Piece& shown_piece = pieces[piece];
      const Packed value = wall_colour(shown_piece.wall, below);
      sums[shown_piece.run] += value * shown_piece.weight;
      sums[std::size_t{shown_piece.run} + 1] += value * shown_piece.next_weight;
    }
    if (piece < pieces.size()) one_by_one(std::max<int>(begin, pieces[piece].begin), end);
  }

  // Adds the colours of the columns [begin, end) to what they feed, run by run of columns that feed the same two outputs.
  template <typename Colour>
  void gather(int begin, int end, Colour colour) {
    if (begin >= end) return;
    for (auto run = static_cast<std::size_t>(taps[static_cast<std::size_t>(begin)].output + 1); begin < end; ++run) {
      const int stop = std::min(end, runs[run + 1]);
      Packed first = 0, second = 0;
      for (; begin < stop; ++begin) {
        const Packed value = colour(begin);
        const auto& tap = taps[static_cast<std::size_t>(begin)];
        first += value * tap.weight;
        second += value * tap.next_weight;
      }
      sums[run] += first;
      sums[run + 1] += second;
    }
  }

  void draw_room(int r) {
    const Row& row = view.rows()[static_cast<std::size_t>(r)];
    const Packed* blurred = blurs[static_cast<std::size_t>(row.surface)].line(row.line_index, row.light, row.depth);
    int first = first_from[static_cast<std::size_t>(row.left_end)], end = end_until[static_cast<std::size_t>(row.right_begin)];
    if (!blurred || first >= end) first = end = columns.outputs();
    const int exact_left = first == end ? screen_width : columns.range(first - 1)[1];
    const int exact_right = first == end ? screen_width : columns.range(end)[0];
    // Outputs stand at one more than their number; those from the table need no sums.
    const auto left = static_cast<std::ptrdiff_t>(first + 1), right = static_cast<std::ptrdiff_t>(end + 1);
    std::fill(sums.begin(), sums.begin() + left, 0);
    std::fill(sums.begin() + right, sums.end(), 0);
    const std::int32_t below = 2 * r + 1 - 2 * View::centre_row;
    const Packed* lit = palette[static_cast<std::size_t>(row.light)].data();
    const auto start = static_cast<std::int64_t>(std::floor(row.phase * fraction)),
               advance = static_cast<std::int64_t>(row.step * fraction);
    const auto middle = [&](int c) { return lit[row.line[(start + c * advance) >> fraction_bits & (row.length - 1)]]; };
    gather_walls(0, std::min(row.left_end, exact_left), below);
    gather(row.left_end, std::min(exact_left, row.right_begin), middle);
    gather(std::max(exact_right, row.left_end), row.right_begin, middle);
    gather_walls(first == end ? row.right_begin : std::max(row.right_begin, exact_right), screen_width, below);
    const auto round = [](Packed sum) { return rounded(sum, Shrink::bits); };
    std::transform(sums.begin(), sums.begin() + left, line.begin(), round);
    std::transform(sums.begin() + right, sums.end(), line.begin() + right, round);
    if (first == end) return;
    const double scale = columns_an_output(columns.outputs());
    const double begin = row.phase + ((first + 0.5) * scale - 0.5) * row.step;
    auto at = static_cast<std::int64_t>(std::floor(begin * Blur::phases * fraction));
    const auto step = static_cast<std::int64_t>(scale * row.step * Blur::phases * fraction);
    const std::int64_t mask = Blur::phases * row.length - 1;
    for (int output = first; output < end; ++output, at += step)
      line[static_cast<std::size_t>(output) + 1] = blurred[at >> fraction_bits & mask];
  }

  // A billboard with its bounds, and for every column of the screen it covers where that column of the sprite begins.
  struct Board {
    const Billboard* board;
    int begin, end, begin_row, end_row;
    std::size_t columns;
  };

  void see_boards() {
    boards.clear();
    board_columns.clear();
    for (const Billboard& board : view.billboards()) {
      boards.push_back(
          {&board, board.begin_column(), board.end_column(), board.begin_row(), board.end_row(), board_columns.size()});
      for (int c = boards.back().begin; c < boards.back().end; ++c)
        board_columns.push_back(&board.sprite->texels[static_cast<std::size_t>(board.column_at(c)) * board.sprite->height]);
    }
  }

  void cover(int c, Packed colour, Cover how) {
    covers[static_cast<std::size_t>(c)] = how;
    over[static_cast<std::size_t>(c)] = colour;
  }

  void cover_with(const Board& board, int r) {
    const bool glowing = board.board->glowing;
    const Packed* lit = palette[static_cast<std::size_t>(board.board->light)].data();
    const int from_row = board.board->row_at(r);
    const std::int16_t* const* column = &board_columns[board.columns];
    for (int c = board.begin; c < board.end; ++c, ++column) {
      const auto texel = (*column)[from_row];
      if (texel == transparent) continue;
      const Packed colour = lit[texel];
      const Cover before = covers[static_cast<std::size_t>(c)];
      if (!glowing || before == Cover::none) {
        cover(c, colour, glowing ? Cover::glow : Cover::opaque);
        continue;
      }
      const Rgb888 under = unpack(over[static_cast<std::size_t>(c)]);
      cover(c, pack(stage->art.palette[add_glow(stage->art, under, unpack(colour))]), before);
    }
  }

  void draw_boards(int r) {
    shown_boards.clear();
    for (const Board& board : boards) {
      if (r < board.begin_row || r >= board.end_row) continue;
      shown_boards.push_back({board.begin, board.end});
      cover_with(board, r);
    }
    if (!stage->sign.empty() && r >= sign_top && r < sign_top + sign_height) {
      shown_boards.push_back({sign_left, sign_left + sign_width});
      const std::uint8_t* letters = &stage->sign[static_cast<std::size_t>(r - sign_top) * sign_width];
      for (int c = 0; c < sign_width; ++c) cover(sign_left + c, pack(letters[c] ? sign_letters : sign_ground), Cover::opaque);
    }
    if (shown_boards.empty()) return;
    for (std::size_t i = 0; i < line.size(); ++i) sums[i] = line[i] << Shrink::bits;
    for (const auto& [begin, end] : shown_boards) lay_over(begin, end);
    for (std::size_t i = 0; i < line.size(); ++i) line[i] = rounded(sums[i], Shrink::bits);
  }

  // What covers a column replaces its share of the outputs it feeds.
  void lay_over(int begin, int end) {
    for (int c = begin; c < end; ++c) {
      const auto column = static_cast<std::size_t>(c);
      if (covers[column] == Cover::none) continue;
      const auto& tap = taps[column];
      const auto i = static_cast<std::size_t>(tap.output + 1);
      Packed colour = over[column];
      if (covers[column] == Cover::glow) {
        const Rgb888 under = unpack(tap.weight > tap.next_weight ? line[i] : line[i + 1]);
        colour = pack(stage->art.palette[add_glow(stage->art, under, unpack(colour))]);
      }
      sums[i] += (colour - line[i]) * tap.weight;
      sums[i + 1] += (colour - line[i + 1]) * tap.next_weight;
      covers[column] = Cover::none;
    }
  }

  // What the status bar adds to the rows of the result, from the last that the view feeds.
  void draw_bar_lines(Condition condition) {
    const auto bar_indices = status_bar.draw(condition);
    std::ranges::fill(bar, 0);
    for (int r = view_height; r < screen_height; ++r) {
      std::ranges::fill(sums, 0);
      const std::uint8_t* indices = &bar_indices[static_cast<std::size_t>(r - view_height) * screen_width];
      gather(0, screen_width, [&](int c) { return pack(stage->art.palette[indices[c]]); });
      const auto tap = rows.taps()[static_cast<std::size_t>(r)];
      Packed* out = &bar[static_cast<std::size_t>(tap.output - last_of_view()) * line.size()];
      for (std::size_t i = 0; i < line.size(); ++i) {
        const Packed value = rounded(sums[i], Shrink::bits);
        out[i] += value * tap.weight;
        out[i + line.size()] += value * tap.next_weight;
      }
    }
  }

  int last_of_view() const { return rows.taps()[view_height - 1].output; }

  const Stage* stage;
  View view;
  Shrink rows, columns;
  std::span<const Shrink::Tap> taps;  ///< of the columns
  std::vector<int> runs;              ///< by output, counted from -1: the first column that feeds it and the next
  std::shared_ptr<const SmallTables> tables;
  const LitPalette& palette;
  const std::vector<Blur>& blurs;
  std::vector<int> first_from, end_until;  ///< by column: the first output all of whose columns come later, the end of those before
  std::array<Wall, screen_width> walls{};
  std::vector<Piece> pieces;
  std::array<int, screen_width> piece_of{};
  std::int32_t wall_start = 0;
  std::vector<Packed> line, other_line, sums, upper, lower, bar;  ///< outputs, with one more at each end
  StatusBar status_bar;
  Condition shown{.health = -1};
  std::vector<Board> boards;
  std::vector<std::array<int, 2>> shown_boards;  ///< columns of those that a row shows
  std::vector<const std::int16_t*> board_columns;
  std::array<Packed, screen_width> over{};
  std::array<Cover, screen_width> covers{};
};

SmallPainter::SmallPainter(const Stage& stage, int height, int width) : impl_(std::make_unique<Impl>(stage, height, width)) {}
SmallPainter::~SmallPainter() = default;
SmallPainter::SmallPainter(SmallPainter&&) noexcept = default;
SmallPainter& SmallPainter::operator=(SmallPainter&&) noexcept = default;
void SmallPainter::draw(const World& world, Condition condition, std::span<std::uint8_t> rgb) {
  impl_->draw(world, condition, rgb);
}

}  // namespace iap::take_cover
