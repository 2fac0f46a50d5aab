#pragma once
#include <vector>
#include <string>
import t.core;
namespace t::lua { Config read(int); template<class T> T* id(T* t) { return t; } }
