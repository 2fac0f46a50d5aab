#include <mpi.h>

#include <array>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <map>

#include "plugin/plugin.h"
#include "ranks/mpi_table.hpp"

namespace {

constexpr int tag = 1;
std::map<std::uint64_t, MPI_Request> requests;
std::uint64_t last_ticket = 0;
MPI_Message found = MPI_MESSAGE_NULL;
int found_size = 0;
std::array<char, MPI_MAX_ERROR_STRING + 1> message{};

/// The message of an MPI error, null if `code` is none.
const char* told(int code) {
  if (code == MPI_SUCCESS) return nullptr;
  int length = 0;
  MPI_Error_string(code, message.data(), &length);
  return message.data();
}

const char* keep(int code, MPI_Request request, std::uint64_t* ticket) {
  if (code != MPI_SUCCESS) return told(code);
  *ticket = ++last_ticket;
  requests.emplace(*ticket, request);
  return nullptr;
}

const char* begin() {
  int level = 0;
  if (const char* error = told(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level))) return error;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  return nullptr;
}

int rank() {
  int number = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &number);
  return number;
}

int size() {
  int number = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &number);
  return number;
}

const char* send(int to, const void* bytes, std::size_t count, std::uint64_t* ticket) {
  if (count > INT_MAX) return "a message is larger than 2 GiB";
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = MPI_Isend(bytes, static_cast<int>(count), MPI_BYTE, to, tag, MPI_COMM_WORLD, &request);
  return keep(code, request, ticket);
}

int sent(std::uint64_t ticket) {
  const auto request = requests.find(ticket);
  if (request == requests.end()) return 1;
  int done = 0;
  MPI_Test(&request->second, &done, MPI_STATUS_IGNORE);
  if (done) requests.erase(request);
  return done;
}

int waiting(int* from, std::size_t* count) {
  int there = 0;
  MPI_Status status;
  MPI_Improbe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &there, &found, &status);
  if (!there) return 0;
  MPI_Get_count(&status, MPI_BYTE, &found_size);
  *from = status.MPI_SOURCE;
  *count = static_cast<std::size_t>(found_size);
  return 1;
}

const char* take(void* bytes) { return told(MPI_Mrecv(bytes, found_size, MPI_BYTE, &found, MPI_STATUS_IGNORE)); }

const char* broadcast(void* bytes, std::size_t count, std::uint64_t* ticket) {
  if (count > INT_MAX) return "an announcement is larger than 2 GiB";
  MPI_Request request = MPI_REQUEST_NULL;
  return keep(MPI_Ibcast(bytes, static_cast<int>(count), MPI_BYTE, 0, MPI_COMM_WORLD, &request), request, ticket);
}

const char* end() { return told(MPI_Finalize()); }

const char* library() {
  static std::array<char, MPI_MAX_LIBRARY_VERSION_STRING + 1> name{};
  int length = 0;
  MPI_Get_library_version(name.data(), &length);
  return name.data();
}

constexpr iap_mpi_table table{begin, rank, size, send, sent, waiting, take, broadcast, end, library};

}  // namespace

const iap_plugin_head iap_plugin{IAP_MPI_PLUGIN, iap_mpi_version, &table};
