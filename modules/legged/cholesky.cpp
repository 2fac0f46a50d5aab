/// The inverse of a positive definite matrix as a product of triangles.
module iap.legged:cholesky;

namespace iap::legged {

/// For G = L L', given as the lower triangle of a column-major n x n matrix with `stride` values a column: overwrites it with L,
/// and writes the columns of L^-1, n values each with zeros above the diagonal, at `out + column * out_stride`. Read as rows, these
/// are J = L^-T with J J' = G^-1. False if G is not positive definite. Allocates nothing.
bool invert_cholesky(double* g, int n, int stride, double* out, int out_stride);

}  // namespace iap::legged
