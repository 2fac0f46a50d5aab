module;
#include <atomic>
#include <memory>
module iap.policy;
import iap.core;
import :internal;

namespace iap {
namespace {

std::atomic<BlockMaker> script_maker = nullptr;

}  // namespace

void register_script_blocks(BlockMaker make) noexcept { script_maker = make; }

MadeBlock make_script(Options& options, const BlockContext& context, ParameterLayout& layout) {
  if (const BlockMaker make = script_maker) return make(options, context, layout);
  options.fail("blocks written in Lua need the script layer; call iap::register_lua() first (import iap.script, or iap)");
}

}  // namespace iap
