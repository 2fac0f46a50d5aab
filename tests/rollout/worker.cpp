#include <memory>
import iap.core;
import iap.env;
import iap.rollout;

#include "trouble.hpp"

int main() { iap::serve_episodes(make_troubled); }
