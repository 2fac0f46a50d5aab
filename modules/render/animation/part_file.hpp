// A file in the making: it stands beside its place as "<path>.part" until it is whole. Include after `module iap.render;`, with
// <cstdint>, <filesystem> and <string_view> before it.
#pragma once

namespace iap {

class PartFile {
 public:
  // Creates the part. Throws iap::Error naming the path and the reason, as all members do.
  explicit PartFile(const std::filesystem::path& path);
  // Removes the part unless `commit` was called.
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  void append(std::string_view bytes);
  void overwrite(std::uint64_t offset, std::string_view bytes);
  // Puts the file in its place, with what another process may have written into the part as well.
  void commit();
  // Not implicitly inline in a module.
  inline const std::filesystem::path& part() const { return part_; }

 private:
  [[noreturn]] void fail() const;

  std::filesystem::path path_, part_;
  int descriptor_;
  bool committed_ = false;
};

}  // namespace iap
