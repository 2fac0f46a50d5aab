// Include it after `import iap.core`.
#pragma once

namespace iap {
extern "C++" {

/// `env` as it is handed on to whoever may make an environment or a block of any table in it: if it is one in Lua out of a file
/// that nobody trusts, what stands in its own options is marked as that is (`confine_lua`).
Config env_handed_on(Config env);
/// The metadata of a policy file with their environments handed on.
Config metadata_handed_on(Config metadata);
}
}  // namespace iap
