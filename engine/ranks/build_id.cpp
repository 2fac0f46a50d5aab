module;
#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
module iap.ranks;
import iap.core;
import :build_id;

namespace iap {
namespace {

struct Search {
  std::uintptr_t address;
  std::string id;
};

/// The content hash that the linker left in the notes from `begin` on.
std::string id_in(const char* begin, std::size_t size) {
  const auto padded = [](std::size_t length) { return (length + 3) & ~std::size_t{3}; };
  for (std::size_t at = 0; at + sizeof(ElfW(Nhdr)) <= size;) {
    ElfW(Nhdr) note;
    std::memcpy(&note, begin + at, sizeof note);
    const std::size_t name = at + sizeof note, content = name + padded(note.n_namesz);
    if (note.n_type == NT_GNU_BUILD_ID && content + note.n_descsz <= size) {
      std::string digits;
      for (std::size_t i = 0; i < note.n_descsz; ++i) {
        const auto byte = static_cast<unsigned char>(begin[content + i]);
        digits += "0123456789abcdef"[byte >> 4];
        digits += "0123456789abcdef"[byte & 15];
      }
      return digits;
    }
    at = content + padded(note.n_descsz);
  }
  return "";
}

int visit(dl_phdr_info* object, std::size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  bool own = false;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& part = object->dlpi_phdr[i];
    const std::uintptr_t begin = object->dlpi_addr + part.p_vaddr;
    own = own || (part.p_type == PT_LOAD && search.address >= begin && search.address < begin + part.p_memsz);
  }
  if (!own) return 0;
  for (int i = 0; i < object->dlpi_phnum && search.id.empty(); ++i) {
    const auto& part = object->dlpi_phdr[i];
    if (part.p_type == PT_NOTE) search.id = id_in(reinterpret_cast<const char*>(object->dlpi_addr + part.p_vaddr), part.p_memsz);
  }
  return 1;
}

}  // namespace

std::string build_id() {
  Search search{reinterpret_cast<std::uintptr_t>(&build_id), ""};
  dl_iterate_phdr(visit, &search);
  return search.id;
}

}  // namespace iap
