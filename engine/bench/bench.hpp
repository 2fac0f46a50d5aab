// What the files of iap.bench share: one function a benchmark.
#pragma once

namespace iap {
void bench_attention(std::ostream& out);
void bench_database(std::ostream& out);
void bench_draw(std::ostream& out);
void bench_env(std::ostream& out);
void bench_legged(std::ostream& out);
void bench_rollout(std::ostream& out);
}  // namespace iap
