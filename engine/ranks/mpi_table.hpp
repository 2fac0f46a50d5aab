#pragma once
#include <cstddef>
#include <cstdint>

/// Of the table below: raised with each change of it.
inline constexpr std::uint32_t iap_mpi_version = 1;

/// What the plugins `openmpi` and `mpich` (engine/ranks/mpi_plugin.cpp) offer: MPI as iap needs it. One thread calls it. Functions
/// that return an error message return null where there is none; it stays until the next call.
extern "C" struct iap_mpi_table {
  const char* (*begin)(void);  ///< MPI_Init
  int (*rank)(void);
  int (*size)(void);
  /// Starts to send, and copies nothing: `bytes` stays until `sent(ticket)`.
  const char* (*send)(int to, const void* bytes, std::size_t size, std::uint64_t* ticket);
  /// 1 once the bytes are no longer needed.
  int (*sent)(std::uint64_t ticket);
  /// The next message to this rank: 1 and its size and sender if there is one.
  int (*waiting)(int* from, std::size_t* size);
  /// Takes the message that `waiting` found.
  const char* (*take)(void* bytes);
  /// Rank 0 gives, all others receive, in the same order (MPI_Ibcast). `bytes` stays until `sent(ticket)`.
  const char* (*broadcast)(void* bytes, std::size_t size, std::uint64_t* ticket);
  const char* (*end)(void);  ///< MPI_Finalize
  const char* (*library)(void);
};
