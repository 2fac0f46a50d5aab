module;
#include <memory>
#include "l.hpp"
module t.b;
import t.core;
namespace t { int f() { Config c = lua::read(3); return (int)lua::id(&c)->s.size(); } }
