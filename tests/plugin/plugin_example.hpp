#pragma once

/// What the example's plugin and its user share.
struct ExampleTable {
  int (*twice)(int);
};
