#pragma once
// Include it after `import iap.core;`.

namespace iap {

/// A run's folder in which another process works: no fault of the run that was to begin there. Of no module, so that whoever
/// includes this knows it.
extern "C++" class FolderInUse : public Error {
 public:
  using Error::Error;
};

}  // namespace iap
